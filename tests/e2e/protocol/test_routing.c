/*
 * Protocol §6 line 10: decision.action alone routes.  Nobody but the test
 * answers for intent-filter here, so that decisions and intents can disagree.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/stack/ear.h"
#include "testkit/stack/owner.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/talk.h"

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

/* What intent-filter answers: an action and intents. */
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

/* One turn with such an answer; n intent_actions reach the body. */
static json_t *
turn(const char *user, const char *terminal, json_t *decision, size_t n)
{
	struct owner o = { &stack, user, "s1", terminal };
	struct ear *e =
	    ear_new(&stack, "soul.rpc.intent.filter", "intent-filter");
	struct peer *w = peer_new(&stack, NULL);
	char topic[128];
	struct talk *t;
	json_t *r;
	int status;

	owner_wait_body(&stack, STACK_USER, terminal, OWNER_KNOWS_INTENTS);
	owner_select(
	    &stack, user, terminal, owner_soul(&stack, user, "小元", "ENFP"));
	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/intent_action", terminal);
	peer_hear(w, topic);
	t = talk_begin(&o, "今天");
	r = ear_next(e, STACK_MS);
	ck_assert_msg(r != NULL, "intent-filter was not asked");
	json_decref(r);
	ear_answer(e, decision);
	r = talk_end(t, &status);
	ck_assert_int_eq(status, 200);
	ck_assert_uint_eq(peer_count(w, ""), n);
	peer_free(w);
	ear_free(e);
	return r;
}

TEST(s6_10_fallback_with_a_business_intent_goes_to_the_model)
{
	json_t *r = turn("u-1", "terminal-001",
	    answer(
		"fallback_reasoning", "sys.fallback_reasoning", "[" LIGHT "]"),
	    0);

	ck_assert_str_eq(text_at(r, "intent_decision"), "fallback_reasoning");
	ck_assert_str_eq(text_at(r, "reply"), "我听到你说：今天");
	ck_assert(is_json(at(r, "executed_skills"), "[]"));
	json_decref(r);
}

TEST(s6_10_no_action_with_a_business_intent_does_nothing)
{
	json_t *r = turn("u-2", "terminal-002",
	    answer("no_action", "sys.no_action",
		"[" LIGHT "," SYSTEM("sys.no_action") "]"),
	    0);

	ck_assert_str_eq(text_at(r, "intent_decision"), "no_action");
	ck_assert(is_json(at(r, "executed_skills"), "[]"));
	json_decref(r);
}

TEST(s6_10_execute_with_a_system_intent_first_executes_the_other)
{
	json_t *r = turn("u-3", "terminal-003",
	    answer("execute_intents", "intent_light_control",
		"[" SYSTEM("sys.fallback_reasoning") "," LIGHT "]"),
	    1);

	ck_assert_str_eq(text_at(r, "intent_decision"), "execute_intents");
	ck_assert(is_json(at(r, "executed_skills"), "[\"control_light\"]"));
	json_decref(r);
}

TEST(without_intent_filter_the_model_answers)
{
	struct owner o = { &stack, "u-4", "s1", "terminal-004" };
	json_t *r;

	owner_wait_body(&stack, STACK_USER, o.terminal, OWNER_KNOWS_INTENTS);
	owner_select(&stack, o.user, o.terminal,
	    owner_soul(&stack, o.user, "小元", "ENFP"));
	r = owner_say(&o, "动一动你的脑袋吧");
	ck_assert(is_json(at(r, "executed_skills"), "[\"set_head_motion\"]"));
	json_decref(r);
}
