/*
 * turn: one turn of a session at a time, in the order of arrival, across
 * replicas.
 *
 * A list per session is queue, lock and fencing token in one: its head is the
 * running turn.  A turn that is no longer head was evicted and must stop.  A
 * key per process, in each bucket in which it has turns, says which processes
 * are alive.
 */
#ifndef STATE_TURN_H
#define STATE_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/events.h"
#include "state/session.h"
#include "state/state.h"

/* Turns of one session that may wait. */
#define TURN_QUEUE_MAX 8

/* A turn in its session's queue. */
struct turn_slot {
	struct session_key key;
	struct str instance; /* of the process, new at every start */
	struct str turn_id;
};

/* Messages to append: n (1 to SESSION_APPEND_MAX) JSON texts. */
struct session_new {
	const struct str *json;
	size_t n;
	struct str pending; /* session.pending from now on; absent: unchanged */
	int64_t chars;      /* code points of their contents; 0: not counted */
};

/* Events logged in one step. */
#define TURN_EVENTS_MAX 16

/* For the session's log of events: n JSON texts, without their seq. */
struct turn_events {
	const struct str *json;
	size_t n;
	int64_t seq;   /* set: of the last one; 0: they were not logged */
	bool followed; /* set: a client follows (events_follow()) */
};

/* A user's input: as the arguments of session_user_input(). */
struct turn_input {
	struct str soul, terminal;
	int64_t idle_ms;
};

/*
 * For how long turn_enter() and turn_poll() mark a process as alive; at least
 * two thirds of it are left then.
 */
#define TURN_ALIVE_MS 3000

/*
 * turn_alive(s, instance, buckets, n, ttl_ms):
 * Mark this process as alive in n (at most STATE_BUCKETS) buckets, of the users
 * whose turns it has; to be repeated every third of ttl_ms.  In one round trip;
 * the first error is returned.  turn_enter() and turn_poll() do it too, for
 * TURN_ALIVE_MS.
 */
enum rc turn_alive(struct state *s, struct str instance,
    const unsigned *buckets, size_t n, int64_t ttl_ms) RC_CHECK;

/* ---- queue ---- */

/* Longest fingerprint, in bytes. */
#define TURN_FINGERPRINT_MAX (512UL * 1024)

struct turn_entry {
	/* Turns of a session with the same text are retries of each other;
	 * absent: this turn is never one. */
	struct str fingerprint;
	struct str trace_id; /* for its record; absent: none */
	/*
	 * Stored in the same step, as by turn_append_input(), if the turn may
	 * run now; input NULL: not.  With acting that is a turn_mark_acting()
	 * too.
	 */
	const struct turn_input *input;
	const struct session_new *messages;
	struct turn_events *events;
	bool acting;
};

struct turn_entered {
	int64_t ahead;    /* turns before it; 0: run now */
	bool begun;       /* the input is stored, its events are logged */
	struct str first; /* the turn it repeats; absent: none */
	/* The turn that stored this input, of the earlier attempts, none of
	 * which had an effect; absent: it is still to be stored. */
	struct str input;
	/* Of its session, if it has begun; absent: none (state/session.h). */
	struct str summary, pending, approval, inner_voice;
	struct session_notes notes;
	struct str mind_link; /* if it has begun, of its soul (state/nav.h) */
};

/*
 * turn_enter(s, p, e, a, out):
 * Append the turn to the session's queue, after the turns of dead processes
 * were evicted, and begin its record.  RC_RETRY if TURN_QUEUE_MAX wait.
 * RC_CONFLICT if the turn is queued already or, with out->first, if it repeats
 * another one of the last 10 minutes; or if it has ended already
 * (turn_abandon()).  RC_NOENT if the input's soul does not exist.
 */
enum rc turn_enter(struct state *s, const struct turn_slot *p,
    const struct turn_entry *e, struct arena *a,
    struct turn_entered *out) RC_CHECK;

