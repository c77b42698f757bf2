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
#include "persona/persona.h"

#define DRIFT_RATE  4e-5 /* 1/s, as the traits go back to the soul's own */
#define DRIFT_STEP  .01  /* as the strongest input pulls them */
#define MOVED_SHARE .04  /* of one input in the volatility */

enum { PLEASURE, AROUSAL, DOMINANCE, AXES };
/* Zeros of each axis, and where two are as far from 0, on either side. */
#define CUTS_MAX ((AXES + 2 * AXES) * CURVE_ZEROS + 1)

/* A stretch of silence in which all rates are constant. */
struct silence {
	struct curve_span w;
	struct curve axis[AXES];
	double memory_rate; /* 1/s */
	double shock_tau;   /* s */
};

/* Moments at which another axis becomes the peak, or one changes its sign. */
struct cuts {
	double at[CUTS_MAX];
	size_t n;
};

static void
cuts_add(struct cuts *c, const struct silence *q, const struct curve *f)
{
	double at[CURVE_ZEROS];
	int i, n = curve_zeros(f, &q->w, at);
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
find_cuts(const struct silence *q, struct cuts *c)
{
	struct curve f;
	size_t i, j;

	c->n = 0;
	for (i = 0; i < AXES; i++) {
		cuts_add(c, q, &q->axis[i]);
		for (j = 0; j < i; j++) {
			f = sum(&q->axis[i], -1, &q->axis[j]);
			cuts_add(c, q, &f);
			f = sum(&q->axis[i], 1, &q->axis[j]);
			cuts_add(c, q, &f);
		}
	}
	c->at[c->n++] = q->w.t;
}

/*
 * An axis within a stretch in which it does not change its sign.  Both ends
 * tell as much as the middle does where no cut is, and are known already.
 */
static double
within(const struct silence *q, size_t axis, double from, double to)
{
	const struct curve *c = &q->axis[axis];

	if (from == 0 && to == q->w.t)
		return (c->rest + c->slow + c->fast + curve_end(c, &q->w)) / 2;
	return curve_at(c, &q->w, from + (to - from) / 2);
}

/* The size of an axis whose value is x, as a curve that begins at from. */
static struct curve
size_of(const struct silence *q, size_t axis, double x, double from)
{
	static const struct curve zero;
	struct curve c = curve_from(&q->axis[axis], &q->w, from);

	return sum(&zero, x < 0 ? -1 : 1, &c);
}

/* The slow means of what changes its form within the stretch. */
static void
live_sizes(const struct silence *q, struct pad_state *s)
{
	struct curve arousal, top;
	double from = 0, to, x[AXES];
	struct cuts cuts;
	size_t i, k, high;

	find_cuts(q, &cuts);
	for (i = 0; i < cuts.n; i++, from = to) {
		to = cuts.at[i];
		for (k = 0, high = 0; k < AXES; k++) {
			x[k] = within(q, k, from, to);
			if (fabs(x[k]) > fabs(x[high]))
				high = k;
		}
		top = size_of(q, high, x[high], from);
		arousal = size_of(q, AROUSAL, x[AROUSAL], from);
		s->extreme_memory = curve_mean(
		    &top, &q->w, s->extreme_memory, q->memory_rate, to - from);
		s->mu_a = curve_mean(
		    &arousal, &q->w, s->mu_a, 1 / PAD_LONG_TAU, to - from);
	}
}

static double
peak_at(const struct silence *q, double t)
{
	return fmax(fabs(curve_at(&q->axis[0], &q->w, t)),
	    fmax(fabs(curve_at(&q->axis[1], &q->w, t)),
		fabs(curve_at(&q->axis[2], &q->w, t))));
}

/*
 * When the peak is no longer too high.  The points of rest are all below that,
 * so it does not come back by itself.
 */
static double
calm_after(const struct silence *q)
{
	double lo = 0, hi = q->w.t, mid;

	if (peak_at(q, 0) < PAD_CALM_PEAK)
		return 0;
	if (peak_at(q, hi) >= PAD_CALM_PEAK)
		return INFINITY;
	while (hi - lo > 1e-9 && (mid = lo + (hi - lo) / 2) > lo && mid < hi) {
		if (peak_at(q, mid) < PAD_CALM_PEAK)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/* Since when the soul is stable: calm, and no longer locked. */
static void
live_calm(const struct silence *q, struct pad_state *s)
{
	double after;
	int64_t at;

	if (s->stable_since != 0)
		return;
	after = calm_after(q);
	if (s->shock_load >= PAD_CALM_LOAD)
		after = fmax(
		    after, q->shock_tau * log(s->shock_load / PAD_CALM_LOAD));
	if (after > q->w.t)
		return;
	at = s->last_updated + (int64_t)(after * (double)PAD_SECOND);
	if (at < s->lock_until)
		at = s->lock_until;
	if (pad_seconds(s->last_updated, at) <= q->w.t)
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

/* Where the axes go from here, and how fast. */
static void
silence_of(const struct pad_state *s, const struct persona *t, bool idle,
    double dt, struct silence *q)
{
	static const double low[AXES] = { -.35, -.45, -.15 };
	double em = t->empathy - .5, st = t->stability, se = t->sensitivity;
	const double own[AXES] = { .25 * em + .15 * (st - .5),
		.20 * (t->expressiveness - .5) - .10 * (st - .5),
		.5 * (t->dominance - .5) };
	const double x[AXES] = { s->p, s->a, s->d };
	double up = fmax(30, 240 * (1 + .6 * st - .7 * se));
	double down = fmax(20, 90 * (1 + .5 * se - .7 * st));
	double bored = idle ? 1 : 0;
	size_t i;

	q->w = curve_span(dt, 1 / (idle ? up : down), .18 * (.5 + st));
	q->memory_rate = 1 / clamp(360 * (1 + .85 * se - .95 * st), 90, 1200);
	q->shock_tau = fmax(12, 120 * (1 + .9 * se - .8 * st));
	for (i = 0; i < AXES; i++)
		q->axis[i] = curve_to(x[i], idle ? low[i] : own[i],
		    (low[i] - own[i]) * (s->boredom - bored), &q->w);
}

/* Silence up to a moment, with a user there or not. */
static void
live(struct pad_state *s, const struct persona *base, bool idle, int64_t to)
{
	double bored = idle ? 1 : 0;
	struct silence q;

	if (to <= s->last_updated)
		return;
	silence_of(s, base, idle, pad_seconds(s->last_updated, to), &q);
	live_calm(&q, s);
	live_sizes(&q, s);
	s->mu_p = curve_mean(
	    &q.axis[PLEASURE], &q.w, s->mu_p, 1 / PAD_LONG_TAU, q.w.t);
	s->mu_d = curve_mean(
	    &q.axis[DOMINANCE], &q.w, s->mu_d, 1 / PAD_LONG_TAU, q.w.t);
	s->p = clamp(curve_end(&q.axis[PLEASURE], &q.w), -1, 1);
	s->a = clamp(curve_end(&q.axis[AROUSAL], &q.w), -1, 1);
	s->d = clamp(curve_end(&q.axis[DOMINANCE], &q.w), -1, 1);
	s->boredom = bored + (s->boredom - bored) * q.w.slow_left;
	s->shock_load *= exp(-q.w.t / q.shock_tau);
	s->volatility *= exp(-q.w.t / PAD_LONG_TAU);
	fade(&s->drift, exp(-DRIFT_RATE * q.w.t));
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
