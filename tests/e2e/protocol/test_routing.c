/*
 * Protocol §6 line 10: decision.action alone routes. Here only the test replies
 * for intent-filter, so that decisions and intents can disagree.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/conversation.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/subscriber.h"

STACK_SHARED({ .without = { [STACK_INTENT_FILTER] = true },
    .env = { [STACK_BODY_SIM] = { "BODY_COUNT=4" } } })

#define LIGHT                                                              \
	"{\"intent_id\":\"intent_light_control\",\"intent_name\":\"灯\"," \
	"\"confidence\":0.9,\"status\":\"ready\",\"segment_index\":0,"     \
	"\"span\":{\"text\":\"x\",\"start\":0,\"end\":1},"                 \
	"\"parameters\":{\"mode\":\"on\"},"                                \
	"\"normalized\":{\"skill\":\"control_light\",\"mode\":\"on\"},"    \
	"\"missing_parameters\":[],\"evidence\":[]}"
#define SYSTEM(id)                                                           \
	"{\"intent_id\":\"" id "\",\"intent_name\":\"s\","                   \
	"\"confidence\":0.5,\"status\":\"system\",\"segment_index\":0,"      \
	"\"span\":{\"text\":\"x\",\"start\":0,\"end\":1},\"parameters\":{}," \
	"\"normalized\":{},\"missing_parameters\":[],\"evidence\":[]}"

/* A reply of intent-filter: an action and intents. */
static json_t *
answer(const char *action, const char *trigger, const char *intents)
{
	json_t *list = json_loads(intents, 0, NULL);

	ck_assert_ptr_nonnull(list);
	return json_pack("{sss{ssssss}sos{sfsisisisssssss[]}}", "request_id",
	    "ifr-1", "decision", "action", action, "trigger_intent_id", trigger,
	    "reason", "test", "intents", list, "meta", "latency_ms", 0.1,
	    "segment_count", 1, "catalog_size", 3, "time_signals", 0,
	    "timezone", "Asia/Shanghai", "locale", "zh-CN", "now",
	    "2026-02-22T17:40:00+08:00", "unmatched");
}

/* One turn with such a reply; n intent_actions reach the device. */
static json_t *
turn(const char *user, const char *terminal, json_t *decision, size_t n)
{
	struct client o = { &stack, user, "s1", terminal };
	struct subscriber *e =
	    subscriber_new(&stack, "soul.rpc.intent.filter", "intent-filter");
	struct peer *w = peer_new(&stack, NULL);
	char topic[128];
	struct conversation *t;
	json_t *r;
	int status;

	client_wait_terminal(&stack, STACK_USER, terminal, CLIENT_SEES_INTENTS);
	client_select_soul(&stack, user, terminal,
	    client_create_soul(&stack, user, "小元", "ENFP"));
	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/intent_action", terminal);
	peer_subscribe(w, topic);
	t = conversation_begin(&o, "今天");
	r = subscriber_next(e, STACK_MS);
	ck_assert_msg(r != NULL, "intent-filter was not called");
	json_decref(r);
	subscriber_reply(e, decision);
	r = conversation_end(t, &status);
	ck_assert_int_eq(status, 200);
	ck_assert_uint_eq(peer_count(w, ""), n);
	peer_free(w);
	subscriber_free(e);
	return r;
}

TEST(s6_10_fallback_with_a_business_intent_goes_to_the_model)
{
	json_t *r = turn("u-1", "terminal-001",
	    answer(
		"fallback_reasoning", "sys.fallback_reasoning", "[" LIGHT "]"),
	    0);

	ck_assert_str_eq(tk_text(r, "intent_decision"), "fallback_reasoning");
	ck_assert_str_eq(tk_text(r, "reply"), "我听到你说：今天");
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	json_decref(r);
}

TEST(s6_10_no_action_with_a_business_intent_does_nothing)
{
	json_t *r = turn("u-2", "terminal-002",
	    answer("no_action", "sys.no_action",
		"[" LIGHT "," SYSTEM("sys.no_action") "]"),
	    0);

	ck_assert_str_eq(tk_text(r, "intent_decision"), "no_action");
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	json_decref(r);
}

TEST(s6_10_execute_with_a_system_intent_first_executes_the_other)
{
	json_t *r = turn("u-3", "terminal-003",
	    answer("execute_intents", "intent_light_control",
		"[" SYSTEM("sys.fallback_reasoning") "," LIGHT "]"),
	    1);

	ck_assert_str_eq(tk_text(r, "intent_decision"), "execute_intents");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"control_light\"]"));
	json_decref(r);
}

TEST(without_intent_filter_the_model_replies)
{
	struct client o = { &stack, "u-4", "s1", "terminal-004" };
	json_t *r;

	client_wait_terminal(
	    &stack, STACK_USER, o.terminal, CLIENT_SEES_INTENTS);
	client_select_soul(&stack, o.user, o.terminal,
	    client_create_soul(&stack, o.user, "小元", "ENFP"));
	r = client_chat(&o, "动一动你的脑袋吧");
	ck_assert(tk_json_equals(
	    tk_at(r, "executed_skills"), "[\"set_head_motion\"]"));
	json_decref(r);
}
