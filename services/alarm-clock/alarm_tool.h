/*
 * alarm_tool: the tools by which a soul sets alarms: what they are, and what a
 * call of one must be.  Pure.
 */
#ifndef ALARM_CLOCK_ALARM_TOOL_H
#define ALARM_CLOCK_ALARM_TOOL_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "tool/tool_digest.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define ALARM_PROVIDER "alarm-clock"
/* Room for a revision, NUL included. */
#define ALARM_REVISION_MAX 32

enum alarm_tool_kind {
	ALARM_TOOL_SET,
	ALARM_TOOL_LIST,
	ALARM_TOOL_CHANGE,
	ALARM_TOOL_CANCEL,
	ALARM_TOOLS_N
};

struct wire_schema;

struct alarm_tool {
	enum alarm_tool_kind kind;
	struct str name, description, schema;
	char definition[TOOL_DIGEST_MAX];
	struct wire_schema *arguments;
};

struct alarm_tools {
	struct alarm_tool list[ALARM_TOOLS_N];
	char revision[ALARM_REVISION_MAX];
};

/* alarm_tools_new(), alarm_tools_free(t): NULL is allowed. */
struct alarm_tools *alarm_tools_new(void);
void alarm_tools_free(struct alarm_tools *t);

/* alarm_tools_find(t, name): NULL: there is none. */
const struct alarm_tool *alarm_tools_find(
    const struct alarm_tools *t, struct str name);

/* alarm_tools_define(t, list): All of them, as they are listed. */
void alarm_tools_define(const struct alarm_tools *t,
    struct wire_tool_definition list[ALARM_TOOLS_N]);

/* alarm_tool_check(tool, arguments, err): RC_INVALID: err says what is wrong.
 */
enum rc alarm_tool_check(const struct alarm_tool *tool, struct str arguments,
    struct wire_err *err) RC_CHECK;

#endif /* !ALARM_CLOCK_ALARM_TOOL_H */
