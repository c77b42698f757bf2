/*
 * The whole filter: the protocol's examples, options, decisions.
 */
#include "core/mem.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/testkit.h"

TEST(the_protocols_request_gives_the_protocols_intents)
{
	json_t *r = filter_fixture_run(filter_fixture_protocol());

	ck_assert_str_eq(filter_fixture_action(r), "execute_intents");
	filter_fixture_equal(json_object_get(r, "decision"),
	    "{\"action\":\"execute_intents\",\"trigger_intent_id\":"
	    "\"intent_light_control\",\"reason\":\"matched_catalog_intents\"}",
	    "decision");
	filter_fixture_check_protocol(r);
	ck_assert(
	    json_number_value(filter_fixture_intent(r, 0, "confidence")) >= .8);
	ck_assert(
	    json_number_value(filter_fixture_intent(r, 1, "confidence")) >= .8);
	filter_fixture_equal(
	    filter_fixture_intent(r, 0, "status"), "\"ready\"", "status 0");
	filter_fixture_equal(
	    filter_fixture_intent(r, 1, "status"), "\"ready\"", "status 1");
	filter_fixture_equal(
	    filter_fixture_intent(r, 1, "segment_index"), "1", "segment 1");
	filter_fixture_equal(json_object_get(r, "meta"),
	    "{\"latency_ms\":0,\"segment_count\":2,\"catalog_size\":2,"
	    "\"time_signals\":1,\"timezone\":\"Asia/Shanghai\",\"locale\":"
	    "\"zh-CN\",\"now\":\"2026-02-22T17:40:00+08:00\",\"unmatched\":[]}",
	    "meta");
	json_decref(r);
}

/* Commands for the protocol's intents; normalized NULL: no intent. */
static const struct {
	const char *command, *normalized, *action;
} commands[] = {
	{ "开灯", "{\"skill\":\"control_light\",\"mode\":\"on\"}", NULL },
	{ "把灯打开", "{\"skill\":\"control_light\",\"mode\":\"on\"}", NULL },
	{ "帮我关灯", "{\"skill\":\"control_light\",\"mode\":\"off\"}", NULL },
	{ "灯关了吧", "{\"skill\":\"control_light\",\"mode\":\"off\"}", NULL },
	{ "变红",
	    "{\"skill\":\"control_light\",\"mode\":\"set_color\","
	    "\"color\":\"red\"}",
	    NULL },
	{ "请帮我把灯变成白色",
	    "{\"skill\":\"control_light\",\"mode\":\"set_color\","
	    "\"color\":\"white\"}",
	    NULL },
	{ "１０分钟后提醒我",
	    "{\"skill\":\"create_alarm\",\"trigger_in_seconds\":600,"
	    "\"label\":\"提醒事项\"}",
	    NULL },
	{ "Set an ALARM", "{\"skill\":\"create_alarm\",\"label\":\"提醒事项\"}",
	    NULL },
	{ "点头", "{\"skill\":\"set_head_motion\",\"action\":\"点头\"}", NULL },
	{ "摇头 2.5 秒",
	    "{\"skill\":\"set_head_motion\",\"action\":\"摇头\","
	    "\"duration_seconds\":2.5}",
	    NULL },
	{ "吓我一跳", NULL, "no_action" },
	{ "唉！", NULL, "no_action" },
	{ "我好累啊", NULL, "no_action" },
	{ "今天上海天气如何？", NULL, "fallback_reasoning" },
	{ "这个事情你怎么看", NULL, "fallback_reasoning" },
	{ "你好", NULL, "fallback_reasoning" },
	{ "讲个笑话", NULL, "fallback_reasoning" },
	{ "我很开心", NULL, "no_action" },
	{ "30分钟", NULL, "fallback_reasoning" },
	{ "what time is it", NULL, "fallback_reasoning" },
};

