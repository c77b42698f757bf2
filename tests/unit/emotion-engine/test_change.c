/*
 * Changes of a soul: when they are logged, their packed form, their message.
 */
#include <string.h>

#include "change.h"
#include "core/arena.h"
#include "emotion_event.h"
#include "soul_script.h"
#include "wire/wire.h"

#define CAUSE(x) WIRE_EMOTION_HISTORY_REPLY_ITEMS_CAUSE_##x

static struct change
joy_change(void)
{
	struct script_step joy = EMOTION_STEP(5, JOY, .8);
	struct pad_input in = { WIRE_EMOTION_JOY, .7, .55, .2, .8, true };
	struct pad_state before;
	struct change c;
	struct script w;

	script_start(&w, "INFP", PAD_GATE_CONTINUOUS);
	w.s.model = PERSONA_PAD_V3;
	before = w.s;
	c.gate = script_step_run(&w, &joy);
	change_by_user(&before, &w.s, &in, &c);
	c.version = 7;
	c.gate = (struct gate){ .75, WIRE_EXEC_MODE_BLOCKED };
	c.session_id = STR("会话 1");
	c.turn_id = STR("turn_1");
	return c;
}

TEST(packing_and_unpacking_a_change_round_trips)
{
	struct change c = joy_change(), back;
	char bytes[CHANGE_MAX];

	ck_assert_double_gt(c.delta.p, .2);
	ck_assert_double_eq(c.delta.p, c.p);
	ck_assert_int_eq(change_unpack(change_pack(&c, bytes), &back), RC_OK);
	ck_assert_int_eq(back.cause, CAUSE(USER_INPUT));
	ck_assert_int_eq(back.version, 7);
	ck_assert_int_eq(back.emotion, WIRE_EMOTION_JOY);
	ck_assert_int_eq(back.gate.mode, WIRE_EXEC_MODE_BLOCKED);
	ck_assert_double_eq_tol(back.p, c.p, 1e-7);
	ck_assert_double_eq_tol(back.delta.d, c.delta.d, 1e-7);
	ck_assert_double_eq_tol(back.shock_load, c.shock_load, 1e-7);
	ck_assert_double_eq(back.gate.probability, .75);
	ck_assert(str_eq(back.session_id, c.session_id));
	ck_assert(str_eq(back.turn_id, c.turn_id));
	c.turn_id = (struct str){ NULL, 0 };
	ck_assert_int_eq(change_unpack(change_pack(&c, bytes), &back), RC_OK);
	ck_assert_ptr_null(back.turn_id.p);
}

TEST(unpacking_other_bytes_fails)
{
	struct change c = joy_change(), back;
	char bytes[CHANGE_MAX];
	struct str s = change_pack(&c, bytes), part = s;
	float nan = NAN;
	size_t i;

	for (part.n = 0; part.n < s.n; part.n++)
		ck_assert_int_eq(change_unpack(part, &back), RC_INVALID);
	for (i = 0; i < 4; i++) {
		char original = bytes[i];

		bytes[i] = 100;
		ck_assert_int_eq(change_unpack(s, &back), RC_INVALID);
		bytes[i] = original;
	}
	ck_assert_int_eq(change_unpack(s, &back), RC_OK);
	memcpy(bytes + 16, &nan, sizeof(nan));
	ck_assert_int_eq(change_unpack(s, &back), RC_INVALID);
}

/* Two days without input, with a tick every three seconds. */
TEST(silence_is_sampled_at_growing_intervals)
{
	struct script_step tick = TICK(3);
	struct pad_state before;
	struct change c;
	struct script w;
	int i, n = 0, last = 0;

	script_start(&w, "INTJ", PAD_GATE_CONTINUOUS);
	w.s.model = PERSONA_PAD_V3;
	for (i = 3; i <= 2 * 86400; i += 3) {
		before = w.s;
		script_step_run(&w, &tick);
		if (!change_by_time(&before, &w.s, &c))
			continue;
		ck_assert_int_eq(c.cause, CAUSE(SILENCE));
		ck_assert_double_eq(c.delta.p, 0);
		ck_assert_int_ge(i, last + last / 2);
		last = i;
		n++;
	}
	ck_assert_int_eq(n, 11);
	ck_assert_int_eq(last, 86400);
	/* A gap is one step and gives one sample. */
	w.s.last_interaction = w.now;
	before = w.s;
	tick.after = 1000;
	script_step_run(&w, &tick);
	ck_assert(change_by_time(&before, &w.s, &c));
	before = w.s;
	tick.after = 3;
	script_step_run(&w, &tick);
	ck_assert(!change_by_time(&before, &w.s, &c));
}

TEST(the_end_of_a_lock_is_logged)
{
	struct script_step tick = TICK(3);
	struct pad_state before;
	struct change c;
	struct script w;
	int i, n = 0;

	script_start(&w, "INTJ", PAD_GATE_CONTINUOUS);
	w.s.model = PERSONA_PAD_V3;
	w.s.lock_until = T0 + 7 * SECOND;
	for (i = 0; i < 3; i++) {
		before = w.s;
		script_step_run(&w, &tick);
		if (!change_by_time(&before, &w.s, &c))
			continue;
		ck_assert_int_eq(i, 2);
		ck_assert_int_eq(c.cause, CAUSE(LOCK_EXPIRED));
		n++;
	}
	ck_assert_int_eq(n, 1);
}

TEST(a_change_becomes_a_valid_history_item)
{
	struct wire_emotion_history_reply_items item;
	struct wire_emotion_history_reply rep = {
		.soul_id = STR("s"), .items = &item, .n_items = 1
	};
	struct buf out = BUF_INIT(4096);
	struct arena *a = arena_new(4096);
	struct change c = joy_change();
	struct wire_err err;

	ck_assert_int_eq(emotion_event_put_change(
			     &c, (struct wall){ 1771755630250 }, a, &item),
	    RC_OK);
	ck_assert(str_eq(item.reason, STR("user_joy")));
	ck_assert(str_eq(item.time, STR("2026-02-22T10:20:30.25Z")) ||
	    str_eq(item.time, STR("2026-02-22T10:20:30.250Z")));
	ck_assert(item.has_user_emotion && item.has_intensity);
	ck_assert_msg(wire_encode(&wire_emotion_history_reply_desc, &rep, &out,
			  &err) == RC_OK,
	    "%s %s", err.path, err.why);
	c.cause = CAUSE(SILENCE);
	ck_assert_int_eq(emotion_event_put_change(
			     &c, (struct wall){ 1771755630250 }, a, &item),
	    RC_OK);
	ck_assert_ptr_null(item.reason.p);
	ck_assert(!item.has_user_emotion);
	buf_free(&out);
	arena_free(a);
}
