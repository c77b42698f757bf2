/*
 * persona-pad-v3: the equations of v2 in closed form.
 *
 * Without input, everything follows differential equations whose rates depend
 * on the traits alone: boredom falls while a user is present and grows
 * afterwards; each axis approaches its point of rest, which boredom lowers; the
 * shock load and the drift of the traits decay; slow means follow |arousal|,
 * the axes and their peak.  The solution is exact for any elapsed time, so the
 * number of steps does not matter.  A user's input acts at its moment; only
 * then the traits are pulled.
 */
#include "dynamics/pad_internal.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/mem.h"
#include "persona/persona.h"

#define DRIFT_RATE  4e-5 /* 1/s, decay of the drift */
#define DRIFT_STEP  .01  /* pull of the strongest input */
#define MOVED_SHARE .04  /* of one input in the volatility */

/* A period of time, and the two rates of its curves in 1/s, > 0. */
struct curve_window {
	double t, slow, fast;
	double slow_left, fast_left; /* e^(-slow t), e^(-fast t) */
};

/* rest + slow e^(-window.slow t) + fast e^(-window.fast t) */
struct curve {
	double rest, slow, fast;
};

/* A curve has at most this many zeros. */
#define CURVE_ZEROS 2
/* Precision of a zero, s; more bisections than a double has digits. */
#define ZERO_PRECISION 1e-9
#define BISECTIONS_MAX 64

static struct curve_window
curve_window(double t, double slow, double fast)
{
	return (struct curve_window){ t, slow, fast, exp(-slow * t),
		exp(-fast * t) };
}

static struct curve
curve_to(double x, double rest, double lag, const struct curve_window *w)
{
	double slow = lag * w->fast / (w->fast - w->slow);

	return (struct curve){ rest, slow, x - rest - slow };
}

static double
curve_at(const struct curve *c, const struct curve_window *w, double t)
{
	return c->rest + c->slow * exp(-w->slow * t) +
	    c->fast * exp(-w->fast * t);
}

static double
curve_end(const struct curve *c, const struct curve_window *w)
{
	return c->rest + c->slow * w->slow_left + c->fast * w->fast_left;
}

static struct curve
curve_from(const struct curve *c, const struct curve_window *w, double t)
{
	if (t == 0)
		return *c;
	return (struct curve){ c->rest, c->slow * exp(-w->slow * t),
		c->fast * exp(-w->fast * t) };
}

/* (e^(-at) - e^(-bt)) / (b - a), also for equal rates. */
static double
curve_lag(double a, double b, double t)
{
	double d = fabs(b - a), low = exp(-fmin(a, b) * t);

	return d * t < 1e-12 ? t * low : low * -expm1(-d * t) / d;
}

static double
curve_mean(const struct curve *c, const struct curve_window *w, double y,
    double rate, double t)
{
	double left = exp(-rate * t);

	return y * left + c->rest * (1 - left) +
	    rate *
	    (c->slow * curve_lag(w->slow, rate, t) +
		c->fast * curve_lag(w->fast, rate, t));
}

