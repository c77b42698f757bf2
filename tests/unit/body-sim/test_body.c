/* What a body does with what it is told. */
#include <stdio.h>

#include "body.h"
#include "core/mem.h"
#include "testkit/testkit.h"

struct bed {
	struct body body;
	struct wall now;
	struct arena *arena;
	struct wire_body_state state;
	char said[BODY_LINE_MAX];
};

static void
bed_start(struct bed *b)
{
	*b = (struct bed){ .now = { 1700000000000 } };
	b->arena = arena_new(1 << 20);
	body_init(&b->body, b->now);
}

static void
bed_end(struct bed *b)
{
	body_free(&b->body);
	arena_free(b->arena);
}

static const struct wire_body_state *
state(struct bed *b)
{
	arena_reset(b->arena);
	b->state = (struct wire_body_state){ .terminal_id = STR("t1"),
		.soul_hint = STR("") };
	ck_assert_int_eq(
	    body_report(&b->body, b->now, b->arena, &b->state), RC_OK);
	return &b->state;
}

static void
shows(struct bed *b, const char *expression, const char *motion)
{
	const struct wire_body_state *s = state(b);

	ck_assert_str_eq(s->expression.p, expression);
	ck_assert_str_eq(s->head_motion.p, motion);
}

static const struct wire_emotion_update joy = {
	.session_id = STR_INIT("s1"),
	.terminal_id = STR_INIT("t1"),
	.soul_id = STR_INIT("soul"),
	.user_emotion = { .emotion = WIRE_EMOTION_JOY,
	    .p = .7,
	    .a = .55,
	    .d = .2,
	    .intensity = .8 },
	.soul_emotion = { .p = .1, .a = .2, .d = .3 },
	.exec_probability = .9,
	.exec_mode = WIRE_EXEC_MODE_AUTO_EXECUTE,
};

static struct wire_emotion_update
tick(enum wire_exec_mode mode)
{
	struct wire_emotion_update u = joy;

	u.session_id = STR(BODY_TICK);
	u.user_emotion =
	    (struct wire_user_emotion){ .emotion = WIRE_EMOTION_NEUTRAL };
	u.soul_emotion =
	    (struct wire_emotion_state){ .p = -.23, .a = .08, .d = -.05 };
	u.exec_mode = mode;
	u.exec_probability = mode == WIRE_EXEC_MODE_BLOCKED ? .1 : .8;
	return u;
}

TEST(a_new_body_is_at_rest)
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	struct bed b;

	bed_start(&b);
	ck_assert_int_eq(
	    wire_encode(&wire_body_state_desc, state(&b), &json, &err), RC_OK);
	shows(&b, "微笑", "");
	ck_assert_int_eq(b.state.color, WIRE_BODY_STATE_COLOR_OFF);
	ck_assert_double_eq(b.state.exec_probability, 1);
	ck_assert(!b.state.holding_back && !b.state.head_moving);
	buf_free(&json);
	bed_end(&b);
}

TEST(it_does_what_it_is_called_for)
{
	struct skill_call light = { .skill = SKILL_LIGHT,
		.color = WIRE_BODY_STATE_COLOR_GREEN };
	struct skill_call head = {
		.skill = SKILL_HEAD, .motion = FACE_NOD, .seconds = 1.5
	};
	struct bed b;

	bed_start(&b);
	ck_assert_int_eq(body_do(&b.body, &light, b.now, b.said), RC_OK);
	ck_assert_str_eq(b.said, "control_light executed: green");
	ck_assert_int_eq(state(&b)->color, WIRE_BODY_STATE_COLOR_GREEN);
	ck_assert(str_eq(b.state.last_action, str_of(b.said)));
	ck_assert_uint_eq(b.state.n_logs, 1);

	ck_assert_int_eq(body_do(&b.body, &head, b.now, b.said), RC_OK);
	ck_assert_str_eq(b.said, "set_head_motion executed: 点头, 1.5 s");
	ck_assert(state(&b)->head_moving);
	ck_assert_double_eq(b.state.head_motion_duration_seconds, 1.5);
	b.now.ms += 1499;
	ck_assert(state(&b)->head_moving);
	b.now.ms += 1;
	ck_assert(!state(&b)->head_moving);
	ck_assert_str_eq(b.state.head_motion.p, "点头");
	bed_end(&b);
}

