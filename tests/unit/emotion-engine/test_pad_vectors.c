/*
 * Golden vectors of persona-pad-v2: states after scripts of inputs, with both
 * kinds of gate.
 */
#include "soul_script.h"

struct expected_step {
	struct script_step step;
	double p, a, d, boredom, shock, memory;
	double lock; /* seconds after T0; 0: none */
};

/* Boredom is printed with six decimals. */
static void
check_state(const struct script *w, const struct expected_step *v)
{
	script_near(w->s.p, v->p);
	script_near(w->s.a, v->a);
	script_near(w->s.d, v->d);
	ck_assert_double_eq_tol(w->s.boredom, v->boredom, 5.1e-7);
	script_near(w->s.shock_load, v->shock);
	script_near(w->s.extreme_memory, v->memory);
	if (v->lock > 0)
		ck_assert_int_eq(w->s.lock_until - T0, llround(v->lock * 1e9));
	else
		ck_assert_int_eq(w->s.lock_until, 0);
}

static void
check_steps(const char *mbti, enum pad_gate kind, const struct expected_step *v,
    size_t n)
{
	struct script w;
	size_t i;

	script_start(&w, mbti, kind);
	for (i = 0; i < n; i++) {
		struct gate g = script_step_run(&w, &v[i].step);

		check_state(&w, &v[i]);
		if (kind == PAD_GATE_CONTINUOUS)
			continue;
		ck_assert_double_eq(g.probability, v[i].lock > 0 ? 0 : 1);
		ck_assert_int_eq(g.mode,
		    v[i].lock > 0 ? WIRE_EXEC_MODE_BLOCKED
				  : WIRE_EXEC_MODE_AUTO_EXECUTE);
	}
}

/* Without input both kinds give the same states. */
static const struct expected_step intj_silence[] = {
	{ TICK(3), -0.003278562, -0.030443790, 0.016392810, 0, 0, 0.000371896,
	    0 },
	{ TICK(3), -0.005015954, -0.046633341, 0.025115426, 0, 0, 0.000937082,
	    0 },
	{ TICK(3), -0.005933931, -0.055244099, 0.029759901, 0, 0, 0.001600636,
	    0 },
	{ TICK(12), -0.020389933, -0.079403519, 0.027337113, 0.042796, 0,
	    0.005334485, 0 },
	{ TICK(60), -0.086097583, -0.153901484, -0.007614303, 0.230796, 0,
	    0.037734914, 0 },
	{ TICK(600), -0.320307786, -0.416727222, -0.133964679, 0.913515, 0,
	    0.384484359, 0 },
	{ TICK(3600), -0.349999945, -0.449999939, -0.149999970, 1, 0,
	    0.449999910, 0 },
};

TEST(states_after_silence_match_the_vectors)
{
	struct script w;
	size_t i;

	check_steps("INTJ", PAD_GATE_BINARY, intj_silence, NELEM(intj_silence));
	check_steps(
	    "INTJ", PAD_GATE_CONTINUOUS, intj_silence, NELEM(intj_silence));

	/* Silence alone drives the drift of one trait to its limit. */
	script_start(&w, "INTJ", PAD_GATE_BINARY);
	for (i = 0; i < NELEM(intj_silence); i++)
		script_step_run(&w, &intj_silence[i].step);
	script_near(w.s.drift.sensitivity, .22);
}

static const struct expected_step intj_joy[] = {
	{ EMOTION_STEP(5, JOY, .8), 0.125240223, 0.060090091, 0.062202728, 0,
	    0.013180006, 0.002522470, 0 },
};
static const struct expected_step infp_joy[] = {
	{ EMOTION_STEP(5, JOY, .8), 0.310580074, 0.248156047, -0.010083103, 0,
	    0.110630145, 0.003326665, 0 },
};
static const struct expected_step intj_fear[] = {
	{ EMOTION_STEP(5, FEAR, .95), -0.257499424, 0.217371538, -0.192791229,
	    0, 0.194752098, 0.004748695, 0 },
};
static const struct expected_step infp_fear[] = {
	{ EMOTION_STEP(5, FEAR, .95), -0.427122546, 0.429732246, -0.459891289,
	    0, 0.412250000, 0.004555114, 0 },
};

TEST(states_after_one_strong_emotion_match_the_vectors)
{
	enum pad_gate kind;

	for (kind = PAD_GATE_CONTINUOUS; kind <= PAD_GATE_BINARY; kind++) {
		check_steps("INTJ", kind, intj_joy, 1);
		check_steps("INFP", kind, infp_joy, 1);
		check_steps("INTJ", kind, intj_fear, 1);
		check_steps("INFP", kind, infp_fear, 1);
	}
}

/* Weak inputs, which the binary gate damps. */
static const struct expected_step intj_weak[] = {
	{ NEUTRAL_STEP, -0.004311889, -0.042181676, 0.022866145, 0, 0,
	    0.000855305, 0 },
	{ EMOTION_STEP(5, CALM, .3), -0.005577408, -0.057874104, 0.031170636, 0,
	    0, 0.002011674, 0 },
	{ EMOTION_STEP(5, SADNESS, .3), -0.019141967, -0.065454599, 0.027151526,
	    0, 0, 0.003298568, 0 },
	{ EMOTION_STEP(5, SADNESS, .6), -0.152000647, -0.097658277,
	    -0.040479657, 0, 0.015409677, 0.006291864, 0 },
};

TEST(weak_emotions_are_damped_by_the_binary_gate)
{
	check_steps("INTJ", PAD_GATE_BINARY, intj_weak, NELEM(intj_weak));
}

