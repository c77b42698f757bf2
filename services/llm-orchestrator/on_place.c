/*
 * The queue is Redis' (state/turn.h).  Who waits asks every half second, and is
 * woken when a turn before it ends.
 */
#include "on_place.h"

#include <stdio.h>
#include <stdlib.h>

#include "ask.h"
#include "bus/bus.h"
#include "core/log.h"
#include "core/mem.h"
#include "orch.h"
#include "run.h"
#include "state/turn.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define POLL_MS 500
#define TICK_MS 1000
/* Places still to be given up; more are left to the end of this process. */
#define LEAVING_MAX 4096

/* A place that could not be given up. */
struct leaving {
	TAILQ_ENTRY(leaving) link;
	struct turn_place place;
	char *user_id, *session_id, *turn_id;
};

/* ---- waiting ----------------------------------------------------------- */

static void on_poll(void *arg);

static void
poll_later(struct run *r)
{
	loop_timer_set(svc_loop(r->o->svc), &r->poll,
	    mono_add_ms(clock_mono(), POLL_MS), on_poll, r);
}

static void
place_ask(struct run *r)
{
	enum rc rc = turn_poll(r->o->state, &r->place, &r->ahead);

	if (rc == RC_OK)
		place_wait(r);
	else if (rc == RC_NOENT || rc == RC_INVALID)
		run_feed_kind(r, TURN_LOST);
	else
		poll_later(r);
}

static void
on_poll(void *arg)
{
	place_ask(arg);
}

void
place_wait(struct run *r)
{
	struct turn_event e = { .kind = TURN_PLACED, .ahead = r->ahead };

	if (r->ahead > 0)
		poll_later(r);
	run_feed(r, &e);
}

enum rc
place_enter(struct run *r)
{
	struct turn_entry e = { .trace_id = str_of(run_trace(r)->trace_id) };
	struct turn_entered in;
	enum rc rc = turn_enter(r->o->state, &r->place, &e, r->a, &in);

	r->ahead = in.ahead;
	/* Nobody knows whether it has a place; it must not stay there. */
	r->entered = rc == RC_OK || rc == RC_TIMEOUT;
	return rc;
}

/* ---- waking ------------------------------------------------------------ */

static bool
is_of(const struct run *r, const struct turn_place *p)
{
	return str_eq(r->place.key.user_id, p->key.user_id) &&
	    str_eq(r->place.key.session_id, p->key.session_id);
}

/* The first turn of a session that waits here asks at once. */
static void
wake_here(struct orch *o, const struct turn_place *p)
{
	struct run *r;

	TAILQ_FOREACH (r, &o->runs, link) {
		if (r->turn.phase != TURN_WAITING || r->poll.pos == 0 ||
		    !is_of(r, p))
			continue;
		loop_timer_set(
		    svc_loop(o->svc), &r->poll, clock_mono(), on_poll, r);
		return;
	}
}

void
on_wake(void *arg, struct bus_msg *m)
{
	struct orch *o = arg;
	struct wire_turn_wake msg;
	struct wire_err err;

	arena_reset(o->scratch);
	enum rc rc = wire_decode(
	    &wire_turn_wake_desc, bus_msg_data(m), o->scratch, &msg, &err);
	if (rc == RC_OK)
		wake_here(o,
		    &(struct turn_place){
			.key = { msg.user_id, msg.session_id } });
	else
		log_warn("turn.wake", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	bus_msg_free(m);
}

static void
wake(struct orch *o, const struct turn_place *p, struct str instance)
{
	struct wire_turn_wake msg = { .user_id = p->key.user_id,
		.session_id = p->key.session_id };
	char subject[ASK_SUBJECT_MAX];

	if (str_eq(instance, str_of(o->instance))) {
		wake_here(o, p);
		return;
	}
	enum rc rc = ask_subject(
	    subject, WIRE_SUBJECT_FMT_TURN_WAKE, instance, (struct str){ 0 });
	buf_reset(&o->out);
	if (rc == RC_OK)
		rc = wire_encode(&wire_turn_wake_desc, &msg, &o->out, NULL);
	if (rc == RC_OK)
		rc = bus_publish(o->bus, subject, buf_str(&o->out), NULL);
	if (rc != RC_OK)
		log_debug("turn.wake_lost", LOG_RC(rc));
}

/* ---- leaving ----------------------------------------------------------- */

static void
leaving_free(struct orch *o, struct leaving *l)
{
	TAILQ_REMOVE(&o->leaving, l, link);
	o->n_leaving--;
	free(l->user_id);
	free(l->session_id);
	free(l->turn_id);
	free(l);
}

void
place_free(struct orch *o)
{
	struct leaving *l;

	while ((l = TAILQ_FIRST(&o->leaving)) != NULL)
		leaving_free(o, l);
}

static void
leave_later(struct run *r)
{
	struct leaving *l;

	if (r->o->n_leaving == LEAVING_MAX) {
		log_error("turn.place_kept", LOG_V("turn", r->place.turn_id));
		return;
	}
	l = mem_zalloc(sizeof(*l));
	r->o->n_leaving++;
	l->user_id = str_dup(r->place.key.user_id);
	l->session_id = str_dup(r->place.key.session_id);
	l->turn_id = str_dup(r->place.turn_id);
	l->place = (struct turn_place){
		.key = { str_of(l->user_id), str_of(l->session_id) },
		.instance = str_of(r->o->instance),
		.turn_id = str_of(l->turn_id),
	};
	TAILQ_INSERT_TAIL(&r->o->leaving, l, link);
}

void
place_left(struct run *r, struct str next)
{
	r->entered = false;
	if (next.p != NULL)
		wake(r->o, &r->place, next);
}

/* Whether the place is given up, or was not there any more. */
static bool
leave(struct orch *o, const struct turn_place *p)
{
	struct arena *a = arena_new(4096);
	struct turn_ending end = { .forget = false };

	enum rc rc = turn_leave(o->state, p, &end, a);
	if (rc == RC_OK && end.next.p != NULL)
		wake(o, p, end.next);
	arena_free(a);
	return rc == RC_OK || rc == RC_NOENT || rc == RC_INVALID;
}

void
place_leave(struct run *r)
{
	if (!r->entered)
		return;
	r->entered = false;
	if (!leave(r->o, &r->place))
		leave_later(r);
}

void
on_tick(void *arg)
{
	struct orch *o = arg;
	struct leaving *l, *next;

	if ((!TAILQ_EMPTY(&o->runs) || !TAILQ_EMPTY(&o->leaving)) &&
	    turn_alive(o->state, str_of(o->instance), TURN_ALIVE_MS) != RC_OK)
		log_debug("turn.alive");
	for (l = TAILQ_FIRST(&o->leaving); l != NULL; l = next) {
		next = TAILQ_NEXT(l, link);
		if (!leave(o, &l->place))
			break;
		leaving_free(o, l);
	}
	loop_timer_set(svc_loop(o->svc), &o->tick,
	    mono_add_ms(clock_mono(), TICK_MS), on_tick, o);
}
