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

/*
 * turn_enter(s, p, ahead):
 * Take a place in the session's queue, after turns of dead processes have been
 * evicted.  *ahead 0: run now.  RC_AGAIN if TURN_QUEUE_MAX wait, RC_CONFLICT if
 * the turn has a place already.
 */
enum rc turn_enter(
    struct state *s, const struct turn_place *p, int64_t *ahead) RC_CHECK;

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
 * turn_append(s, p, json, n):
 * As session_append(), but RC_CONFLICT and nothing written unless p is head.
 */
enum rc turn_append(struct state *s, const struct turn_place *p,
    const struct str *json, size_t n) RC_CHECK;

/* turn_keep(s, p, new): turn_append(), with what is left open. */
enum rc turn_keep(struct state *s, const struct turn_place *p,
    const struct session_new *new) RC_CHECK;

/* A user's input: as the arguments of session_user_input(). */
struct turn_input {
	struct str soul, terminal;
	int64_t idle_ms;
};

/*
 * turn_append_input(s, p, new, in):
 * turn_keep() and session_user_input() in one: both or neither.
 */
enum rc turn_append_input(struct state *s, const struct turn_place *p,
    const struct session_new *new, const struct turn_input *in) RC_CHECK;

/*
 * turn_leave(s, p, a, next):
 * Give up the place, head or waiting.  *next is the instance of the turn that
 * has become head by that (to be woken), absent if none has.  RC_NOENT if p had
 * no place any more.
 */
enum rc turn_leave(struct state *s, const struct turn_place *p, struct arena *a,
    struct str *next) RC_CHECK;

/*
 * turn_finish(s, p, new, a, next):
 * turn_keep() and turn_leave() in one: both or neither; RC_CONFLICT unless p
 * is head.
 */
enum rc turn_finish(struct state *s, const struct turn_place *p,
    const struct session_new *new, struct arena *a, struct str *next) RC_CHECK;

#endif /* !STATE_TURN_H */
