/*
 * What intent-filter's reply means.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/intent_route.h"
#include "wire/wire.h"

#define SKILLS                                                                 \
	"[{\"name\":\"control_light\",\"description\":\"控制灯：开灯\"," \
	"\"input_schema\":{\"type\":\"object\",\"properties\":{\"mode\":"      \
	"{\"enum\":[\"on\",\"off\",\"set_color\"]},\"level\":{\"type\":"       \
	"\"integer\"}},\"required\":[\"mode\"]}},"                             \
	"{\"name\":\"create_alarm\",\"input_schema\":{\"type\":\"object\","    \
	"\"properties\":{\"at\":{\"type\":\"string\",\"description\":"         \
	"\"什么时候\"}}}}]"

struct bench {
	struct arena *a;
	struct tool_catalog *t;
	struct wire_intent_filter_response answer;
	struct turn_route r;
};

/* intents and unmatched as JSON lists. */
static void
route(struct bench *b, const char *action, const char *intents,
    const char *unmatched)
{
	char text[8192];
	struct wire_err err;

	b->a = arena_new(1024 * 1024);
	ck_assert_int_eq(tool_catalog_new(STR(SKILLS), b->a, &b->t), RC_OK);
	snprintf(text, sizeof(text),
	    "{\"request_id\":\"ifr-1\",\"decision\":{\"action\":\"%s\","
	    "\"trigger_intent_id\":\"x\",\"reason\":\"y\"},\"intents\":%s,"
	    "\"meta\":{\"latency_ms\":1,\"segment_count\":1,"
	    "\"catalog_size\":1,\"time_signals\":0,\"timezone\":\"UTC\","
	    "\"locale\":\"zh-CN\",\"now\":\"n\",\"unmatched\":%s}}",
	    action, intents, unmatched);
	enum rc rc = wire_decode(&wire_intent_filter_response_desc,
	    arena_str(b->a, str_of(text)), b->a, &b->answer, &err);
	ck_assert_msg(rc == RC_OK, "%s: %s", err.path, err.why);
	struct intent_route_input in = { &b->answer, b->t, STR("全部的话"),
		STR("turn_1") };
	ck_assert_int_eq(intent_route_read(&in, b->a, &b->r), RC_OK);
}

static void
close_bench(struct bench *b)
{
	tool_catalog_free(b->t);
	arena_free(b->a);
}

#define INTENT(id, name, status, span, normalized, missing)     \
	"{\"intent_id\":\"" id "\"," name "\"confidence\":0.9," \
	"\"status\":\"" status "\",\"segment_index\":0,"        \
	"\"span\":{\"text\":\"" span "\",\"start\":0,"          \
	"\"end\":1},\"parameters\":{},"                         \
	"\"normalized\":" normalized ","                        \
	"\"missing_parameters\":" missing ",\"evidence\":[]}"
#define NAME(s) "\"intent_name\":\"" s "\","

#define is(s, text) ck_assert_msg(str_eq((s), STR(text)), "%.*s", STR_ARG(s))

TEST(ready_intents_become_calls)
{
	struct bench b;

	route(&b, "execute_intents",
	    "[" INTENT("i1", NAME("开灯"), "ready", "开灯",
		"{\"skill\":\"control_light\",\"mode\":\"on\"}",
		"[]") "," INTENT("i2", "", "ready", "闹钟",
		"{\"at\":\"7:00\",\"skill\":\"create_alarm\"}", "[]") "]",
	    "[]");
	ck_assert_int_eq(b.r.action, WIRE_DECISION_ACTION_EXECUTE_INTENTS);
	ck_assert_uint_eq(b.r.n_calls, 2);
	ck_assert_int_eq(b.r.calls[0].outcome, TURN_UNSENT);
	ck_assert_int_eq(b.r.calls[0].kind, TURN_DIRECT);
	is(b.r.calls[0].skill, "control_light");
	is(b.r.calls[0].label, "开灯");
	is(b.r.calls[0].args, "{\"mode\":\"on\"}");
	is(b.r.calls[0].call_id, "ia_turn_1_0");
	is(b.r.calls[1].args, "{\"at\":\"7:00\"}");
	is(b.r.calls[1].label, "create_alarm");
	ck_assert_uint_eq(b.r.calls[1].intent, 1);
	ck_assert_uint_eq(b.r.rest.n, 0);

	struct buf out = BUF_INIT(1024);
	intent_route_normalized(&b.r.calls[0], &out);
	ck_assert_str_eq(
	    buf_str(&out).p, "{\"skill\":\"control_light\",\"mode\":\"on\"}");
	buf_free(&out);
	close_bench(&b);
}

TEST(an_intent_without_arguments)
{
	struct turn_call d = { .skill = STR("nod"), .args = STR("{}") };
	struct buf out = BUF_INIT(1024);

	intent_route_normalized(&d, &out);
	ck_assert_str_eq(buf_str(&out).p, "{\"skill\":\"nod\"}");
	buf_free(&out);
}

