/*
 * persona-pad-v3: the result does not depend on the number of steps, and
 * without input a soul approaches its point of rest.
 */
#include <stdlib.h>

#include "soul_script.h"

#define HOUR (3600 * SECOND)

static const struct pad_input no_input;
static const char *const types[] = { "INTJ", "INFP", "ESFJ", "ENTP", "ISTJ" };

/* Deterministic. */
static uint64_t
random_u64(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static double
random_in(uint64_t *x, double lo, double hi)
{
	return lo +
	    (hi - lo) *
	    ((double)(random_u64(x) >> 11) / (double)(UINT64_C(1) << 53));
}

/* Any state, with the last input recently or long ago. */
static void
random_state(uint64_t *x, struct pad_state *s)
{
	pad_new(s, PERSONA_PAD_V3, T0);
	s->p = random_in(x, -1, 1);
	s->a = random_in(x, -1, 1);
	s->d = random_in(x, -1, 1);
	s->boredom = random_in(x, 0, 1);
	s->shock_load = random_in(x, 0, 1);
	s->extreme_memory = random_in(x, 0, 1);
	s->mu_p = random_in(x, -1, 1);
	s->mu_a = random_in(x, 0, 1);
	s->mu_d = random_in(x, -1, 1);
	s->volatility = random_in(x, 0, 2);
	s->drift = (struct persona){ random_in(x, -.22, .22),
		random_in(x, -.22, .22), random_in(x, -.22, .22),
		random_in(x, -.22, .22), random_in(x, -.22, .22) };
	s->last_interaction = T0 - (int64_t)(random_u64(x) % (40 * SECOND));
	if (random_u64(x) % 2 == 0)
		s->lock_until = T0 + (int64_t)(random_u64(x) % (200 * SECOND));
}

static void
ck_same(double x, double y, double by, const char *what)
{
	if (!(fabs(x - y) <= by))
		ck_abort_msg("%s: %.9f and %.9f", what, x, y);
}

static void
ck_same_state(const struct pad_state *a, const struct pad_state *b, double by)
{
	ck_same(a->p, b->p, by, "p");
	ck_same(a->a, b->a, by, "a");
	ck_same(a->d, b->d, by, "d");
	ck_same(a->boredom, b->boredom, by, "boredom");
	ck_same(a->shock_load, b->shock_load, by, "shock_load");
	ck_same(a->extreme_memory, b->extreme_memory, by, "extreme_memory");
	ck_same(a->mu_p, b->mu_p, by, "mu_p");
	ck_same(a->mu_a, b->mu_a, by, "mu_a");
	ck_same(a->mu_d, b->mu_d, by, "mu_d");
	ck_same(a->volatility, b->volatility, by, "volatility");
	ck_same(a->drift.empathy, b->drift.empathy, by, "empathy");
	ck_same(a->drift.sensitivity, b->drift.sensitivity, by, "sensitivity");
	ck_same(a->drift.stability, b->drift.stability, by, "stability");
	ck_same(a->drift.expressiveness, b->drift.expressiveness, by,
	    "expressiveness");
	ck_same(a->drift.dominance, b->drift.dominance, by, "dominance");
}

static void
ck_same_times(const struct pad_state *a, const struct pad_state *b)
{
	ck_assert_int_eq(a->lock_until, b->lock_until);
	ck_assert_int_eq(a->last_interaction, b->last_interaction);
	ck_assert_int_eq(a->last_updated, b->last_updated);
	ck_assert_int_eq(a->stable_since != 0, b->stable_since != 0);
	/* Found by bisection: to the microsecond. */
	ck_assert_int_le(llabs(a->stable_since - b->stable_since), 1000);
}

TEST(many_steps_equal_one_step)
{
	static const int64_t spans[] = { 20 * SECOND, 200 * SECOND, HOUR,
		9 * HOUR, 1000 * HOUR };
	uint64_t x = 20261120;
	struct pad_state one, many;
	struct persona base;
	int i, k, steps;
	int64_t at, end;

	for (i = 0; i < 4000; i++) {
		ck_assert_int_eq(
		    persona_of_mbti(str_of(types[i % 5]), &base), RC_OK);
		random_state(&x, &one);
		many = one;
		end =
		    T0 + 1 + (int64_t)(random_u64(&x) % (uint64_t)spans[i % 5]);
		steps = 2 + (int)(random_u64(&x) % 60);
		for (k = 1, at = T0; k < steps; k++) {
			at += (int64_t)(random_u64(&x) %
			    (uint64_t)(2 * (end - T0) / steps));
			if (at < end)
				pad_update(&many, &base, &no_input, at,
				    PAD_GATE_CONTINUOUS);
		}
		pad_update(&many, &base, &no_input, end, PAD_GATE_CONTINUOUS);
		pad_update(&one, &base, &no_input, end, PAD_GATE_CONTINUOUS);
		ck_same_state(&one, &many, 1e-9);
		ck_same_times(&one, &many);
	}
}

/* The same equations by Euler's method. */
static void
euler_step(struct pad_state *s, const struct persona *t, double dt, bool idle)
{
	double em = t->empathy - .5, st = t->stability, se = t->sensitivity;
	double b = s->boredom, rate = .18 * (.5 + st), z = pad_peak(s);
	double tau =
	    idle ? 240 * (1 + .6 * st - .7 * se) : 90 * (1 + .5 * se - .7 * st);
	double p = (1 - b) * (.25 * em + .15 * (st - .5)) - .35 * b;
	double a =
	    (1 - b) * (.20 * (t->expressiveness - .5) - .10 * (st - .5)) -
	    .45 * b;
	double d = (1 - b) * .5 * (t->dominance - .5) - .15 * b;

	s->extreme_memory += dt * (z - s->extreme_memory) /
	    fmax(90, 360 * (1 + .85 * se - .95 * st));
	s->mu_p += dt * (s->p - s->mu_p) / 2400;
	s->mu_a += dt * (fabs(s->a) - s->mu_a) / 2400;
	s->mu_d += dt * (s->d - s->mu_d) / 2400;
	s->p += dt * rate * (p - s->p);
	s->a += dt * rate * (a - s->a);
	s->d += dt * rate * (d - s->d);
	s->boredom += dt * ((idle ? 1 : 0) - b) / tau;
}

TEST(the_solution_matches_numeric_integration)
{
	uint64_t x = 7;
	struct pad_state exact, slow;
	struct persona base;
	int i, k;

	for (i = 0; i < 25; i++) {
		ck_assert_int_eq(
		    persona_of_mbti(str_of(types[i % 5]), &base), RC_OK);
		random_state(&x, &exact);
		exact.last_interaction = T0;
		slow = exact;
		for (k = 0; k < 600000; k++)
			euler_step(&slow, &base, .001, k >= 18000);
		pad_update(&exact, &base, &no_input, T0 + 600 * SECOND,
		    PAD_GATE_CONTINUOUS);
		ck_same(exact.p, slow.p, 1e-4, "p");
		ck_same(exact.a, slow.a, 1e-4, "a");
		ck_same(exact.d, slow.d, 1e-4, "d");
		ck_same(exact.boredom, slow.boredom, 1e-4, "boredom");
		ck_same(exact.mu_p, slow.mu_p, 1e-4, "mu_p");
		ck_same(exact.mu_a, slow.mu_a, 1e-4, "mu_a");
		ck_same(exact.mu_d, slow.mu_d, 1e-4, "mu_d");
		ck_same(exact.extreme_memory, slow.extreme_memory, 1e-4,
		    "extreme_memory");
	}
}

/* The final state: bored, low, without drift, ready. */
TEST(silence_ends_in_the_final_state)
{
	uint64_t x = 99;
	struct persona base;
	struct pad_state s;
	size_t i;

	for (i = 0; i < NELEM(types); i++) {
		ck_assert_int_eq(
		    persona_of_mbti(str_of(types[i]), &base), RC_OK);
		random_state(&x, &s);
		pad_update(&s, &base, &no_input, T0 + 1000 * HOUR,
		    PAD_GATE_CONTINUOUS);
		ck_same(s.p, -.35, 1e-9, "p");
		ck_same(s.a, -.45, 1e-9, "a");
		ck_same(s.d, -.15, 1e-9, "d");
		ck_same(s.boredom, 1, 1e-9, "boredom");
		ck_same(s.mu_p, -.35, 1e-9, "mu_p");
		ck_same(s.mu_a, .45, 1e-9, "mu_a");
		ck_same(s.extreme_memory, .45, 1e-9, "extreme_memory");
		ck_same(s.shock_load, 0, 1e-9, "shock_load");
		ck_same(s.volatility, 0, 1e-9, "volatility");
		ck_same(s.drift.sensitivity, 0, 1e-9, "sensitivity");
		ck_same(s.drift.dominance, 0, 1e-9, "dominance");
		ck_assert_int_ne(s.stable_since, 0);
	}
}

/* In v2 more than an hour of silence drives the drift to its limit. */
TEST(silence_does_not_drift_the_traits)
{
	struct script_step tick = TICK(3);
	struct script v2, v3;
	int i;

	script_start(&v2, "INTJ", PAD_GATE_CONTINUOUS);
	script_start(&v3, "INTJ", PAD_GATE_CONTINUOUS);
	v3.s.model = PERSONA_PAD_V3;
	for (i = 0; i < 5000 / 3; i++) {
		script_step_run(&v2, &tick);
		script_step_run(&v3, &tick);
	}
	ck_assert_double_gt(v2.s.drift.sensitivity, .2);
	ck_assert_double_eq(v3.s.drift.sensitivity, 0);
}

/* Even if every input is angry, or every input is kind. */
TEST(constant_input_keeps_traits_below_their_limits)
{
	struct script_step anger = EMOTION_STEP(4, ANGER, 1),
			   joy = EMOTION_STEP(4, JOY, 1);
	struct script w;
	int i;

	script_start(&w, "INFP", PAD_GATE_CONTINUOUS);
	w.s.model = PERSONA_PAD_V3;
	for (i = 0; i < 3 * 900; i++)
		script_step_run(&w, &anger);
	ck_assert_double_gt(w.s.drift.sensitivity, .05);
	ck_assert_double_lt(w.s.drift.sensitivity, .22);
	for (i = 0; i < 3 * 900; i++)
		script_step_run(&w, &joy);
	ck_assert_double_lt(fabs(w.s.drift.empathy), .22);
	ck_assert_double_lt(fabs(w.s.drift.dominance), .22);
}

/* The first input has the effect of v2, apart from the time before it. */
TEST(an_input_has_the_same_effect_as_in_v2)
{
	struct script_step fear = EMOTION_STEP(0, FEAR, .95);
	struct script v2, v3;

	script_start(&v2, "INFP", PAD_GATE_CONTINUOUS);
	script_start(&v3, "INFP", PAD_GATE_CONTINUOUS);
	v3.s.model = PERSONA_PAD_V3;
	script_step_run(&v2, &fear);
	script_step_run(&v3, &fear);
	script_near(v3.s.p, v2.s.p);
	script_near(v3.s.a, v2.s.a);
	script_near(v3.s.d, v2.s.d);
	script_near(v3.s.shock_load, v2.s.shock_load);
	/* No time has passed since. */
	ck_assert_double_eq(v3.s.extreme_memory, 0);
	ck_assert_double_eq(v3.s.mu_a, 0);
}

/* A second update at the same time, for another body, changes nothing. */
TEST(an_update_at_the_same_time_changes_nothing)
{
	uint64_t x = 3;
	struct persona base;
	struct pad_state s, previous;

	ck_assert_int_eq(persona_of_mbti(STR("INFP"), &base), RC_OK);
	random_state(&x, &s);
	pad_update(&s, &base, &no_input, T0 + 5 * SECOND, PAD_GATE_CONTINUOUS);
	previous = s;
	pad_update(&s, &base, &no_input, T0 + 5 * SECOND, PAD_GATE_CONTINUOUS);
	ck_same_state(&s, &previous, 0);
	ck_same_times(&s, &previous);
}

TEST(the_stable_period_starts_when_the_lock_ends)
{
	struct persona base;
	struct pad_state s;

	ck_assert_int_eq(persona_of_mbti(STR("INTJ"), &base), RC_OK);
	pad_new(&s, PERSONA_PAD_V3, T0);
	s.lock_until = T0 + 10 * SECOND;
	pad_update(&s, &base, &no_input, T0 + 4 * SECOND, PAD_GATE_CONTINUOUS);
	ck_assert_int_eq(s.stable_since, 0);
	pad_update(&s, &base, &no_input, T0 + 60 * SECOND, PAD_GATE_CONTINUOUS);
	ck_assert_int_eq(s.lock_until, 0);
	ck_assert_int_eq(s.stable_since, T0 + 10 * SECOND);
}
