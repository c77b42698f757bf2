/*
 * What became of a turn that nobody answers for any more: its record knows.
 */
#include "bus/bus.h"
#include "core/arena.h"
#include "core/log.h"
#include "follow.h"
#include "gateway.h"
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
		bus_cancel(svc_bus(t->g->svc), t->request);
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

/* Who evicts a dead turn says so in its session's log: let that be us. */
static void
take_loss(struct turn *t)
{
	struct turn_place p = { t->key, str_of(t->g->instance), str_of(t->id) };
	int64_t ahead;
	enum rc rc;

	stop_asking(t);
	if (t->stream && t->follow != NULL) {
		rc = turn_poll(t->g->state, &p, &ahead);
		if (rc == RC_NOENT)
			rc = follow_read(t->follow);
		if (rc == RC_NOENT)
			return;
		if (rc != RC_OK) {
			look_later(t);
			return;
		}
	}
	turn_lose(t, "its process died");
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
	rc = read_record(t, &rec);
	if (rc != RC_OK)
		look_later(t);
	else if (!rec.known)
		turn_lose(t, "it has no record");
	else if (rec.state == TURN_STATE_ENDED)
		take_end(t, &rec);
	else if (rec.state == TURN_STATE_LOST)
		take_loss(t);
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
	struct turn_record rec;

	if (t->stream)
		look(t);
	else if (read_record(t, &rec) == RC_OK && rec.known &&
	    rec.state == TURN_STATE_ENDED)
		take_end(t, &rec);
	else
		turn_lose(t, "silence");
}
