/*
 * The update of persona-pad-v2: each step of it is a function here, in order.
 */
#include "pad.h"

#include <math.h>

#include "emotion.h"
#include "persona/clamp.h"

#define SECOND INT64_C(1000000000)
/* Far beyond any date, far enough from the type's limit to add to. */
#define TIME_MAX (INT64_MAX / 2)

#define GAP_MAX      7200.0 /* s; longer silence counts as this */
#define IDLE_AFTER   18.0   /* s */
#define ACTIVE_TIME  2.0    /* s that a user's input counts against boredom */
#define BOREDOM_UP   240.0  /* s */
#define BOREDOM_DOWN 90.0   /* s */
#define IMPACT_BASE  .55
#define IMPACT_MAX   .42
#define SHOCK_FROM   .08
#define SHOCK_TAU    120.0 /* s */
#define RECOVERY     .18   /* 1/s */
#define LONG_TAU     2400.0
#define MEMORY_TAU   360.0
#define DRIFT_ETA    9e-5 /* 1/s */
#define DRIFT_GAMMA  4e-5 /* 1/s */
#define DRIFT_MAX    .22
#define EXTREME_PEAK .95
#define EXTREME_LOAD .90
#define LOCK_BASE    120.0 /* s */

/* What the steps of one update hand to each other. */
struct step {
	struct persona t; /* the traits with their drift */
	double dt;        /* s */
	int64_t now;
	struct pad_input in;
	double n, q;       /* how negative, how positive the input is */
	double dp, da, dd; /* the push of the input */
	double push;       /* its size */
	double tp, ta, td; /* the point of rest */
};

static double
fit(double x, double lo, double hi)
{
	return isfinite(x) ? clamp(x, lo, hi) : clamp(0, lo, hi);
}

static int64_t
fit_time(int64_t t)
{
	return t < 0 ? 0 : t > TIME_MAX ? TIME_MAX : t;
}

static double
rms(double x, double y, double z)
{
	return sqrt((x * x + y * y + z * z) / 3);
}

static double
seconds(int64_t from, int64_t to)
{
	return (double)(to - from) / (double)SECOND;
}

static int64_t
nanoseconds(double s)
{
	return (int64_t)(s * (double)SECOND);
}

