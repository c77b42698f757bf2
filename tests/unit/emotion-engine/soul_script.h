/*
 * soul_script: scripts of inputs to a soul's state.
 */
#ifndef SOUL_SCRIPT_H
#define SOUL_SCRIPT_H

#include <math.h>

#include "core/mem.h"
#include "dynamics/pad.h"
#include "persona/emotion.h"
#include "persona/persona.h"
#include "testkit/testkit.h"

/* Start time of every script. */
#define T0     INT64_C(1771754400000000000)
#define SECOND INT64_C(1000000000)

/* An input after so many seconds; the prototype of its emotion unless own. */
struct script_step {
	int after;
	enum wire_emotion emotion;
	double intensity;
	bool own;
	double p, a, d;
};

#define TICK(after)                                             \
	{                                                       \
		(after), WIRE_EMOTION_NEUTRAL, 0, true, 0, 0, 0 \
	}
#define EMOTION_STEP(after, e, i)                              \
	{                                                      \
		(after), WIRE_EMOTION_##e, (i), false, 0, 0, 0 \
	}
#define NEUTRAL_STEP                                             \
	{                                                        \
		5, WIRE_EMOTION_NEUTRAL, .2, true, .14, .08, .03 \
	}
#define FURY                                             \
	{                                                \
		3, WIRE_EMOTION_ANGER, 1, true, -1, 1, 1 \
	}

/* The state of a soul during a script. */
struct script {
	struct persona base;
	struct pad_state s;
	int64_t now;
	enum pad_gate kind;
};

static inline void
script_start(struct script *w, const char *mbti, enum pad_gate kind)
{
	ck_assert_int_eq(persona_of_mbti(str_of(mbti), &w->base), RC_OK);
	w->now = T0;
	w->kind = kind;
	pad_new(&w->s, PERSONA_PAD_V2, T0);
}

static inline struct gate
script_step_run(struct script *w, const struct script_step *m)
{
	const struct wire_pad *t = emotion_prototype(m->emotion);
	struct pad_input in = { .emotion = m->emotion,
		.p = m->own ? m->p : t->p,
		.a = m->own ? m->a : t->a,
		.d = m->own ? m->d : t->d,
		.intensity = m->intensity,
		.from_user = m->intensity > 0 };

	w->now += m->after * SECOND;
	pad_update(&w->s, &w->base, &in, w->now, w->kind);
	return gate_at(w->kind, &w->base, &w->s, w->now);
}

/* The vectors have nine decimals. */
#define script_near(got, want) ck_assert_double_eq_tol((got), (want), 1.0e-9)

#endif /* !SOUL_SCRIPT_H */
