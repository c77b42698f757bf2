/*
 * What both models share: bounds, and the effect of an input.
 */
#include "dynamics/pad.h"

#include <math.h>

#include "core/mem.h"
#include "dynamics/pad_internal.h"
#include "persona/emotion.h"
#include "persona/persona.h"

#define IMPACT_BASE  .55
#define SHOCK_FROM   .08
#define EXTREME_PEAK .95
#define EXTREME_LOAD .90
#define LOCK_BASE    120.0 /* s */

static double
pad_clamp(double x, double lo, double hi)
{
	return isfinite(x) ? clamp(x, lo, hi) : clamp(0, lo, hi);
}

int64_t
pad_clamp_time(int64_t t)
{
	return t < 0 ? 0 : t > PAD_TIME_MAX ? PAD_TIME_MAX : t;
}

int64_t
pad_time(struct wall w)
{
	return w.ms * INT64_C(1000000);
}

static double
pad_rms(double x, double y, double z)
{
	return sqrt((x * x + y * y + z * z) / 3);
}

double
pad_seconds(int64_t from, int64_t to)
{
	return (double)(to - from) / (double)PAD_SECOND;
}

static int64_t
pad_nanoseconds(double s)
{
	return (int64_t)(s * (double)PAD_SECOND);
}

/* Stored or received values must not leave the bounds. */
static void
pad_clamp_state(struct pad_state *s)
{
	double *unit[] = { &s->boredom, &s->shock_load, &s->extreme_memory };
	double *axis[] = { &s->p, &s->a, &s->d, &s->mu_p, &s->mu_a, &s->mu_d };
	double *drift[] = { &s->drift.empathy, &s->drift.sensitivity,
		&s->drift.stability, &s->drift.expressiveness,
		&s->drift.dominance };
	size_t i;

	for (i = 0; i < NELEM(unit); i++)
		*unit[i] = pad_clamp(*unit[i], 0, 1);
	for (i = 0; i < NELEM(axis); i++)
		*axis[i] = pad_clamp(*axis[i], -1, 1);
	for (i = 0; i < NELEM(drift); i++)
		*drift[i] = pad_clamp(*drift[i], -PAD_DRIFT_MAX, PAD_DRIFT_MAX);
	s->volatility = pad_clamp(s->volatility, 0, 2);
	s->lock_until = pad_clamp_time(s->lock_until);
	s->stable_since = pad_clamp_time(s->stable_since);
	s->last_interaction = pad_clamp_time(s->last_interaction);
	s->last_updated = pad_clamp_time(s->last_updated);
}

static void
pad_clamp_input(struct pad_input *in)
{
	in->p = pad_clamp(in->p, -1, 1);
	in->a = pad_clamp(in->a, -1, 1);
	in->d = pad_clamp(in->d, -1, 1);
	in->intensity = pad_clamp(in->intensity, 0, 1);
}

void
pad_notice(struct pad_step *u, struct pad_state *s)
{
	if (u->in.intensity > .01 || u->in.emotion != WIRE_EMOTION_NEUTRAL ||
	    fabs(u->in.p) + fabs(u->in.a) + fabs(u->in.d) > .08)
		u->in.from_user = true;
	if (u->in.from_user)
		s->last_interaction = u->now;
}

static void
pad_polarity(struct pad_step *u)
{
	const struct pad_input *in = &u->in;
	double n, q;

	n = clamp01(.70 * clamp01(-in->p) + .20 * clamp01(in->a) +
	    .10 * clamp01(-in->d));
	q = clamp01(.72 * clamp01(in->p) + .18 * clamp01(-in->a) +
	    .10 * clamp01(in->d));
	if (emotion_valence(in->emotion) == EMOTION_NEGATIVE)
		n += .16;
	if (emotion_valence(in->emotion) == EMOTION_POSITIVE)
		q += .14;
	if (n > 1.2 * q)
		q *= .6;
	if (q > 1.2 * n)
		n *= .6;
	u->n = clamp01(n);
	u->q = clamp01(q);
}

/* The share of a weak input that the binary gate lets through. */
static double
pad_damping(const struct pad_step *u)
{
	const struct pad_input *in = &u->in;
	double energy = clamp01(.55 * in->intensity +
	    .30 * pad_rms(in->p, in->a, in->d) + .15 * fmax(u->n, u->q));

	if ((in->emotion == WIRE_EMOTION_NEUTRAL ||
		in->emotion == WIRE_EMOTION_CALM) &&
	    energy < .42)
		return .03;
	if (energy < .22)
		return .03;
	if (energy < .35)
		return .08;
	return energy < .50 ? .18 : 1;
}

