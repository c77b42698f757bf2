/*
 * Decays, their means and their zeros.
 */
#include "curve.h"

#include <math.h>
#include <stdbool.h>

/* More halvings than a double has digits. */
#define HALVINGS 64

struct curve
curve_to(double x, double rest, double lag, const struct curve_rates *r)
{
	double slow = lag * r->fast / (r->fast - r->slow);

	return (struct curve){ rest, slow, x - rest - slow };
}

double
curve_at(const struct curve *c, const struct curve_rates *r, double t)
{
	return c->rest + c->slow * exp(-r->slow * t) +
	    c->fast * exp(-r->fast * t);
}

struct curve
curve_from(const struct curve *c, const struct curve_rates *r, double t)
{
	return (struct curve){ c->rest, c->slow * exp(-r->slow * t),
		c->fast * exp(-r->fast * t) };
}

/* (e^(-at) - e^(-bt)) / (b - a), also where the rates are the same. */
static double
lagged(double a, double b, double t)
{
	double d = fabs(b - a), low = exp(-fmin(a, b) * t);

	return d * t < 1e-12 ? t * low : low * -expm1(-d * t) / d;
}

double
curve_mean(const struct curve *c, const struct curve_rates *r, double y,
    double rate, double t)
{
	double left = exp(-rate * t);

	return y * left + c->rest * (1 - left) +
	    rate *
	    (c->slow * lagged(r->slow, rate, t) +
		c->fast * lagged(r->fast, rate, t));
}

static double
slope(const struct curve *c, const struct curve_rates *r, double t)
{
	return -c->slow * r->slow * exp(-r->slow * t) -
	    c->fast * r->fast * exp(-r->fast * t);
}

typedef double (*curve_fn)(
    const struct curve *c, const struct curve_rates *r, double t);

/* Where f changes its sign between lo and hi, if it does. */
static bool
between(curve_fn f, const struct curve *c, const struct curve_rates *r,
    double lo, double hi, double *at)
{
	bool positive = f(c, r, lo) > 0;
	double mid;
	int i;

	if (positive == (f(c, r, hi) > 0))
		return false;
	for (i = 0; i < HALVINGS; i++) {
		mid = lo + (hi - lo) / 2;
		if ((f(c, r, mid) > 0) == positive)
			lo = mid;
		else
			hi = mid;
	}
	*at = hi;
	return true;
}

int
curve_zeros(const struct curve *c, const struct curve_rates *r, double t,
    double at[CURVE_ZEROS])
{
	double turn = t;
	int n = 0;

	/* On either side of its one turning point it goes one way. */
	if (!between(slope, c, r, 0, t, &turn))
		turn = t;
	n += between(curve_at, c, r, 0, turn, &at[n]);
	if (turn < t)
		n += between(curve_at, c, r, turn, t, &at[n]);
	return n;
}
