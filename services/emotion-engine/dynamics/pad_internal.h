/*
 * pad_internal: shared by pad.c and the two models.
 */
#ifndef EMOTION_ENGINE_DYNAMICS_PAD_INTERNAL_H
#define EMOTION_ENGINE_DYNAMICS_PAD_INTERNAL_H

#include "dynamics/pad.h"

#define PAD_SECOND INT64_C(1000000000)
/* Beyond any date, with room for additions. */
#define PAD_TIME_MAX (INT64_MAX / 2)

#define PAD_IDLE_AFTER 18.0 /* s */
#define PAD_IMPACT_MAX .42
#define PAD_DRIFT_MAX  .22
#define PAD_LONG_TAU   2400.0 /* s */
/* A state at or above either of these is not stable. */
#define PAD_CALM_PEAK .7
#define PAD_CALM_LOAD .35

/* Intermediate results of one update. */
struct pad_step {
	struct persona base; /* traits without drift */
	struct persona t;    /* traits with drift */
	double dt;           /* s */
	int64_t now;
	struct pad_input in;
	enum pad_gate gate;
	double n, q;       /* negativity and positivity of the input */
	double dp, da, dd; /* impact of the input */
	double push;       /* its size */
	double tp, ta, td; /* point of rest */
};

/*
 * pad_v2(u, s), pad_v3(u, s):
 * One update of either model: base, now, in and gate of u are set; in and s are
 * within their bounds.
 */
void pad_v2(struct pad_step *u, struct pad_state *s);
void pad_v3(struct pad_step *u, struct pad_state *s);

/*
 * The effect of an input, in both models:
 * pad_notice(u, s):  Decide whether it is from a user; record the time.
 * pad_push(u):       Impact on the state, by u->t and u->gate.
 * pad_shock(u):      What the impact adds to the shock load.
 * pad_lock(u, s):    Set, extend, shorten or end the lock.
 * pad_calm(u, s):    Update stable_since.
 * pad_pulls(t, s):   Pull of the experience on each trait, [-1, 1].
 */
void pad_notice(struct pad_step *u, struct pad_state *s);
void pad_push(struct pad_step *u);
double pad_shock(const struct pad_step *u);
void pad_lock(const struct pad_step *u, struct pad_state *s);
void pad_calm(const struct pad_step *u, struct pad_state *s);
struct persona pad_pulls(const struct persona *t, const struct pad_state *s);

/* pad_clamp_time(t): t within [0, PAD_TIME_MAX]. */
int64_t pad_clamp_time(int64_t t);

/* pad_seconds(from, to): The time between, s. */
double pad_seconds(int64_t from, int64_t to);

#endif /* !EMOTION_ENGINE_DYNAMICS_PAD_INTERNAL_H */