/* A turn in a queue, and the process that has put it there. */
struct turn_named {
	struct str instance, turn_id;
};

struct turn_position {
	int64_t ahead;          /* turns before it; 0: run now */
	struct turn_named head; /* the first one */
};

/*
 * turn_poll(s, p, orphan, a, out):
 * Where a waiting turn is; turns of dead processes are evicted first, and so is
 * orphan (NULL: none), of which its caller knows that its process does not run
 * it: an entry that was removed is there again if Redis has lost that.
 * RC_NOENT if p is not queued any more.
 */
enum rc turn_poll(struct state *s, const struct turn_slot *p,
    const struct turn_named *orphan, struct arena *a,
    struct turn_position *out) RC_CHECK;

/*
 * turn_check_head(s, p):
 * RC_OK while p is head; RC_CONFLICT if it was evicted: stop, change nothing.
 * To be called before each step that has an effect.
 */
enum rc turn_check_head(struct state *s, const struct turn_slot *p) RC_CHECK;

/*
 * turn_mark_acting(s, p):
 * turn_check_head() before an action of a terminal; the turn's record says from
 * now on that it may have acted, whatever becomes of the reply.
 */
enum rc turn_mark_acting(struct state *s, const struct turn_slot *p) RC_CHECK;

/*
 * turn_unmark_acting(s, p):
 * No terminal has acted for the turn, and none will before the next
 * turn_mark_acting().
 */
enum rc turn_unmark_acting(struct state *s, const struct turn_slot *p) RC_CHECK;

/*
 * turn_take_approval(s, p, approval):
 * turn_mark_acting(), and the session has the call no more that waits for an
 * approval: whichever turn took it may send it.  approval is the text that was
 * read.  RC_NOENT if the session does not have exactly this any more.
 */
enum rc turn_take_approval(
    struct state *s, const struct turn_slot *p, struct str approval) RC_CHECK;

/* A turn that its caller abandons. */
struct turn_abandoning {
	struct str trace_id; /* for a record that does not exist yet */
	struct str reply; /* its end (a turn_reply, JSON) if it did nothing */
	struct str acted; /* its end if turn_mark_acting() returned RC_OK */
};

struct turn_abandoned {
	struct str reply; /* the end it had already; absent: it had none */
	bool acting;      /* turn_mark_acting() had returned RC_OK for it */
};

/*
 * turn_abandon(s, p, e, a, out):
 * End a turn of any process, known or not: a start that arrives later is
 * rejected, and a process that runs it fails its next turn_check_head().
 * p->instance is the caller's.  Texts of at most EVENTS_TEXT_MAX. Idempotent.
 */
enum rc turn_abandon(struct state *s, const struct turn_slot *p,
    const struct turn_abandoning *e, struct arena *a,
    struct turn_abandoned *out) RC_CHECK;

/*
 * turn_mark(s, p, out):
 * state_mark_now() for what is written for p: taken before it is read that it
 * was written, to wait for that.
 */
enum rc turn_mark(const struct state *s, const struct turn_slot *p,
    struct state_mark *out) RC_CHECK;

/* ---- writes of a running turn ---- */

/*
 * turn_append_messages(s, p, new):
 * As session_append(), with what is pending; RC_CONFLICT and nothing written
 * unless p is head.
 */
enum rc turn_append_messages(struct state *s, const struct turn_slot *p,
    const struct session_new *new) RC_CHECK;

/*
 * turn_append_input(s, p, new, in, events):
 * turn_append_messages(), session_user_input() and the events, all or nothing.
 * RC_NOENT if the soul does not exist.
 *
 * turn_resume_input(s, p, in, events):
 * The same for messages that are stored already (turn_entered.input).
 */
enum rc turn_append_input(struct state *s, const struct turn_slot *p,
    const struct session_new *new, const struct turn_input *in,
    struct turn_events *events) RC_CHECK;
