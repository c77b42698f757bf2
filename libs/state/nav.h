/*
 * nav: what navigator has to do for a soul with a user: triggers, cycles
 * and its newest suggestion (the mind link).
 *
 * A soul and user have one cycle at a time.  Triggers that come meanwhile, or
 * too soon after it, become one cycle.  Everything here is a call (state.h),
 * and is deleted with the soul.
 */
#ifndef STATE_NAV_H
#define STATE_NAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/keys.h"
#include "state/state.h"

/* Bytes of an output and of a mind link; cycles of one claim. */
#define NAV_OUTPUT_MAX (64UL * 1024)
#define MIND_LINK_MAX  4096
#define NAV_CLAIM_MAX  64

/* Why a cycle runs, in ascending order. */
enum nav_trigger {
	NAV_NONE,
	NAV_IDLE = NAV_TRIGGER_IDLE,     /* nothing has happened for long */
	NAV_MEMORY = NAV_TRIGGER_MEMORY, /* something is remembered now */
	NAV_RESULT = NAV_TRIGGER_RESULT, /* a run ended, an alarm was missed */
	NAV_COUNT = NAV_TRIGGER_COUNT,   /* a number of turns */
	NAV_EMOTION = NAV_TRIGGER_EMOTION, /* the user feels bad */
	NAV_TRIGGER_N
};

struct nav_key {
	struct str user_id, soul_id;
};

/* Something that has happened. */
struct nav_event {
	struct nav_key key;
	struct str id;                      /* the same event has the same */
	struct str session_id, terminal_id; /* absent: as before */
	bool turn;                          /* a turn was completed */
	enum nav_trigger trigger;           /* NAV_NONE: by itself it is none */
};

struct nav_rule {
	int64_t count;   /* completed turns that are a trigger */
	int64_t idle_ms; /* after a turn, until the soul is idle; 0: never */
	int64_t gap_ms;  /* between the beginnings of two cycles */
};

/*
 * nav_note(s, e, rule, due):
 * Count an event; one of the newest NAV_SEEN_MAX changes nothing the second
 * time. *due is when the next cycle is, or when the claim of the one that runs
 * ends; {0}: never.  RC_NOENT if there is no such soul.
 */
enum rc nav_note(struct state *s, const struct nav_event *e,
    const struct nav_rule *rule, struct wall *due) RC_CHECK;

/* A cycle that was claimed. */
struct nav_cycle {
	struct nav_key key;
	struct str id;
	enum nav_trigger trigger;
	int64_t tries; /* claims so far: 1 the first time */
	struct str session_id, terminal_id; /* of the newest turn; or absent */
	struct str output; /* what it has decided before; absent: nothing */
};

struct nav_cycle_list {
	struct nav_cycle *cycle;
	size_t n;
	struct wall now, next; /* next {0}: nothing is due in the bucket */
};

struct nav_claim {
	unsigned bucket;
	int64_t lease_ms;
	size_t max;      /* of cycles, at most NAV_CLAIM_MAX */
	int64_t per_day; /* of one soul and user, by UTC */
};

/*
 * nav_claim(s, claim, a, out):
 * Claim cycles that are due by Redis' clock.  A claim that ends before
 * nav_end() is claimed again, as the same cycle.
 */
enum rc nav_claim(struct state *s, const struct nav_claim *claim,
    struct arena *a, struct nav_cycle_list *out) RC_CHECK;

/*
 * nav_decide(s, c, lease_ms, output, a):
 * Store what c has decided, unless it has before, and extend its claim;
 * c->output is what is stored.  Absent: extend only.  RC_CONFLICT: c has ended,
 * or its soul was deleted.
 */
enum rc nav_decide(struct state *s, struct nav_cycle *c, int64_t lease_ms,
    struct str output, struct arena *a) RC_CHECK;

/*
 * nav_end(s, c, rule, due):
 * c has ended.  The next is due as *due says: after rule->gap_ms for a trigger
 * that waits, else after rule->idle_ms; 0: not before the next event.
 */
enum rc nav_end(struct state *s, const struct nav_cycle *c,
    const struct nav_rule *rule, struct wall *due) RC_CHECK;

/* ---- mind link ---- */

/*
 * mind_link_put(s, c, json): Store c's suggestion (mind_link); RC_CONFLICT as
 * of nav_decide(). mind_link_read(s, key, a, json): The newest; absent: none.
 */
enum rc mind_link_put(
    struct state *s, const struct nav_cycle *c, struct str json) RC_CHECK;
enum rc mind_link_read(struct state *s, const struct nav_key *key,
    struct arena *a, struct str *json) RC_CHECK;

#endif /* !STATE_NAV_H */
