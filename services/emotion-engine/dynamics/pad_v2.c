/*
 * persona-pad-v2: one function per step of the update, in order.
 */
#include "dynamics/pad_internal.h"

#include <math.h>

#include "persona/persona.h"

#define GAP_MAX      7200.0 /* s; limit of the elapsed time */
#define ACTIVE_TIME  2.0    /* s; an input counts as this much activity */
#define BOREDOM_UP   240.0  /* s */
#define BOREDOM_DOWN 90.0   /* s */
#define SHOCK_TAU    120.0  /* s */
#define RECOVERY     .18    /* 1/s */
#define MEMORY_TAU   360.0
#define DRIFT_ETA    9e-5 /* 1/s */
#define DRIFT_GAMMA  4e-5 /* 1/s */

static void
v2_boredom(const struct pad_step *u, struct pad_state *s)
{
	double se = u->t.sensitivity, st = u->t.stability, tau;

	if (pad_seconds(s->last_interaction, u->now) >= PAD_IDLE_AFTER) {
		tau = fmax(30, BOREDOM_UP * (1 + .6 * st - .7 * se));
		s->boredom = 1 - (1 - s->boredom) * exp(-u->dt / tau);
	}
	if (u->in.from_user) {
		tau = fmax(20, BOREDOM_DOWN * (1 + .5 * se - .7 * st));
		s->boredom *= exp(-ACTIVE_TIME / tau);
	}
	s->boredom = clamp01(s->boredom);
}

/* The point of rest: given by the traits, lowered by boredom. */
static void
v2_target(struct pad_step *u, const struct pad_state *s)
{
	double em = u->t.empathy - .5, st = u->t.stability - .5;
	double ex = u->t.expressiveness - .5, d = u->t.dominance - .5;
	double b = s->boredom;

	u->tp = (1 - b) * clamp(.25 * em + .15 * st, -1, 1) + b * -.35;
	u->ta = (1 - b) * clamp(.20 * ex - .10 * st, -1, 1) + b * -.45;
	u->td = (1 - b) * clamp(.5 * d, -1, 1) + b * -.15;
}

static void
v2_shock(const struct pad_step *u, struct pad_state *s)
{
	double tau = fmax(
	    12, SHOCK_TAU * (1 + .9 * u->t.sensitivity - .8 * u->t.stability));

	s->shock_load =
	    clamp01(s->shock_load * exp(-u->dt / tau) + pad_shock(u));
}

static void
v2_move(const struct pad_step *u, struct pad_state *s)
{
	double rate =
	    RECOVERY * (.5 + u->t.stability) / (1 + 1.5 * s->shock_load);
	double r = 1 - exp(-rate * u->dt), alpha, moved;
	double p = s->p, a = s->a, d = s->d;

	s->p = clamp(p + u->dp + r * (u->tp - p), -1, 1);
	s->a = clamp(a + u->da + r * (u->ta - a), -1, 1);
	s->d = clamp(d + u->dd + r * (u->td - d), -1, 1);

	alpha = u->dt > 0 ? 1 - exp(-u->dt / PAD_LONG_TAU) : .04;
	s->mu_p = lerp(s->mu_p, s->p, alpha);
	s->mu_a = lerp(s->mu_a, fabs(s->a), alpha);
	s->mu_d = lerp(s->mu_d, s->d, alpha);
	moved = (fabs(s->p - p) + fabs(s->a - a) + fabs(s->d - d)) / 3;
	s->volatility = lerp(s->volatility, moved, alpha);
}

static double
v2_drift_trait(double x, double pull, double dt)
{
	return clamp(x * (1 - DRIFT_GAMMA * dt) + DRIFT_ETA * dt * pull,
	    -PAD_DRIFT_MAX, PAD_DRIFT_MAX);
}

static void
v2_drift(const struct pad_step *u, struct pad_state *s)
{
	struct persona pull = pad_pulls(&u->t, s), *x = &s->drift;
	double dt = fmax(u->dt, 1);

	x->empathy = v2_drift_trait(x->empathy, pull.empathy, dt);
	x->sensitivity = v2_drift_trait(x->sensitivity, pull.sensitivity, dt);
	x->stability = v2_drift_trait(x->stability, pull.stability, dt);
	x->expressiveness =
	    v2_drift_trait(x->expressiveness, pull.expressiveness, dt);
	x->dominance = v2_drift_trait(x->dominance, pull.dominance, dt);
}

static void
v2_memory(const struct pad_step *u, struct pad_state *s)
{
	double tau = clamp(MEMORY_TAU *
		(1 + .85 * u->t.sensitivity - .95 * u->t.stability +
		    .35 * s->shock_load),
	    90, 1200);
	double beta =
	    u->dt > 0 ? 1 - exp(-u->dt / tau) : clamp(2 / tau, .02, .10);

	s->extreme_memory = clamp01(lerp(s->extreme_memory, pad_peak(s), beta));
}

void
pad_v2(struct pad_step *u, struct pad_state *s)
{
	u->t = persona_add(&u->base, &s->drift);
	u->dt = clamp(pad_seconds(s->last_updated, u->now), 0, GAP_MAX);
	pad_notice(u, s);
	v2_boredom(u, s);
	v2_target(u, s);
	pad_push(u);
	v2_shock(u, s);
	v2_move(u, s);
	v2_drift(u, s);
	v2_memory(u, s);
	pad_lock(u, s);
	pad_calm(u, s);
}
