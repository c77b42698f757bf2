/*
 * The basic conversations: the user's text, the reply, the messages that an
 * independent subscriber received meanwhile, and the final state of the device.
 *
 * Each test has a device and a user of its own.
 */
#include <math.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"

STACK_SHARED({ .env = { [STACK_BODY_SIM] = { "BODY_COUNT=12" } } })

/* The next emotion_update that was not caused by a tick. */
static json_t *
next_update(struct peer *p)
{
	json_t *m;

	for (;;) {
		m = peer_next(p, "/emotion_update", STACK_MS);
		ck_assert_msg(m != NULL, "no emotion_update");
		if (strcmp(tk_text(m, "payload.session_id"),
			"system_decay_tick") != 0)
			return m;
		json_decref(m);
	}
}

TEST(a_colour_command_is_a_direct_action)
{
	struct client o = client_bound(&stack, "u-light", "terminal-001");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *r = client_chat(&o, "把灯变成绿色");
	json_t *m;

	ck_assert_str_eq(tk_text(r, "intent_decision"), "execute_intents");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"control_light\"]"));
	ck_assert_str_eq(tk_text(r, "exec_mode"), "auto_execute");
	ck_assert_double_gt(tk_number(r, "exec_probability"), 0.0);
	ck_assert_double_le(tk_number(r, "exec_probability"), 1.0);
	ck_assert_str_eq(tk_text(r, "session_id"), "s1");
	ck_assert_str_eq(tk_text(r, "terminal_id"), o.terminal);
	ck_assert_str_ne(tk_text(r, "reply"), "");

	m = next_update(w);
	ck_assert_str_eq(tk_text(m, "payload.session_id"), "s1");
	ck_assert_str_eq(tk_text(m, "payload.soul_id"), tk_text(r, "soul_id"));
	json_decref(m);
	m = peer_next(w, "/intent_action", STACK_MS);
	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(json_array_size(tk_at(m, "payload.intents")), 1);
	ck_assert(tk_json_equals(tk_at(m, "payload.intents.0.normalized"),
	    "{\"skill\":\"control_light\",\"mode\":\"set_color\","
	    "\"color\":\"green\"}"));
	json_decref(m);
	ck_assert_uint_eq(peer_count(w, "/intent_action"), 0);
	client_wait_sim_state(&stack, o.terminal, "color", "green");
	client_wait_sim_state(
	    &stack, o.terminal, "soul_id", tk_text(r, "soul_id"));
	json_decref(r);
	peer_free(w);
}

/* The body shows what the soul feels before it acts on it. */
TEST(the_update_comes_before_the_action)
{
	struct client o = client_bound(&stack, "u-order", "terminal-012");
	struct peer *w = peer_watch(&stack, o.terminal);
	static const char *const texts[] = { "把灯变成绿色", "再关掉它" };
	json_t *r, *update, *action;
	size_t i;

	for (i = 0; i < 10; i++) {
		r = client_chat(&o, texts[i % 2]);
		ck_assert(tk_json_equals(
		    tk_at(r, "executed_skills"), "[\"control_light\"]"));
		json_decref(r);
		update = next_update(w);
		action = i % 2 == 0 ? peer_next(w, "/intent_action", STACK_MS)
				    : peer_await(w, "", "topic", "/invoke/");
		ck_assert_ptr_nonnull(action);
		ck_assert_double_le(
		    tk_number(update, "at_ms"), tk_number(action, "at_ms"));
		json_decref(update);
		json_decref(action);
	}
	peer_free(w);
}

/* "It" refers to a direct action, which the model finds in the history. */
TEST(the_last_action_can_be_referred_to)
{
	struct client o = client_bound(&stack, "u-it", "terminal-010");
	json_t *r = client_chat(&o, "把灯变成绿色");

	ck_assert_str_eq(tk_text(r, "intent_decision"), "execute_intents");
	json_decref(r);
	client_wait_sim_state(&stack, o.terminal, "color", "green");
	r = client_chat(&o, "再关掉它");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"control_light\"]"));
	ck_assert_str_ne(tk_text(r, "reply"), "");
	json_decref(r);
	client_wait_sim_state(&stack, o.terminal, "color", "off");
}

/* Whether alarm i of the device rang. */
struct alarm {
	const char *terminal;
	size_t i;
};

