/*
 * Finds the outcome of a turn in its stored record when the orchestrator no
 * longer replies.
 */
#include "chat/chat_turn.h"

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "fcmp/fcmp_read.h"
#include "gateway.h"
#include "state/session.h"
#include "state/turn.h"
#include "streams/event_follower.h"
#include "svc/svc.h"
#include "wire/wire.h"

#define POLL_MS 200

static void turn_recovery_on_timer(void *arg);

static void
turn_recovery_stop_waiting(struct chat_turn *t)
{
	if (t->request != 0)
		bus_request_cancel(svc_bus(t->g->svc), t->request);
	t->request = 0;
	loop_timer_cancel(svc_loop(t->g->svc), &t->silence);
}

static void
turn_recovery_schedule(struct chat_turn *t)
{
	turn_recovery_stop_waiting(t);
	if (clock_wall().ms >= svc_call_deadline(t->c).ms)
		chat_turn_fail(t,
		    &(struct svc_error){ rc_http_status(RC_TIMEOUT),
			rc_name(RC_TIMEOUT), "deadline exceeded" });
	else
		loop_timer_set(svc_loop(t->g->svc), &t->record,
		    mono_add_ms(clock_mono(), POLL_MS), turn_recovery_on_timer,
		    t);
}

/* The stored outcome is the response. */
static void
turn_recovery_take_end(struct chat_turn *t, const struct turn_record *rec)
{
	struct wire_turn_reply rep;
	struct wire_err err;

	turn_recovery_stop_waiting(t);
	if (wire_decode(&wire_turn_reply_desc, rec->reply, svc_call_arena(t->c),
		&rep, &err) != RC_OK)
		chat_turn_lose(t, err.why);
	else if (rep.state != WIRE_TURN_REPLY_STATE_COMPLETED &&
	    rep.state != WIRE_TURN_REPLY_STATE_FAILED &&
	    rep.state != WIRE_TURN_REPLY_STATE_CANCELED)
		chat_turn_lose(t, "its record has no end");
	else
		chat_turn_finish(t, &rep);
}

/* The outcome of an abandoned turn, as its record stores it. */
static enum rc
turn_recovery_encode_lost(
    struct chat_turn *t, const char *text, struct arena *a, struct str *out)
{
	struct wire_turn_reply rep = { .turn_id = str_of(t->id),
		.state = WIRE_TURN_REPLY_STATE_FAILED,
		.instance = str_of(t->g->instance),
		.has_status = true,
		.status = TURN_LOST_STATUS,
		.has_error = true,
		.error = { .error = str_of(text),
		    .code = STR(TURN_LOST_CODE),
		    .trace_id = str_of(svc_call_trace(t->c)->trace_id) } };
	struct buf b = BUF_INIT(EVENTS_TEXT_MAX);
	enum rc rc;

