/*
 * Other parts of the response: skills, debugging, the caller's own text.
 */
#include "core/mem.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/testkit.h"

#define CATALOG                                                              \
	"\"intent_catalog\":[{\"id\":\"light\",\"match\":{\"keywords_any\":" \
	"[\"灯\"]},\"slots\":[{\"name\":\"skill\",\"default\":\"lamp\"},"   \
	"{\"name\":\"color\",\"regex\":\"(红|绿|紫)\"},"                  \
	"{\"name\":\"level\",\"regex\":\"([0-9一二三四五六七八九十]+)成\"}]}]"
#define SKILL                                                                 \
	"\"skills\":[{\"name\":\"lamp\",\"input_schema\":{\"type\":"          \
	"\"object\",\"properties\":{\"color\":{\"enum\":[\"red\",\"green\"]}" \
	",\"level\":{\"type\":\"integer\",\"maximum\":10}},\"required\":"     \
	"[\"color\"]}}]"

static const struct {
	const char *command, *skills;
	const char *status, *normalized, *missing, *action;
} calls[] = {
	{ "把灯变红", SKILL, "\"ready\"",
	    "{\"skill\":\"lamp\",\"color\":\"red\"}", "[]", "execute_intents" },
	{ "把灯变绿调到八成", SKILL, "\"ready\"",
	    "{\"skill\":\"lamp\",\"color\":\"green\",\"level\":8}", "[]",
	    "execute_intents" },
	{ "把灯变紫", SKILL, "\"rejected\"",
	    "{\"skill\":\"lamp\",\"color\":\"purple\"}", "[]",
	    "fallback_reasoning" },
	{ "把灯调到五成", SKILL, "\"need_clarification\"",
	    "{\"skill\":\"lamp\",\"level\":5}", "[\"color\"]",
	    "execute_intents" },
	{ "把灯变红", "\"skills\":[{\"name\":\"other\"}]", "\"rejected\"",
	    "{\"skill\":\"lamp\",\"color\":\"red\"}", "[]",
	    "fallback_reasoning" },
	{ "把灯变紫", "\"skills\":[]", "\"ready\"",
	    "{\"skill\":\"lamp\",\"color\":\"purple\"}", "[]",
	    "execute_intents" },
};

TEST(a_skill_validates_the_parameters)
{
	size_t i;

	for (i = 0; i < NELEM(calls); i++) {
		char *request;
		json_t *r;

		ck_assert_int_gt(
		    asprintf(&request, "{\"command\":\"%s\"," CATALOG ",%s}",
			calls[i].command, calls[i].skills),
		    0);
		r = filter_fixture_run(request);
		filter_fixture_equal(filter_fixture_intent(r, 0, "status"),
		    calls[i].status, calls[i].command);
		filter_fixture_equal(filter_fixture_intent(r, 0, "normalized"),
		    calls[i].normalized, calls[i].command);
		filter_fixture_equal(
		    filter_fixture_intent(r, 0, "missing_parameters"),
		    calls[i].missing, calls[i].command);
		ck_assert_str_eq(filter_fixture_action(r), calls[i].action);
		json_decref(r);
		free(request);
	}
}

TEST(a_rejected_intent_falls_back_to_the_model)
{
	json_t *r = filter_fixture_run(
	    "{\"command\":\"把灯变紫\"," CATALOG "," SKILL "}");

	filter_fixture_equal(json_object_get(r, "decision"),
	    "{\"action\":\"fallback_reasoning\",\"trigger_intent_id\":"
	    "\"sys.fallback_reasoning\",\"reason\":\"rejected_by_skill\"}",
	    "decision");
	json_decref(r);
}

TEST(spans_refer_to_the_callers_text_as_well)
{
	json_t *r = filter_fixture_run(
	    "{\"command\":\" 请 帮我，把 燈 變 紅！\"," CATALOG "}");

	filter_fixture_equal(filter_fixture_intent(r, 0, "span"),
	    "{\"text\":\"把燈變紅\",\"start\":1,\"end\":5}", "span");
	filter_fixture_equal(filter_fixture_intent(r, 0, "source_span"),
	    "{\"text\":\"把 燈 變 紅\",\"start\":6,\"end\":13}", "source");
	json_decref(r);
}

TEST(entities_are_listed_on_request)
{
	json_t *r = filter_fixture_run(
	    "{\"command\":\"10分钟后打开客厅的灯\"," CATALOG
	    ",\"options\":{\"return_debug_entities\":true}}");

	filter_fixture_equal(
	    json_object_get(json_object_get(r, "meta"), "extracted_entities"),
	    "[{\"type\":\"time_duration\",\"text\":\"10分钟后\",\"start\":0,"
	    "\"end\":5,\"value\":\"2026-02-22T17:50:00+08:00\"},"
	    "{\"type\":\"action\",\"text\":\"打开\",\"start\":5,\"end\":7,"
	    "\"value\":\"open\"},{\"type\":\"room\",\"text\":\"客厅\","
	    "\"start\":7,\"end\":9,\"value\":\"living_room\"},"
	    "{\"type\":\"device\",\"text\":\"灯\",\"start\":10,\"end\":11,"
	    "\"value\":\"light\"}]",
	    "entities");
	json_decref(r);
}

TEST(without_the_time_parser_times_fill_nothing)
{
	json_t *r = filter_fixture_run(
	    "{\"command\":\"10分钟后提醒我\",\"intent_catalog\":[{\"id\":"
	    "\"i\",\"match\":{\"keywords_any\":[\"提醒\"]},\"slots\":[{"
	    "\"name\":\"s\",\"required\":true,\"from_time_key\":"
	    "\"duration_seconds\"}]}],\"options\":{\"enable_time_parser\":"
	    "false}}");

	filter_fixture_equal(filter_fixture_intent(r, 0, "missing_parameters"),
	    "[\"s\"]", "missing");
	filter_fixture_equal(
	    json_object_get(json_object_get(r, "meta"), "time_signals"), "0",
	    "signals");
	json_decref(r);
}
