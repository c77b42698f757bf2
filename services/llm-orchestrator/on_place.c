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
#include "retry.h"
#include "run.h"
#include "state/turn.h"
#include "stream.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define POLL_MS 500
#define TICK_MS 1000
/* Places still to be given up; more are left to the end of this process. */
#define LEAVING_MAX 4096
/* Bytes of one's ending, and of all; over that only places are given up. */
#define LEAVING_ONE   ((size_t)4 * 1024 * 1024)
#define LEAVING_BYTES ((size_t)32 * 1024 * 1024)

/* A place that could not be given up. */
struct leaving {
	TAILQ_ENTRY(leaving) link;
	struct arena *a; /* has all its texts */
	struct turn_slot place;
	struct turn_ending end;
	struct str told[TURN_EVENTS_MAX];
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
place_enter(struct run *r, struct str *first)
{
	struct turn_entry e = { .trace_id = str_of(run_trace(r)->trace_id) };
	struct buf said = BUF_INIT(TURN_FINGERPRINT_MAX);
	struct turn_entered in;

	/* What is too long to be known again is like nothing else. */
	if (retry_write(run_chat(r), &said) && buf_rc(&said) == RC_OK)
		e.fingerprint = buf_str(&said);
	enum rc rc = turn_enter(r->o->state, &r->place, &e, r->a, &in);
	buf_free(&said);
	r->ahead = in.ahead;
	*first = in.first;
	r->input = in.input;
	/* Nobody knows whether it has a place; it must not stay there. */
	r->entered = rc == RC_OK || rc == RC_TIMEOUT;
	return rc;
}

/* ---- waking ------------------------------------------------------------ */

static bool
is_of(const struct run *r, const struct turn_slot *p)
{
	return str_eq(r->place.key.user_id, p->key.user_id) &&
	    str_eq(r->place.key.session_id, p->key.session_id);
}

/* The first turn of a session that waits here asks at once. */
static void
wake_here(struct orch *o, const struct turn_slot *p)
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
		    &(struct turn_slot){
			.key = { msg.user_id, msg.session_id } });
	else
		log_warn("turn.wake", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	bus_msg_free(m);
}

static void
wake(struct orch *o, const struct turn_slot *p, struct str instance)
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
	o->leaving_bytes -= arena_used(l->a);
	arena_free(l->a);
	free(l);
}

void
place_free(struct orch *o)
{
	struct leaving *l;

	while ((l = TAILQ_FIRST(&o->leaving)) != NULL)
		leaving_free(o, l);
}

/* The end of a turn, as far as there is room for it. */
static void
keep_ending(struct orch *o, struct leaving *l, const struct turn_ending *end)
{
	struct turn_ending *to = &l->end;

	if (o->leaving_bytes > LEAVING_BYTES)
		return;
	to->forget = end->forget;
	to->reply = arena_str(l->a, end->reply);
	to->timeline = arena_str(l->a, end->timeline);
	to->events.json = l->told;
	for (size_t i = 0; i < end->events.n; i++) {
		struct str s = arena_str(l->a, end->events.json[i]);
		if (s.p != NULL)
			l->told[to->events.n++] = s;
	}
}

static void
leave_later(struct run *r)
{
	struct orch *o = r->o;

	if (o->n_leaving == LEAVING_MAX) {
		log_error("turn.place_kept", LOG_V("turn", r->place.turn_id));
		return;
	}
	struct leaving *l = mem_zalloc(sizeof(*l));
	l->a = arena_new(LEAVING_ONE);
	l->place = (struct turn_slot){
		.key = { arena_str(l->a, r->place.key.user_id),
		    arena_str(l->a, r->place.key.session_id) },
		.instance = str_of(o->instance),
		.turn_id = arena_str(l->a, r->place.turn_id),
	};
	keep_ending(o, l, &r->ending);
	o->n_leaving++;
	o->leaving_bytes += arena_used(l->a);
	TAILQ_INSERT_TAIL(&o->leaving, l, link);
}

static void
left(struct orch *o, const struct turn_slot *p, const struct turn_ending *end)
{
	stream_publish(o, o->bulk, p, &end->events);
	if (end->next.p != NULL)
		wake(o, p, end->next);
}

void
place_left(struct run *r)
{
	r->entered = false;
	left(r->o, &r->place, &r->ending);
}

/* Whether the place is given up, or was not there any more. */
static bool
leave(struct orch *o, const struct turn_slot *p, struct turn_ending *end)
{
	struct arena *a = arena_new(4096);

	enum rc rc = turn_leave(o->state, p, end, a);
	if (rc == RC_OK)
		left(o, p, end);
	arena_free(a);
	return rc == RC_OK || rc == RC_NOENT || rc == RC_INVALID;
}

void
place_leave(struct run *r)
{
	if (!r->entered)
		return;
	r->entered = false;
	if (!leave(r->o, &r->place, &r->ending))
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
		if (!leave(o, &l->place, &l->end))
			break;
		leaving_free(o, l);
	}
	loop_timer_set(svc_loop(o->svc), &o->tick,
	    mono_add_ms(clock_mono(), TICK_MS), on_tick, o);
}