TEST(its_alarms_ring)
{
	struct skill_call c = { .skill = SKILL_ALARM };
	struct bed b;
	int i;

	bed_start(&b);
	ck_assert_uint_eq(body_ring(&b.body, b.now), 0);
	ck_assert_int_eq(body_next_alarm(&b.body).ms, 0);
	for (i = 0; i < ALARMS_MAX; i++) {
		c.at.ms = b.now.ms + 1000 * (i + 1);
		snprintf(c.label, sizeof(c.label), "alarm %d", i);
		ck_assert_int_eq(body_do(&b.body, &c, b.now, b.said), RC_OK);
	}
	ck_assert_int_eq(body_do(&b.body, &c, b.now, b.said), RC_RETRY);
	ck_assert_str_eq(b.said, "32 alarms are set already");
	ck_assert_int_eq(body_next_alarm(&b.body).ms, b.now.ms + 1000);
	b.now.ms += 2500;
	ck_assert_uint_eq(body_ring(&b.body, b.now), 2);
	ck_assert_uint_eq(body_ring(&b.body, b.now), 0);
	ck_assert_uint_eq(state(&b)->n_alarms, ALARMS_MAX);
	ck_assert(b.state.alarms[0].fired && b.state.alarms[1].fired);
	ck_assert_ptr_nonnull(b.state.alarms[1].fired_at.p);
	ck_assert(!b.state.alarms[2].fired);
	ck_assert_ptr_null(b.state.alarms[2].fired_at.p);
	ck_assert(str_eq(b.state.last_action, STR("alarm rings: alarm 1")));
	ck_assert_int_eq(body_do(&b.body, &c, b.now, b.said), RC_OK);
	bed_end(&b);
}

TEST(a_turn_changes_the_face_and_a_tick_does_not)
{
	struct wire_emotion_update t = tick(WIRE_EXEC_MODE_AUTO_EXECUTE);
	struct wire_emotion_update sad = joy;
	struct bed b;

	bed_start(&b);
	ck_assert_int_eq(body_feel(&b.body, &joy, b.now), RC_OK);
	shows(&b, "微笑", "点头");
	ck_assert_int_eq(b.state.conversation_turns, 1);
	ck_assert_double_eq(b.state.emotion_p, .1);
	sad.user_emotion.emotion = WIRE_EMOTION_SADNESS;
	sad.session_id = STR("s2");
	ck_assert_int_eq(body_feel(&b.body, &sad, b.now), RC_OK);
	shows(&b, "哭", "摇头");

	b.now.ms += 60000;
	ck_assert_int_eq(body_feel(&b.body, &t, b.now), RC_OK);
	shows(&b, "哭", "摇头");
	ck_assert(!b.state.head_moving);
	ck_assert_double_eq(b.state.emotion_p, -.23);
	ck_assert_double_eq(b.state.emotion_a, .08);
	ck_assert_double_eq(b.state.emotion_d, -.05);
	ck_assert_double_eq(b.state.exec_probability, .8);
	ck_assert_int_eq(b.state.conversation_turns, 2);
	ck_assert(str_eq(b.state.active_session_id, STR("s2")));
	ck_assert_uint_eq(b.state.n_sessions, 2);
	ck_assert_uint_eq(b.state.n_logs, 2);
	bed_end(&b);
}

TEST(blocked_it_does_not_act)
{
	struct wire_emotion_update t = tick(WIRE_EXEC_MODE_BLOCKED);
	struct wire_emotion_update angry = joy;
	struct skill_call light = { .skill = SKILL_LIGHT,
		.color = WIRE_BODY_STATE_COLOR_GREEN };
	struct bed b;

	bed_start(&b);
	ck_assert_int_eq(body_feel(&b.body, &t, b.now), RC_OK);
	ck_assert(state(&b)->holding_back);
	ck_assert_int_eq(b.state.exec_mode, WIRE_EXEC_MODE_BLOCKED);
	ck_assert_int_eq(body_do(&b.body, &light, b.now, b.said), RC_DENIED);
	ck_assert_ptr_nonnull(strstr(b.said, "blocked"));
	ck_assert_int_eq(state(&b)->color, WIRE_BODY_STATE_COLOR_OFF);
	ck_assert(str_eq(b.state.last_action, STR("")));
	/* The face still shows it, the head keeps still. */
	angry.user_emotion.emotion = WIRE_EMOTION_ANGER;
	angry.exec_mode = WIRE_EXEC_MODE_BLOCKED;
	ck_assert_int_eq(body_feel(&b.body, &angry, b.now), RC_OK);
	shows(&b, "生气", "");
	t = tick(WIRE_EXEC_MODE_AUTO_EXECUTE);
	ck_assert_int_eq(body_feel(&b.body, &t, b.now), RC_OK);
	ck_assert(!state(&b)->holding_back);
	ck_assert_int_eq(body_do(&b.body, &light, b.now, b.said), RC_OK);
	bed_end(&b);
}