TEST(commands_get_the_expected_intent)
{
	size_t i;

	for (i = 0; i < NELEM(commands); i++) {
		json_t *r = filter_fixture_command(
		    filter_fixture_catalog(), commands[i].command);

		ck_assert_msg(
		    strcmp(filter_fixture_action(r),
			commands[i].action != NULL ? commands[i].action
						   : "execute_intents") == 0,
		    "%s: %s", commands[i].command, filter_fixture_action(r));
		ck_assert_uint_eq(
		    json_array_size(json_object_get(r, "intents")), 1);
		if (commands[i].normalized != NULL)
			filter_fixture_equal(
			    filter_fixture_intent(r, 0, "normalized"),
			    commands[i].normalized, commands[i].command);
		else
			filter_fixture_equal(
			    filter_fixture_intent(r, 0, "status"), "\"system\"",
			    commands[i].command);
		json_decref(r);
	}
}

TEST(each_segment_has_its_own_duration)
{
	json_t *r = filter_fixture_command(
	    filter_fixture_catalog(), "10分钟后提醒我，然后20分钟后提醒我");

	ck_assert_uint_eq(json_array_size(json_object_get(r, "intents")), 2);
	filter_fixture_equal(
	    json_object_get(filter_fixture_intent(r, 0, "normalized"),
		"trigger_in_seconds"),
	    "600", "first");
	filter_fixture_equal(
	    json_object_get(filter_fixture_intent(r, 1, "normalized"),
		"trigger_in_seconds"),
	    "1200", "second");
	json_decref(r);
}

TEST(a_missing_required_slot_needs_clarification)
{
	json_t *r = filter_fixture_command(
	    filter_fixture_json("[{\"id\":\"i\",\"match\":{\"keywords_any\":"
				"[\"音量\"]},\"slots\":[{\"name\":\"level\","
				"\"required\":true,\"regex\":\"([0-9]+)\"}]}]"),
	    "调一下音量");

	filter_fixture_equal(filter_fixture_intent(r, 0, "status"),
	    "\"need_clarification\"", "status");
	filter_fixture_equal(filter_fixture_intent(r, 0, "missing_parameters"),
	    "[\"level\"]", "missing");
	filter_fixture_equal(
	    filter_fixture_intent(r, 0, "intent_name"), "\"i\"", "name");
	json_decref(r);
}

TEST(unmatched_text_is_reported)
{
	json_t *r = filter_fixture_command(
	    filter_fixture_catalog(), "开灯，然后给我讲个故事");

	ck_assert_str_eq(filter_fixture_action(r), "execute_intents");
	filter_fixture_equal(
	    json_object_get(json_object_get(r, "meta"), "unmatched"),
	    "[\"给我讲个故事\"]", "unmatched");
	json_decref(r);
}

