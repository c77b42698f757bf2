/* The state of a body: commands, face, alarms. */
#include <stdio.h>
#include <string.h>

#include "body.h"
#include "core/mem.h"
#include "testkit/testkit.h"

struct body_fixture {
	struct body body;
	struct wall now;
	struct arena *arena;
	struct wire_body_state state;
	char text[BODY_LINE_MAX];
};

static void
body_start(struct body_fixture *b)
{
	*b = (struct body_fixture){ .now = { 1700000000000 } };
	b->arena = arena_new(1 << 20);
	body_init(&b->body, b->now);
}

static void
body_end(struct body_fixture *b)
{
	body_free(&b->body);
	arena_free(b->arena);
}

static const struct wire_body_state *
body_state(struct body_fixture *b)
{
	arena_reset(b->arena);
	b->state = (struct wire_body_state){ .terminal_id = STR("t1"),
		.soul_hint = STR("") };
	ck_assert_int_eq(
	    body_fill_state(&b->body, b->now, b->arena, &b->state), RC_OK);
	return &b->state;
}

static void
body_ck_face(struct body_fixture *b, const char *expression, const char *motion)
{
	const struct wire_body_state *s = body_state(b);

	ck_assert_str_eq(s->expression.p, expression);
	ck_assert_str_eq(s->head_motion.p, motion);
}

static const struct wire_emotion_update body_joy = {
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
body_tick(enum wire_exec_mode mode)
{
	struct wire_emotion_update u = body_joy;

	u.session_id = STR(BODY_TICK_SESSION);
	u.user_emotion =
	    (struct wire_user_emotion){ .emotion = WIRE_EMOTION_NEUTRAL };
	u.soul_emotion =
	    (struct wire_emotion_state){ .p = -.23, .a = .08, .d = -.05 };
	u.exec_mode = mode;
	u.exec_probability = mode == WIRE_EXEC_MODE_BLOCKED ? .1 : .8;
	return u;
}

TEST(a_new_body_is_neutral)
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	struct body_fixture b;

	body_start(&b);
	ck_assert_int_eq(
	    wire_encode(&wire_body_state_desc, body_state(&b), &json, &err),
	    RC_OK);
	body_ck_face(&b, "微笑", "");
	ck_assert_int_eq(b.state.color, WIRE_BODY_STATE_COLOR_OFF);
	ck_assert_double_eq(b.state.exec_probability, 1);
	ck_assert(!b.state.holding_back && !b.state.head_moving);
	buf_free(&json);
	body_end(&b);
}

TEST(calls_are_executed)
{
	struct skill_call light = { .skill = SKILL_LIGHT,
		.color = WIRE_BODY_STATE_COLOR_GREEN };
	struct skill_call head = {
		.skill = SKILL_HEAD, .motion = FACE_NOD, .seconds = 1.5
	};
	struct body_fixture b;

	body_start(&b);
	ck_assert_int_eq(body_execute(&b.body, &light, b.now, b.text), RC_OK);
	ck_assert_str_eq(b.text, "control_light executed: green");
	ck_assert_int_eq(body_state(&b)->color, WIRE_BODY_STATE_COLOR_GREEN);
	ck_assert(str_eq(b.state.last_action, str_of(b.text)));
	ck_assert_uint_eq(b.state.n_logs, 1);

	ck_assert_int_eq(body_execute(&b.body, &head, b.now, b.text), RC_OK);
	ck_assert_str_eq(b.text, "set_head_motion executed: 点头, 1.5 s");
	ck_assert(body_state(&b)->head_moving);
	ck_assert_double_eq(b.state.head_motion_duration_seconds, 1.5);
	b.now.ms += 1499;
	ck_assert(body_state(&b)->head_moving);
	b.now.ms += 1;
	ck_assert(!body_state(&b)->head_moving);
	ck_assert_str_eq(b.state.head_motion.p, "点头");
	body_end(&b);
}

