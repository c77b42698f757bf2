/*
 * What is known of calls, in Redis: the same call_id is never executed twice,
 * whichever replica gets it.
 */
#include <string.h>

#include "context.h"
#include "core/buf.h"
#include "state/keys.h"
#include "state/state.h"
#include "tool_call.h"
#include "wire/wire.h"

#define RECORD_TTL  "600000" /* ms */
#define RECORD_POLL 500
/* It may be executed, or may have been. */
#define RECORD_OPEN "?"
/* A reply is not stored with more than this; its text fits. */
#define RECORD_MAX (256UL * 1024)

static enum rc
record_key(const struct tool_call *t, char dst[STATE_KEY_MAX], struct str *out)
{
	const struct str ids[] = { t->q->user_id, t->q->call_id };

	return state_key(dst, KEY_MCP_CALL, ids, 2, out);
}

static enum rc
record_read(struct tool_call *t, struct str key, struct str *out)
{
	struct state_reply *r = NULL;
	enum rc rc = state_cmd(t->host->state, STATE_ARGS(STR("GET"), key), &r);

	if (rc == RC_OK)
		*out = arena_str(t->a, state_reply_str(r));
	state_reply_free(r);
	return rc;
}

/* The reply of the first one, as soon as there is one. */
static void
record_await(struct tool_call *t, struct str key)
{
	struct arena_mark mark;
	struct str text = { NULL, 0 };

	tool_call_fail(t, "NOT_CONFIRMED",
	    "the same call was made before, and has not ended");
	while (mono_diff_ms(t->end, clock_mono()) > 0 && !t->canceled &&
	    !t->host->stopping) {
		mark = arena_mark(t->a);
		if (record_read(t, key, &text) != RC_OK || text.p == NULL)
			return;
		if (!str_eq(text, STR(RECORD_OPEN)))
			break;
		arena_rewind(t->a, mark);
		(void)host_wait(t->host, &t->waits, RECORD_POLL);
	}
	if (text.n > sizeof(RECORD_OPEN) &&
	    wire_decode(
		&wire_tool_call_reply_desc, text, t->a, &t->rep, NULL) != RC_OK)
		tool_call_fail(t, "NOT_CONFIRMED",
		    "the reply to the same call cannot be read");
}

bool
tool_call_claim(struct tool_call *t)
{
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key;
	bool first = false;
	enum rc rc = record_key(t, text, &key);

	if (rc == RC_OK)
		rc = state_cmd(t->host->state,
		    STATE_ARGS(STR("SET"), key, STR(RECORD_OPEN), STR("NX"),
			STR("PX"), STR(RECORD_TTL)),
		    &r);
	if (rc == RC_OK)
		first = state_reply_str(r).p != NULL;
	state_reply_free(r);
	if (rc != RC_OK)
		/* Whether or not it is claimed, nothing is executed. */
		tool_call_fail(t, "SERVER_UNAVAILABLE",
		    "calls cannot be recorded at the moment");
	else if (!first)
		record_await(t, key);
	return first;
}

void
tool_call_store(struct tool_call *t)
{
	struct buf json = BUF_INIT(RECORD_MAX);
	struct wire_tool_call_reply rep = t->rep;
	char text[STATE_KEY_MAX];
	struct str key;

	rep.call_id = t->q->call_id;
	rep.state = WIRE_TOOL_CALL_REPLY_STATE_ENDED;
	rep.has_images = false;
	rep.images = NULL;
	rep.n_images = 0;
	/* Without it, a repeated call gets NOT_CONFIRMED. */
	if (record_key(t, text, &key) == RC_OK &&
	    wire_encode(&wire_tool_call_reply_desc, &rep, &json, NULL) == RC_OK)
		(void)!state_cmd(t->host->state,
		    STATE_ARGS(STR("SET"), key, buf_str(&json), STR("PX"),
			STR(RECORD_TTL)),
		    NULL);
	buf_free(&json);
}