/* Rules of one intent x, and whether the command matches. */
static const struct {
	const char *match, *command;
	bool hit;
} rules[] = {
	{ "\"keywords_any\":[\"甲\",\"乙\"]", "说乙", true },
	{ "\"keywords_any\":[\"甲\",\"乙\"]", "说丙", false },
	{ "\"keywords_all\":[\"甲\",\"乙\"]", "甲和乙", true },
	{ "\"keywords_all\":[\"甲\",\"乙\"]", "只有甲", false },
	{ "\"keywords_any\":[\"甲\"],\"negative_keywords\":[\"不\"]", "不甲",
	    false },
	{ "\"regex_any\":[\"甲+乙\"]", "甲甲甲乙", true },
	{ "\"regex_any\":[\"甲+乙\"]", "甲甲甲", false },
	{ "\"regex_all\":[\"甲\",\"乙$\"],\"keywords_any\":[\"甲\"]", "甲乙",
	    true },
	{ "\"regex_all\":[\"甲\",\"乙$\"],\"keywords_any\":[\"甲\"]", "乙甲",
	    false },
	{ "\"keywords_any\":[\"on\"]", "turn it ON", true },
	{ "\"keywords_any\":[\"on\"]", "the front door", false },
	{ "\"keywords_any\":[\"甲\"],\"min_confidence\":0.9", "甲", false },
	{ "\"keywords_any\":[]", "甲", false },
	/* Exceeding the match limits is not a match. */
	{ "\"regex_any\":[\"(a+)+$\"]",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1b", false },
};

TEST(rules_match_as_documented)
{
	size_t i;

	for (i = 0; i < NELEM(rules); i++) {
		char *intent;
		json_t *r;

		ck_assert_int_gt(
		    asprintf(&intent, "[{\"id\":\"x\",\"match\":{%s}}]",
			rules[i].match),
		    0);
		r = filter_fixture_command(
		    filter_fixture_json(intent), rules[i].command);
		ck_assert_msg((strcmp(filter_fixture_action(r),
				   "execute_intents") == 0) == rules[i].hit,
		    "%s: %s", rules[i].match, rules[i].command);
		json_decref(r);
		free(intent);
	}
}

#define TWO                                                           \
	"{\"id\":\"low\",\"priority\":1,\"match\":{\"keywords_any\":" \
	"[\"音乐\"]}},{\"id\":\"high\",\"priority\":5,\"match\":"   \
	"{\"keywords_any\":[\"音乐\"]}}"

/* Options, and the resulting ids for 放音乐，开灯 with TWO and the light. */
static const struct {
	const char *options, *ids;
} options[] = {
	{ "{}", "high intent_light_control " },
	{ "{\"max_intents_per_segment\":1}", "high intent_light_control " },
	{ "{\"max_intents\":1}", "high " },
	{ "{\"allow_multi_intent\":false}", "high " },
	{ "{\"min_confidence\":0.95}", "sys.fallback_reasoning " },
	{ "{\"min_confidence\":0.95,\"emit_system_intent_when_empty\":false}",
	    "" },
};

TEST(options_take_effect)
{
	size_t i, j, n;

	for (i = 0; i < NELEM(options); i++) {
		char ids[256] = "", *request;
		json_t *r, *list;

		ck_assert_int_gt(asprintf(&request,
				     "{\"command\":\"放音乐，开灯\","
				     "\"intent_catalog\":[" TWO ",%s],"
				     "\"options\":%s}",
				     "{\"id\":\"intent_light_control\","
				     "\"match\":{\"keywords_any\":[\"灯\"]}}",
				     options[i].options),
		    0);
		r = filter_fixture_run(request);
		n = 0;
		list = json_object_get(r, "intents");
		for (j = 0; j < json_array_size(list); j++)
			n += (size_t)snprintf(ids + n, sizeof(ids) - n, "%s ",
			    json_string_value(
				filter_fixture_intent(r, j, "intent_id")));
		ck_assert_msg(strcmp(ids, options[i].ids) == 0, "%s: %s",
		    options[i].options, ids);
		json_decref(r);
		free(request);
	}
}

TEST(debug_candidates_are_listed_on_request)
{
	json_t *r =
	    filter_fixture_run("{\"command\":\"音乐\",\"intent_catalog\":[" TWO
			       "],\"options\":{\"max_intents_per_segment\":1,"
			       "\"return_debug_candidates\":true}}");

	ck_assert_uint_eq(json_array_size(json_object_get(r, "intents")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(r, "candidates")), 2);
	json_decref(r);
}

/* Bad catalogs, and the path of the error. */
static const struct {
	const char *intents, *path;
} bad[] = {
	{ "{\"id\":\"a\"},{\"id\":\"a\"}", "/intent_catalog/1/id" },
	{ "{\"id\":\"a\",\"slots\":[{\"name\":\"s\",\"regex\":\"(\"}]}",
	    "/intent_catalog/0/slots/0/regex" },
	{ "{\"id\":\"a\",\"match\":{\"regex_any\":[\"x\",\"[\"]}}",
	    "/intent_catalog/0/match/regex_any/1" },
	{ "{\"id\":\"a\"},{\"id\":\"b\",\"match\":{\"regex_all\":[\"*\"]}}",
	    "/intent_catalog/1/match/regex_all/0" },
};

TEST(bad_catalogs_are_rejected_with_a_path)
{
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		struct wire_err err = { 0 };
		json_t *r = NULL;
		char *request;

		ck_assert_int_gt(asprintf(&request,
				     "{\"command\":\"x\",\"intent_catalog\":"
				     "[%s]}",
				     bad[i].intents),
		    0);
		ck_assert_int_eq(
		    filter_fixture_try(request, &r, &err), RC_INVALID);
		ck_assert_str_eq(err.path, bad[i].path);
		ck_assert_str_ne(err.why, "");
		free(request);
	}
}