/* Ready intents that are coerced, left, unknown, without a skill. */
TEST(arguments_must_satisfy_the_schema)
{
	struct bench b;

	route(&b, "execute_intents",
	    "[" INTENT("i1", "", "ready", "调到三档",
		"{\"skill\":\"control_light\",\"mode\":\"on\",\"level\":"
		"\"3\"}",
		"[]") "," INTENT("i2", "", "ready", "让灯闪",
		"{\"skill\":\"control_light\",\"mode\":\"blink\"}",
		"[]") "," INTENT("i3", NAME("飞"), "ready", "飞起来",
		"{\"skill\":\"fly\"}", "[]") "," INTENT("i4", "", "ready",
		"没有技能", "{\"mode\":\"on\"}", "[]") "]",
	    "[\" 天气怎么样 \",\"\"]");
	ck_assert_uint_eq(b.r.n_calls, 2);
	is(b.r.calls[0].args, "{\"mode\":\"on\",\"level\":3}");
	ck_assert_int_eq(b.r.calls[1].outcome, TURN_UNKNOWN);
	is(b.r.calls[1].skill, "fly");
	ck_assert_ptr_null(b.r.calls[1].tool.p);
	is(b.r.rest, "让灯闪，没有技能，天气怎么样");
	close_bench(&b);
}

TEST(missing_parameters_become_questions)
{
	struct bench b;

	route(&b, "execute_intents",
	    "[" INTENT("i1", NAME("订闹钟"), "need_clarification", "闹钟",
		"{\"skill\":\"create_alarm\"}",
		"[\"at\",\"color\"]") "," INTENT("i2", "", "rejected", "拆灯",
		"{\"skill\":\"control_light\"}", "[]") "," INTENT("i3", "",
		"rejected", "x", "{}", "[]") "," INTENT("sys.no_action", "",
		"system", "x", "{}", "[]") "]",
	    "[]");
	ck_assert_uint_eq(b.r.n_questions, 1);
	is(b.r.questions[0].label, "订闹钟");
	is(b.r.questions[0].missing, "什么时候、颜色");
	ck_assert_uint_eq(b.r.n_calls, 2);
	ck_assert_int_eq(b.r.calls[0].outcome, TURN_REJECTED);
	is(b.r.calls[0].skill, "control_light");
	is(b.r.calls[1].skill, "i3");
	ck_assert_uint_eq(b.r.rest.n, 0);
	close_bench(&b);
}

/* Only the time is unmatched; the model gets the whole intent. */
TEST(a_rejected_time_leaves_the_whole_intent)
{
	struct bench b;

	route(&b, "execute_intents",
	    "[" INTENT("i1", "", "rejected", "十分钟后关灯",
		"{\"skill\":\"control_light\",\"mode\":\"off\"}",
		"[]") "," INTENT("i2", "", "ready", "开灯",
		"{\"skill\":\"control_light\",\"mode\":\"on\"}", "[]") "]",
	    "[\"十分钟后\",\"讲个笑话\"]");
	ck_assert_uint_eq(b.r.n_calls, 2);
	ck_assert_int_eq(b.r.calls[0].outcome, TURN_REJECTED);
	ck_assert_int_eq(b.r.calls[1].outcome, TURN_UNSENT);
	is(b.r.rest, "十分钟后关灯，讲个笑话");
	close_bench(&b);
}

/* Other decisions have no calls; an empty execute_intents leaves all. */
TEST(other_decisions_have_no_calls)
{
	struct bench b;

	route(&b, "fallback_reasoning",
	    "[" INTENT("i1", "", "ready", "开灯",
		"{\"skill\":\"control_light\",\"mode\":\"on\"}", "[]") "]",
	    "[\"x\"]");
	ck_assert_uint_eq(b.r.n_calls, 0);
	ck_assert_uint_eq(b.r.rest.n, 0);
	close_bench(&b);
	route(&b, "no_action", "[]", "[]");
	ck_assert_int_eq(b.r.action, WIRE_DECISION_ACTION_NO_ACTION);
	close_bench(&b);
	route(&b, "execute_intents",
	    "[" INTENT("sys.x", "", "system", "x", "{}", "[]") "]", "[]");
	is(b.r.rest, "全部的话");
	close_bench(&b);
}

TEST(intents_beyond_the_limit_are_left_for_the_model)
{
	struct buf list = BUF_INIT(8192);
	struct bench b;

	buf_puts(&list, "[");
	for (int i = 0; i < INTENT_ROUTE_CALLS_MAX + 2; i++)
		buf_printf(&list,
		    "%s" INTENT("i", "", "ready", "亮%d",
			"{\"skill\":\"control_light\","
			"\"mode\":\"on\"}",
			"[]"),
		    i > 0 ? "," : "", i);
	buf_puts(&list, "]");
	route(&b, "execute_intents", buf_str(&list).p, "[]");
	ck_assert_uint_eq(b.r.n_calls, INTENT_ROUTE_CALLS_MAX);
	is(b.r.rest, "亮16，亮17");
	close_bench(&b);
	buf_free(&list);
}

TEST(a_full_arena_is_an_error)
{
	struct bench b;

	route(&b, "execute_intents", "[]", "[]");
	struct arena *small = arena_new(512);
	struct intent_route_input in = { &b.answer, b.t, STR("x"), STR("t") };
	ck_assert_int_eq(intent_route_read(&in, small, &b.r), RC_TOOBIG);
	arena_free(small);
	close_bench(&b);
}