TEST(alarms_of_a_body_fire)
{
	struct skill_call c = { .skill = SKILL_ALARM };
	struct body_fixture b;
	int i;

	body_start(&b);
	ck_assert_uint_eq(body_fire_alarms(&b.body, b.now), 0);
	ck_assert_int_eq(body_next_alarm(&b.body).ms, 0);
	for (i = 0; i < ALARMS_MAX; i++) {
		c.at.ms = b.now.ms + 1000 * (i + 1);
		snprintf(c.label, sizeof(c.label), "alarm %d", i);
		ck_assert_int_eq(
		    body_execute(&b.body, &c, b.now, b.text), RC_OK);
	}
	ck_assert_int_eq(body_execute(&b.body, &c, b.now, b.text), RC_RETRY);
	ck_assert_str_eq(b.text, "32 alarms are set already");
	ck_assert_int_eq(body_next_alarm(&b.body).ms, b.now.ms + 1000);
	b.now.ms += 2500;
	ck_assert_uint_eq(body_fire_alarms(&b.body, b.now), 2);
	ck_assert_uint_eq(body_fire_alarms(&b.body, b.now), 0);
	ck_assert_uint_eq(body_state(&b)->n_alarms, ALARMS_MAX);
	ck_assert(b.state.alarms[0].fired && b.state.alarms[1].fired);
	ck_assert_ptr_nonnull(b.state.alarms[1].fired_at.p);
	ck_assert(!b.state.alarms[2].fired);
	ck_assert_ptr_null(b.state.alarms[2].fired_at.p);
	ck_assert(str_eq(b.state.last_action, STR("alarm rings: alarm 1")));
	ck_assert_int_eq(body_execute(&b.body, &c, b.now, b.text), RC_OK);
	body_end(&b);
}

TEST(a_turn_changes_the_face_and_a_tick_does_not)
{
	struct wire_emotion_update t = body_tick(WIRE_EXEC_MODE_AUTO_EXECUTE);
	struct wire_emotion_update sad = body_joy;
	struct body_fixture b;

	body_start(&b);
	ck_assert_int_eq(body_emotion_update(&b.body, &body_joy, b.now), RC_OK);
	body_ck_face(&b, "微笑", "点头");
	ck_assert_int_eq(b.state.conversation_turns, 1);
	ck_assert_double_eq(b.state.emotion_p, .1);
	sad.user_emotion.emotion = WIRE_EMOTION_SADNESS;
	sad.session_id = STR("s2");
	ck_assert_int_eq(body_emotion_update(&b.body, &sad, b.now), RC_OK);
	body_ck_face(&b, "哭", "摇头");

	b.now.ms += 60000;
	ck_assert_int_eq(body_emotion_update(&b.body, &t, b.now), RC_OK);
	body_ck_face(&b, "哭", "摇头");
	ck_assert(!b.state.head_moving);
	ck_assert_double_eq(b.state.emotion_p, -.23);
	ck_assert_double_eq(b.state.emotion_a, .08);
	ck_assert_double_eq(b.state.emotion_d, -.05);
	ck_assert_double_eq(b.state.exec_probability, .8);
	ck_assert_int_eq(b.state.conversation_turns, 2);
	ck_assert(str_eq(b.state.active_session_id, STR("s2")));
	ck_assert_uint_eq(b.state.n_sessions, 2);
	ck_assert_uint_eq(b.state.n_logs, 2);
	body_end(&b);
}

TEST(a_blocked_body_does_not_act)
{
	struct wire_emotion_update t = body_tick(WIRE_EXEC_MODE_BLOCKED);
	struct wire_emotion_update angry = body_joy;
	struct skill_call light = { .skill = SKILL_LIGHT,
		.color = WIRE_BODY_STATE_COLOR_GREEN };
	struct body_fixture b;

	body_start(&b);
	ck_assert_int_eq(body_emotion_update(&b.body, &t, b.now), RC_OK);
	ck_assert(body_state(&b)->holding_back);
	ck_assert_int_eq(b.state.exec_mode, WIRE_EXEC_MODE_BLOCKED);
	ck_assert_int_eq(
	    body_execute(&b.body, &light, b.now, b.text), RC_DENIED);
	ck_assert_ptr_nonnull(strstr(b.text, "blocked"));
	ck_assert_int_eq(body_state(&b)->color, WIRE_BODY_STATE_COLOR_OFF);
	ck_assert(str_eq(b.state.last_action, STR("")));
	/* The face still changes, but the head does not move. */
	angry.user_emotion.emotion = WIRE_EMOTION_ANGER;
	angry.exec_mode = WIRE_EXEC_MODE_BLOCKED;
	ck_assert_int_eq(body_emotion_update(&b.body, &angry, b.now), RC_OK);
	body_ck_face(&b, "生气", "");
	t = body_tick(WIRE_EXEC_MODE_AUTO_EXECUTE);
	ck_assert_int_eq(body_emotion_update(&b.body, &t, b.now), RC_OK);
	ck_assert(!body_state(&b)->holding_back);
	ck_assert_int_eq(body_execute(&b.body, &light, b.now, b.text), RC_OK);
	body_end(&b);
}