/* The zero between lo and hi, where the sign changes. */
static double
curve_bisect(
    const struct curve *c, const struct curve_window *w, double lo, double hi)
{
	bool positive = curve_at(c, w, lo) > 0;
	double mid;
	int i;

	for (i = 0; i < BISECTIONS_MAX && hi - lo > ZERO_PRECISION; i++) {
		mid = lo + (hi - lo) / 2;
		if ((curve_at(c, w, mid) > 0) == positive)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

static int
curve_zeros(
    const struct curve *c, const struct curve_window *w, double at[CURVE_ZEROS])
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
	/* It is monotonic on either side of its only turning point. */
	if ((from > 0) == (to > 0)) {
		if (first != last)
			at[n++] = curve_bisect(c, w, 0, w->t);
		return n;
	}
	turn = clamp(
	    log(-c->fast * w->fast / (c->slow * w->slow)) / (w->fast - w->slow),
	    0, w->t);
	middle = curve_at(c, w, turn) > 0;
	if (first != middle)
		at[n++] = curve_bisect(c, w, 0, turn);
	if (middle != last)
		at[n++] = curve_bisect(c, w, turn, w->t);
	return n;
}

enum { PLEASURE, AROUSAL, DOMINANCE, AXES };
/* Zeros of each axis, and of the sums and differences of any two. */
#define SECTIONS_MAX ((AXES + 2 * AXES) * CURVE_ZEROS + 1)

/* A period without input in which all rates are constant. */
struct silence {
	struct curve_window w;
	struct curve axis[AXES];
	double memory_rate; /* 1/s */
	double shock_tau;   /* s */
};

/* Times at which another axis becomes the peak, or one changes its sign. */
struct sections {
	double at[SECTIONS_MAX];
	size_t n;
};

static void
sections_add(struct sections *c, const struct silence *q, const struct curve *f)
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
curve_sum(const struct curve *a, double sign, const struct curve *b)
{
	return (struct curve){ a->rest + sign * b->rest,
		a->slow + sign * b->slow, a->fast + sign * b->fast };
}

static void
sections_find(const struct silence *q, struct sections *c)
{
	struct curve f;
	size_t i, j;

	c->n = 0;
	for (i = 0; i < AXES; i++) {
		sections_add(c, q, &q->axis[i]);
		for (j = 0; j < i; j++) {
			f = curve_sum(&q->axis[i], -1, &q->axis[j]);
			sections_add(c, q, &f);
			f = curve_sum(&q->axis[i], 1, &q->axis[j]);
			sections_add(c, q, &f);
		}
	}
	c->at[c->n++] = q->w.t;
}

/*
 * The value of an axis in a section without zeros, for its sign and size.
 * Without sections the mean of both ends serves as well and is already
 * computed.
 */
static double
silence_value(const struct silence *q, size_t axis, double from, double to)
{
	const struct curve *c = &q->axis[axis];

	if (from == 0 && to == q->w.t)
		return (c->rest + c->slow + c->fast + curve_end(c, &q->w)) / 2;
	return curve_at(c, &q->w, from + (to - from) / 2);
}

/*
 * The absolute value of an axis whose value is x, as a curve from that time on.
 */
static struct curve
silence_size(const struct silence *q, size_t axis, double x, double from)
{
	static const struct curve zero;
	struct curve c = curve_from(&q->axis[axis], &q->w, from);

	return curve_sum(&zero, x < 0 ? -1 : 1, &c);
}

/* The slow means of |arousal| and of the peak, section by section. */
static void
silence_sizes(const struct silence *q, struct pad_state *s)
{
	struct curve arousal, top;
	double from = 0, to, x[AXES];
	struct sections sections;
	size_t i, k, high;

	sections_find(q, &sections);
	for (i = 0; i < sections.n; i++, from = to) {
		to = sections.at[i];
		for (k = 0, high = 0; k < AXES; k++) {
			x[k] = silence_value(q, k, from, to);
			if (fabs(x[k]) > fabs(x[high]))
				high = k;
		}
		top = silence_size(q, high, x[high], from);
		arousal = silence_size(q, AROUSAL, x[AROUSAL], from);
		s->extreme_memory = curve_mean(
		    &top, &q->w, s->extreme_memory, q->memory_rate, to - from);
		s->mu_a = curve_mean(
		    &arousal, &q->w, s->mu_a, 1 / PAD_LONG_TAU, to - from);
	}
}

static double
silence_peak(const struct silence *q, double t)
{
	return fmax(fabs(curve_at(&q->axis[0], &q->w, t)),
	    fmax(fabs(curve_at(&q->axis[1], &q->w, t)),
		fabs(curve_at(&q->axis[2], &q->w, t))));
}

/*
 * When the peak falls below PAD_CALM_PEAK; the points of rest are lower, so it
 * stays below.
 */
static double
silence_calm_after(const struct silence *q)
{
	double lo = 0, hi = q->w.t, mid;

	if (silence_peak(q, 0) < PAD_CALM_PEAK)
		return 0;
	if (silence_peak(q, hi) >= PAD_CALM_PEAK)
		return INFINITY;
	while (hi - lo > 1e-9 && (mid = lo + (hi - lo) / 2) > lo && mid < hi) {
		if (silence_peak(q, mid) < PAD_CALM_PEAK)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/* The start of the stable period: calm and no longer locked. */
static void
silence_calm(const struct silence *q, struct pad_state *s)
{
	double after;
	int64_t at;

	if (s->stable_since != 0)
		return;
	after = silence_calm_after(q);
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
drift_fade(struct persona *drift, double share)
{
	drift->empathy *= share;
	drift->sensitivity *= share;
	drift->stability *= share;
	drift->expressiveness *= share;
	drift->dominance *= share;
}

/* The curves of the axes, and the rates. */
static void
silence_new(const struct pad_state *s, const struct persona *t, bool idle,
    double dt, struct silence *q)
{
	static const double bored_rest[AXES] = { -.35, -.45, -.15 };
	double em = t->empathy - .5, st = t->stability, se = t->sensitivity;
	const double trait_rest[AXES] = { .25 * em + .15 * (st - .5),
		.20 * (t->expressiveness - .5) - .10 * (st - .5),
		.5 * (t->dominance - .5) };
	const double x[AXES] = { s->p, s->a, s->d };
	double up = fmax(30, 240 * (1 + .6 * st - .7 * se));
	double down = fmax(20, 90 * (1 + .5 * se - .7 * st));
	double bored = idle ? 1 : 0;
	size_t i;

	q->w = curve_window(dt, 1 / (idle ? up : down), .18 * (.5 + st));
	q->memory_rate = 1 / clamp(360 * (1 + .85 * se - .95 * st), 90, 1200);
	q->shock_tau = fmax(12, 120 * (1 + .9 * se - .8 * st));
	for (i = 0; i < AXES; i++)
		q->axis[i] =
		    curve_to(x[i], idle ? bored_rest[i] : trait_rest[i],
			(bored_rest[i] - trait_rest[i]) * (s->boredom - bored),
			&q->w);
}

/* Evolve to a time without input; idle: no user is present. */
static void
silence_apply(
    struct pad_state *s, const struct persona *base, bool idle, int64_t to)
{
	double bored = idle ? 1 : 0;
	struct silence q;

	if (to <= s->last_updated)
		return;
	silence_new(s, base, idle, pad_seconds(s->last_updated, to), &q);
	silence_calm(&q, s);
	silence_sizes(&q, s);
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
	drift_fade(&s->drift, exp(-DRIFT_RATE * q.w.t));
	s->last_updated = to;
}

static void
drift_pull(struct persona *drift, const struct persona *by, double share)
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

/* The effect of an input at its moment. */
static void
v3_input(struct pad_step *u, struct pad_state *s)
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
	drift_pull(&s->drift, &pulls, DRIFT_STEP * u->push / PAD_IMPACT_MAX);
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
	silence_apply(s, &base, false, idle < u->now ? idle : u->now);
	silence_apply(s, &base, true, u->now);
	u->t = persona_add(&base, &s->drift);
	pad_notice(u, s);
	pad_push(u);
	if (u->in.from_user)
		v3_input(u, s);
	pad_lock(u, s);
	pad_calm(u, s);
}
