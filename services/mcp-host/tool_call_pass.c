/*
 * Passing a call on to the replica that has the instance, once.
 */
#include <stdio.h>

#include "bus/bus.h"
#include "context.h"
#include "core/buf.h"
#include "core/log.h"
#include "instance.h"
#include "mcp_connection.h"
#include "tool_call.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* The other replica is alive every 2 s. */
#define SILENCE_MS 8000

/* A reply of the other one. */
static void
pass_on_data(struct tool_call *t, struct str data)
{
	struct arena_mark mark = arena_mark(t->a);
	struct wire_tool_call_reply r;

	t->last_reply = clock_mono();
	if (wire_decode(&wire_tool_call_reply_desc, data, t->a, &r, NULL) !=
	    RC_OK) {
		arena_rewind(t->a, mark);
		return;
	}
	if (r.state == WIRE_TOOL_CALL_REPLY_STATE_RUNNING) {
		if (r.has_progress || r.message.n > 0)
			tool_call_progress(t, &r);
		arena_rewind(t->a, mark);
		return;
	}
	t->rep = r;
	t->how = MCP_CALL_RESULT;
	t->ended = true;
	host_wake(&t->waits);
}

static void
pass_on_reply(void *arg, enum rc rc, struct str data)
{
	struct tool_call *t = arg;

	if (rc == RC_OK) {
		pass_on_data(t, data);
		return;
	}
	/* Nobody has got it, or it is not known what became of it. */
	t->how = rc == RC_NOENT ? MCP_CALL_NOT_SENT : MCP_CALL_LOST;
	t->ended = true;
	host_wake(&t->waits);
}

static enum rc
pass_send(struct tool_call *t, uint64_t *id)
{
	const struct bus_reply_handler h = { pass_on_reply, t, true };
	struct buf json = BUF_INIT(BUS_PAYLOAD_MAX);
	char subject[128];
	const struct bus_meta meta = { .deadline = { clock_wall().ms +
					   mono_diff_ms(t->end, clock_mono()) },
		.trace = t->trace };
	enum rc rc =
	    wire_encode(&wire_tool_call_request_desc, t->q, &json, NULL);

	(void)snprintf(subject, sizeof(subject), WIRE_SUBJECT_FMT_MCP_CALL,
	    instance_id(t->instance));
	if (rc == RC_OK)
		rc = bus_request(
		    t->host->bus, subject, buf_str(&json), &meta, h, id);
	buf_free(&json);
	return rc;
}

bool
tool_call_pass(struct tool_call *t)
{
	uint64_t id = 0;

	t->ended = false;
	t->last_reply = clock_mono();
	if (pass_send(t, &id) != RC_OK)
		return false;
	while (!t->ended) {
		if (t->canceled || t->host->stopping ||
		    mono_diff_ms(clock_mono(), t->last_reply) > SILENCE_MS) {
			t->how = MCP_CALL_LOST;
			break;
		}
		(void)host_wait(t->host, &t->waits, SILENCE_MS / 4);
	}
	bus_request_cancel(t->host->bus, id);
	if (t->how == MCP_CALL_NOT_SENT)
		return false;
	if (t->how == MCP_CALL_LOST)
		tool_call_fail(t, "NOT_CONFIRMED",
		    "it is not known whether the tool has acted");
	return true;
}
