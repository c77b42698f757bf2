/*
 * persona: the five traits of a soul, and the models it may evolve by.
 */
#ifndef PERSONA_PERSONA_H
#define PERSONA_PERSONA_H

#include "core/rc.h"
#include "core/str.h"

/* Each within [0, 1], .5 being average. */
struct persona {
	double empathy;
	double sensitivity;
	double stability;
	double expressiveness;
	double dominance;
};

/*
 * persona_of_mbti(mbti, out):
 * The traits of one of the 16 types ("INFJ", in either case).  RC_INVALID, *out
 * untouched, if it is none.
 */
enum rc persona_of_mbti(struct str mbti, struct persona *out) RC_CHECK;

/*
 * persona_add(base, drift): base changed by drift, each trait within [0, 1].
 */
struct persona persona_add(
    const struct persona *base, const struct persona *drift);

/*
 * persona_resilience(t), persona_reactivity(t):
 * How well traits bear strong states and how strongly they answer them, both
 * within [0, 1].
 */
double persona_resilience(const struct persona *t);
double persona_reactivity(const struct persona *t);

/* How a soul's emotion evolves.  The numbers are stored. */
enum persona_model { PERSONA_PAD_V2 = 2, PERSONA_PAD_V3 = 3 };

/*
 * persona_model_of(name, out):
 * The model called "persona-pad-v2" or "persona-pad-v3".  RC_INVALID, *out
 * untouched, if it is none.
 */
enum rc persona_model_of(struct str name, enum persona_model *out) RC_CHECK;

/* persona_model_name(m): Its name. */
const char *persona_model_name(enum persona_model m);

/*
 * clamp: the arithmetic that all formulas of the soul share.
 */
/* clamp(x, lo, hi): x kept within [lo, hi]; lo of what is not a number. */
static inline double
clamp(double x, double lo, double hi)
{
	return x > lo ? (x < hi ? x : hi) : lo;
}

/* clamp01(x): x kept within [0, 1]; 0 of what is not a number. */
static inline double
clamp01(double x)
{
	return clamp(x, 0, 1);
}

/* lerp(a, b, t): The value t of the way from a to b. */
static inline double
lerp(double a, double b, double t)
{
	return a + (b - a) * t;
}

#endif /* !PERSONA_PERSONA_H */