void
pad_push(struct pad_step *u)
{
	const struct pad_input *in = &u->in;
	double k, scale, gain, f;

	pad_polarity(u);
	k = IMPACT_BASE * (.5 + u->t.empathy) * (.5 + u->t.sensitivity) /
	    (.7 + u->t.stability);
	scale = u->gate == PAD_GATE_BINARY ? pad_damping(u) : 1;
	gain = clamp(lerp(1, 1.30, u->n) * lerp(1, .62, u->q), .30, 2.60);
	f = in->intensity * scale * k * gain;
	u->dp = f * in->p;
	u->da = f * in->a;
	u->dd = f * (in->d + .2 * (u->t.dominance - .5));
	u->push = pad_rms(u->dp, u->da, u->dd);
	if (u->push > PAD_IMPACT_MAX) {
		u->dp *= PAD_IMPACT_MAX / u->push;
		u->da *= PAD_IMPACT_MAX / u->push;
		u->dd *= PAD_IMPACT_MAX / u->push;
		u->push = PAD_IMPACT_MAX;
	}
}

double
pad_shock(const struct pad_step *u)
{
	double gain =
	    clamp(lerp(1, 1.25, u->n) * lerp(1, .58, u->q), .25, 2.80);

	return gain * fmax(0, u->push - SHOCK_FROM);
}

struct persona
pad_pulls(const struct persona *t, const struct pad_state *s)
{
	double b = s->boredom, m = s->extreme_memory, v = s->volatility;

	return (struct persona){
		.empathy = clamp(.45 * s->mu_p - .55 * v - .35 * m, -1, 1),
		.sensitivity = clamp(.65 * s->mu_a + .45 * m + .35 * b, -1, 1),
		.stability = clamp(
		    -.8 * v - .55 * s->shock_load + .3 * (1 - s->mu_a), -1, 1),
		.expressiveness =
		    clamp(.35 * fabs(s->mu_p) + .45 * s->mu_a - .25 * b, -1, 1),
		.dominance = clamp(
		    .7 * s->mu_d - .4 * s->mu_a + .2 * t->dominance, -1, 1),
	};
}

static void
pad_lock_extend(const struct pad_step *u, struct pad_state *s)
{
	double extreme = clamp01(.58 * pad_peak(s) + .42 * s->shock_load);
	double traits = clamp01(.55 + .75 * persona_reactivity(&u->t) -
	    .35 * persona_resilience(&u->t));

	s->lock_until = pad_clamp_time(s->lock_until +
	    pad_nanoseconds(
		lerp(18, 48, clamp01(.62 * extreme + .38 * traits))));
}

static void
pad_lock_shorten(const struct pad_step *u, struct pad_state *s)
{
	double balm = clamp01(u->q * (1 - .75 * u->n)), soothe, left;

	if (emotion_valence(u->in.emotion) == EMOTION_POSITIVE)
		balm = clamp01(balm + .20);
	soothe = clamp01(balm *
	    (.75 + .50 * clamp01(.55 * u->t.empathy + .45 * u->t.stability)));
	if (soothe <= .01)
		return;
	left = pad_seconds(u->now, s->lock_until) *
	    (1 - clamp(lerp(.20, .75, soothe), .01, .95));
	s->lock_until = left > .5 ? u->now + pad_nanoseconds(left) : 0;
}

void
pad_lock(const struct pad_step *u, struct pad_state *s)
{
	bool locked = pad_locked(s, u->now);

	if (u->n >= .35 && u->n >= 1.08 * u->q &&
	    (pad_peak(s) >= EXTREME_PEAK || s->shock_load >= EXTREME_LOAD)) {
		if (locked)
			pad_lock_extend(u, s);
		else
			s->lock_until = u->now + pad_nanoseconds(LOCK_BASE);
	} else if (locked) {
		pad_lock_shorten(u, s);
	} else {
		s->lock_until = 0;
	}
}

void
pad_calm(const struct pad_step *u, struct pad_state *s)
{
	if (pad_locked(s, u->now) || pad_peak(s) >= PAD_CALM_PEAK ||
	    s->shock_load >= PAD_CALM_LOAD)
		s->stable_since = 0;
	else if (s->stable_since == 0)
		s->stable_since = u->now;
}

void
pad_new(struct pad_state *s, enum persona_model model, int64_t now)
{
	*s = (struct pad_state){ .model = model,
		.last_interaction = pad_clamp_time(now),
		.last_updated = pad_clamp_time(now) };
}

void
pad_update(struct pad_state *s, const struct persona *base,
    const struct pad_input *in, int64_t now, enum pad_gate gate)
{
	struct pad_step u = { .base = *base,
		.in = *in,
		.gate = gate,
		.now = pad_clamp_time(now) };

	pad_clamp_state(s);
	pad_clamp_input(&u.in);
	/* Clock skew: the time of a soul never decreases. */
	if (s->last_updated > u.now && s->last_updated - u.now <= PAD_SECOND)
		u.now = s->last_updated;
	if (s->model == PERSONA_PAD_V2)
		pad_v2(&u, s);
	else
		pad_v3(&u, s);
	s->last_updated = u.now;
}

double
pad_peak(const struct pad_state *s)
{
	return fmax(fabs(s->p), fmax(fabs(s->a), fabs(s->d)));
}

bool
pad_locked(const struct pad_state *s, int64_t now)
{
	return s->lock_until > now;
}