	rc = wire_encode(&wire_turn_reply_desc, &rep, &b, NULL);
	if (rc == RC_OK) {
		*out = arena_str(a, buf_str(&b));
		rc = out->p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

/* Store an outcome; *out has it, or the one that was stored before. */
static enum rc
turn_recovery_close(
    struct chat_turn *t, struct arena *a, struct turn_abandoned *out)
{
	struct turn_slot p = { t->key, str_of(t->g->instance), str_of(t->id) };
	struct turn_abandoning e = { .trace_id = str_of(
					 svc_call_trace(t->c)->trace_id) };
	enum rc rc;

	rc = turn_recovery_encode_lost(t, FCMP_TURN_LOST_TEXT, a, &e.reply);
	if (rc == RC_OK)
		rc = turn_recovery_encode_lost(
		    t, FCMP_TURN_LOST_ACTED, a, &e.acted);
	if (rc == RC_OK)
		rc = turn_abandon(t->g->state, &p, &e, a, out);
	return rc;
}

/* Send the events that were logged before.  False: t has ended. */
static bool
turn_recovery_flush(struct chat_turn *t)
{
	enum rc rc;

	if (!t->stream || t->follower == NULL)
		return true;
	rc = follower_read(t->follower);
	if (rc != RC_OK && rc != RC_NOENT)
		turn_recovery_schedule(t);
	/* An end that it has is not in the turn's record. */
	return (rc == RC_OK || t->end.p != NULL) && !t->released;
}

void
turn_recovery_abandon(struct chat_turn *t, const char *why)
{
	struct arena *a = arena_new(GATEWAY_RECORD_MAX);
	struct turn_record rec = { 0 };
	struct turn_abandoned was;
	enum rc rc;

	turn_recovery_stop_waiting(t);
	t->why = why;
	rc = turn_recovery_close(t, a, &was);
	rec.reply = was.reply;
	if (t->released)
		log_debug("gateway.reader_disconnected", LOG_S("turn", t->id));
	else if (rc != RC_OK)
		turn_recovery_schedule(t);
	else if (was.reply.n > 0)
		turn_recovery_take_end(t, &rec);
	else if (turn_recovery_flush(t))
		chat_turn_lose_as(t, why,
		    was.acting ? FCMP_TURN_LOST_ACTED : FCMP_TURN_LOST_TEXT);
	arena_free(a);
}

/* It has ended, but that may be lost yet. */
static void
turn_recovery_fail_unreplicated(struct chat_turn *t)
{
	struct str text = arena_printf(svc_call_arena(t->c),
	    "what could be done was done, but is not stored safely: too few "
	    "replicas of Redis have it; before you send it again, see GET "
	    "/v1/turns/%s",
	    t->id);

	turn_recovery_stop_waiting(t);
	chat_turn_fail(t,
	    &(struct svc_error){ rc_http_status(RC_UNREPLICATED),
		rc_name(RC_UNREPLICATED),
		text.p != NULL ? text.p : "it is not stored safely" });
}

/* A record that cannot be read is retried. */
static void
turn_recovery_poll(struct chat_turn *t)
{
	struct arena *a = arena_new(GATEWAY_RECORD_MAX);
	struct turn_record rec;
	enum rc rc = RC_OK;

	if (t->why == NULL)
		rc = turn_record_read(
		    t->g->state, t->key.user_id, str_of(t->id), a, &rec);
	if (t->released)
		log_debug("gateway.reader_disconnected", LOG_S("turn", t->id));
	else if (t->why != NULL)
		turn_recovery_abandon(t, t->why);
	else if (rc == RC_UNREPLICATED)
		turn_recovery_fail_unreplicated(t);
	else if (rc != RC_OK)
		turn_recovery_schedule(t);
	else if (!rec.known)
		turn_recovery_abandon(t, "it has no record");
	else if (rec.state == TURN_STATE_ENDED)
		turn_recovery_take_end(t, &rec);
	else if (rec.state == TURN_STATE_LOST)
		turn_recovery_abandon(t, "its process died");
	else
		turn_recovery_schedule(t);
	arena_free(a);
}

static void
turn_recovery_run(void *arg)
{
	struct chat_turn *t = arg;

	log_trace_set(svc_call_trace(t->c)->trace_id);
	chat_turn_enter(t);
	turn_recovery_poll(t);
	chat_turn_leave(t);
}

static void
turn_recovery_on_timer(void *arg)
{
	fiber_start(turn_recovery_run, arg);
}

void
turn_recovery_start(struct chat_turn *t)
{
	turn_recovery_poll(t);
}

void
turn_recovery_follow(struct chat_turn *t, struct str first)
{
	if (first.p == NULL) {
		chat_turn_lose(t, "it repeats nothing");
		return;
	}
	log_info("gateway.turn_repeated", LOG_S("turn", t->id),
	    LOG_V("first", first));
	turn_recovery_stop_waiting(t);
	str_copy(first, t->id, sizeof(t->id));
	if (t->stream) {
		follower_close(t->follower);
		t->follower = NULL;
		t->end = (struct str){ NULL, 0 };
		if (!turn_sse_start(t, 0))
			return;
	}
	turn_recovery_poll(t);
}

/*
 * For a stream the record is checked first: events show that the turn is alive.
 */
void
turn_recovery_on_silence(struct chat_turn *t)
{
	if (t->stream)
		turn_recovery_poll(t);
	else
		turn_recovery_abandon(t, "silence");
}
