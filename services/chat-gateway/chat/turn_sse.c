/*
 * A turn streamed to the client that started it.
 */
#include "chat/chat_turn.h"

#include "chat/turn_end_event.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "gateway.h"
#include "streams/event_follower.h"
#include "svc/svc.h"
#include "wire/wire.h"

/* Retry interval for a log that could not be read to its end. */
#define RETRY_MS 50
/* A run has at least these events: start, text, end. */
#define RUN_EVENTS_MIN 3

bool
turn_sse_accepted(struct str accept)
{
	while (accept.p != NULL) {
		struct str one = str_split(&accept, ',');
		struct str type = str_trim(str_split(&one, ';'));

		if (str_eq_nocase(type, STR("text/event-stream")))
			return true;
	}
	return false;
}

/* The first event starts the stream; until then an error is a response. */
static enum rc
turn_sse_send(struct chat_turn *t, const struct fcmp_event *e)
{
	enum rc rc = RC_OK;

	if (!t->begun)
		rc = svc_sse_start(t->c);
	if (rc == RC_OK) {
		t->begun = true;
		t->sent = e->seq;
		t->has_final |=
		    e->type == WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL;
		rc = t->form != NULL ? t->form->event(t, e)
				     : gateway_stream_send(t->c, e);
	}
	return rc;
}

static bool
turn_sse_hold(struct chat_turn *t, const struct fcmp_event *e)
{
	if (t->g->conf->redis.wait_replicas == 0 ||
	    !fcmp_event_ends_turn(e->type))
		return false;
	t->end = arena_str(svc_call_arena(t->c), e->json);
	t->end_seq = e->seq;
	return t->end.p != NULL;
}

static bool
turn_sse_on_event(void *arg, const struct fcmp_event *e)
{
	struct chat_turn *t = arg;
	enum rc rc;

	if (turn_sse_hold(t, e)) {
		t->follower = NULL;
		return false;
	}
	rc = turn_sse_send(t, e);

	/*
	 * A disconnect is reported by chat_turn_on_disconnect(), which cancels.
	 */
	if (rc == RC_OK && !fcmp_event_ends_turn(e->type))
		return true;
	t->follower = NULL;
	if (rc == RC_OK || !t->cancel)
		svc_stream_end(chat_turn_release(t), rc);
	return false;
}

static bool
turn_sse_is_ready(void *arg)
{
	struct chat_turn *t = arg;

	return !t->begun || gateway_stream_has_room(t->c);
}

bool
turn_sse_start(struct chat_turn *t, int64_t after)
{
	enum rc rc;

	rc = follower_open(t->g->followers,
	    &(struct follower_opts){ .key = events_of_session(&t->key),
		.after = after,
		.turn_id = str_of(t->id),
		.fn = turn_sse_on_event,
		.ready = turn_sse_is_ready,
		.arg = t },
	    &t->follower);
	if (rc != RC_OK)
		gateway_fail_bus(chat_turn_release(t), rc);
	return rc == RC_OK;
}

/* Of an event that is made here; now is for its time. */
static struct fcmp_head
turn_sse_head(const struct chat_turn *t, int64_t seq, char now[WALL_FORMAT_MAX])
{
	struct fcmp_head h;

	wall_format(clock_wall(), 0, now);
	h = fcmp_chat_head(str_of(t->id), t->key.session_id, str_of(now));
	h.seq = seq;
	return h;
}

/*
 * The turn has ended, but its log has no end event: send what the turn's record
 * has instead.
 */
static enum rc
turn_sse_send_end(struct chat_turn *t, const struct wire_turn_reply *rep)
{
	char now[WALL_FORMAT_MAX];
	struct fcmp_head h = turn_sse_head(t, follower_last(t->follower), now);
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	bool begun = t->begun;
	struct fcmp_event e;
	enum rc rc = RC_OK;

	if (h.seq < t->sent + RUN_EVENTS_MIN)
		h.seq = t->sent + RUN_EVENTS_MIN;
	h.seq -= RUN_EVENTS_MIN - 1;
	if (!begun || rep->has_response) {
		rc = fcmp_event_expired(&h, &text, &e);
		if (rc == RC_OK)
			rc = turn_sse_send(t, &e);
	}
	h.seq++;
	if (rc == RC_OK && rep->has_response) {
		rc = turn_end_event_text(&h, rep, &text, &e);
		if (rc == RC_OK)
			rc = turn_sse_send(t, &e);
	}
	h.seq++;
	if (rc == RC_OK)
		rc = turn_end_event(&h, rep, &text, &e);
	if (rc == RC_OK)
		rc = turn_sse_send(t, &e);
	buf_free(&text);
	return rc;
}

