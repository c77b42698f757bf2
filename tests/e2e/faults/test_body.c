/*
 * Bodies that fail, say nothing, are not there or do not listen: the reply says
 * so, and nothing is claimed that was not confirmed.
 *
 * The tap stays away from MQTT here: it would count as a subscriber.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/stack/owner.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/talk.h"

STACK_SHARED({ .no_mqtt_tap = true,
    .without = { [STACK_BODY_SIM] = true },
    .env = { [STACK_LLM_ORCHESTRATOR] = { "TOOL_TIMEOUT_SECONDS=1" } } })

/* By the language model, and by an intent. */
#define NOD   "动一动你的脑袋吧"
#define LIGHT "开灯"

static struct owner
owner_of(struct body *b)
{
	struct owner o = { &stack, b->terminal, "s1", b->terminal };

	b->user = o.user;
	owner_select(&stack, o.user, b->terminal,
	    owner_soul(&stack, o.user, "小元", "ENFP"));
	return o;
}

/* What is said is not done: skill failed with error, and the reply says it. */
static void
assert_not_done(const struct owner *o, const char *said, const char *skill,
    const char *error, const char *reply)
{
	json_t *r = owner_say(o, said);

	ck_assert(is_json(at(r, "executed_skills"), "[]"));
	ck_assert_str_eq(text_at(r, "failed_skills.0.skill"), skill);
	ck_assert_str_eq(text_at(r, "failed_skills.0.error"), error);
	ck_assert_msg(says(r, "reply", reply), "%s", text_at(r, "reply"));
	json_decref(r);
}

TEST(a_body_that_fails)
{
	struct body b = { .manner = BODY_FAILS };
	struct owner o;

	body_connect(&b, &stack, "fails", BODY_SPEAKS_0222);
	o = owner_of(&b);
	assert_not_done(
	    &o, NOD, "set_head_motion", "servo timeout", "servo timeout");
	body_free(&b);
}

TEST(a_body_that_says_nothing)
{
	struct body b = { .manner = BODY_IS_SILENT };
	struct owner o;

	body_connect(&b, &stack, "silent", BODY_SPEAKS_0222);
	o = owner_of(&b);
	assert_not_done(
	    &o, NOD, "set_head_motion", "not confirmed", "没有得到确认");
	body_free(&b);
}

TEST(a_body_that_is_gone)
{
	struct body b = { .manner = BODY_OBEYS };
	struct owner o;
	json_t *r;

	body_connect(&b, &stack, "gone", BODY_SPEAKS_0222);
	o = owner_of(&b);
	r = owner_say(&o, LIGHT);
	ck_assert(is_json(at(r, "executed_skills"), "[\"control_light\"]"));
	json_decref(r);
	/* The cable is pulled; its will tells. */
	peer_cut(b.peer);
	owner_wait_body(&stack, o.user, o.terminal, OWNER_KNOWS_GONE);
	r = owner_say(&o, LIGHT);
	ck_assert(is_json(at(r, "executed_skills"), "[]"));
	ck_assert_msg(says(r, "reply", "不在线"), "%s", text_at(r, "reply"));
	json_decref(r);
	r = owner_say(&o, NOD);
	ck_assert(is_json(at(r, "executed_skills"), "[]"));
	ck_assert_msg(says(r, "reply", "不在线"), "%s", text_at(r, "reply"));
	json_decref(r);
}

TEST(a_body_that_does_not_listen)
{
	struct body b = { .manner = BODY_OBEYS };
	struct owner o;

	body_connect(&b, &stack, "deaf", BODY_IS_DEAF);
	o = owner_of(&b);
	assert_not_done(
	    &o, LIGHT, "control_light", "no subscriber", "没有响应");
	assert_not_done(
	    &o, NOD, "set_head_motion", "no subscriber", "没有响应");
	body_free(&b);
}

/* A body-sim with faults; its owner. */
static struct owner
faulty(const char *id, const char *faults)
{
	static struct stack_opts o;
	static char terminal[64], how[64];
	struct stack_proc p = { 0 };
	struct stack st = stack;
	struct body b = { .terminal = id };

	snprintf(terminal, sizeof(terminal), "TERMINAL_ID=%s", id);
	snprintf(how, sizeof(how), "BODY_FAULTS=%s", faults);
	o.env[STACK_BODY_SIM][0] = terminal;
	o.env[STACK_BODY_SIM][1] = how;
	st.opts = &o;
	stack_spawn(&st, STACK_BODY_SIM, &p, id);
	owner_wait_body(&stack, STACK_USER, id, OWNER_KNOWS_INTENTS);
	return owner_of(&b);
}

TEST(a_body_that_is_too_late)
{
	struct owner o = faulty("late", "late=1500");

	assert_not_done(
	    &o, NOD, "set_head_motion", "not confirmed", "没有得到确认");
}

TEST(a_body_that_answers_another_request)
{
	struct owner o = faulty("muddled", "wrong-request-id");

	assert_not_done(
	    &o, NOD, "set_head_motion", "not confirmed", "没有得到确认");
}

TEST(a_body_that_answers_for_another_is_not_heard)
{
	struct body victim = { .manner = BODY_IS_SILENT };
	struct body liar = { .manner = BODY_OBEYS };
	char topic[512], text[512];
	struct owner o;
	struct talk *t;
	json_t *m, *r;
	int status;

	body_connect(&victim, &stack, "victim", BODY_SPEAKS_0222);
	body_connect(&liar, &stack, "liar", BODY_SPEAKS_0222);
	o = owner_of(&victim);
	t = talk_begin(&o, NOD);
	m = peer_await(victim.peer, "", "topic", "/invoke/");
	snprintf(topic, sizeof(topic), "soul/terminal/liar/result/%s",
	    text_at(m, "payload.request_id"));
	snprintf(text, sizeof(text),
	    "{\"request_id\":\"%s\",\"ok\":true,\"output\":\"done\"}",
	    text_at(m, "payload.request_id"));
	peer_send(liar.peer, topic, text, strlen(text), PEER_QOS1);
	json_decref(m);
	r = talk_end(t, &status);
	ck_assert_int_eq(status, 200);
	ck_assert(is_json(at(r, "executed_skills"), "[]"));
	json_decref(r);
	body_free(&victim);
	body_free(&liar);
}

TEST(a_soul_that_is_too_upset_does_nothing)
{
	struct body b = { .manner = BODY_OBEYS };
	struct owner o;
	json_t *r;
	int i;

	body_connect(&b, &stack, "upset", BODY_SPEAKS_0222);
	o = owner_of(&b);
	for (i = 0; i < 30; i++) {
		r = owner_say(&o, "我非常生气！气死我了！滚开！");
		if (strcmp(text_at(r, "exec_mode"), "blocked") == 0)
			break;
		json_decref(r);
	}
	ck_assert_int_lt(i, 30);
	json_decref(r);
	ck_assert_uint_eq(peer_count(b.peer, "/intent_action"), 0);
	r = owner_say(&o, LIGHT);
	ck_assert_str_eq(text_at(r, "exec_mode"), "blocked");
	ck_assert(is_json(at(r, "executed_skills"), "[]"));
	ck_assert_msg(says(r, "reply", "先不做"), "%s", text_at(r, "reply"));
	ck_assert_uint_eq(peer_count(b.peer, "/intent_action"), 0);
	json_decref(r);
	body_free(&b);
}
