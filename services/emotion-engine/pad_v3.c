/*
 * persona-pad-v3: the equations of v2, solved.
 *
 * In silence everything follows differential equations whose rates depend on
 * the soul's own traits alone: boredom falls for as long as a user is there and
 * grows afterwards; each axis goes to its point of rest, which boredom pulls
 * down; the shock load and the drift of the traits fade; slow means follow
 * arousal's size, the axes and their peak.  The solution is exact for any
 * length of time, so that it does not matter in how many steps it is taken.
 * What a user does acts at its moment: only then the traits are pulled.
 */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "curve.h"
#include "pad_own.h"
#include "persona/clamp.h"

#define DRIFT_RATE  4e-5 /* 1/s, as the traits go back to the soul's own */
#define DRIFT_STEP  .01  /* as the strongest input pulls them */
#define MOVED_SHARE .04  /* of one input in the volatility */

#define AXES 3
/* Zeros of each axis, and where two are as far from 0, on either side. */
#define CUTS_MAX ((AXES + 2 * AXES) * CURVE_ZEROS + 1)

/* A stretch of silence in which all rates are constant. */
struct silence {
	double t; /* s */
	struct curve_rates r;
	struct curve axis[AXES];
	double memory_rate; /* 1/s */
};

/* Moments at which another axis becomes the peak, or one changes its sign. */
struct cuts {
	double at[CUTS_MAX];
	size_t n;
};

static void
cuts_add(struct cuts *c, const struct silence *w, const struct curve *f)
{
	double at[CURVE_ZEROS];
	int i, n = curve_zeros(f, &w->r, w->t, at);
	size_t k;

	for (i = 0; i < n; i++) {
		for (k = c->n++; k > 0 && c->at[k - 1] > at[i]; k--)
			c->at[k] = c->at[k - 1];
		c->at[k] = at[i];
	}
}

static struct curve
sum(const struct curve *a, double sign, const struct curve *b)
{
	return (struct curve){ a->rest + sign * b->rest,
		a->slow + sign * b->slow, a->fast + sign * b->fast };
}

static void
find_cuts(const struct silence *w, struct cuts *c)
{
	struct curve f;
	size_t i, j;

	c->n = 0;
	for (i = 0; i < AXES; i++) {
		cuts_add(c, w, &w->axis[i]);
		for (j = 0; j < i; j++) {
			f = sum(&w->axis[i], -1, &w->axis[j]);
			cuts_add(c, w, &f);
			f = sum(&w->axis[i], 1, &w->axis[j]);
			cuts_add(c, w, &f);
		}
	}
	c->at[c->n++] = w->t;
}

/* The size of an axis as a curve, where its sign at t holds. */
static struct curve
size_of(const struct silence *w, size_t axis, double t)
{
	static const struct curve zero;
	const struct curve *c = &w->axis[axis];

	return sum(&zero, curve_at(c, &w->r, t) < 0 ? -1 : 1, c);
}

/* The slow means of what changes its form within the stretch. */
static void
live_sizes(const struct silence *w, struct pad_state *s)
{
	double from = 0, mid, peak, x;
	struct curve arousal, top, c;
	struct cuts cuts;
	size_t i, k;

	find_cuts(w, &cuts);
	for (i = 0; i < cuts.n; from = cuts.at[i++]) {
		mid = from + (cuts.at[i] - from) / 2;
		for (k = 0, peak = -1; k < AXES; k++) {
			c = size_of(w, k, mid);
			x = curve_at(&c, &w->r, mid);
			if (x > peak) {
				peak = x;
				top = c;
			}
			if (k == 1)
				arousal = c;
		}
		top = curve_from(&top, &w->r, from);
		arousal = curve_from(&arousal, &w->r, from);
		s->extreme_memory = curve_mean(&top, &w->r, s->extreme_memory,
		    w->memory_rate, cuts.at[i] - from);
		s->mu_a = curve_mean(&arousal, &w->r, s->mu_a, 1 / PAD_LONG_TAU,
		    cuts.at[i] - from);
	}
}

static double
peak_at(const struct silence *w, double t)
{
	return fmax(fabs(curve_at(&w->axis[0], &w->r, t)),
	    fmax(fabs(curve_at(&w->axis[1], &w->r, t)),
		fabs(curve_at(&w->axis[2], &w->r, t))));
}

/*
 * When the peak is no longer too high.  The points of rest are all below that,
 * so it does not come back by itself.
 */