TEST(an_outdated_update_is_ignored)
{
	struct wire_emotion_update u = body_joy;
	struct body_fixture b;

	body_start(&b);
	u.has_version = true;
	u.version = 5;
	ck_assert_int_eq(body_emotion_update(&b.body, &u, b.now), RC_OK);
	u.version = 4;
	u.exec_mode = WIRE_EXEC_MODE_BLOCKED;
	ck_assert_int_eq(body_emotion_update(&b.body, &u, b.now), RC_CONFLICT);
	ck_assert(!body_state(&b)->holding_back);
	ck_assert_int_eq(b.state.conversation_turns, 1);
	/* Versions are per soul. */
	u.soul_id = STR("another");
	u.version = 1;
	ck_assert_int_eq(body_emotion_update(&b.body, &u, b.now), RC_OK);
	ck_assert(body_state(&b)->holding_back);
	ck_assert(str_eq(b.state.soul_id, STR("another")));
	body_end(&b);
}

TEST(the_status_is_shown)
{
	struct wire_status st = { .status = WIRE_STATUS_STATUS_MEM0_SEARCHING,
		.message = STR("请稍候。"),
		.session_id = STR("s1") };
	struct body_fixture b;

	body_start(&b);
	body_status(&b.body, &st, b.now);
	ck_assert(str_eq(body_state(&b)->status, STR("mem0_searching")));
	ck_assert(str_eq(b.state.status_message, STR("请稍候。")));
	st = (struct wire_status){ .status =
				       WIRE_STATUS_STATUS_MEM0_SEARCH_DONE };
	body_status(&b.body, &st, b.now);
	ck_assert(str_eq(body_state(&b)->status, STR("mem0_search_done")));
	ck_assert(str_eq(b.state.status_message, STR("")));
	ck_assert(str_eq(b.state.active_session_id, STR("s1")));
	body_end(&b);
}

TEST(sessions_are_listed_most_recent_first)
{
	struct body_fixture b;
	char id[16];
	int i;

	body_start(&b);
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		body_session(&b.body, str_of(id));
	}
	body_session(&b.body, STR(""));
	body_session(&b.body, (struct str){ 0 });
	ck_assert_uint_eq(body_state(&b)->n_sessions, BODY_SESSIONS_MAX);
	ck_assert(str_eq(b.state.sessions[0], STR("s19")));
	ck_assert(str_eq(b.state.sessions[7], STR("s12")));
	body_session(&b.body, STR("s15"));
	body_session(&b.body, STR("s15"));
	ck_assert_uint_eq(body_state(&b)->n_sessions, BODY_SESSIONS_MAX);
	ck_assert(str_eq(b.state.sessions[0], STR("s15")));
	ck_assert(str_eq(b.state.sessions[1], STR("s19")));
	ck_assert(str_eq(b.state.sessions[4], STR("s16")));
	ck_assert(str_eq(b.state.sessions[5], STR("s14")));
	ck_assert(str_eq(b.state.sessions[7], STR("s12")));
	body_end(&b);
}

TEST(the_log_is_bounded)
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	struct body_fixture b;
	char text[400];
	size_t i;

	body_start(&b);
	for (i = 0; i < sizeof(text) - 1; i++)
		text[i] = "\xe7\x81\xaf"[i % 3];
	text[i] = '\0';
	for (i = 0; i < 3 * BODY_LINES_MAX; i++)
		body_log(&b.body, b.now, "%zu %s", i, text);
	ck_assert_uint_eq(body_state(&b)->n_logs, BODY_LINES_MAX);
	ck_assert_int_ge(str_find(b.state.logs[0], STR("Z 47 ")), 0);
	ck_assert_int_ge(str_find(b.state.logs[15], STR("Z 32 ")), 0);
	ck_assert_uint_lt(b.state.logs[0].n, BODY_LINE_MAX);
	ck_assert_int_gt(str_utf8_count(b.state.logs[0]), 0);
	ck_assert_int_eq(
	    wire_encode(&wire_body_state_desc, &b.state, &json, &err), RC_OK);
	buf_free(&json);

	arena_free(b.arena);
	b.arena = arena_new(64);
	ck_assert_int_eq(
	    body_fill_state(&b.body, b.now, b.arena, &b.state), RC_TOOBIG);
	body_end(&b);
}

/* ---- face ---- */

