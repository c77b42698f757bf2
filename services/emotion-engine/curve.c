/*
 * Decays, their means and their zeros.
 */
#include "curve.h"

#include <math.h>
#include <stdbool.h>

#include "persona/persona.h"

/* How exactly a zero is found, s; and more halvings than a double has digits.
 */
#define NEAR     1e-9
#define HALVINGS 64

struct curve_span
curve_span(double t, double slow, double fast)
{
	return (
	    struct curve_span){ t, slow, fast, exp(-slow * t), exp(-fast * t) };
}

struct curve
curve_to(double x, double rest, double lag, const struct curve_span *w)
{
	double slow = lag * w->fast / (w->fast - w->slow);

	return (struct curve){ rest, slow, x - rest - slow };
}

double
curve_at(const struct curve *c, const struct curve_span *w, double t)
{
	return c->rest + c->slow * exp(-w->slow * t) +
	    c->fast * exp(-w->fast * t);
}

double
curve_end(const struct curve *c, const struct curve_span *w)
{
	return c->rest + c->slow * w->slow_left + c->fast * w->fast_left;
}

struct curve
curve_from(const struct curve *c, const struct curve_span *w, double t)
{
	if (t == 0)
		return *c;
	return (struct curve){ c->rest, c->slow * exp(-w->slow * t),
		c->fast * exp(-w->fast * t) };
}

/* (e^(-at) - e^(-bt)) / (b - a), also where the rates are the same. */
static double
lagged(double a, double b, double t)
{
	double d = fabs(b - a), low = exp(-fmin(a, b) * t);

	return d * t < 1e-12 ? t * low : low * -expm1(-d * t) / d;
}

double
curve_mean(const struct curve *c, const struct curve_span *w, double y,
    double rate, double t)
{
	double left = exp(-rate * t);

	return y * left + c->rest * (1 - left) +
	    rate *
	    (c->slow * lagged(w->slow, rate, t) +
		c->fast * lagged(w->fast, rate, t));
}

/* Where the curve changes its sign between lo and hi, which it does. */
static double
halve(const struct curve *c, const struct curve_span *w, double lo, double hi)
{
	bool positive = curve_at(c, w, lo) > 0;
	double mid;
	int i;

	for (i = 0; i < HALVINGS && hi - lo > NEAR; i++) {
		mid = lo + (hi - lo) / 2;
		if ((curve_at(c, w, mid) > 0) == positive)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

int
curve_zeros(
    const struct curve *c, const struct curve_span *w, double at[CURVE_ZEROS])
{
	double from = c->slow * w->slow + c->fast * w->fast;
	double to =
	    c->slow * w->slow * w->slow_left + c->fast * w->fast * w->fast_left;
	bool first = c->rest + c->slow + c->fast > 0;
	bool last = curve_end(c, w) > 0, middle;
	double turn;
	int n = 0;

	if (fabs(c->rest) > fabs(c->slow) + fabs(c->fast))
		return 0;
	/* On either side of its one turning point it goes one way. */
	if ((from > 0) == (to > 0)) {
		if (first != last)
			at[n++] = halve(c, w, 0, w->t);
		return n;
	}
	turn = clamp(
	    log(-c->fast * w->fast / (c->slow * w->slow)) / (w->fast - w->slow),
	    0, w->t);
	middle = curve_at(c, w, turn) > 0;
	if (first != middle)
		at[n++] = halve(c, w, 0, turn);
	if (middle != last)
		at[n++] = halve(c, w, turn, w->t);
	return n;
}
