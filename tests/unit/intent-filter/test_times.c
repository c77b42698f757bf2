/*
 * Times in responses: none is before now, and none is dropped from an intent
 * that is executed.
 */
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/testkit.h"

/* One slot of each key, and an intent that has none. */
static const char times_catalog[] =
    "[{\"id\":\"alarm\",\"match\":{\"keywords_any\":[\"提醒我\","
    "\"remind me\"]},\"slots\":[{\"name\":\"trigger_at\",\"required\":"
    "true,\"from_time_key\":\"trigger_at\"},{\"name\":\"end_at\","
    "\"from_time_key\":\"end_at\"}]},{\"id\":\"feed\",\"match\":"
    "{\"keywords_any\":[\"喂食\"]},\"slots\":[{\"name\":\"feed_at\"},"
    "{\"name\":\"in_seconds\"}]},"
    "{\"id\":\"light\",\"match\":{\"keywords_any\":[\"关灯\"]}}]";

/* "": none. */
static const char *const days[] = { "", "今天", "明天", "昨天", "周一", "周日",
	"下周三", "上周五", "周末", "月底", "年底", "22号", "3月5日", "春节",
	"每天", "每周五", "三天后", "tomorrow ", "last friday " };
static const char *const hours[] = { "", "早上", "下午", "傍晚", "晚上", "半夜",
	"八点", "零点", "晚上十一点", "凌晨两点半", "17:40", "十分钟后",
	"一亿亿年后", "at 5 pm " };
static const char *const ends[] = { "", "之前", "以后", "之内", "到五点" };
static const char *const requests[] = { "提醒我", "喂食", "关灯" };
static const char *const nows[] = { "2026-02-22T17:40:00.250+08:00",
	"2026-02-28T23:59:59.999+08:00", "2026-12-31T23:30:00+08:00",
	"2028-02-29T08:00:00+08:00" };

/* The request as JSON; freed by the caller. */
static char *
times_request(const char *command, const char *now)
{
	json_t *request = json_pack("{s:s, s:o, s:s}", "command", command,
	    "intent_catalog", filter_fixture_json(times_catalog), "now", now);
	char *text = json_dumps(request, 0);

	json_decref(request);
	return text;
}

static void
times_check_intent(
    const json_t *intent, const char *command, const char *datetime)
{
	json_t *normalized = json_object_get(intent, "normalized"), *value;
	struct wall now, at;
	const char *key;

	ck_assert_int_eq(wall_parse(str_of(datetime), &now), RC_OK);
	json_object_foreach (normalized, key, value) {
		if (json_is_true(value)) /* a system intent */
			continue;
		if (json_is_number(value)) {
			ck_assert_msg(json_number_value(value) > 0, "%s at %s",
			    command, datetime);
			continue;
		}
		ck_assert_msg(wall_parse(str_of(json_string_value(value)),
				  &at) == RC_OK &&
			at.ms >= now.ms,
		    "%s at %s: %s", command, datetime,
		    json_string_value(value));
	}
}

static void
times_check_response(const char *command, const char *datetime)
{
	char *request = times_request(command, datetime);
	json_t *filter_response = filter_fixture_run(request), *intent;
	size_t i;

	json_array_foreach (
	    json_object_get(filter_response, "intents"), i, intent)
		times_check_intent(intent, command, datetime);
	free(request);
	json_decref(filter_response);
}

TEST_T(no_time_is_before_now, 300)
{
	char text[256];
	size_t n, d, h, e, w, n_commands = 0;

	for (n = 0; n < NELEM(nows); n++)
		for (d = 0; d < NELEM(days); d++)
			for (h = 0; h < NELEM(hours); h++)
				for (e = 0; e < NELEM(ends); e++) {
					w = n_commands++ % 2;
					snprintf(text, sizeof(text), "%s%s%s%s",
					    days[d], hours[h], ends[e],
					    requests[w]);
					times_check_response(text, nows[n]);
				}
	ck_assert_uint_gt(n_commands, 5000);
}

