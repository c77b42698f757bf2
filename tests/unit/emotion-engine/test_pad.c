/*
 * Properties of the dynamics that hold for any input, and edge cases of time.
 */
#include <string.h>

#include "soul_script.h"

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
random_unit(uint64_t *x)
{
	return (double)(random_u64(x) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Mostly valid, sometimes hostile. */
static double
random_or_hostile(uint64_t *x, double lo, double hi)
{
	switch (random_u64(x) % 40) {
	case 0:
		return NAN;
	case 1:
		return INFINITY;
	case 2:
		return -INFINITY;
	case 3:
		return -1e300;
	case 4:
		return 1e300;
	default:
		return lo + (hi - lo) * random_unit(x);
	}
}

static void
ck_within(double x, double lo, double hi, const char *what)
{
	/* A passing assertion writes to a pipe, which is too slow here. */
	if (!(x >= lo && x <= hi))
		ck_abort_msg("%s is %g", what, x);
}

static void
check_bounds(const struct pad_state *s)
{
	ck_within(s->p, -1, 1, "p");
	ck_within(s->a, -1, 1, "a");
	ck_within(s->d, -1, 1, "d");
	ck_within(s->boredom, 0, 1, "boredom");
	ck_within(s->shock_load, 0, 1, "shock_load");
	ck_within(s->extreme_memory, 0, 1, "extreme_memory");
	ck_within(s->mu_p, -1, 1, "mu_p");
	ck_within(s->mu_a, -1, 1, "mu_a");
	ck_within(s->mu_d, -1, 1, "mu_d");
	ck_within(s->volatility, 0, 2, "volatility");
	ck_within(s->drift.empathy, -.22, .22, "drift.empathy");
	ck_within(s->drift.sensitivity, -.22, .22, "drift.sensitivity");
	ck_within(s->drift.stability, -.22, .22, "drift.stability");
	ck_within(s->drift.expressiveness, -.22, .22, "drift.expressiveness");
	ck_within(s->drift.dominance, -.22, .22, "drift.dominance");
	ck_within((double)s->lock_until, 0, 1e19, "lock_until");
	ck_within((double)s->stable_since, 0, 1e19, "stable_since");
	ck_within((double)s->last_interaction, 0, 1e19, "last_interaction");
	ck_within((double)s->last_updated, 0, 1e19, "last_updated");
}

static struct pad_input
random_input(uint64_t *x)
{
	return (struct pad_input){
		.emotion = (enum wire_emotion)(random_u64(x) % (EMOTION_N + 2)),
		.p = random_or_hostile(x, -2, 2),
		.a = random_or_hostile(x, -2, 2),
		.d = random_or_hostile(x, -2, 2),
		.intensity = random_or_hostile(x, -1, 2),
		.from_user = random_u64(x) % 2 == 0,
	};
}

static int64_t
random_time(uint64_t *x, int64_t now)
{
	switch (random_u64(x) % 50) {
	case 0:
		return (int64_t)random_u64(x);
	case 1:
		return now;
	case 2:
		return now - (int64_t)(random_u64(x) % (3600 * SECOND));
	case 3:
		return now + (int64_t)(random_u64(x) % (1000000 * SECOND));
	default:
		return now + (int64_t)(random_u64(x) % (30 * SECOND));
	}
}

static void
random_state(uint64_t *x, struct pad_state *s)
{
	*s = (struct pad_state){ (enum persona_model)(random_u64(x) % 5),
		random_or_hostile(x, -2, 2), random_or_hostile(x, -2, 2),
		random_or_hostile(x, -2, 2), random_or_hostile(x, -1, 2),
		random_or_hostile(x, -1, 2), random_or_hostile(x, -1, 2),
		random_or_hostile(x, -2, 2), random_or_hostile(x, -2, 2),
		random_or_hostile(x, -2, 2), random_or_hostile(x, -3, 3),
		{ random_or_hostile(x, -1, 1), random_or_hostile(x, -1, 1),
		    random_or_hostile(x, -1, 1), random_or_hostile(x, -1, 1),
		    random_or_hostile(x, -1, 1) },
		(int64_t)random_u64(x), (int64_t)random_u64(x),
		(int64_t)random_u64(x), (int64_t)random_u64(x) };
}

TEST(the_state_stays_in_bounds_for_any_input)
{
	uint64_t x = 20260222;
	int64_t now = T0;
	struct pad_state s;
	int i;

	pad_new(&s, PERSONA_PAD_V2, now);
	for (i = 0; i < 200000; i++) {
		struct persona base = { random_or_hostile(&x, -1, 2),
			random_or_hostile(&x, -1, 2),
			random_or_hostile(&x, -1, 2),
			random_or_hostile(&x, -1, 2),
			random_or_hostile(&x, -1, 2) };
		struct pad_input in = random_input(&x);
		enum pad_gate kind = random_u64(&x) % 2 == 0
		    ? PAD_GATE_CONTINUOUS
		    : PAD_GATE_BINARY;
		struct gate g;

		if (random_u64(&x) % 100 == 0)
			random_state(&x, &s);
		now = random_time(&x, now);
		pad_update(&s, &base, &in, now, kind);
		check_bounds(&s);
		g = gate_at(kind, &base, &s, now);
		ck_within(g.probability, 0, 1, "probability");
	}
}

TEST(silence_approaches_the_point_of_rest)
{
	struct script_step tick = TICK(3);
	struct script w;
	int i;

	script_start(&w, "ESFJ", PAD_GATE_CONTINUOUS);
	for (i = 0; i < 3 * 3600 / 3; i++)
		script_step_run(&w, &tick);
	ck_assert_double_eq_tol(w.s.p, -.35, 1e-4);
	ck_assert_double_eq_tol(w.s.a, -.45, 1e-4);
	ck_assert_double_eq_tol(w.s.d, -.15, 1e-4);
	ck_assert_double_eq_tol(w.s.boredom, 1, 1e-4);
	ck_assert_double_eq_tol(w.s.shock_load, 0, 1e-9);
}

TEST(v2_limits_a_gap_to_two_hours)
{
	struct script_step hours = TICK(7200), years = TICK(1000000000);
	struct script a, b;

	script_start(&a, "INFP", PAD_GATE_CONTINUOUS);
	script_start(&b, "INFP", PAD_GATE_CONTINUOUS);
	script_step_run(&a, &hours);
	script_step_run(&b, &years);
	ck_assert_double_eq(a.s.p, b.s.p);
	ck_assert_double_eq(a.s.drift.dominance, b.s.drift.dominance);
	ck_assert_int_eq(b.s.last_updated, b.now);
}

TEST(a_clock_behind_by_a_second_does_not_move_time_back)
{
	struct pad_input nothing = { 0 };
	struct script_step joy = EMOTION_STEP(5, JOY, .8);
	struct script w;
	int64_t at;

	script_start(&w, "INFP", PAD_GATE_CONTINUOUS);
	script_step_run(&w, &joy);
	at = w.s.last_updated;
	pad_update(&w.s, &w.base, &nothing, at - SECOND / 4, w.kind);
	ck_assert_int_eq(w.s.last_updated, at);
	/* A clock that was once far ahead must not stop the soul. */
	pad_update(&w.s, &w.base, &nothing, at - 10 * SECOND, w.kind);
	ck_assert_int_eq(w.s.last_updated, at - 10 * SECOND);
}

TEST(any_user_input_counts_as_interaction)
{
	struct pad_input plain = { .from_user = true };
	struct pad_input weak = { .p = .05, .a = .05 };
	struct script w;

	script_start(&w, "INFP", PAD_GATE_CONTINUOUS);
	pad_update(&w.s, &w.base, &plain, T0 + 5 * SECOND, w.kind);
	ck_assert_int_eq(w.s.last_interaction, T0 + 5 * SECOND);
	pad_update(&w.s, &w.base, &weak, T0 + 9 * SECOND, w.kind);
	ck_assert_int_eq(w.s.last_interaction, T0 + 9 * SECOND);
	weak.p = .02;
	pad_update(&w.s, &w.base, &weak, T0 + 11 * SECOND, w.kind);
	ck_assert_int_eq(w.s.last_interaction, T0 + 9 * SECOND);
}

TEST(only_the_lock_of_the_gate_depends_on_time)
{
	struct script_step anger = EMOTION_STEP(3, ANGER, 1);
	struct pad_state before;
	struct script w;
	struct gate shut, open;
	enum pad_gate kind;

	for (kind = PAD_GATE_CONTINUOUS; kind <= PAD_GATE_BINARY; kind++) {
		script_start(&w, "INFP", kind);
		while (!pad_locked(&w.s, w.now))
			script_step_run(&w, &anger);
		before = w.s;
		shut = gate_at(kind, &w.base, &w.s, w.s.lock_until - 1);
		open = gate_at(kind, &w.base, &w.s, w.s.lock_until);
		ck_assert_int_eq(memcmp(&before, &w.s, sizeof(before)), 0);
		ck_assert_int_eq(shut.mode, WIRE_EXEC_MODE_BLOCKED);
		if (kind == PAD_GATE_BINARY) {
			ck_assert_double_eq(shut.probability, 0);
			ck_assert_double_eq(open.probability, 1);
		} else {
			ck_assert_double_eq_tol(
			    shut.probability / open.probability, .02, 1e-9);
		}
	}
}

/* A resilient soul is readier than a reactive one in the same state. */
TEST(the_gate_depends_on_the_traits)
{
	struct persona resilient = { .55, .22, .84, .48, .74 };
	struct persona reactive = { .55, .86, .28, .48, .26 };
	struct pad_state s = { .p = -.42,
		.a = .35,
		.d = -.16,
		.shock_load = .1,
		.extreme_memory = .34 };
	struct gate a, b;

	a = gate_at(PAD_GATE_CONTINUOUS, &resilient, &s, T0);
	b = gate_at(PAD_GATE_CONTINUOUS, &reactive, &s, T0);
	ck_assert_double_gt(a.probability, b.probability + .1);
}

TEST(gate_kinds_are_parsed)
{
	enum pad_gate kind;

	ck_assert_int_eq(gate_kind(STR("binary"), &kind), RC_OK);
	ck_assert_int_eq(kind, PAD_GATE_BINARY);
	ck_assert_int_eq(gate_kind(STR("continuous"), &kind), RC_OK);
	ck_assert_int_eq(kind, PAD_GATE_CONTINUOUS);
	ck_assert_int_eq(gate_kind(STR(""), &kind), RC_INVALID);
	ck_assert_int_eq(gate_kind(STR("Binary"), &kind), RC_INVALID);
}

TEST(the_binary_gate_damps_neutral_input)
{
	struct pad_input neutral = { .emotion = WIRE_EMOTION_NEUTRAL,
		.p = .14,
		.a = .08,
		.d = .03,
		.intensity = .2,
		.from_user = true };
	struct pad_input anger = { .emotion = WIRE_EMOTION_ANGER,
		.p = -1,
		.a = 1,
		.d = 1,
		.intensity = 1,
		.from_user = true };
	struct script a, b;

	script_start(&a, "INFJ", PAD_GATE_BINARY);
	script_start(&b, "INFJ", PAD_GATE_BINARY);
	pad_update(&a.s, &a.base, &neutral, T0, a.kind);
	pad_update(&b.s, &b.base, &anger, T0, b.kind);
	ck_assert_double_lt(pad_peak(&a.s), .15 * pad_peak(&b.s));
}
