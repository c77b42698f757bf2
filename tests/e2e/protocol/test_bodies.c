/*
 * The protocol's requirements for devices (§6 lines 11 and 12, §7.4), tested
 * with body-sim.
 *
 * Each test has a device and a user of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"

STACK_SHARED({ .env = { [STACK_BODY_SIM] = { "BODY_COUNT=9" } } })

/* Publish as the server would. */
static void
expect_emotion(struct peer *server, const char *terminal, const char *emotion,
    double intensity)
{
	char topic[128];
	json_t *u = json_pack("{sssssss{sssfsfsfsf}s{sfsfsf}sfssss}",
	    "session_id", "s-feel", "terminal_id", terminal, "soul_id",
	    "soul_test", "user_emotion", "emotion", emotion, "p", 0.1, "a", 0.2,
	    "d", 0.3, "intensity", intensity, "soul_emotion", "p",
	    intensity / 2, "a", -0.25, "d", 0.125, "exec_probability", 0.75,
	    "exec_mode", "auto_execute", "ts", "2026-02-22T10:20:30Z");
	char *text = json_dumps(u, 0);

	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/emotion_update", terminal);
	peer_send(server, topic, text, strlen(text), PEER_QOS1);
	free(text);
	json_decref(u);
}

TEST(s6_11_shows_the_soul_and_fifteen_emotions)
{
	static const struct {
		const char *emotion;
		double intensity;
		const char *face, *motion; /* NULL: the head does not move */
	} rows[] = {
		{ "anger", 0.9, "生气", "摇头" },
		{ "joy", 0.9, "微笑", "点头" },
		{ "disgust", 0.9, "生气", "摇头" },
		{ "gratitude", 0.9, "微笑", "点头" },
		{ "frustration", 0.9, "生气", "摇头" },
		{ "relief", 0.9, "微笑", "点头" },
		{ "anxiety", 0.9, "不开心", "摇头" },
		{ "excitement", 0.9, "大笑", "点头" },
		{ "fear", 0.9, "不开心", "摇头" },
		{ "surprise", 0.9, "大笑", "点头" },
		{ "sadness", 0.9, "哭", "摇头" },
		{ "calm", 0.9, "微笑", NULL },
		{ "disappointment", 0.9, "哭", "摇头" },
		{ "neutral", 0.0, "微笑", NULL },
		{ "boredom", 0.3, "不开心", NULL },
	};
	const char *id = "terminal-001";
	struct peer *server = peer_new(&stack, NULL);
	const char *motion = "";
	json_t *j;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		expect_emotion(server, id, rows[i].emotion, rows[i].intensity);
		client_wait_sim_state(&stack, id, "expression", rows[i].face);
		if (rows[i].motion != NULL)
			motion = rows[i].motion;
		client_wait_sim_state(&stack, id, "head_motion", motion);
	}
	j = client_sim_state(&stack, id);
	ck_assert_int_eq(json_integer_value(tk_at(j, "conversation_turns")),
	    (json_int_t)(sizeof(rows) / sizeof(rows[0])));
	ck_assert_double_eq_tol(tk_number(j, "emotion_p"), 0.15, 1e-9);
	ck_assert_double_eq_tol(tk_number(j, "emotion_a"), -0.25, 1e-9);
	ck_assert_double_eq_tol(tk_number(j, "emotion_d"), 0.125, 1e-9);
	ck_assert_double_eq_tol(tk_number(j, "exec_probability"), 0.75, 1e-9);
	ck_assert_str_eq(tk_text(j, "exec_mode"), "auto_execute");
	json_decref(j);
	peer_free(server);
}

static bool
has_changed(void *arg)
{
	json_t *was = arg;
	json_t *j = client_sim_state(&stack, tk_text(was, "terminal_id"));
	bool is = tk_number(j, "emotion_p") != tk_number(was, "emotion_p");

	json_decref(j);
	return is;
}

TEST_T(s6_11_a_tick_refreshes_the_soul_and_not_the_face, 60)
{
	struct client o = client_bound(&stack, "u-tick", "terminal-002");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *was, *j, *m;

	json_decref(client_chat(&o, "我很生气，气死我了"));
	client_wait_sim_state(&stack, o.terminal, "expression", "生气");
	was = client_sim_state(&stack, o.terminal);
	/* The emotion decays by itself, and the face does not change. */
	ck_assert(tk_until(has_changed, was, STACK_MS));
	j = client_sim_state(&stack, o.terminal);
	ck_assert_str_eq(tk_text(j, "expression"), "生气");
	ck_assert_int_eq(json_integer_value(tk_at(j, "conversation_turns")), 1);
	m = peer_await(
	    w, "/emotion_update", "payload.session_id", "system_decay_tick");
	ck_assert_str_eq(tk_text(m, "payload.user_emotion.emotion"), "neutral");
	json_decref(m);
	json_decref(j);
	json_decref(was);
	peer_free(w);
}

