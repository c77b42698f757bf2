/*
 * What became of a turn that nobody answers for any more: its record knows.
 */
#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "follow.h"
#include "gateway.h"
#include "state/events.h"
#include "state/turn.h"
#include "state/turn_record.h"
#include "svc/svc.h"
#include "turn_own.h"
#include "wire/wire.h"

#define LOOK_MS 200

static void look(void *arg);

/* Nobody is asked any more. */
static void
stop_asking(struct turn *t)
{
	if (t->request != 0)
		bus_request_cancel(svc_bus(t->g->svc), t->request);
	t->request = 0;
	loop_timer_cancel(svc_loop(t->g->svc), &t->silence);
}

static void
look_later(struct turn *t)
{
	stop_asking(t);
	if (clock_wall().ms >= svc_call_deadline(t->c).ms)
		turn_fail(t,
		    &(struct svc_error){ rc_http_status(RC_TIMEOUT),
			rc_name(RC_TIMEOUT), "deadline exceeded" });
	else
		loop_timer_set(svc_loop(t->g->svc), &t->record,
		    mono_add_ms(clock_mono(), LOOK_MS), look, t);
}

/* It ended as it says; what it says is the caller's answer. */
static void
take_end(struct turn *t, const struct turn_record *rec)
{
	struct wire_turn_reply rep;
	struct wire_err err;

	stop_asking(t);
	if (wire_decode(&wire_turn_reply_desc, rec->reply, svc_call_arena(t->c),
		&rep, &err) != RC_OK)
		turn_lose(t, err.why);
	else if (rep.state != WIRE_TURN_REPLY_STATE_COMPLETED &&
	    rep.state != WIRE_TURN_REPLY_STATE_FAILED &&
	    rep.state != WIRE_TURN_REPLY_STATE_CANCELED)
		turn_lose(t, "its record has no end");
	else
		turn_conclude(t, &rep);
}

/* ---- giving up ----------------------------------------------------------- */

/* The end of a turn that is given up, as its record keeps it. */
static enum rc
lost_reply(struct turn *t, const char *text, struct str *out)
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
		*out = arena_str(t->g->scratch, buf_str(&b));
		rc = out->p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

/* It has an end from now on; what that is, is in out. */
static enum rc
end_it(struct turn *t, struct turn_abandoned *out)
{
	struct turn_place p = { t->key, str_of(t->g->instance), str_of(t->id) };
	struct turn_abandoning e = { .trace_id = str_of(
					 svc_call_trace(t->c)->trace_id) };
	enum rc rc;

	arena_reset(t->g->scratch);
	rc = lost_reply(t, TURN_LOST_TEXT, &e.reply);
	if (rc == RC_OK)
		rc = lost_reply(t, TURN_LOST_DID, &e.acted);
	if (rc == RC_OK)
		rc = turn_abandon(t->g->state, &p, &e, t->g->scratch, out);
	return rc;
}

/* Events that were told before go first; false: t has ended. */
static bool
read_events(struct turn *t)
{
	enum rc rc;

	if (!t->stream || t->follow == NULL)
		return true;
	rc = follow_read(t->follow);
	if (rc != RC_OK && rc != RC_NOENT)
		look_later(t);
	return rc == RC_OK;
}

void
turn_give_up(struct turn *t, const char *why)
{
	struct turn_record rec = { 0 };
	struct turn_abandoned was;
	enum rc rc;

	stop_asking(t);
	t->why = why;
	rc = end_it(t, &was);
	rec.reply = was.reply;
	if (rc != RC_OK)
		look_later(t);
	else if (was.reply.n > 0)
		take_end(t, &rec);
	else if (read_events(t))
		turn_lose_as(
		    t, why, was.acting ? TURN_LOST_DID : TURN_LOST_TEXT);
}

static enum rc
read_record(struct turn *t, struct turn_record *rec)
{
	arena_reset(t->g->scratch);
	return turn_record_read(t->g->state, str_of(t->id), t->g->scratch, rec);
}

/* A record that cannot be read now may be a moment later. */
static void
look(void *arg)
{
	struct turn *t = arg;
	struct turn_record rec;
	enum rc rc;

	log_trace_set(svc_call_trace(t->c)->trace_id);
	rc = t->why != NULL ? RC_OK : read_record(t, &rec);
	if (t->why != NULL)
		turn_give_up(t, t->why);
	else if (rc != RC_OK)
		look_later(t);
	else if (!rec.known)
		turn_give_up(t, "it has no record");
	else if (rec.state == TURN_STATE_ENDED)
		take_end(t, &rec);
	else if (rec.state == TURN_STATE_LOST)
		turn_give_up(t, "its process died");
	else
		look_later(t);
	log_trace_set("");
}

void
turn_of_record(struct turn *t)
{
	look(t);
}

void
turn_repeats(struct turn *t, struct str first)
{
	if (first.p == NULL) {
		turn_lose(t, "it repeats nothing");
		return;
	}
	log_info("gateway.turn_repeated", LOG_S("turn", t->id),
	    LOG_V("first", first));
	stop_asking(t);
	str_copy(first, t->id, sizeof(t->id));
	if (t->stream) {
		follow_close(t->follow);
		t->follow = NULL;
		if (!turn_follow(t, 0))
			return;
	}
	look(t);
}

/* A stream has the events to say that a turn lives. */
void
turn_was_silent(struct turn *t)
{
	if (t->stream)
		look(t);
	else
		turn_give_up(t, "silence");
}
