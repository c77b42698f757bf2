/*
 * pad: the emotional state of a soul, how it evolves, and its execution gate.
 *
 * There are two models; the soul's record selects one.  persona-pad-v2 takes
 * the elapsed time as one step, so that the result depends on the call rate.
 * persona-pad-v3 solves the same equations over the elapsed time: any number of
 * steps gives the same result as one.
 *
 * Pure: time is an argument.  The state stays within its bounds for any input,
 * including NaN.  Times are nanoseconds since 1970-01-01T00:00:00Z; 0 is
 * "none".
 */
#ifndef EMOTION_ENGINE_DYNAMICS_PAD_H
#define EMOTION_ENGINE_DYNAMICS_PAD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "persona/persona.h"
#include "wire/msgs.h"

struct pad_state {
	enum persona_model model; /* any other value is PERSONA_PAD_V3 */
	double p, a, d;           /* [-1, 1] */
	double boredom;           /* [0, 1], as the two below */
	double shock_load;        /* recent strong impressions */
	double extreme_memory;    /* after-effect of extreme states */
	double mu_p, mu_a, mu_d;  /* long-term means of p, |a|, d */
	double volatility;        /* long-term mean of the movement, [0, 2] */
	struct persona drift;     /* [-.22, .22] each */
	int64_t lock_until;       /* the gate is locked before it */
	int64_t stable_since;     /* start of the current stable period */
	int64_t last_interaction; /* last input of a user */
	int64_t last_updated;     /* time of this state */
};

/* Kind of the execution gate, which also selects the impact of emotions. */
enum pad_gate {
	PAD_GATE_CONTINUOUS, /* a probability; emotions count in full */
	PAD_GATE_BINARY /* closed by a lock only; weak emotions are damped */
};

/* A user's emotion, or no input (all zero). */
struct pad_input {
	enum wire_emotion emotion;
	double p, a, d;   /* [-1, 1] */
	double intensity; /* [0, 1] */
	bool from_user;   /* a user's input, of whatever emotion */
};

/* pad_time(w): The unit of this module, without the fraction of a ms. */
int64_t pad_time(struct wall w);

/* pad_new(s, model, now): The state of a soul created at now. */
void pad_new(struct pad_state *s, enum persona_model model, int64_t now);

/*
 * pad_update(s, base, in, now, gate):
 * Evolve s from s->last_updated to now and apply in.  base are the soul's
 * traits without drift.  A time before s->last_updated counts as equal if it is
 * within 1 s (clock skew); otherwise no time passes.
 */
void pad_update(struct pad_state *s, const struct persona *base,
    const struct pad_input *in, int64_t now, enum pad_gate gate);

/* pad_peak(s): The largest of |p|, |a|, |d|. */
double pad_peak(const struct pad_state *s);

/* pad_locked(s, now): Whether the execution gate is locked at now. */
bool pad_locked(const struct pad_state *s, int64_t now);

struct gate {
	double probability; /* [0, 1] */
	enum wire_exec_mode mode;
};

/*
 * gate_at(kind, base, s, now):
 * The execution gate of a soul with traits base in state s; only the lock
 * depends on now.
 */
struct gate gate_at(enum pad_gate kind, const struct persona *base,
    const struct pad_state *s, int64_t now);

/* gate_kind(name, out): "continuous" or "binary"; RC_INVALID otherwise. */
enum rc gate_kind(struct str name, enum pad_gate *out) RC_CHECK;

#endif /* !EMOTION_ENGINE_DYNAMICS_PAD_H */
