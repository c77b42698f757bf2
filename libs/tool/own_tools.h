/*
 * own_tools: the tools that a provider itself has, which are constants: how
 * they are listed, checked, and replied for.
 *
 * Pure; any thread.
 */
#ifndef TOOL_OWN_TOOLS_H
#define TOOL_OWN_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "tool/tool_digest.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct wire_schema;

/* Room for a revision, NUL included. */
#define OWN_TOOLS_REVISION_MAX 32
/* How often a provider announces that it is there. */
#define OWN_TOOLS_PRESENT_MS 5000

/* What a model reads of a tool; schema is of a JSON object. */
struct own_tool_row {
	struct str name, description, schema;
};

struct own_tool {
	const struct own_tool_row *row;
	char definition[TOOL_DIGEST_MAX];
	struct wire_schema *arguments;
};

struct own_tools {
	struct str provider;
	bool needs_approval;   /* a call needs an approval of the user */
	int64_t timeout_s;     /* of a call */
	struct own_tool *list; /* in the order of the rows */
	size_t n;
	char revision[OWN_TOOLS_REVISION_MAX];
};

/*
 * own_tools_new(like, rows, n):
 * The tools of like's provider, needs_approval and timeout_s; rows and provider
 * are borrowed.  A row that is no tool is a bug, and aborts.
 * own_tools_free(t): NULL is allowed.
 */
struct own_tools *own_tools_new(
    const struct own_tools *like, const struct own_tool_row *rows, size_t n);
void own_tools_free(struct own_tools *t);

/* own_tools_find(t, name): NULL: there is none. */
const struct own_tool *own_tools_find(
    const struct own_tools *t, struct str name);

/* own_tool_check(tool, arguments, err): RC_INVALID: err says what is wrong. */
enum rc own_tool_check(const struct own_tool *tool, struct str arguments,
    struct wire_err *err) RC_CHECK;

/* What a user has decided of a tool; nothing: both are absent. */
struct own_tool_grant {
	struct str policy; /* "auto", "ask" or "never" */
	struct str pin;    /* the definition it is for; absent: any */
};

enum own_tool_verdict {
	OWN_TOOL_ALLOWED,
	OWN_TOOL_FORBIDDEN,
	OWN_TOOL_DEFINITION_CHANGED,
	OWN_TOOL_APPROVAL_REQUIRED
};

/*
 * own_tool_admit(t, tool, g, q): Whether the call q of it may be made.
 * own_tool_denial(q, v):         The reply to one that may not.
 */
enum own_tool_verdict own_tool_admit(const struct own_tools *t,
    const struct own_tool *tool, const struct own_tool_grant *g,
    const struct wire_tool_call_request *q);
struct wire_tool_call_reply own_tool_denial(
    const struct wire_tool_call_request *q, enum own_tool_verdict v);

/*
 * own_tools_list(t, max, grants, a, out):
 * The reply to a request for at most max of them, which names the others.
 * grants are of the tools in their order; what a user forbids is not in it.
 * RC_TOOBIG if a is full.
 */
enum rc own_tools_list(const struct own_tools *t, int64_t max,
    const struct own_tool_grant *grants, struct arena *a,
    struct wire_tool_list_reply *out) RC_CHECK;

/*
 * own_tools_put_present(t, instance, out): Append the announcement.
 * RC_INVALID, RC_TOOBIG.
 */
enum rc own_tools_put_present(
    const struct own_tools *t, struct str instance, struct buf *out) RC_CHECK;

/*
 * own_tool_error(q, code, message): The reply to a call that was not made, or
 *                                   of which the code says what is known.
 * own_tool_text(q, ok, text):       To one that was: a result, or the words of
 *                                   a tool that reports an error.
 */
struct wire_tool_call_reply own_tool_error(
    const struct wire_tool_call_request *q, const char *code,
    struct str message);
struct wire_tool_call_reply own_tool_text(
    const struct wire_tool_call_request *q, bool ok, struct str text);

#endif /* !TOOL_OWN_TOOLS_H */