static bool
rang(void *arg)
{
	const struct alarm *al = arg;
	json_t *j = client_sim_state(&stack, al->terminal);
	bool is = json_is_true(json_object_get(
	    json_array_get(tk_at(j, "alarms"), al->i), "fired"));

	json_decref(j);
	return is;
}

static void
order_alarm(struct client *o, const char *text)
{
	json_t *r = client_chat(o, text);

	ck_assert_str_eq(tk_text(r, "intent_decision"), "execute_intents");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"create_alarm\"]"));
	json_decref(r);
}

static bool
has_alarm(void *arg)
{
	const struct alarm *al = arg;
	json_t *j = client_sim_state(&stack, al->terminal);
	bool is = json_array_size(tk_at(j, "alarms")) > al->i;

	json_decref(j);
	return is;
}

TEST_T(an_alarm_fires_at_its_time, 60)
{
	struct client o = client_bound(&stack, "u-alarm", "terminal-002");
	struct alarm ten = { o.terminal, 0 }, one = { o.terminal, 1 };

	order_alarm(&o, "10秒后叫我");
	ck_assert(tk_until(has_alarm, &ten, STACK_MS));
	order_alarm(&o, "1秒后叫我");
	ck_assert(tk_until(rang, &one, STACK_MS));
	ck_assert_msg(!rang(&ten), "ten seconds were over too early");
	ck_assert(tk_until(rang, &ten, STACK_MS));
}

TEST(a_question_is_sent_to_the_language_model)
{
	struct client o = client_bound(&stack, "u-weather", "terminal-003");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *r = client_chat(&o, "今天上海天气如何？");

	ck_assert_str_eq(tk_text(r, "intent_decision"), "fallback_reasoning");
	ck_assert_str_eq(tk_text(r, "reply"), "我听到你说：今天上海天气如何？");
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	json_decref(next_update(w));
	ck_assert_uint_eq(peer_count(w, "/intent_action"), 0);
	json_decref(r);
	peer_free(w);
}

TEST(an_unmatched_command_is_invoked_by_the_model)
{
	struct client o = client_bound(&stack, "u-nod", "terminal-004");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *r = client_chat(&o, "动一动你的脑袋吧");
	json_t *invoke, *result;
	const char *id, *topic;

	ck_assert_str_eq(tk_text(r, "intent_decision"), "fallback_reasoning");
	ck_assert(tk_json_equals(
	    tk_at(r, "executed_skills"), "[\"set_head_motion\"]"));
	invoke = peer_await(w, "", "topic", "/invoke/");
	id = tk_text(invoke, "payload.request_id");
	topic = strstr(tk_text(invoke, "topic"), "/invoke/");
	ck_assert_str_eq(topic + strlen("/invoke/"), id);
	ck_assert_str_eq(tk_text(invoke, "payload.skill"), "set_head_motion");
	ck_assert(tk_json_equals(
	    tk_at(invoke, "payload.arguments"), "{\"action\":\"点头\"}"));
	result = peer_next(w, id, STACK_MS);
	ck_assert_ptr_nonnull(result);
	ck_assert_ptr_nonnull(strstr(tk_text(result, "topic"), "/result/"));
	ck_assert(json_is_true(tk_at(result, "payload.ok")));
	/* The model received the result of the device. */
	ck_assert_msg(
	    tk_text_has(r, "reply", tk_text(result, "payload.output")), "%s",
	    tk_text(r, "reply"));
	client_wait_sim_state(&stack, o.terminal, "head_motion", "点头");
	json_decref(invoke);
	json_decref(result);
	json_decref(r);
	peer_free(w);
}

TEST(an_exclamation_causes_no_action)
{
	struct client o = client_bound(&stack, "u-oh", "terminal-005");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *r = client_chat(&o, "吓我一跳");

	ck_assert_str_eq(tk_text(r, "intent_decision"), "no_action");
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	json_decref(next_update(w));
	ck_assert_uint_eq(peer_count(w, "/intent_action"), 0);
	json_decref(r);
	peer_free(w);
}

