/*
 * curve: sums of a constant and two decays, which is what the axes of a soul
 * follow in silence, and what slow means make of them.
 *
 * Pure.  All rates are > 0, in 1/s; times are ≥ 0, in s.
 */
#ifndef EMOTION_ENGINE_CURVE_H
#define EMOTION_ENGINE_CURVE_H

/* A stretch of time, and the two rates that its curves have in common. */
struct curve_span {
	double t, slow, fast;
	double slow_left, fast_left; /* e^(-slow t), e^(-fast t) */
};

/* rest + slow e^(-span.slow t) + fast e^(-span.fast t) */
struct curve {
	double rest, slow, fast;
};

/* curve_span(t, slow, fast): A stretch. */
struct curve_span curve_span(double t, double slow, double fast);

/*
 * curve_to(x, rest, lag, w):
 * From x towards a target, at w->fast, which itself goes from rest + lag
 * towards rest, at w->slow.  The rates must differ.
 */
struct curve curve_to(
    double x, double rest, double lag, const struct curve_span *w);

/*
 * curve_at(c, w, t): The value at t.
 * curve_end(c, w):   The value at w->t.
 */
double curve_at(const struct curve *c, const struct curve_span *w, double t);
double curve_end(const struct curve *c, const struct curve_span *w);

/* curve_from(c, w, t): The curve as seen from t on. */
struct curve curve_from(
    const struct curve *c, const struct curve_span *w, double t);

/*
 * curve_mean(c, w, y, rate, t):
 * What becomes within t of a mean that is y and follows the curve at rate.
 */
double curve_mean(const struct curve *c, const struct curve_span *w, double y,
    double rate, double t);

/* A curve has at most so many zeros. */
#define CURVE_ZEROS 2

/*
 * curve_zeros(c, w, at):
 * Where within the stretch it changes its sign, in order; how often.
 */
int curve_zeros(
    const struct curve *c, const struct curve_span *w, double at[CURVE_ZEROS]);

#endif /* !EMOTION_ENGINE_CURVE_H */
