/*
 * curve: sums of a constant and two decays, which is what the axes of a soul
 * follow in silence, and what slow means make of them.
 *
 * Pure.  All rates are > 0, in 1/s; times are ≥ 0, in s.
 */
#ifndef EMOTION_ENGINE_CURVE_H
#define EMOTION_ENGINE_CURVE_H

/* The two rates that the curves of one stretch of time have in common. */
struct curve_rates {
	double slow, fast;
};

/* rest + slow e^(-rates.slow t) + fast e^(-rates.fast t) */
struct curve {
	double rest, slow, fast;
};

/*
 * curve_to(x, rest, lag, r):
 * From x towards a target, at r->fast, which itself goes from rest + lag
 * towards rest, at r->slow.  The rates must differ.
 */
struct curve curve_to(
    double x, double rest, double lag, const struct curve_rates *r);

/* curve_at(c, r, t): The value at t. */
double curve_at(const struct curve *c, const struct curve_rates *r, double t);

/* curve_from(c, r, t): The curve as seen from t on. */
struct curve curve_from(
    const struct curve *c, const struct curve_rates *r, double t);

/*
 * curve_mean(c, r, y, rate, t):
 * What becomes within t of a mean that is y and follows the curve at rate.
 */
double curve_mean(const struct curve *c, const struct curve_rates *r, double y,
    double rate, double t);

/* A curve has at most so many zeros. */
#define CURVE_ZEROS 2

/*
 * curve_zeros(c, r, t, at):
 * Where within (0, t) it changes its sign, in order; how often.
 */
int curve_zeros(const struct curve *c, const struct curve_rates *r, double t,
    double at[CURVE_ZEROS]);

#endif /* !EMOTION_ENGINE_CURVE_H */
