/*
 * tool_call: one call of a tool, from its request to its reply.
 *
 * It has a fiber of its own.  Every 2 s it replies that it is alive; its end is
 * one reply.  A call that may have been executed is never made a second time.
 */
#ifndef TOOL_CALL_H
#define TOOL_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "context.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/str.h"
#include "core/trace.h"
#include "grant.h"
#include "tool/tool_digest.h"
#include "user_tools.h"
#include "wire/msgs.h"

struct bus_msg;
struct host;
struct instance;
struct mcp_call;
struct svc_call;
struct toolbox_tool;

struct tool_call {
	struct host *host;
	const struct wire_tool_call_request *q;
	struct arena *a;
	const struct trace *trace;
	/* Where its replies go: one of the two. */
	struct svc_call *svc;
	struct bus_msg *msg; /* another replica has passed it on */
	struct mono began, end;
	struct loop_timer alive;
	bool canceled, listed;
	/* What is called. */
	struct user_tools tools;
	const struct toolbox_tool *tool;
	struct instance *instance;
	struct mcp_call *open; /* NULL: none is */
	/* What came of it. */
	struct host_waits waits;
	bool ended;
	int how; /* enum mcp_call_end */
	int64_t code;
	struct buf result;      /* JSON */
	struct mono last_reply; /* passed on: the last reply */
	struct wire_tool_call_reply rep;
};

/*
 * tool_call_run(t): In a fiber: all of it, up to the reply, which ends svc or
 * msg.  The caller has set host to end.
 * tool_call_cancel(t): Nobody waits for it any more.
 */
void tool_call_run(struct tool_call *t);
void tool_call_cancel(struct tool_call *t);

/* tool_call_fail(t, code, text): Its end, without having been executed, or as
 * the code says. */
void tool_call_fail(struct tool_call *t, const char *code, const char *text);

/* ---- tool_call_record.c ---- */

/*
 * tool_call_claim(t):
 * A call: whether this is the first time; false: t->rep is the reply of the
 * first one, or that nothing is known of it.
 * tool_call_store(t): A call: store t->rep as the reply.
 */
bool tool_call_claim(struct tool_call *t);
void tool_call_store(struct tool_call *t);

/* ---- tool_call_pass.c ---- */

/*
 * tool_call_pass(t):
 * Let the replica that has the instance make the call.  False: there is none,
 * and nothing was done.
 */
bool tool_call_pass(struct tool_call *t);

/* tool_call_progress(t, r): Pass a sign of life on. */
void tool_call_progress(
    struct tool_call *t, const struct wire_tool_call_reply *r);

#endif /* !TOOL_CALL_H */
