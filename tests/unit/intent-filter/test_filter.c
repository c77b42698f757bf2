/*
 * The filter as a whole: the protocol's samples, options, decisions.
 */
#include "core/mem.h"
#include "filter_case.h"

TEST(the_protocols_request_gives_the_protocols_intents)
{
	char *request = case_protocol();
	json_t *r = case_run(request);

	free(request);
	ck_assert_str_eq(case_action(r), "execute_intents");
	case_equal(json_object_get(r, "decision"),
	    "{\"action\":\"execute_intents\",\"trigger_intent_id\":"
	    "\"intent_light_control\",\"reason\":\"matched_catalog_intents\"}",
	    "decision");
	case_check_protocol(r);
	ck_assert(json_number_value(case_intent(r, 0, "confidence")) >= .8);
	ck_assert(json_number_value(case_intent(r, 1, "confidence")) >= .8);
	case_equal(case_intent(r, 0, "status"), "\"ready\"", "status 0");
	case_equal(case_intent(r, 1, "status"), "\"ready\"", "status 1");
	case_equal(case_intent(r, 1, "segment_index"), "1", "segment 1");
	case_equal(json_object_get(r, "meta"),
	    "{\"latency_ms\":0,\"segment_count\":2,\"catalog_size\":2,"
	    "\"time_signals\":1,\"timezone\":\"Asia/Shanghai\",\"locale\":"
	    "\"zh-CN\",\"now\":\"2026-02-22T17:40:00+08:00\",\"unmatched\":[]}",
	    "meta");
	json_decref(r);
}

/* A command over the three intents; NULL: which action without an intent. */
static const struct {
	const char *command, *normalized, *action;
} said[] = {
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

TEST(utterances)
{
	size_t i;

	for (i = 0; i < NELEM(said); i++) {
		json_t *r = case_say(case_seed(), said[i].command);

		ck_assert_msg(
		    strcmp(case_action(r),
			said[i].action != NULL ? said[i].action
					       : "execute_intents") == 0,
		    "%s: %s", said[i].command, case_action(r));
		ck_assert_uint_eq(
		    json_array_size(json_object_get(r, "intents")), 1);
		if (said[i].normalized != NULL)
			case_equal(case_intent(r, 0, "normalized"),
			    said[i].normalized, said[i].command);
		else
			case_equal(case_intent(r, 0, "status"), "\"system\"",
			    said[i].command);
		json_decref(r);
	}
}

TEST(each_segment_has_its_own_duration)
{
	json_t *r = case_say(case_seed(), "10分钟后提醒我，然后20分钟后提醒我");

	ck_assert_uint_eq(json_array_size(json_object_get(r, "intents")), 2);
	case_equal(json_object_get(
		       case_intent(r, 0, "normalized"), "trigger_in_seconds"),
	    "600", "first");
	case_equal(json_object_get(
		       case_intent(r, 1, "normalized"), "trigger_in_seconds"),
	    "1200", "second");
	json_decref(r);
}

TEST(a_missing_required_slot_asks)
{
	json_t *r =
	    case_say(case_json("[{\"id\":\"i\",\"match\":{\"keywords_any\":"
			       "[\"音量\"]},\"slots\":[{\"name\":\"level\","
			       "\"required\":true,\"regex\":\"([0-9]+)\"}]}]"),
		"调一下音量");

	case_equal(
	    case_intent(r, 0, "status"), "\"need_clarification\"", "status");
	case_equal(
	    case_intent(r, 0, "missing_parameters"), "[\"level\"]", "missing");
	case_equal(case_intent(r, 0, "intent_name"), "\"i\"", "name");
	json_decref(r);
}

TEST(what_is_left_over_is_told)
{
	json_t *r = case_say(case_seed(), "开灯，然后给我讲个故事");

	ck_assert_str_eq(case_action(r), "execute_intents");
	case_equal(json_object_get(json_object_get(r, "meta"), "unmatched"),
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
	/* Matching stops at its limits and counts as no match. */
	{ "\"regex_any\":[\"(a+)+$\"]",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1b", false },
};

TEST(match_rules)
{
	size_t i;

	for (i = 0; i < NELEM(rules); i++) {
		char *intent;
		json_t *r;

		ck_assert_int_gt(
		    asprintf(&intent, "[{\"id\":\"x\",\"match\":{%s}}]",
			rules[i].match),
		    0);
		r = case_say(case_json(intent), rules[i].command);
		ck_assert_msg((strcmp(case_action(r), "execute_intents") ==
				  0) == rules[i].hit,
		    "%s: %s", rules[i].match, rules[i].command);
		json_decref(r);
		free(intent);
	}
}

#define TWO                                                           \
	"{\"id\":\"low\",\"priority\":1,\"match\":{\"keywords_any\":" \
	"[\"音乐\"]}},{\"id\":\"high\",\"priority\":5,\"match\":"   \
	"{\"keywords_any\":[\"音乐\"]}}"

/* Options, and the ids that come out of 放音乐，开灯 over TWO and the light. */
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

TEST(options_are_obeyed)
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
		r = case_run(request);
		n = 0;
		list = json_object_get(r, "intents");
		for (j = 0; j < json_array_size(list); j++)
			n += (size_t)snprintf(ids + n, sizeof(ids) - n, "%s ",
			    json_string_value(case_intent(r, j, "intent_id")));
		ck_assert_msg(strcmp(ids, options[i].ids) == 0, "%s: %s",
		    options[i].options, ids);
		json_decref(r);
		free(request);
	}
}

TEST(debug_candidates_are_listed_on_request)
{
	json_t *r = case_run("{\"command\":\"音乐\",\"intent_catalog\":[" TWO
			     "],\"options\":{\"max_intents_per_segment\":1,"
			     "\"return_debug_candidates\":true}}");

	ck_assert_uint_eq(json_array_size(json_object_get(r, "intents")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(r, "candidates")), 2);
	json_decref(r);
}

/* A bad catalog, and where it is bad. */
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

TEST(bad_catalogs_are_refused_at_their_place)
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
		ck_assert_int_eq(case_try(request, &r, &err), RC_INVALID);
		ck_assert_str_eq(err.path, bad[i].path);
		ck_assert_str_ne(err.why, "");
		free(request);
	}
}
