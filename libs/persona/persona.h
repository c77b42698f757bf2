/*
 * persona: the five traits of a soul, and its models of emotion.  Pure.
 */
#ifndef PERSONA_PERSONA_H
#define PERSONA_PERSONA_H

#include "core/rc.h"
#include "core/str.h"

/* Each within [0, 1]; .5 is average. */
struct persona {
	double empathy;
	double sensitivity;
	double stability;
	double expressiveness;
	double dominance;
};

/*
 * persona_of_mbti(mbti, out):
 * The traits of one of the 16 types ("INFJ", in either case).  RC_INVALID, with
 * *out unchanged, for any other text.
 */
enum rc persona_of_mbti(struct str mbti, struct persona *out) RC_CHECK;

/* persona_add(base, drift): The sum, each trait clamped to [0, 1]. */
struct persona persona_add(
    const struct persona *base, const struct persona *drift);

/*
 * persona_resilience(t), persona_reactivity(t):
 * How well strong emotions are tolerated and how strongly events act, both
 * within [0, 1].
 */
double persona_resilience(const struct persona *t);
double persona_reactivity(const struct persona *t);

/* How a soul's emotion evolves.  The values are stored. */
enum persona_model { PERSONA_PAD_V2 = 2, PERSONA_PAD_V3 = 3 };

/*
 * persona_model_of(name, out):
 * The model "persona-pad-v2" or "persona-pad-v3".  RC_INVALID, with *out
 * unchanged, for any other name.
 */
enum rc persona_model_of(struct str name, enum persona_model *out) RC_CHECK;

/* persona_model_name(m): Its name. */
const char *persona_model_name(enum persona_model m);

/* clamp(x, lo, hi): x limited to [lo, hi]; lo for NaN. */
static inline double
clamp(double x, double lo, double hi)
{
	return x > lo ? (x < hi ? x : hi) : lo;
}

/* clamp01(x): x limited to [0, 1]; 0 for NaN. */
static inline double
clamp01(double x)
{
	return clamp(x, 0, 1);
}

/* lerp(a, b, t): Linear interpolation from a to b. */
static inline double
lerp(double a, double b, double t)
{
	return a + (b - a) * t;
}

#endif /* !PERSONA_PERSONA_H */
