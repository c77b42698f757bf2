/*
 * pad: a soul's emotional state and how it evolves.
 *
 * Two models, by the soul's own.  persona-pad-v2 takes the elapsed time as one
 * step, so that its results depend a little on how often it is called.
 * persona-pad-v3 solves the same equations over the time between: what a soul
 * has become does not depend on how often anybody looked.
 *
 * Pure: the time is an argument, everything else is in the structs.  Whatever
 * comes in, numbers that are none included, the state stays within its bounds.
 * Times are nanoseconds since 1970-01-01T00:00:00Z; 0 is "none".
 */
#ifndef EMOTION_ENGINE_PAD_H
#define EMOTION_ENGINE_PAD_H

#include <stdbool.h>
#include <stdint.h>

#include "persona/persona.h"
#include "wire/msgs.h"

struct pad_state {
	enum persona_model model; /* any other counts as PERSONA_PAD_V3 */
	double p, a, d;           /* [-1, 1] */
	double boredom;           /* [0, 1], as the two below */
	double shock_load;        /* recent strong impressions */
	double extreme_memory;    /* after-effect of extreme states */
	double mu_p, mu_a, mu_d;  /* long-term means of p, |a|, d */
	double volatility;        /* long-term mean of the movement, [0, 2] */
	struct persona drift;     /* [-.22, .22] each */
	int64_t lock_until;       /* the gate is locked before it */
	int64_t stable_since;     /* calm since */
	int64_t last_interaction; /* a user had to do with the soul */
	int64_t last_updated;     /* the moment the rest describes */
};

/* How the execution gate works; the impact of emotions belongs to it. */
enum pad_gate {
	PAD_GATE_CONTINUOUS, /* a probability; every emotion counts in full */
	PAD_GATE_BINARY      /* only a lock closes; weak emotions are damped */
};

/* What reaches the soul: an emotion of a user, or nothing (all zero). */
struct pad_input {
	enum wire_emotion emotion;
	double p, a, d;   /* [-1, 1] */
	double intensity; /* [0, 1] */
	bool from_user;   /* a user said something, whatever he feels */
};

/* pad_new(s, model, now): The state of a soul that was made just now. */
void pad_new(struct pad_state *s, enum persona_model model, int64_t now);

/*
 * pad_update(s, base, in, now, gate):
 * Let s evolve from s->last_updated to now and in act on it at now.  base are
 * the soul's own traits.  A time before s->last_updated counts as that moment
 * if it is within a second of it (clocks differ), else as no time passed.
 */
void pad_update(struct pad_state *s, const struct persona *base,
    const struct pad_input *in, int64_t now, enum pad_gate gate);

/* pad_peak(s): The largest of |p|, |a|, |d|. */
double pad_peak(const struct pad_state *s);

/* pad_locked(s, now): Whether the execution gate is locked at now. */
bool pad_locked(const struct pad_state *s, int64_t now);

#endif /* !EMOTION_ENGINE_PAD_H */