TEST(weak_emotions_count_with_the_continuous_gate)
{
	static const double prob[] = { .949589453, .948693312, .947766740,
		.937876874 };
	struct script w;
	size_t i;

	script_start(&w, "INTJ", PAD_GATE_CONTINUOUS);
	for (i = 0; i < NELEM(intj_weak); i++) {
		struct gate g = script_step_run(&w, &intj_weak[i].step);

		script_near(g.probability, prob[i]);
		ck_assert_int_eq(g.mode, WIRE_EXEC_MODE_AUTO_EXECUTE);
	}
	script_near(w.s.p, -.170361286);
	script_near(w.s.a, -.105540951);
	script_near(w.s.d, -.049464131);
	script_near(w.s.shock_load, .015409685);
}

static const struct expected_step infp_anger[] = {
	{ EMOTION_STEP(5, ANGER, .9), -0.446654548, 0.560870897, 0.082524989, 0,
	    0.399517085, 0.005573005, 0 },
	{ EMOTION_STEP(3, ANGER, .9), -0.821319580, 1, 0.179600647, 0,
	    0.791476213, 0.010981661, 128 },
	{ EMOTION_STEP(3, ANGER, .9), -1, 1, 0.267483933, 0, 1, 0.016116198,
	    175.435995253 },
	{ FURY, -1, 1, 0.606905101, 0, 1, 0.021223869, 222.872282168 },
	{ FURY, -1, 1, 0.898082938, 0, 1, 0.026304810, 270.308865971 },
	{ TICK(3), -0.856498919, 0.857646458, 0.745375314, 0, 0.981085158,
	    0.030638089, 270.308865971 },
	{ EMOTION_STEP(3, GRATITUDE, .9), -0.430051920, 0.838654034,
	    0.760296496, 0, 1, 0.034832245, 114.575381754 },
	{ EMOTION_STEP(3, RELIEF, .9), -0.111721002, 0.617806426, 0.749255088,
	    0, 1, 0.038540427, 60.236874108 },
	{ TICK(60), -0.099732601, -0.103655633, -0.140110103, 0.281968,
	    0.682584501, 0.049287172, 0 },
	{ TICK(120), -0.220949226, -0.280179061, -0.155503556, 0.630052,
	    0.318214929, 0.099352616, 0 },
};

TEST(anger_locks_and_gratitude_shortens_the_lock)
{
	struct script w;
	size_t i;

	check_steps("INFP", PAD_GATE_BINARY, infp_anger, NELEM(infp_anger));
	check_steps("INFP", PAD_GATE_CONTINUOUS, infp_anger, NELEM(infp_anger));

	script_start(&w, "INFP", PAD_GATE_BINARY);
	for (i = 0; i < NELEM(infp_anger); i++) {
		script_step_run(&w, &infp_anger[i].step);
		if (i < NELEM(infp_anger) - 1)
			ck_assert_int_eq(w.s.stable_since, 0);
	}
	ck_assert_int_eq(w.s.stable_since, w.now);
}

TEST(a_calmer_type_locks_later)
{
	static const double lock[] = { 0, 0, 0, 0, 137, 137, 64.161398503,
		40.411770574, 0, 0 };
	struct script w;
	size_t i;

	script_start(&w, "INTJ", PAD_GATE_BINARY);
	for (i = 0; i < NELEM(lock); i++) {
		script_step_run(&w, &infp_anger[i].step);
		ck_assert_int_eq(w.s.lock_until,
		    lock[i] > 0 ? T0 + llround(lock[i] * 1e9) : 0);
		if (i != 4)
			continue;
		script_near(w.s.shock_load, 1);
		ck_assert_double_eq_tol(pad_peak(&w.s), .9315, 5e-5);
	}
}

/* The probabilities of the continuous gate over a script. */
static void
check_probabilities(const char *mbti, const struct expected_step *v,
    const double *prob, size_t n, uint32_t blocked)
{
	struct script w;
	size_t i;

	script_start(&w, mbti, PAD_GATE_CONTINUOUS);
	for (i = 0; i < n; i++) {
		struct gate g = script_step_run(&w, &v[i].step);

		script_near(g.probability, prob[i]);
		ck_assert_int_eq(g.mode,
		    blocked & UINT32_C(1) << i ? WIRE_EXEC_MODE_BLOCKED
					       : WIRE_EXEC_MODE_AUTO_EXECUTE);
	}
}

TEST(continuous_gate_probabilities_match_the_vectors)
{
	static const double intj_ticks[] = { .949799911, .949495948, .949139255,
		.947135265, .929942425, .762716014, .702921081 };
	static const double infp_ticks[] = { .949678022, .949138975, .948454458,
		.944795735, .927286309, .688090023, .584184439 };
	static const double joy_intj = .941692523, joy_infp = .858010107;
	static const double fear_intj = .849881106, fear_infp = .654945725;
	static const double intj[] = { .881528710, .819922248, .763908300,
		.616252777, .003810897, .010735536, .010977688, .011132308,
		.699369763, .816871840 };
	static const double infp[] = { .661430754, .000340352, .000281169,
		.000279733, .000278311, .002555903, .003007682, .005442107,
		.492569988, .649095903 };

	check_probabilities("INTJ", intj_silence, intj_ticks, 7, 0);
	check_probabilities("INFP", intj_silence, infp_ticks, 7, 0);
	check_probabilities("INTJ", intj_joy, &joy_intj, 1, 0);
	check_probabilities("INFP", infp_joy, &joy_infp, 1, 0);
	check_probabilities("INTJ", intj_fear, &fear_intj, 1, 0);
	check_probabilities("INFP", infp_fear, &fear_infp, 1, 0);
	check_probabilities("INTJ", infp_anger, intj, 10, 0xf0);
	check_probabilities("INFP", infp_anger, infp, 10, 0xfe);
}
