/*
 * task_tool: the tools by which a soul gives engines tasks: what they are, and
 * what a call of one must be.  Pure.
 *
 * Definitions are constants, so that a grant of a user is for one as long as
 * this version of it is installed, whichever engines there are.
 */
#ifndef ENGINE_RUNNER_TASK_TOOL_H
#define ENGINE_RUNNER_TASK_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "tool/tool_digest.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define TASK_PROVIDER "engine-runner"
/* Room for a revision, NUL included. */
#define TASK_REVISION_MAX 32

enum task_kind { TASK_RUN, TASK_REPLY, TASK_TOOLS_N };

struct wire_schema;

struct task_tool {
	enum task_kind kind;
	struct str name, description, schema;
	char definition[TOOL_DIGEST_MAX];
	struct wire_schema *arguments;
};

struct task_tools {
	struct task_tool list[TASK_TOOLS_N];
	bool needs_approval; /* a call needs an approval of the user */
	char revision[TASK_REVISION_MAX];
};

/* task_tools_new(needs_approval), task_tools_free(t): NULL is allowed. */
struct task_tools *task_tools_new(bool needs_approval);
void task_tools_free(struct task_tools *t);

/* task_tools_find(t, name): NULL: there is none. */
const struct task_tool *task_tools_find(
    const struct task_tools *t, struct str name);

/* task_tools_define(t, list): All of them, as they are listed. */
void task_tools_define(
    const struct task_tools *t, struct wire_tool_definition list[TASK_TOOLS_N]);

/* What a user has decided of a tool. */
enum task_grant { TASK_GRANT_NONE, TASK_GRANT_AUTO, TASK_GRANT_NEVER };

enum task_verdict {
	TASK_ALLOWED,
	TASK_FORBIDDEN,
	TASK_APPROVAL_REQUIRED,
	TASK_DEFINITION_CHANGED
};

/*
 * task_tools_admit(t, tool, q, grant):
 * Whether the call q may be made; grant is the user's for this definition.
 */
enum task_verdict task_tools_admit(const struct task_tools *t,
    const struct task_tool *tool, const struct wire_tool_call_request *q,
    enum task_grant grant);

/* task_tool_check(tool, arguments, err): RC_INVALID: err says what is wrong. */
enum rc task_tool_check(const struct task_tool *tool, struct str arguments,
    struct wire_err *err) RC_CHECK;

/* task_tool_key(call, dst): What makes a call that is repeated one call. */
#define TASK_KEY_MAX (TOOL_DIGEST_MAX + 8)
void task_tool_key(struct str call, char dst[TASK_KEY_MAX]);

#endif /* !ENGINE_RUNNER_TASK_TOOL_H */