TEST(s6_12_executes_an_intent_action_immediately)
{
	struct client o = client_bound(&stack, "u-612", "terminal-003");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *m;

	json_decref(client_chat(&o, "把灯变成红色"));
	client_wait_sim_state(&stack, o.terminal, "color", "red");
	m = peer_next(w, "/intent_action", STACK_MS);
	ck_assert_ptr_nonnull(m);
	ck_assert_str_eq(
	    tk_text(m, "payload.intents.0.normalized.skill"), "control_light");
	json_decref(m);
	/* Without an invoke. */
	for (; (m = peer_next(w, "", 0)) != NULL; json_decref(m))
		ck_assert(!tk_text_has(m, "topic", "/invoke/"));
	peer_free(w);
}

TEST(s7_4_2_every_normalized_skill_has_an_executor)
{
	static const struct {
		const char *published, *skill, *member, *shows;
	} rows[] = {
		{ "开灯", "control_light", "color", "white" },
		{ "关灯", "control_light", "color", "off" },
		{ "把灯变成绿色", "control_light", "color", "green" },
		{ "60秒后叫我", "create_alarm", NULL, NULL },
		{ "点头", "set_head_motion", "head_motion", "点头" },
		{ "摇头", "set_head_motion", "head_motion", "摇头" },
	};
	struct client o = client_bound(&stack, "u-742", "terminal-004");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *body = client_terminal(&stack, o.user, o.terminal);
	json_t *m, *r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = client_chat(&o, rows[i].published);
		m = peer_next(w, "/intent_action", STACK_MS);
		ck_assert_msg(m != NULL, "%s", rows[i].published);
		ck_assert_str_eq(
		    tk_text(m, "payload.intents.0.normalized.skill"),
		    rows[i].skill);
		ck_assert(tk_list_has(body, "skills", rows[i].skill));
		ck_assert(tk_list_has(r, "executed_skills", rows[i].skill));
		if (rows[i].member != NULL)
			client_wait_sim_state(
			    &stack, o.terminal, rows[i].member, rows[i].shows);
		json_decref(m);
		json_decref(r);
	}
	r = client_sim_state(&stack, o.terminal);
	ck_assert_uint_eq(json_array_size(tk_at(r, "alarms")), 1);
	json_decref(r);
	json_decref(body);
	peer_free(w);
}

/*
 * The time from the PUBACK of an emotion_update until the device shows it, in
 * ms.
 */
static int64_t
shown_after_ms(
    struct peer *server, const char *id, const char *emotion, const char *face)
{
	struct mono began;

	expect_emotion(server, id, emotion, 0.9);
	began = clock_mono();
	client_wait_sim_state(&stack, id, "expression", face);
	return mono_diff_ms(clock_mono(), began);
}

TEST(s7_4_3_an_emotion_update_shows_within_200_ms)
{
	const char *id = "terminal-005";
	struct peer *server = peer_new(&stack, NULL);
	int slow = 0, i;

	/* A pause of the machine is not a fault of the device. */
	for (i = 0; i < 5; i++) {
		slow += shown_after_ms(server, id, "anger", "生气") > 200;
		slow += shown_after_ms(server, id, "joy", "微笑") > 200;
	}
	ck_assert_int_le(slow, 2);
	peer_free(server);
}

TEST(s7_4_4_a_failed_result_is_complete)
{
	static const struct stack_opts opts = {
		.env = { [STACK_BODY_SIM] = { "TERMINAL_ID=failing",
			     "BODY_FAULTS=error" } }
	};
	struct stack_proc p = { 0 };
	struct stack st = stack;
	struct client o = { &stack, "u-744", "s1", "failing" };
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *m, *r;

	st.opts = &opts;
	stack_spawn(&st, STACK_BODY_SIM, &p, "failing");
	o = client_bound(&stack, o.user, o.terminal);
	r = client_chat(&o, "动一动你的脑袋吧");
	m = peer_await(w, "", "topic", "/result/");
	ck_assert_str_eq(strrchr(tk_text(m, "topic"), '/') + 1,
	    tk_text(m, "payload.request_id"));
	ck_assert(json_is_false(tk_at(m, "payload.ok")));
	ck_assert_str_eq(tk_text(m, "payload.error"), "simulated failure");
	/* The reply can then report it. */
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	ck_assert_msg(tk_text_has(r, "reply", "simulated failure"), "%s",
	    tk_text(r, "reply"));
	json_decref(m);
	json_decref(r);
	peer_free(w);
}