enum rc turn_resume_input(struct state *s, const struct turn_slot *p,
    const struct turn_input *in, struct turn_events *events) RC_CHECK;

/*
 * turn_log_events(pipe, p, events):
 * Queue events; they are not logged unless p is head when the pipeline runs.
 *
 * turn_log_events_reply(pipe, i, seq):
 * The result of that as command i of the pipeline: *seq as struct turn_events
 * has it, or RC_CONFLICT.
 */
enum rc turn_log_events(struct state_pipe *pipe, const struct turn_slot *p,
    const struct turn_events *events) RC_CHECK;
enum rc turn_log_events_reply(
    const struct state_pipe *pipe, size_t i, int64_t *seq) RC_CHECK;

/* The end of a turn. */
struct turn_ending {
	struct str reply;    /* its turn_reply, JSON; absent: not stored */
	struct str timeline; /* JSON; absent: none */
	bool forget;     /* it had no effect: the same input is not a retry */
	int64_t took_ms; /* for turn_finish(): since it entered the queue */
	/* For turn_finish(): session.approval from now on; absent: unchanged.
	 */
	struct str approval;
	struct str inner_voice; /* the same for session.inner_voice */
	/* For turn_leave(): the events follow those that were logged with the
	 * turn's input; without it they are not logged. */
	bool if_begun;
	struct turn_events events;
	/* Set: the instance of the turn that has become head by that (to be
	 * woken); absent if none has. */
	struct str next;
	/* Set by turn_finish(): what the session has since its summary, unless
	 * that is not known without counting. */
	struct session_length length;
	bool length_known;
	bool soul_saved; /* set by turn_finish(): see soul_state.turn_id */
	/* Set by turn_finish(): session_request_summary() would do nothing. */
	bool summary_requested;
};

/*
 * turn_leave(s, p, end, a):
 * Take the turn out of the queue, head or waiting, and store its end; the first
 * end counts.  RC_NOENT if it was not queued any more: the end is stored all
 * the same, its events are not logged.
 */
enum rc turn_leave(struct state *s, const struct turn_slot *p,
    struct turn_ending *end, struct arena *a) RC_CHECK;

/*
 * turn_finish(s, p, new, end, a):
 * turn_append_messages() and turn_leave(), both or neither; RC_CONFLICT unless
 * p is head.
 */
enum rc turn_finish(struct state *s, const struct turn_slot *p,
    const struct session_new *new, struct turn_ending *end,
    struct arena *a) RC_CHECK;

/* ---- records ---- */

enum turn_state {
	TURN_STATE_OPEN,  /* it waits or runs */
	TURN_STATE_ENDED, /* reply is its end */
	TURN_STATE_LOST   /* its process died, so that it has no end */
};

/* A turn's record, stored while it runs and for an hour after its end. */
struct turn_record {
	bool known; /* false: nothing below is set */
	enum turn_state state;
	struct str user_id, session_id;
	struct str instance; /* of the process that has or had it */
	struct str trace_id; /* 32 hex digits; absent: not known */
	struct wall started;
	struct str reply;    /* of an ended one: its last turn_reply, JSON */
	struct str timeline; /* of an ended one: JSON; absent: none */
	int64_t commit_us;   /* what turn_finish() took; 0: not known */
};

/*
 * turn_record_read(s, user_id, turn_id, a, out):
 * A turn of this user; known false if there is none.  An end counts when
 * replicas have it, as if it were stored now.
 */
enum rc turn_record_read(struct state *s, struct str user_id,
    struct str turn_id, struct arena *a, struct turn_record *out) RC_CHECK;

/*
 * turn_put_commit_time(pipe, user, turn_id, us):
 * Queue what turn_finish() took, for the record of the turn that it ended.
 */
enum rc turn_put_commit_time(struct state_pipe *pipe, struct str user,
    struct str turn_id, int64_t us) RC_CHECK;

#endif /* !STATE_TURN_H */