/* Nothing that was stored or sent may push the state out of its bounds. */
static void
fit_state(struct pad_state *s)
{
	double *unit[] = { &s->boredom, &s->shock_load, &s->extreme_memory };
	double *axis[] = { &s->p, &s->a, &s->d, &s->mu_p, &s->mu_a, &s->mu_d };
	double *drift[] = { &s->drift.empathy, &s->drift.sensitivity,
		&s->drift.stability, &s->drift.expressiveness,
		&s->drift.dominance };
	size_t i;

	for (i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		*unit[i] = fit(*unit[i], 0, 1);
	for (i = 0; i < sizeof(axis) / sizeof(axis[0]); i++)
		*axis[i] = fit(*axis[i], -1, 1);
	for (i = 0; i < sizeof(drift) / sizeof(drift[0]); i++)
		*drift[i] = fit(*drift[i], -DRIFT_MAX, DRIFT_MAX);
	s->volatility = fit(s->volatility, 0, 2);
	s->lock_until = fit_time(s->lock_until);
	s->stable_since = fit_time(s->stable_since);
	s->last_interaction = fit_time(s->last_interaction);
	s->last_updated = fit_time(s->last_updated);
}

static void
fit_input(struct pad_input *in)
{
	in->p = fit(in->p, -1, 1);
	in->a = fit(in->a, -1, 1);
	in->d = fit(in->d, -1, 1);
	in->intensity = fit(in->intensity, 0, 1);
}

static void
step_time(struct step *u, struct pad_state *s, int64_t now)
{
	u->now = fit_time(now);
	if (s->last_updated > u->now && s->last_updated - u->now <= SECOND)
		u->now = s->last_updated;
	u->dt = clamp(seconds(s->last_updated, u->now), 0, GAP_MAX);
	if (u->in.intensity > .01 || u->in.emotion != WIRE_EMOTION_NEUTRAL ||
	    fabs(u->in.p) + fabs(u->in.a) + fabs(u->in.d) > .08)
		u->in.from_user = true;
	if (u->in.from_user)
		s->last_interaction = u->now;
}

static void
step_boredom(const struct step *u, struct pad_state *s)
{
	double se = u->t.sensitivity, st = u->t.stability, tau;

	if (seconds(s->last_interaction, u->now) >= IDLE_AFTER) {
		tau = fmax(30, BOREDOM_UP * (1 + .6 * st - .7 * se));
		s->boredom = 1 - (1 - s->boredom) * exp(-u->dt / tau);
	}
	if (u->in.from_user) {
		tau = fmax(20, BOREDOM_DOWN * (1 + .5 * se - .7 * st));
		s->boredom *= exp(-ACTIVE_TIME / tau);
	}
	s->boredom = clamp01(s->boredom);
}

/* Where the state rests: a point of the traits', pulled down by boredom. */
static void
step_target(struct step *u, const struct pad_state *s)
{
	double em = u->t.empathy - .5, st = u->t.stability - .5;
	double ex = u->t.expressiveness - .5, d = u->t.dominance - .5;
	double b = s->boredom;

	u->tp = (1 - b) * clamp(.25 * em + .15 * st, -1, 1) + b * -.35;
	u->ta = (1 - b) * clamp(.20 * ex - .10 * st, -1, 1) + b * -.45;
	u->td = (1 - b) * clamp(.5 * d, -1, 1) + b * -.15;
}

static void
step_polarity(struct step *u)
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

/* How much of a weak input the binary gate's model lets through. */
static double
damping(const struct step *u)
{
	const struct pad_input *in = &u->in;
	double energy = clamp01(.55 * in->intensity +
	    .30 * rms(in->p, in->a, in->d) + .15 * fmax(u->n, u->q));

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

static void
step_impact(struct step *u, enum pad_gate gate)
{
	const struct pad_input *in = &u->in;
	double k = IMPACT_BASE * (.5 + u->t.empathy) * (.5 + u->t.sensitivity) /
	    (.7 + u->t.stability);
	double scale = gate == PAD_GATE_BINARY ? damping(u) : 1;
	double gain =
	    clamp(lerp(1, 1.30, u->n) * lerp(1, .62, u->q), .30, 2.60);
	double f = in->intensity * scale * k * gain;

	u->dp = f * in->p;
	u->da = f * in->a;
	u->dd = f * (in->d + .2 * (u->t.dominance - .5));
	u->push = rms(u->dp, u->da, u->dd);
	if (u->push > IMPACT_MAX) {
		u->dp *= IMPACT_MAX / u->push;
		u->da *= IMPACT_MAX / u->push;
		u->dd *= IMPACT_MAX / u->push;
		u->push = IMPACT_MAX;
	}
}

static void
step_shock(const struct step *u, struct pad_state *s)
{
	double tau = fmax(
	    12, SHOCK_TAU * (1 + .9 * u->t.sensitivity - .8 * u->t.stability));
	double gain =
	    clamp(lerp(1, 1.25, u->n) * lerp(1, .58, u->q), .25, 2.80);

	s->shock_load = clamp01(s->shock_load * exp(-u->dt / tau) +
	    gain * fmax(0, u->push - SHOCK_FROM));
}

static void
step_move(const struct step *u, struct pad_state *s)
{
	double rate =
	    RECOVERY * (.5 + u->t.stability) / (1 + 1.5 * s->shock_load);
	double r = 1 - exp(-rate * u->dt), alpha, moved;
	double p = s->p, a = s->a, d = s->d;

	s->p = clamp(p + u->dp + r * (u->tp - p), -1, 1);
	s->a = clamp(a + u->da + r * (u->ta - a), -1, 1);
	s->d = clamp(d + u->dd + r * (u->td - d), -1, 1);

	alpha = u->dt > 0 ? 1 - exp(-u->dt / LONG_TAU) : .04;
	s->mu_p = lerp(s->mu_p, s->p, alpha);
	s->mu_a = lerp(s->mu_a, fabs(s->a), alpha);
	s->mu_d = lerp(s->mu_d, s->d, alpha);
	moved = (fabs(s->p - p) + fabs(s->a - a) + fabs(s->d - d)) / 3;
	s->volatility = lerp(s->volatility, moved, alpha);
}

static double
drift(double x, double pull, double dt)
{
	return clamp(
	    x * (1 - DRIFT_GAMMA * dt) + DRIFT_ETA * dt * clamp(pull, -1, 1),
	    -DRIFT_MAX, DRIFT_MAX);
}

static void
step_drift(const struct step *u, struct pad_state *s)
{
	double dt = fmax(u->dt, 1), m = s->extreme_memory, b = s->boredom;
	struct persona *x = &s->drift;

	x->empathy = drift(
	    x->empathy, .45 * s->mu_p - .55 * s->volatility - .35 * m, dt);
	x->sensitivity =
	    drift(x->sensitivity, .65 * s->mu_a + .45 * m + .35 * b, dt);
	x->stability = drift(x->stability,
	    -.8 * s->volatility - .55 * s->shock_load + .3 * (1 - s->mu_a), dt);
	x->expressiveness = drift(x->expressiveness,
	    .35 * fabs(s->mu_p) + .45 * s->mu_a - .25 * b, dt);
	x->dominance = drift(x->dominance,
	    .7 * s->mu_d - .4 * s->mu_a + .2 * u->t.dominance, dt);
}

static void
step_memory(const struct step *u, struct pad_state *s)
{
	double tau = clamp(MEMORY_TAU *
		(1 + .85 * u->t.sensitivity - .95 * u->t.stability +
		    .35 * s->shock_load),
	    90, 1200);
	double beta =
	    u->dt > 0 ? 1 - exp(-u->dt / tau) : clamp(2 / tau, .02, .10);

	s->extreme_memory = clamp01(lerp(s->extreme_memory, pad_peak(s), beta));
}

static void
lock_longer(const struct step *u, struct pad_state *s)
{
	double extreme = clamp01(.58 * pad_peak(s) + .42 * s->shock_load);
	double traits = clamp01(.55 + .75 * persona_reactivity(&u->t) -
	    .35 * persona_resilience(&u->t));

	s->lock_until = fit_time(s->lock_until +
	    nanoseconds(lerp(18, 48, clamp01(.62 * extreme + .38 * traits))));
}

static void
lock_soothe(const struct step *u, struct pad_state *s)
{
	double balm = clamp01(u->q * (1 - .75 * u->n)), soothe, left;

	if (emotion_valence(u->in.emotion) == EMOTION_POSITIVE)
		balm = clamp01(balm + .20);
	soothe = clamp01(balm *
	    (.75 + .50 * clamp01(.55 * u->t.empathy + .45 * u->t.stability)));
	if (soothe <= .01)
		return;
	left = seconds(u->now, s->lock_until) *
	    (1 - clamp(lerp(.20, .75, soothe), .01, .95));
	s->lock_until = left > .5 ? u->now + nanoseconds(left) : 0;
}

static void
step_lock(const struct step *u, struct pad_state *s)
{
	double z = pad_peak(s);
	bool locked = pad_locked(s, u->now);

	if (u->n >= .35 && u->n >= 1.08 * u->q &&
	    (z >= EXTREME_PEAK || s->shock_load >= EXTREME_LOAD)) {
		if (locked)
			lock_longer(u, s);
		else
			s->lock_until = u->now + nanoseconds(LOCK_BASE);
	} else if (locked) {
		lock_soothe(u, s);
	} else {
		s->lock_until = 0;
	}
	if (pad_locked(s, u->now) || z >= .7 || s->shock_load >= .35)
		s->stable_since = 0;
	else if (s->stable_since == 0)
		s->stable_since = u->now;
}

void
pad_new(struct pad_state *s, int64_t now)
{
	*s = (struct pad_state){ .last_interaction = fit_time(now),
		.last_updated = fit_time(now) };
}

void
pad_update(struct pad_state *s, const struct persona *base,
    const struct pad_input *in, int64_t now, enum pad_gate gate)
{
	struct step u = { .in = *in };

	fit_state(s);
	fit_input(&u.in);
	u.t = persona_add(base, &s->drift);
	step_time(&u, s, now);
	step_boredom(&u, s);
	step_target(&u, s);
	step_polarity(&u);
	step_impact(&u, gate);
	step_shock(&u, s);
	step_move(&u, s);
	step_drift(&u, s);
	step_memory(&u, s);
	step_lock(&u, s);
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
