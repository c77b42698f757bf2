/*
 * Packed records, and states as messages.
 */
#include <string.h>

#include "core/arena.h"
#include "emotion_event.h"
#include "soul_record.h"
#include "soul_script.h"
#include "wire/wire.h"

static struct record
locked_soul(void)
{
	struct script_step anger = EMOTION_STEP(3, ANGER, .9),
			   joy = EMOTION_STEP(7, JOY, .4);
	struct script w;

	script_start(&w, "INFP", PAD_GATE_CONTINUOUS);
	script_step_run(&w, &joy);
	while (!pad_locked(&w.s, w.now))
		script_step_run(&w, &anger);
	return (struct record){ .base = w.base, .state = w.s };
}

TEST(packing_and_unpacking_a_record_round_trips)
{
	struct record r = locked_soul(), back;
	char bytes[RECORD_SIZE], repacked[RECORD_SIZE];
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
	record_pack(&back, repacked);
	ck_assert_int_eq(memcmp(bytes, repacked, sizeof(bytes)), 0);
}

TEST(drives_and_applied_requests_are_packed)
{
	struct record r = locked_soul(), back;
	char bytes[RECORD_SIZE];
	int64_t first = record_applied_id(STR("cycle_1"));

	drives_new(&r.drives, T0);
	drives_turn(&r.drives, T0 + 7);
	for (int64_t i = 0; i < RECORD_APPLIED_N; i++)
		record_add_applied(&r, i == 0 ? first : i);
	ck_assert_int_eq(record_unpack(record_pack(&r, bytes), &back), RC_OK);
	ck_assert_int_eq(memcmp(&back.drives, &r.drives, sizeof(r.drives)), 0);
	ck_assert(record_is_applied(&back, first));
	ck_assert(!record_is_applied(&back, record_applied_id(STR("cycle_2"))));
	record_add_applied(&back, 9);
	ck_assert(!record_is_applied(&back, first));
}

/* What 0.1 has stored. */
TEST(a_record_without_drives_gets_those_of_a_new_soul)
{
	struct record r = locked_soul(), back;
	char bytes[RECORD_SIZE];
	struct drives d;

	drives_new(&r.drives, T0);
	record_pack(&r, bytes);
	bytes[0] = 1;
	ck_assert_int_eq(
	    record_unpack((struct str){ bytes, 200 }, &back), RC_OK);
	ck_assert_double_eq(back.state.p, r.state.p);
	drives_new(&d, r.state.last_updated);
	ck_assert_int_eq(memcmp(&back.drives, &d, sizeof(d)), 0);
	ck_assert(!record_is_applied(&back, record_applied_id(STR("x"))));
	ck_assert_int_eq(
	    record_unpack((struct str){ bytes, RECORD_SIZE }, &back),
	    RC_INVALID);
}

TEST(the_model_is_packed)
{
	struct record r = locked_soul(), back;
	char bytes[RECORD_SIZE];

	ck_assert_int_eq(r.state.model, PERSONA_PAD_V2);
	r.state.model = PERSONA_PAD_V3;
	ck_assert_int_eq(record_unpack(record_pack(&r, bytes), &back), RC_OK);
	ck_assert_int_eq(back.state.model, PERSONA_PAD_V3);
}

TEST(a_new_record_has_the_traits_of_its_type)
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

TEST(unpacking_other_bytes_fails)
{
	struct record r = locked_soul(), back;
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

/* Any stored numbers are clamped by the next update. */
TEST(an_update_clamps_stored_numbers)
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

TEST(a_state_becomes_a_complete_valid_message)
{
	struct record r = locked_soul();
	struct wire_emotion_state out;
	struct emotion_event_texts texts;
	struct wire_err err;
	struct buf b = BUF_INIT(4096);
	struct wall until;

	emotion_event_put_state(&r.state, &texts, &out);
	ck_assert_double_eq_tol(out.p, r.state.p, 5.1e-7);
	ck_assert_double_eq_tol(out.long_mu_a, r.state.mu_a, 5.1e-7);
	ck_assert(out.has_drift && out.has_long_volatility);
	ck_assert_int_eq(wall_parse(out.lock_until, &until), RC_OK);
	ck_assert_int_eq(until.ms, r.state.lock_until / 1000000);
	ck_assert_ptr_null(out.stable_since.p);
	ck_assert_ptr_nonnull(out.last_interaction_at.p);
	ck_assert_msg(
	    wire_encode(&wire_emotion_state_desc, &out, &b, &err) == RC_OK,
	    "%s %s", err.path, err.why);
	buf_free(&b);
}

/* The extremes of every number are within the schema's bounds. */
TEST(an_extreme_state_is_a_valid_message)
{
	struct pad_state s = { PERSONA_PAD_V3, -1, 1, -1, 1, 1, 1, -1, 1, -1, 2,
		{ .22, -.22, .22, -.22, .22 }, 0, 0, 0, INT64_MAX / 2 };
	struct wire_emotion_state out;
	struct emotion_event_texts texts;
	struct wire_err err;
	struct buf b = BUF_INIT(4096);

	emotion_event_put_state(&s, &texts, &out);
	ck_assert_msg(
	    wire_encode(&wire_emotion_state_desc, &out, &b, &err) == RC_OK,
	    "%s %s", err.path, err.why);
	buf_free(&b);
}

TEST(numbers_are_rounded_to_six_decimals)
{
	ck_assert_double_eq(emotion_event_round(.1234567), .123457);
	ck_assert_double_eq(emotion_event_round(-1), -1);
	ck_assert_double_eq(emotion_event_round(0), 0);
	/* Never "-0", which some readers print. */
	ck_assert(!signbit(emotion_event_round(-1e-9)));
}