static bool
turn_sse_is_unreplicated(const struct wire_turn_reply *rep)
{
	return rep->state == WIRE_TURN_REPLY_STATE_FAILED && rep->has_error &&
	    str_eq(rep->error.code, str_of(rc_name(RC_UNREPLICATED)));
}

/*
 * The reply's text, if its event was not sent: live events that a failover has
 * lost had the same numbers.
 */
static enum rc
turn_sse_send_final(struct chat_turn *t, const struct wire_turn_reply *rep)
{
	char now[WALL_FORMAT_MAX];
	const struct fcmp_head h = turn_sse_head(t, t->end_seq - 1, now);
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	struct fcmp_event e;
	enum rc rc;

	rc = turn_end_event_text(&h, rep, &text, &e);
	if (rc == RC_OK)
		rc = turn_sse_send(t, &e);
	buf_free(&text);
	return rc;
}

/* The end that was held back, unless it is not stored safely. */
static void
turn_sse_end_held(struct chat_turn *t, const struct wire_turn_reply *rep)
{
	char now[WALL_FORMAT_MAX];
	const struct fcmp_head h = turn_sse_head(t, t->end_seq, now);
	struct fcmp_event e = { .seq = t->end_seq, .json = t->end };
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc = RC_OK;

	if (turn_sse_is_unreplicated(rep))
		rc = turn_end_event(&h, rep, &text, &e);
	else if (rep->has_response && !t->has_final)
		rc = turn_sse_send_final(t, rep);
	if (rc == RC_OK)
		rc = turn_sse_send(t, &e);
	svc_stream_end(chat_turn_release(t), rc);
	buf_free(&text);
}

static void
turn_sse_finish_retried(void *arg)
{
	struct chat_turn *t = arg;

	log_trace_set(svc_call_trace(t->c)->trace_id);
	chat_turn_enter(t);
	if (clock_wall().ms < svc_call_deadline(t->c).ms)
		chat_turn_finish(t, &t->last);
	else
		chat_turn_lose(t, "its events cannot be read");
	chat_turn_leave(t);
}

static void
turn_sse_on_retry(void *arg)
{
	fiber_start(turn_sse_finish_retried, arg);
}

static void
turn_sse_retry(struct chat_turn *t, const struct wire_turn_reply *rep)
{
	struct wire_turn_reply last = *rep;

	t->last = last;
	loop_timer_cancel(svc_loop(t->g->svc), &t->silence);
	loop_timer_set(svc_loop(t->g->svc), &t->record,
	    mono_add_ms(clock_mono(), RETRY_MS), turn_sse_on_retry, t);
}

/*
 * The end event is logged before the final reply is sent, so it can be read
 * now.
 */
bool
turn_sse_finish(struct chat_turn *t, const struct wire_turn_reply *rep)
{
	enum rc rc = RC_OK;

	if (t->follower == NULL && t->end.p == NULL) {
		svc_stream_end(chat_turn_release(t), RC_DOWN);
		return true;
	}
	if (t->follower != NULL)
		rc = follower_read(t->follower);
	if (t->released)
		return true;
	if (t->end.p != NULL) {
		turn_sse_end_held(t, rep);
		return true;
	}
	if (rc == RC_NOENT)
		return true;
	if (rc != RC_OK) {
		turn_sse_retry(t, rep);
		return true;
	}
	if (!t->begun && rep->state != WIRE_TURN_REPLY_STATE_COMPLETED)
		return false;
	rc = turn_sse_send_end(t, rep);
	svc_stream_end(chat_turn_release(t), rc);
	return true;
}
