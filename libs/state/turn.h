/*
 * turn: one turn of a session at a time, in the order of arrival, across
 * replicas.
 *
 * A list per session is queue, lock and fencing token in one: its head is the
 * running turn.  Whoever is no longer head has been evicted and must stop.  A
 * key per process says which processes live.
 */
#ifndef STATE_TURN_H
#define STATE_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "state/session.h"
#include "state/state.h"

/* Turns of one session that may wait. */
#define TURN_QUEUE_MAX 8

struct turn_place {
	struct session_key key;
	struct str instance; /* of the process, new at every start */
	struct str turn_id;
};

/* Messages to append: n (1 to SESSION_APPEND_MAX) JSON texts. */
struct session_new {
	const struct str *json;
	size_t n;
	struct str late; /* session.late from now on; absent: as it was */
	int64_t chars;   /* code points of their contents; 0: not counted */
};

/* How long turn_enter() and turn_poll() prove that a process lives. */
#define TURN_ALIVE_MS 3000

/*
 * turn_alive(s, instance, ttl_ms):
 * This process lives; again every third of ttl_ms.  Without it turn_enter() and
 * turn_poll() say the same, for TURN_ALIVE_MS.
 */
enum rc turn_alive(
    struct state *s, struct str instance, int64_t ttl_ms) RC_CHECK;

/* Longest text that tells one turn from another, in bytes. */
#define TURN_SAID_MAX (512UL * 1024)

struct turn_entry {
	/* Two turns of a session with the same text here are one; absent: this
	 * turn is like no other. */
	struct str said;
	struct str trace_id; /* for its record; absent: none */
};

struct turn_entered {
	int64_t ahead;    /* turns before it; 0: run now */
	struct str first; /* the turn it repeats; absent: none */
	/* Of the turns that it tries again, all of which came to nothing, the
	 * one that stored this input; absent: it is still to be stored. */
	struct str input;
};

/*
 * turn_enter(s, p, e, a, out):
 * Take a place in the session's queue, after turns of dead processes have been
 * evicted, and begin the turn's record (turn_record.h).  RC_RETRY if
 * TURN_QUEUE_MAX wait.  RC_CONFLICT if the turn has a place already or, with
 * out->first, if it repeats another one of the last 10 minutes; or if it has
 * an end already (turn_abandon()).
 */
enum rc turn_enter(struct state *s, const struct turn_place *p,
    const struct turn_entry *e, struct arena *a,
    struct turn_entered *out) RC_CHECK;

/*
 * turn_poll(s, p, ahead):
 * Where a waiting turn stands now; turns whose process is dead are evicted
 * first.  RC_NOENT if it has no place any more.
 */
enum rc turn_poll(
    struct state *s, const struct turn_place *p, int64_t *ahead) RC_CHECK;

/*
 * turn_hold(s, p):
 * RC_OK while p is head; RC_CONFLICT if it was evicted: stop, change nothing.
 * Asked before each step that has an effect.
 */
enum rc turn_hold(struct state *s, const struct turn_place *p) RC_CHECK;

/*
 * turn_act(s, p):
 * turn_hold() before what a body may carry out; the turn's record says so from
 * now on, whatever the answer's fate.
 */
enum rc turn_act(struct state *s, const struct turn_place *p) RC_CHECK;

/* A turn that is given up by who asked for it. */
struct turn_abandoning {
	struct str trace_id; /* for a record that is not there yet */
	struct str reply; /* its end (a turn_reply, JSON) if it did nothing */
	struct str acted; /* its end if turn_act() was answered RC_OK before */
};

struct turn_abandoned {
	struct str reply; /* the end it had already; absent: it had none */
	bool acting;      /* turn_act() was answered RC_OK for it */
};

/*
 * turn_abandon(s, p, e, a, out):
 * End a turn of whatever process, known or not: it has an end from now on, so a
 * start that arrives later is rejected, and no place, so that whoever runs it
 * fails its next turn_hold().  p->instance is the caller's.  Texts of at most
 * EVENTS_TEXT_MAX; may be repeated.
 */
enum rc turn_abandon(struct state *s, const struct turn_place *p,
    const struct turn_abandoning *e, struct arena *a,
    struct turn_abandoned *out) RC_CHECK;

/*
 * turn_append(s, p, json, n):
 * As session_append(), but RC_CONFLICT and nothing written unless p is head.
 */
enum rc turn_append(struct state *s, const struct turn_place *p,
    const struct str *json, size_t n) RC_CHECK;

/* turn_keep(s, p, new): turn_append(), with what is left open. */
enum rc turn_keep(struct state *s, const struct turn_place *p,
    const struct session_new *new) RC_CHECK;

/* Events told with one step. */
#define TURN_TOLD_MAX 16

/* For the session's log (events.h): n JSON texts, without their seq. */
struct turn_told {
	const struct str *json;
	size_t n;
	int64_t seq; /* set: of the last one; 0: they were not told */
};

/* A user's input: as the arguments of session_user_input(). */
struct turn_input {
	struct str soul, terminal;
	int64_t idle_ms;
};

/*
 * turn_append_input(s, p, new, in, told):
 * turn_keep(), session_user_input() and the events, all or none.
 *
 * turn_stored_input(s, p, in, told):
 * The same for messages that are there already (turn_entered.input).
 */
enum rc turn_append_input(struct state *s, const struct turn_place *p,
    const struct session_new *new, const struct turn_input *in,
    struct turn_told *told) RC_CHECK;
enum rc turn_stored_input(struct state *s, const struct turn_place *p,
    const struct turn_input *in, struct turn_told *told) RC_CHECK;

/*
 * turn_tell(pipe, p, told):
 * Queue the telling of events; nothing is told unless p is head when the
 * pipeline runs.
 *
 * turn_told_reply(pipe, i, seq):
 * What came of it as command i of the pipeline: *seq as struct turn_told has
 * it, or RC_CONFLICT.
 */
enum rc turn_tell(struct state_pipe *pipe, const struct turn_place *p,
    const struct turn_told *told) RC_CHECK;
enum rc turn_told_reply(
    const struct state_pipe *pipe, size_t i, int64_t *seq) RC_CHECK;

/* The end of a turn. */
struct turn_ending {
	struct str reply;    /* its turn_reply, JSON; absent: not to be kept */
	struct str timeline; /* JSON; absent: none */
	/* Nothing came of it: who says the same again is not repeating it. */
	bool forget;
	struct turn_told told;
	/* Set: the instance of the turn that has become head by that (to be
	 * woken); absent if none has. */
	struct str next;
};

/*
 * turn_leave(s, p, end, a):
 * Give up the place, head or waiting, and keep the turn's end; the first end
 * counts.  RC_NOENT if p had no place any more: the end is kept all the same,
 * its events are not told.
 */
enum rc turn_leave(struct state *s, const struct turn_place *p,
    struct turn_ending *end, struct arena *a) RC_CHECK;

/*
 * turn_finish(s, p, new, end, a):
 * turn_keep() and turn_leave() in one: both or neither; RC_CONFLICT unless p
 * is head.
 */
enum rc turn_finish(struct state *s, const struct turn_place *p,
    const struct session_new *new, struct turn_ending *end,
    struct arena *a) RC_CHECK;

#endif /* !STATE_TURN_H */
