/*
 * clamp: the arithmetic that all formulas of the soul share.
 */
#ifndef PERSONA_CLAMP_H
#define PERSONA_CLAMP_H

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

#endif /* !PERSONA_CLAMP_H */