static double
calm_after(const struct silence *w)
{
	double lo = 0, hi = w->t, mid;

	if (peak_at(w, 0) < PAD_CALM_PEAK)
		return 0;
	if (peak_at(w, hi) >= PAD_CALM_PEAK)
		return INFINITY;
	while (hi - lo > 1e-9 && (mid = lo + (hi - lo) / 2) > lo && mid < hi) {
		if (peak_at(w, mid) < PAD_CALM_PEAK)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/* Since when the soul is stable: calm, and no longer locked. */
static void
live_calm(const struct silence *w, struct pad_state *s, double shock_tau)
{
	double after = calm_after(w);
	int64_t at;

	if (s->stable_since != 0)
		return;
	if (s->shock_load >= PAD_CALM_LOAD)
		after =
		    fmax(after, shock_tau * log(s->shock_load / PAD_CALM_LOAD));
	if (after > w->t)
		return;
	at = s->last_updated + (int64_t)(after * (double)PAD_SECOND);
	if (at < s->lock_until)
		at = s->lock_until;
	if (pad_seconds(s->last_updated, at) <= w->t)
		s->stable_since = at;
}

static void
fade(struct persona *drift, double share)
{
	drift->empathy *= share;
	drift->sensitivity *= share;
	drift->stability *= share;
	drift->expressiveness *= share;
	drift->dominance *= share;
}

/* Silence up to a moment, with a user there or not. */
static void
live(struct pad_state *s, const struct persona *base, bool idle, int64_t to)
{
	double em = base->empathy - .5, st = base->stability;
	double se = base->sensitivity, ex = base->expressiveness - .5;
	double up = fmax(30, 240 * (1 + .6 * st - .7 * se));
	double down = fmax(20, 90 * (1 + .5 * se - .7 * st));
	double shock_tau = fmax(12, 120 * (1 + .9 * se - .8 * st));
	double bored = idle ? 1 : 0, b = s->boredom - bored;
	const double own[AXES] = { .25 * em + .15 * (st - .5),
		.20 * ex - .10 * (st - .5), .5 * (base->dominance - .5) };
	static const double low[AXES] = { -.35, -.45, -.15 };
	double *x[AXES] = { &s->p, &s->a, &s->d };
	struct silence w = { .t = pad_seconds(s->last_updated, to),
		.r = { 1 / (idle ? up : down), .18 * (.5 + st) },
		.memory_rate =
		    1 / clamp(360 * (1 + .85 * se - .95 * st), 90, 1200) };
	size_t i;

	if (to <= s->last_updated)
		return;
	for (i = 0; i < AXES; i++)
		w.axis[i] = curve_to(*x[i], lerp(own[i], low[i], bored),
		    (low[i] - own[i]) * b, &w.r);
	live_calm(&w, s, shock_tau);
	live_sizes(&w, s);
	s->mu_p = curve_mean(&w.axis[0], &w.r, s->mu_p, 1 / PAD_LONG_TAU, w.t);
	s->mu_d = curve_mean(&w.axis[2], &w.r, s->mu_d, 1 / PAD_LONG_TAU, w.t);
	for (i = 0; i < AXES; i++)
		*x[i] = clamp(curve_at(&w.axis[i], &w.r, w.t), -1, 1);
	s->boredom = bored + b * exp(-w.r.slow * w.t);
	s->shock_load *= exp(-w.t / shock_tau);
	s->volatility *= exp(-w.t / PAD_LONG_TAU);
	fade(&s->drift, exp(-DRIFT_RATE * w.t));
	s->last_updated = to;
}

static void
pull(struct persona *drift, const struct persona *by, double share)
{
	drift->empathy =
	    lerp(drift->empathy, PAD_DRIFT_MAX * by->empathy, share);
	drift->sensitivity =
	    lerp(drift->sensitivity, PAD_DRIFT_MAX * by->sensitivity, share);
	drift->stability =
	    lerp(drift->stability, PAD_DRIFT_MAX * by->stability, share);
	drift->expressiveness = lerp(
	    drift->expressiveness, PAD_DRIFT_MAX * by->expressiveness, share);
	drift->dominance =
	    lerp(drift->dominance, PAD_DRIFT_MAX * by->dominance, share);
}

/* What an input does, at its moment. */
static void
act(struct pad_step *u, struct pad_state *s)
{
	double p = s->p, a = s->a, d = s->d, moved;
	struct persona pulls;

	s->p = clamp(p + u->dp, -1, 1);
	s->a = clamp(a + u->da, -1, 1);
	s->d = clamp(d + u->dd, -1, 1);
	s->shock_load = clamp01(s->shock_load + pad_shock(u));
	moved = (fabs(s->p - p) + fabs(s->a - a) + fabs(s->d - d)) / 3;
	s->volatility = lerp(s->volatility, moved, MOVED_SHARE);
	pulls = pad_pulls(&u->t, s);
	pull(&s->drift, &pulls, DRIFT_STEP * u->push / PAD_IMPACT_MAX);
}

void
pad_v3(struct pad_step *u, struct pad_state *s)
{
	static const struct persona none;
	struct persona base = persona_add(&u->base, &none);
	int64_t idle;

	if (s->last_interaction > u->now)
		s->last_interaction = u->now;
	idle = s->last_interaction + (int64_t)PAD_IDLE_AFTER * PAD_SECOND;
	live(s, &base, false, idle < u->now ? idle : u->now);
	live(s, &base, true, u->now);
	u->t = persona_add(&base, &s->drift);
	pad_notice(u, s);
	pad_push(u);
	if (u->in.from_user)
		act(u, s);
	pad_lock(u, s);
	pad_calm(u, s);
}