static const struct {
	enum wire_emotion emotion;
	double intensity;
	const char *expression;
	const char *motion;
	double seconds;
} face_cases[] = {
	{ WIRE_EMOTION_ANGER, 0, "生气", "摇头", 1.0 },
	{ WIRE_EMOTION_ANGER, 1, "生气", "摇头", 2.0 },
	{ WIRE_EMOTION_DISGUST, .5, "生气", "摇头", 1.5 },
	{ WIRE_EMOTION_FRUSTRATION, .2, "生气", "摇头", 1.2 },
	{ WIRE_EMOTION_ANXIETY, .44, "不开心", "", 0 },
	{ WIRE_EMOTION_ANXIETY, .45, "不开心", "摇头", 1.25 },
	{ WIRE_EMOTION_FEAR, .9, "不开心", "摇头", 1.7 },
	{ WIRE_EMOTION_SADNESS, .69, "不开心", "", 0 },
	{ WIRE_EMOTION_SADNESS, .70, "哭", "摇头", 1.84 },
	{ WIRE_EMOTION_DISAPPOINTMENT, 1, "哭", "摇头", 2.2 },
	{ WIRE_EMOTION_BOREDOM, .5, "不开心", "", 0 },
	{ WIRE_EMOTION_JOY, .49, "微笑", "", 0 },
	{ WIRE_EMOTION_JOY, .5, "微笑", "点头", 1.2 },
	{ WIRE_EMOTION_GRATITUDE, .6, "微笑", "点头", 1.28 },
	{ WIRE_EMOTION_RELIEF, .1, "微笑", "", 0 },
	{ WIRE_EMOTION_EXCITEMENT, .3, "大笑", "", 0 },
	{ WIRE_EMOTION_EXCITEMENT, .8, "大笑", "点头", 1.6 },
	{ WIRE_EMOTION_SURPRISE, .54, "大笑", "", 0 },
	{ WIRE_EMOTION_SURPRISE, .55, "大笑", "点头", 1.14 },
	{ WIRE_EMOTION_CALM, 1, "微笑", "", 0 },
	{ WIRE_EMOTION_NEUTRAL, 1, "微笑", "", 0 },
};

TEST(emotions_have_their_faces)
{
	size_t i;

	for (i = 0; i < NELEM(face_cases); i++) {
		struct face f = face_reaction(
		    face_cases[i].emotion, face_cases[i].intensity);

		ck_assert_str_eq(face_expression_name(f.expression),
		    face_cases[i].expression);
		ck_assert_str_eq(
		    face_motion_name(f.motion), face_cases[i].motion);
		ck_assert_double_eq_tol(f.seconds, face_cases[i].seconds, 1e-9);
	}
}

TEST(every_emotion_has_a_face)
{
	size_t e, i;

	for (e = 0; e < sizeof(wire_emotion_names) / sizeof(struct str); e++) {
		bool tried = false;

		for (i = 0; i < NELEM(face_cases); i++)
			tried = tried || face_cases[i].emotion == e;
		ck_assert_msg(tried, "%s", wire_emotion_names[e].p);
	}
}

/* ---- alarms ---- */

TEST(alarms_fire_one_time_when_due)
{
	const struct wall t0 = { 1000 }, t1 = { 2000 }, t2 = { 3000 };
	struct alarms al;

	alarms_init(&al);
	ck_assert_int_eq(alarms_next(&al).ms, 0);
	ck_assert_ptr_null(alarms_fire(&al, t2));
	ck_assert_int_eq(alarms_add(&al, t2, STR("late")), RC_OK);
	ck_assert_int_eq(alarms_add(&al, t1, STR("early")), RC_OK);
	ck_assert_int_eq(alarms_next(&al).ms, 2000);
	ck_assert_ptr_null(alarms_fire(&al, t0));
	ck_assert_str_eq(alarms_fire(&al, t1)->label, "early");
	ck_assert_ptr_null(alarms_fire(&al, t1));
	ck_assert_int_eq(alarms_next(&al).ms, 3000);
	ck_assert_str_eq(
	    alarms_fire(&al, (struct wall){ 9000 })->label, "late");
	ck_assert_int_eq(TAILQ_FIRST(&al.list)->fired.ms, 9000);
	ck_assert_int_eq(alarms_next(&al).ms, 0);
	alarms_free(&al);
}

TEST(alarms_are_bounded)
{
	struct alarms al;
	int i;

	alarms_init(&al);
	for (i = 0; i < ALARMS_MAX; i++)
		ck_assert_int_eq(
		    alarms_add(&al, (struct wall){ 100 + i }, STR("x")), RC_OK);
	ck_assert_int_eq(
	    alarms_add(&al, (struct wall){ 500 }, STR("y")), RC_RETRY);
	ck_assert_ptr_nonnull(alarms_fire(&al, (struct wall){ 100 }));
	ck_assert_int_eq(alarms_add(&al, (struct wall){ 500 },
			     STR("好好好好好好好好好好好好好好好好好好好好好"
				 "好好好好好好好好好好好好好好好好好好好好好"
				 "好好好")),
	    RC_OK);
	ck_assert_uint_eq(al.n, ALARMS_MAX);
	/* Truncated at a character boundary. */
	ck_assert_uint_eq(strlen(TAILQ_LAST(&al.list, alarm_list)->label), 126);
	ck_assert_int_eq(
	    alarms_add(&al, (struct wall){ 500 }, STR("y")), RC_RETRY);
	alarms_free(&al);
}