TEST(two_commands_in_a_sentence_are_two_actions)
{
	struct client o = client_bound(&stack, "u-two", "terminal-006");
	json_t *r = client_chat(&o, "把灯变成红色然后摇头");

	ck_assert_str_eq(tk_text(r, "intent_decision"), "execute_intents");
	ck_assert(tk_list_has(r, "executed_skills", "control_light"));
	ck_assert(tk_list_has(r, "executed_skills", "set_head_motion"));
	client_wait_sim_state(&stack, o.terminal, "color", "red");
	client_wait_sim_state(&stack, o.terminal, "head_motion", "摇头");
	json_decref(r);
}

TEST(a_command_and_a_question_both_get_a_reply)
{
	struct client o = client_bound(&stack, "u-both", "terminal-007");
	json_t *r = client_chat(&o, "把灯变成白色，然后讲一个关于海的故事");

	ck_assert_str_eq(tk_text(r, "intent_decision"), "execute_intents");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"control_light\"]"));
	ck_assert_msg(
	    tk_text_has(r, "reply", "关于海的故事"), "%s", tk_text(r, "reply"));
	client_wait_sim_state(&stack, o.terminal, "color", "white");
	json_decref(r);
}

/*
 * What is to be done at another time is not done now, and without alarm-clock
 * the reply does not say that it will be then.  The capture listens to all
 * subjects, so that a request without a service is one without a reply.
 */
TEST(a_delayed_command_without_alarm_clock_is_not_set)
{
	struct client o = client_bound(&stack, "u-later", "terminal-011");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *r = client_chat(&o, "十分钟后关灯");

	ck_assert_msg(tk_text_has(r, "reply", "闹钟服务没有回应"), "%s",
	    tk_text(r, "reply"));
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	json_decref(next_update(w));
	ck_assert_uint_eq(peer_count(w, "/intent_action"), 0);
	json_decref(r);
	/* The other part of the command is executed. */
	r = client_chat(&o, "每天晚上十点关灯，然后摇头");
	ck_assert_str_eq(tk_text(r, "intent_decision"), "execute_intents");
	ck_assert(tk_json_equals(
	    tk_at(r, "executed_skills"), "[\"set_head_motion\"]"));
	ck_assert_msg(tk_text_has(r, "reply", "闹钟服务没有回应"), "%s",
	    tk_text(r, "reply"));
	json_decref(r);
	peer_free(w);
}

TEST(a_session_remembers_its_messages)
{
	struct client o = client_bound(&stack, "u-log", "terminal-008");
	json_t *r = client_chat(&o, "我叫小明");
	json_t *j;

	json_decref(r);
	r = client_chat(&o, "关灯");
	j = client_ok(
	    &stack, "GET", "/v1/sessions/s1/messages?user_id=u-log", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 6);
	ck_assert_str_eq(tk_text(j, "items.0.role"), "user");
	ck_assert_str_eq(tk_text(j, "items.0.content"), "我叫小明");
	ck_assert_str_eq(tk_text(j, "items.1.role"), "assistant");
	ck_assert_str_eq(tk_text(j, "items.2.content"), "关灯");
	/* The action, in the format of chat completions. */
	ck_assert_str_eq(
	    tk_text(j, "items.3.tool_calls.0.function.name"), "control_light");
	ck_assert_str_eq(tk_text(j, "items.4.role"), "tool");
	ck_assert_str_eq(tk_text(j, "items.4.name"), "control_light");
	ck_assert_str_eq(tk_text(j, "items.5.content"), tk_text(r, "reply"));
	json_decref(j);
	json_decref(r);
	/* Session s1 of another user is a different session. */
	client_rejected(
	    &stack, "GET", "/v1/sessions/s1/messages?user_id=u-x", NULL, 404);
	json_decref(
	    client_ok(&stack, "DELETE", "/v1/sessions/s1?user_id=u-log", NULL));
	client_rejected(
	    &stack, "GET", "/v1/sessions/s1/messages?user_id=u-log", NULL, 404);
}

TEST(the_users_emotion_changes_the_soul_and_the_face)
{
	struct client o = client_bound(&stack, "u-feel", "terminal-009");
	struct peer *w = peer_watch(&stack, o.terminal);
	json_t *m;

	json_decref(client_chat(&o, "我很生气，气死我了"));
	m = next_update(w);
	ck_assert_str_eq(tk_text(m, "payload.user_emotion.emotion"), "anger");
	ck_assert_double_lt(tk_number(m, "payload.soul_emotion.p"), 0);
	json_decref(m);
	client_wait_sim_state(&stack, o.terminal, "expression", "生气");
	peer_free(w);
}