TEST(an_update_that_is_out_of_date_does_nothing)
{
	struct wire_emotion_update u = joy;
	struct bed b;

	bed_start(&b);
	u.has_version = true;
	u.version = 5;
	ck_assert_int_eq(body_feel(&b.body, &u, b.now), RC_OK);
	u.version = 4;
	u.exec_mode = WIRE_EXEC_MODE_BLOCKED;
	ck_assert_int_eq(body_feel(&b.body, &u, b.now), RC_CONFLICT);
	ck_assert(!state(&b)->holding_back);
	ck_assert_int_eq(b.state.conversation_turns, 1);
	/* Another soul counts from the beginning. */
	u.soul_id = STR("another");
	u.version = 1;
	ck_assert_int_eq(body_feel(&b.body, &u, b.now), RC_OK);
	ck_assert(state(&b)->holding_back);
	ck_assert(str_eq(b.state.soul_id, STR("another")));
	bed_end(&b);
}

TEST(phases_of_a_turn_are_shown)
{
	struct wire_status st = { .status = WIRE_STATUS_STATUS_MEM0_SEARCHING,
		.message = STR("请稍候。"),
		.session_id = STR("s1") };
	struct bed b;

	bed_start(&b);
	body_told(&b.body, &st, b.now);
	ck_assert(str_eq(state(&b)->status, STR("mem0_searching")));
	ck_assert(str_eq(b.state.status_message, STR("请稍候。")));
	st = (struct wire_status){ .status =
				       WIRE_STATUS_STATUS_MEM0_SEARCH_DONE };
	body_told(&b.body, &st, b.now);
	ck_assert(str_eq(state(&b)->status, STR("mem0_search_done")));
	ck_assert(str_eq(b.state.status_message, STR("")));
	ck_assert(str_eq(b.state.active_session_id, STR("s1")));
	bed_end(&b);
}

TEST(sessions_are_remembered_the_last_first)
{
	struct bed b;
	char id[16];
	int i;

	bed_start(&b);
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		body_session(&b.body, str_of(id));
	}
	body_session(&b.body, STR(""));
	body_session(&b.body, (struct str){ 0 });
	ck_assert_uint_eq(state(&b)->n_sessions, BODY_SESSIONS_MAX);
	ck_assert(str_eq(b.state.sessions[0], STR("s19")));
	ck_assert(str_eq(b.state.sessions[7], STR("s12")));
	body_session(&b.body, STR("s15"));
	body_session(&b.body, STR("s15"));
	ck_assert_uint_eq(state(&b)->n_sessions, BODY_SESSIONS_MAX);
	ck_assert(str_eq(b.state.sessions[0], STR("s15")));
	ck_assert(str_eq(b.state.sessions[1], STR("s19")));
	ck_assert(str_eq(b.state.sessions[4], STR("s16")));
	ck_assert(str_eq(b.state.sessions[5], STR("s14")));
	ck_assert(str_eq(b.state.sessions[7], STR("s12")));
	bed_end(&b);
}

TEST(the_diary_has_a_ceiling)
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	struct bed b;
	char text[400];
	size_t i;

	bed_start(&b);
	for (i = 0; i < sizeof(text) - 1; i++)
		text[i] = "\xe7\x81\xaf"[i % 3];
	text[i] = '\0';
	for (i = 0; i < 3 * BODY_LINES_MAX; i++)
		body_note(&b.body, b.now, "%zu %s", i, text);
	ck_assert_uint_eq(state(&b)->n_logs, BODY_LINES_MAX);
	ck_assert_int_ge(str_find(b.state.logs[0], STR("Z 47 ")), 0);
	ck_assert_int_ge(str_find(b.state.logs[15], STR("Z 32 ")), 0);
	ck_assert_uint_lt(b.state.logs[0].n, BODY_LINE_MAX);
	ck_assert_int_gt(str_utf8_count(b.state.logs[0]), 0);
	ck_assert_int_eq(
	    wire_encode(&wire_body_state_desc, &b.state, &json, &err), RC_OK);
	buf_free(&json);

	/* No memory is an error, not a crash. */
	arena_free(b.arena);
	b.arena = arena_new(64);
	ck_assert_int_eq(
	    body_report(&b.body, b.now, b.arena, &b.state), RC_TOOBIG);
	bed_end(&b);
}
