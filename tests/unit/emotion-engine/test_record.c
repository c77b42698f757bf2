/*
 * Records as bytes, and states as messages.
 */
#include <string.h>

#include "core/arena.h"
#include "golden.h"
#include "record.h"
#include "tell.h"
#include "wire/wire.h"

static struct record
lived(void)
{
	struct move anger = FEEL(3, ANGER, .9), joy = FEEL(7, JOY, .4);
	struct walk w;

	walk_start(&w, "INFP", PAD_GATE_CONTINUOUS);
	walk_on(&w, &joy);
	while (!pad_locked(&w.s, w.now))
		walk_on(&w, &anger);
	return (struct record){ w.base, w.s };
}

TEST(a_record_comes_back_bit_for_bit)
{
	struct record r = lived(), back;
	char bytes[RECORD_SIZE], again[RECORD_SIZE];
	struct str s = record_pack(&r, bytes);

	ck_assert_uint_eq(s.n, RECORD_SIZE);
	ck_assert_int_eq(record_unpack(s, &back), RC_OK);
	ck_assert_double_eq(back.base.dominance, r.base.dominance);
	ck_assert_double_eq(back.state.p, r.state.p);
	ck_assert_double_eq(back.state.shock_load, r.state.shock_load);
	ck_assert_double_eq(
	    back.state.drift.dominance, r.state.drift.dominance);
	ck_assert_int_eq(back.state.lock_until, r.state.lock_until);
	ck_assert_int_eq(back.state.last_updated, r.state.last_updated);
	record_pack(&back, again);
	ck_assert_int_eq(memcmp(bytes, again, sizeof(bytes)), 0);
}

TEST(a_record_knows_its_model)
{
	struct record r = lived(), back;
	char bytes[RECORD_SIZE];

	ck_assert_int_eq(r.state.model, PERSONA_PAD_V2);
	r.state.model = PERSONA_PAD_V3;
	ck_assert_int_eq(record_unpack(record_pack(&r, bytes), &back), RC_OK);
	ck_assert_int_eq(back.state.model, PERSONA_PAD_V3);
}

TEST(a_new_soul_is_of_its_type)
{
	struct record r;

	ck_assert_int_eq(
	    record_new(STR("INFJ"), PERSONA_PAD_V3, T0, &r), RC_OK);
	ck_assert_double_eq_tol(r.base.empathy, .67, 1e-9);
	ck_assert_double_eq(r.state.p, 0);
	ck_assert_int_eq(r.state.last_interaction, T0);
	ck_assert_int_eq(r.state.last_updated, T0);
	ck_assert_int_eq(
	    record_new(STR("ABCD"), PERSONA_PAD_V3, T0, &r), RC_INVALID);
}

TEST(other_bytes_are_refused)
{
	struct record r = lived(), back;
	char bytes[RECORD_SIZE + 1];
	double nan = NAN;
	struct str s = record_pack(&r, bytes);

	ck_assert_int_eq(
	    record_unpack((struct str){ NULL, 0 }, &back), RC_INVALID);
	ck_assert_int_eq(
	    record_unpack((struct str){ bytes, s.n - 1 }, &back), RC_INVALID);
	ck_assert_int_eq(
	    record_unpack((struct str){ bytes, s.n + 1 }, &back), RC_INVALID);
	bytes[0]++;
	ck_assert_int_eq(record_unpack(s, &back), RC_INVALID);
	bytes[0]--;
	bytes[1] = PERSONA_PAD_V3 + 1;
	ck_assert_int_eq(record_unpack(s, &back), RC_INVALID);
	bytes[1] = PERSONA_PAD_V2;
	ck_assert_int_eq(record_unpack(s, &back), RC_OK);
	memcpy(bytes + 8 + 8 * 7, &nan, sizeof(nan));
	ck_assert_int_eq(record_unpack(s, &back), RC_INVALID);
}

/* Whatever stands in the numbers, the next update brings it into bounds. */
TEST(numbers_out_of_bounds_heal)
{
	static const struct pad_input nothing;
	struct record r;
	char bytes[RECORD_SIZE];
	double huge = 1e9;
	size_t i;

	ck_assert_int_eq(
	    record_new(STR("INFJ"), PERSONA_PAD_V3, T0, &r), RC_OK);
	record_pack(&r, bytes);
	for (i = 0; i < 20; i++)
		memcpy(bytes + 8 + 8 * i, &huge, sizeof(huge));
	ck_assert_int_eq(
	    record_unpack((struct str){ bytes, RECORD_SIZE }, &r), RC_OK);
	pad_update(
	    &r.state, &r.base, &nothing, T0 + SECOND, PAD_GATE_CONTINUOUS);
	ck_assert(pad_peak(&r.state) <= 1);
	ck_assert(r.state.drift.empathy <= .22);
}

TEST(a_state_is_told_in_full)
{
	struct record r = lived();
	struct wire_emotion_state out;
	struct tell_texts texts;
	struct wire_err err;
	struct buf b = BUF_INIT(4096);
	struct wall until;

	tell_state(&r.state, &texts, &out);
	ck_assert_double_eq_tol(out.p, r.state.p, 5.1e-7);
	ck_assert_double_eq_tol(out.long_mu_a, r.state.mu_a, 5.1e-7);
	ck_assert(out.has_drift && out.has_long_volatility);
	ck_assert_int_eq(wall_parse(out.lock_until, &until), RC_OK);
	ck_assert_int_eq(until.ms, tell_time(r.state.lock_until).ms);
	ck_assert_ptr_null(out.stable_since.p);
	ck_assert_ptr_nonnull(out.last_interaction_at.p);
	ck_assert_msg(
	    wire_encode(&wire_emotion_state_desc, &out, &b, &err) == RC_OK,
	    "%s %s", err.path, err.why);
	buf_free(&b);
}

/* The extremes of every number are within the message's bounds. */
TEST(an_extreme_state_is_told_too)
{
	struct pad_state s = { PERSONA_PAD_V3, -1, 1, -1, 1, 1, 1, -1, 1, -1, 2,
		{ .22, -.22, .22, -.22, .22 }, 0, 0, 0, INT64_MAX / 2 };
	struct wire_emotion_state out;
	struct tell_texts texts;
	struct wire_err err;
	struct buf b = BUF_INIT(4096);

	tell_state(&s, &texts, &out);
	ck_assert_msg(
	    wire_encode(&wire_emotion_state_desc, &out, &b, &err) == RC_OK,
	    "%s %s", err.path, err.why);
	buf_free(&b);
}

TEST(numbers_have_six_decimals)
{
	ck_assert_double_eq(tell_number(.1234567), .123457);
	ck_assert_double_eq(tell_number(-1), -1);
	ck_assert_double_eq(tell_number(0), 0);
	/* Never "-0", which some readers print. */
	ck_assert(!signbit(tell_number(-1e-9)));
}
