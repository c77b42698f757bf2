/*
 * A turn's events for the client that asked for them.
 */
#include "core/buf.h"
#include "core/log.h"
#include "follow.h"
#include "gateway.h"
#include "send.h"
#include "svc/svc.h"
#include "turn_own.h"
#include "wire/wire.h"

/* When a log that could not be read to its end is read again. */
#define AGAIN_MS 50
/* A run that has ended has told this much at least: begin, text, end. */
#define RUN_MIN 3

bool
turn_wants_stream(struct str accept)
{
	while (accept.p != NULL) {
		struct str one = str_split(&accept, ',');
		struct str type = str_trim(str_split(&one, ';'));

		if (str_eq_nocase(type, STR("text/event-stream")))
			return true;
	}
	return false;
}

/* The first event begins the stream: until then an error is an answer. */
static enum rc
put(struct turn *t, const struct event *e)
{
	enum rc rc = RC_OK;

	if (!t->begun)
		rc = svc_stream(t->c);
	if (rc == RC_OK) {
		t->begun = true;
		t->sent = e->seq;
		rc = send_event(t->c, e);
	}
	return rc;
}

static bool
on_event(void *arg, const struct event *e)
{
	struct turn *t = arg;
	enum rc rc = put(t, e);

	/* One that has gone is heard of in another way. */
	if (rc == RC_OK && !event_ends(e->type))
		return true;
	t->follow = NULL;
	if (rc == RC_OK || !t->cancel)
		svc_stream_end(turn_end(t), rc);
	return false;
}

static bool
is_ready(void *arg)
{
	struct turn *t = arg;

	return !t->begun || send_has_room(t->c);
}

bool
turn_follow(struct turn *t, int64_t after)
{
	enum rc rc;

	rc = follow_open(t->g->follows,
	    &(struct follow_opts){ .key = t->key,
		.after = after,
		.run_id = str_of(t->id),
		.fn = on_event,
		.ready = is_ready,
		.arg = t },
	    &t->follow);
	if (rc != RC_OK)
		gateway_fail_bus(turn_end(t), rc);
	return rc == RC_OK;
}

/* ---- the end ------------------------------------------------------------- */

/*
 * The log has no end of the turn, though it has ended: what is kept of it
 * elsewhere is told instead.
 */
static enum rc
put_end(struct turn *t, const struct wire_turn_reply *rep)
{
	struct event_place p = { follow_last(t->follow), str_of(t->id),
		t->key.session_id, clock_wall() };
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	bool begun = t->begun;
	struct event e;
	enum rc rc = RC_OK;

	if (p.seq < t->sent + RUN_MIN)
		p.seq = t->sent + RUN_MIN;
	p.seq -= RUN_MIN - 1;
	if (!begun || rep->has_response) {
		rc = event_gone(&p, &text, &e);
		if (rc == RC_OK)
			rc = put(t, &e);
	}
	p.seq++;
	if (rc == RC_OK && rep->has_response) {
		rc = event_final(&p, rep, &text, &e);
		if (rc == RC_OK)
			rc = put(t, &e);
	}
	p.seq++;
	if (rc == RC_OK)
		rc = event_end(&p, rep, &text, &e);
	if (rc == RC_OK)
		rc = put(t, &e);
	buf_free(&text);
	return rc;
}

static void
on_again(void *arg)
{
	struct turn *t = arg;

	log_trace_set(svc_call_trace(t->c)->trace_id);
	if (clock_wall().ms < svc_call_deadline(t->c).ms)
		turn_conclude(t, &t->last);
	else
		turn_lose(t, "its events cannot be read");
	log_trace_set("");
}

static void
again(struct turn *t, const struct wire_turn_reply *rep)
{
	struct wire_turn_reply last = *rep;

	t->last = last;
	loop_timer_cancel(svc_loop(t->g->svc), &t->silence);
	loop_timer_set(svc_loop(t->g->svc), &t->record,
	    mono_add_ms(clock_mono(), AGAIN_MS), on_again, t);
}

/* Its end is in the log since before it was told; it has only to be read. */
bool
turn_stream_end(struct turn *t, const struct wire_turn_reply *rep)
{
	enum rc rc;

	if (t->follow == NULL) {
		svc_stream_end(turn_end(t), RC_DOWN);
		return true;
	}
	rc = follow_read(t->follow);
	if (rc == RC_NOENT)
		return true;
	if (rc != RC_OK) {
		again(t, rep);
		return true;
	}
	if (!t->begun && rep->state != WIRE_TURN_REPLY_STATE_COMPLETED)
		return false;
	rc = put_end(t, rep);
	svc_stream_end(turn_end(t), rc);
	return true;
}
