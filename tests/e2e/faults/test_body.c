/*
 * Devices that fail, do not reply, are offline or do not subscribe: the reply
 * says so and claims nothing that was not confirmed.
 *
 * The capture does not subscribe to MQTT here: it would count as a subscriber.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/conversation.h"
#include "testkit/stack/peer.h"

STACK_SHARED({ .no_mqtt_capture = true,
    .without = { [STACK_BODY_SIM] = true },
    .env = { [STACK_LLM_ORCHESTRATOR] = { "TOOL_TIMEOUT_SECONDS=1" } } })

/* By the language model, and by an intent. */
#define NOD   "动一动你的脑袋吧"
#define LIGHT "开灯"

static struct client
bound_client(struct terminal *b)
{
	struct client o = { &stack, b->terminal, "s1", b->terminal };

	b->user = o.user;
	client_select_soul(&stack, o.user, b->terminal,
	    client_create_soul(&stack, o.user, "小元", "ENFP"));
	return o;
}

/*
 * Nothing is executed: the skill fails with this error, and the reply says so.
 */
static void
assert_not_done(const struct client *o, const char *expected, const char *skill,
    const char *error, const char *reply)
{
	json_t *r = client_chat(o, expected);

	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	ck_assert_str_eq(tk_text(r, "failed_skills.0.skill"), skill);
	ck_assert_str_eq(tk_text(r, "failed_skills.0.error"), error);
	ck_assert_msg(
	    tk_text_has(r, "reply", reply), "%s", tk_text(r, "reply"));
	json_decref(r);
}

TEST(a_failed_skill_is_reported)
{
	struct terminal b = { .manner = TERMINAL_FAILS };
	struct client o;

	terminal_connect(&b, &stack, "fails", TERMINAL_0222);
	o = bound_client(&b);
	assert_not_done(
	    &o, NOD, "set_head_motion", "servo timeout", "servo timeout");
	terminal_free(&b);
}

TEST(a_missing_result_is_not_confirmed)
{
	struct terminal b = { .manner = TERMINAL_IS_SILENT };
	struct client o;

	terminal_connect(&b, &stack, "silent", TERMINAL_0222);
	o = bound_client(&b);
	assert_not_done(
	    &o, NOD, "set_head_motion", "not confirmed", "没有得到确认");
	terminal_free(&b);
}

TEST(an_offline_terminal_fails_its_skill)
{
	struct terminal b = { .manner = TERMINAL_OBEYS };
	struct client o;
	json_t *r;

	terminal_connect(&b, &stack, "gone", TERMINAL_0222);
	o = bound_client(&b);
	r = client_chat(&o, LIGHT);
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"control_light\"]"));
	json_decref(r);
	/* The connection breaks; the broker publishes the will. */
	peer_drop(b.peer);
	client_wait_terminal(&stack, o.user, o.terminal, CLIENT_SEES_OFFLINE);
	r = client_chat(&o, LIGHT);
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	ck_assert_msg(
	    tk_text_has(r, "reply", "不在线"), "%s", tk_text(r, "reply"));
	json_decref(r);
	r = client_chat(&o, NOD);
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	ck_assert_msg(
	    tk_text_has(r, "reply", "不在线"), "%s", tk_text(r, "reply"));
	json_decref(r);
}

TEST(an_unsubscribed_terminal_fails_its_action)
{
	struct terminal b = { .manner = TERMINAL_OBEYS };
	struct client o;

	terminal_connect(&b, &stack, "deaf", TERMINAL_UNSUBSCRIBED);
	o = bound_client(&b);
	assert_not_done(
	    &o, LIGHT, "control_light", "no subscriber", "没有响应");
	assert_not_done(
	    &o, NOD, "set_head_motion", "no subscriber", "没有响应");
	terminal_free(&b);
}

/* A body-sim with faults, and its user. */
static struct client
faulty(const char *id, const char *faults)
{
	static struct stack_opts o;
	static char terminal[64], how[64];
	struct stack_proc p = { 0 };
	struct stack st = stack;
	struct terminal b = { .terminal = id };

	snprintf(terminal, sizeof(terminal), "TERMINAL_ID=%s", id);
	snprintf(how, sizeof(how), "BODY_FAULTS=%s", faults);
	o.env[STACK_BODY_SIM][0] = terminal;
	o.env[STACK_BODY_SIM][1] = how;
	st.opts = &o;
	stack_spawn(&st, STACK_BODY_SIM, &p, id);
	client_wait_terminal(&stack, STACK_USER, id, CLIENT_SEES_INTENTS);
	return bound_client(&b);
}

TEST(a_result_after_the_deadline_is_reported)
{
	struct client o = faulty("late", "late=1500");

	assert_not_done(
	    &o, NOD, "set_head_motion", "not confirmed", "没有得到确认");
}

TEST(a_result_of_another_request_is_ignored)
{
	struct client o = faulty("muddled", "wrong-request-id");

	assert_not_done(
	    &o, NOD, "set_head_motion", "not confirmed", "没有得到确认");
}

TEST(a_result_for_another_terminal_is_ignored)
{
	struct terminal victim = { .manner = TERMINAL_IS_SILENT };
	struct terminal liar = { .manner = TERMINAL_OBEYS };
	char topic[512], text[512];
	struct client o;
	struct conversation *t;
	json_t *m, *r;
	int status;

	terminal_connect(&victim, &stack, "victim", TERMINAL_0222);
	terminal_connect(&liar, &stack, "liar", TERMINAL_0222);
	o = bound_client(&victim);
	t = conversation_begin(&o, NOD);
	m = peer_await(victim.peer, "", "topic", "/invoke/");
	snprintf(topic, sizeof(topic), "soul/terminal/liar/result/%s",
	    tk_text(m, "payload.request_id"));
	snprintf(text, sizeof(text),
	    "{\"request_id\":\"%s\",\"ok\":true,\"output\":\"done\"}",
	    tk_text(m, "payload.request_id"));
	peer_send(liar.peer, topic, text, strlen(text), PEER_QOS1);
	json_decref(m);
	r = conversation_end(t, &status);
	ck_assert_int_eq(status, 200);
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	json_decref(r);
	terminal_free(&victim);
	terminal_free(&liar);
}

TEST(a_blocked_gate_prevents_actions)
{
	struct terminal b = { .manner = TERMINAL_OBEYS };
	struct client o;
	json_t *r;
	int i;

	terminal_connect(&b, &stack, "upset", TERMINAL_0222);
	o = bound_client(&b);
	for (i = 0; i < 30; i++) {
		r = client_chat(&o, "我非常生气！气死我了！滚开！");
		if (strcmp(tk_text(r, "exec_mode"), "blocked") == 0)
			break;
		json_decref(r);
	}
	ck_assert_int_lt(i, 30);
	json_decref(r);
	ck_assert_uint_eq(peer_count(b.peer, "/intent_action"), 0);
	r = client_chat(&o, LIGHT);
	ck_assert_str_eq(tk_text(r, "exec_mode"), "blocked");
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	ck_assert_msg(
	    tk_text_has(r, "reply", "先不做"), "%s", tk_text(r, "reply"));
	ck_assert_uint_eq(peer_count(b.peer, "/intent_action"), 0);
	json_decref(r);
	terminal_free(&b);
}
