/*
 * soul: a soul's record, its emotional state under compare-and-set, its ticks.
 */
#ifndef STATE_SOUL_H
#define STATE_SOUL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Largest emotional state, in bytes; its format is the emotion-engine's. */
#define SOUL_STATE_MAX 1024
/* Longest name, MBTI type and model, in bytes each. */
#define SOUL_TEXT_MAX 512
/* Souls of one user. */
#define SOUL_LIST_MAX 1000

struct soul {
	struct str id, user_id, name, mbti_type;
	struct str model; /* version of the emotion model */
	struct wall created;
};

/*
 * soul_create(s, soul, state):
 * RC_CONFLICT if the user has a soul of that name or there is one with that id,
 * RC_RETRY if the user has SOUL_LIST_MAX.  state is the first emotional state,
 * version 1.
 */
enum rc soul_create(
    struct state *s, const struct soul *soul, struct str state) RC_CHECK;

/* soul_read(s, user, id, a, out): RC_NOENT if the user has no such soul. */
enum rc soul_read(struct state *s, struct str user, struct str id,
    struct arena *a, struct soul *out) RC_CHECK;

/* The terminals of a deleted soul. */
struct soul_unbound {
	struct arena *a; /* the caller's, which the ids are taken from */
	struct str *ids;
	size_t n, total; /* ids, all: a may have had no room for more */
};

/*
 * soul_delete(s, user, id, out):
 * Delete it and unbind its terminals; *out, in which only a is set, may be
 * NULL.  RC_NOENT if the user has no such soul.  After any other error it may
 * be deleted but have terminals; then repeating it unbinds them, and so does
 * listing the user's terminals or binding one, 5 s later.
 */
enum rc soul_delete(struct state *s, struct str user, struct str id,
    struct soul_unbound *out) RC_CHECK;

/* soul_list(s, user, a, list, n): The user's souls, oldest first. */
enum rc soul_list(struct state *s, struct str user, struct arena *a,
    struct soul **list, size_t *n) RC_CHECK;

/* ---- emotional states ---- */

/* An emotional state, with the number of its changes. */
struct soul_state {
	struct str user_id, soul_id;
	int64_t version; /* 0: there is no such soul, or it is not readable */
	struct str bytes;
	struct str log; /* entry that describes the change; absent: none */
	/* Of soul_state_swap(): a turn of the user whose record is to say that
	 * the state is stored (turn_ending.soul_saved); absent: none. */
	struct str turn_id;
	bool noted; /* set: it says so; the turn had not ended */
};

/*
 * soul_state_get(s, st, n, a):
 * Read the states of n souls (ids given), 4,096 to a round trip.
 */
enum rc soul_state_get(
    struct state *s, struct soul_state *st, size_t n, struct arena *a) RC_CHECK;

/*
 * soul_state_cas(s, st, n, won):
 * For each: store bytes as version + 1 if its version is still st->version, and
 * with it st->log in the soul's log; won[i] says whether.  Those without a log
 * that follow each other, in a cluster of one bucket, cost one script.  Round
 * trips as above.  If one fails, won is true for those that are known to be
 * stored.
 */
enum rc soul_state_cas(
    struct state *s, const struct soul_state *st, size_t n, bool *won) RC_CHECK;

/*
 * soul_state_swap(s, st, a, won):
 * As soul_state_cas() of one soul with a log entry.  If another change was
 * faster, *won is false and *st is what is stored instead, as soul_state_get()
 * reads it.
 */
enum rc soul_state_swap(struct state *s, struct soul_state *st, struct arena *a,
    bool *won) RC_CHECK;

/* Entries of a soul's log, their lifetime, and the size of one. */
#define SOUL_LOG_MAX       256
#define SOUL_LOG_MS        (INT64_C(7) * 24 * 3600 * 1000)
#define SOUL_LOG_ENTRY_MAX 512

/* A logged change of a soul's state. */
struct soul_log_entry {
	struct wall at; /* when it was stored, by Redis' clock */
	struct str bytes;
};

struct soul_log_page {
	struct str user_id, soul_id;
	struct wall since; /* only entries stored later */
	size_t max;        /* 1 to SOUL_LOG_MAX */
};

/*
 * soul_log_read(s, page, a, list, n):
 * The newest entries of a soul's log, oldest first; none of a soul that does
 * not exist.
 */
enum rc soul_log_read(struct state *s, const struct soul_log_page *page,
    struct arena *a, struct soul_log_entry **list, size_t *n) RC_CHECK;

/* ---- ticks ---- */

/* A present terminal of a soul. */
struct soul_terminal {
	struct str terminal_id, broker;
};

/* A soul whose tick was claimed: its state, and its terminals. */
struct soul_due {
	struct str user_id, soul_id;
	struct soul_state state; /* as of soul_state_get() */
	struct soul_terminal *terminal;
	size_t n;
};

/* A bucket to be claimed from, and the claim. */
struct soul_tick_bucket {
	unsigned number;
	/* Result: ms until more is due there; -1: no soul of it ticks; 0 also
	 * if the claim has failed. */
	int64_t in_ms;
	size_t n;           /* result: souls that were claimed */
	int64_t next;       /* result: when those are due next, Unix ms */
	int64_t claim_ends; /* result: they are due then unless they are done */
};

/* Souls of one bucket's claim, buckets of one call, claims to be done. */
#define SOUL_TICK_CLAIM_MAX   128
#define SOUL_TICK_BUCKETS_MAX 64
#define SOUL_TICK_DONE_MAX    1024

struct soul_tick {
	int64_t interval_ms;
	struct soul_tick_bucket *bucket; /* at most SOUL_TICK_BUCKETS_MAX */
	size_t n_buckets;
	/* Claimed before and done now, at most SOUL_TICK_DONE_MAX. */
	const struct soul_tick_bucket *done;
	size_t n_done;
};

/*
 * soul_tick_claim(s, t, a, list, n):
 * In one round trip: the souls of the claims t->done are due next at their
 * next, and souls of t->bucket whose tick is due by Redis' clock are claimed.
 * A claim lasts half an interval; if it is not done by then (its process died),
 * the soul is due.  Each bucket has a fixed offset within the interval, at
 * which all its souls are due; missed ticks are skipped.  *list has their
 * present terminals; a soul without one is not due until one of its terminals
 * comes online.  Any number of processes may claim; each due tick is claimed
 * once.  After an error *list has what is known to be claimed; what does not
 * fit a misses this tick.
 */
enum rc soul_tick_claim(struct state *s, const struct soul_tick *t,
    struct arena *a, struct soul_due **list, size_t *n) RC_CHECK;

/* soul_tick_done(s, done, n): n (≤ SOUL_TICK_DONE_MAX) claims are done. */
enum rc soul_tick_done(
    struct state *s, const struct soul_tick_bucket *done, size_t n) RC_CHECK;

#endif /* !STATE_SOUL_H */