/* Commands with a time that no slot takes. */
static const struct {
	const char *command, *unmatched, *decision;
} dropped[] = {
	{ "十分钟后关灯", "[\"十分钟后\"]",
	    "{\"action\":\"fallback_reasoning\",\"trigger_intent_id\":"
	    "\"sys.fallback_reasoning\",\"reason\":\"unused_time\"}" },
	{ "每天晚上十点关灯", "[\"每天晚上十点\"]",
	    "{\"action\":\"fallback_reasoning\",\"trigger_intent_id\":"
	    "\"sys.fallback_reasoning\",\"reason\":\"unused_time\"}" },
	{ "每周五下午三点提醒我", "[\"每周五下午三点\"]",
	    "{\"action\":\"fallback_reasoning\",\"trigger_intent_id\":"
	    "\"sys.fallback_reasoning\",\"reason\":\"unused_time\"}" },
	{ "十分钟后关灯，明天早上提醒我", "[\"十分钟后\"]",
	    "{\"action\":\"execute_intents\",\"trigger_intent_id\":"
	    "\"light\",\"reason\":\"matched_catalog_intents\"}" },
	{ "讲个笑话，然后十分钟后关灯", "[\"讲个笑话\",\"十分钟后\"]",
	    "{\"action\":\"fallback_reasoning\",\"trigger_intent_id\":"
	    "\"sys.fallback_reasoning\",\"reason\":\"unused_time\"}" },
};

TEST(a_time_without_a_slot_rejects)
{
	size_t i;

	for (i = 0; i < NELEM(dropped); i++) {
		char *request = times_request(dropped[i].command, nows[0]);
		json_t *r = filter_fixture_run(request);

		filter_fixture_equal(filter_fixture_intent(r, 0, "status"),
		    "\"rejected\"", dropped[i].command);
		filter_fixture_equal(json_object_get(r, "decision"),
		    dropped[i].decision, dropped[i].command);
		filter_fixture_equal(
		    json_object_get(json_object_get(r, "meta"), "unmatched"),
		    dropped[i].unmatched, dropped[i].command);
		free(request);
		json_decref(r);
	}
}

TEST(other_intents_are_executed)
{
	char *request = times_request("十分钟后关灯，明天早上提醒我", nows[0]);
	json_t *r = filter_fixture_run(request);

	ck_assert_uint_eq(json_array_size(json_object_get(r, "intents")), 2);
	filter_fixture_equal(
	    filter_fixture_intent(r, 1, "status"), "\"ready\"", "alarm");
	filter_fixture_equal(filter_fixture_intent(r, 1, "normalized"),
	    "{\"trigger_at\":\"2026-02-23T08:00:00+08:00\",\"end_at\":"
	    "\"2026-02-23T12:00:00+08:00\"}",
	    "alarm");
	free(request);
	json_decref(r);
}

/* Times that include now. */
static const char *const immediate[] = { "现在关灯", "马上关灯", "立刻关灯",
	"关灯一会儿", "今天关灯", "都十点了，关灯", "都十点了关灯",
	"关灯，现在就关灯", "《七点钟》关灯" };

TEST(times_that_include_now_do_not_reject)
{
	size_t i;

	for (i = 0; i < NELEM(immediate); i++) {
		char *request = times_request(immediate[i], nows[0]);
		json_t *r = filter_fixture_run(request);

		filter_fixture_equal(filter_fixture_intent(r, 0, "status"),
		    "\"ready\"", immediate[i]);
		ck_assert_str_eq(filter_fixture_action(r), "execute_intents");
		free(request);
		json_decref(r);
	}
}

/* An alias is a keyword that contains a time. */
TEST(a_time_in_an_alias_does_not_reject)
{
	json_t *r = filter_fixture_run(
	    "{\"command\":\"打开七点钟闹铃\","
	    "\"intent_catalog\":[{\"id\":\"bell\",\"match\":{"
	    "\"keywords_any\":[\"打开七点钟闹铃\"]}}]}");

	filter_fixture_equal(
	    filter_fixture_intent(r, 0, "status"), "\"ready\"", "alias");
	json_decref(r);
}
