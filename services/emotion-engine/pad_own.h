/*
 * pad_own: what the files of pad share.  Private.
 */
#ifndef EMOTION_ENGINE_PAD_OWN_H
#define EMOTION_ENGINE_PAD_OWN_H

#include "pad.h"

#define PAD_SECOND INT64_C(1000000000)
/* Far beyond any date, far enough from the type's limit to add to. */
#define PAD_TIME_MAX (INT64_MAX / 2)

#define PAD_IDLE_AFTER 18.0 /* s */
#define PAD_IMPACT_MAX .42
#define PAD_DRIFT_MAX  .22
#define PAD_LONG_TAU   2400.0
/* A state beyond either of these is not stable. */
#define PAD_CALM_PEAK .7
#define PAD_CALM_LOAD .35

/* What the steps of one update hand to each other. */
struct pad_step {
	struct persona base; /* the soul's own traits */
	struct persona t;    /* the traits with their drift */
	double dt;           /* s */
	int64_t now;
	struct pad_input in;
	enum pad_gate gate;
	double n, q;       /* how negative, how positive the input is */
	double dp, da, dd; /* the push of the input */
	double push;       /* its size */
	double tp, ta, td; /* the point of rest */
};

/*
 * pad_v2(u, s), pad_v3(u, s):
 * One update of either model: of u, base, now, in and gate are set, in and s
 * are within their bounds.
 */
void pad_v2(struct pad_step *u, struct pad_state *s);
void pad_v3(struct pad_step *u, struct pad_state *s);

/* ---- what an input does, in both models ---------------------------------- */

/* pad_notice(u, s): Whether it comes from a user; then remember when. */
void pad_notice(struct pad_step *u, struct pad_state *s);

/* pad_push(u): How the input moves the state, by u->t and u->gate. */
void pad_push(struct pad_step *u);

/* pad_shock(u): What its push adds to the shock load. */
double pad_shock(const struct pad_step *u);

/* pad_lock(u, s): Lock, lengthen, shorten or end the lock. */
void pad_lock(const struct pad_step *u, struct pad_state *s);

/* pad_calm(u, s): Keep stable_since. */
void pad_calm(const struct pad_step *u, struct pad_state *s);

/* pad_pulls(t, s): Where what was lived through pulls each trait, [-1, 1]. */
struct persona pad_pulls(const struct persona *t, const struct pad_state *s);

/* ---- arithmetic ---------------------------------------------------------- */

/* pad_fit_time(t): t as a moment that can be added to. */
int64_t pad_fit_time(int64_t t);

/* pad_seconds(from, to): The time between, s. */
double pad_seconds(int64_t from, int64_t to);

#endif /* !EMOTION_ENGINE_PAD_OWN_H */
