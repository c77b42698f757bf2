/*
 * Commands to the server's alarms, and actions at a time, where
 * enable_alarm_intents is set; and sentences that are neither.
 */
#include "core/mem.h"
#include "rx/rx.h"
#include "system/alarm_phrase.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/json.h"
#include "testkit/testkit.h"

/* A Sunday. */
#define NOW "2026-02-22T17:40:00+08:00"

/* An intent without times, and one that takes one instant. */
static const char alarms_catalog[] =
    "[{\"id\":\"light\",\"match\":{\"keywords_any\":[\"关灯\",\"开灯\","
    "\"turn off the light\"]},\"slots\":[{\"name\":\"skill\",\"default\":"
    "\"control_light\"},{\"name\":\"mode\",\"values\":{\"关\":\"off\","
    "\"开\":\"on\"},\"default\":\"off\"}]},"
    "{\"id\":\"feed\",\"match\":{\"keywords_any\":[\"喂食\"]},\"slots\":"
    "[{\"name\":\"feed_at\",\"required\":true,\"from_time_key\":"
    "\"trigger_at\"}]}]";
static const char own_catalog[] =
    "[{\"id\":\"own_alarm\",\"match\":{\"keywords_any\":[\"提醒我\"]},"
    "\"slots\":[{\"name\":\"trigger_at\",\"required\":true,"
    "\"from_time_key\":\"trigger_at\"}]}]";

/* Options of a request. */
enum { ALARMS = 1, MULTI = 2 };

static json_t *
alarms_run(const char *catalog, const char *command, unsigned options)
{
	json_t *request = json_pack("{s:s, s:o, s:s, s:s, s:{s:b, s:b}}",
	    "command", command, "intent_catalog", filter_fixture_json(catalog),
	    "now", NOW, "timezone", "Asia/Shanghai", "options",
	    "enable_alarm_intents", (options & ALARMS) != 0,
	    "allow_multi_intent", (options & MULTI) != 0);
	char *text = json_dumps(request, 0);
	json_t *r = filter_fixture_run(text);

	free(text);
	json_decref(request);
	return r;
}

#define ON_DATE(date, at)                                                      \
	"\"rule\":{\"kind\":\"once\",\"at\":\"" at "\",\"date\":\"" date "\"," \
	"\"every\":1,\"leap\":false},\"zone\":\"Asia/Shanghai\""
#define SET(kind, text, rule)                                          \
	"{\"skill\":\"sys.set_alarm\",\"kind\":\"" kind "\",\"text\":" \
	"\"" text "\"," rule "}"
#define SET_ONLY(kind, rule) \
	"{\"skill\":\"sys.set_alarm\",\"kind\":\"" kind "\"," rule "}"
#define IN(at)                                                                 \
	"\"rule\":{\"kind\":\"once\",\"instant\":\"2026-02-22T" at "+08:00\"," \
	"\"every\":1,\"leap\":false},\"zone\":\"Asia/Shanghai\""
#define DAILY(at)                                                     \
	"\"rule\":{\"kind\":\"daily\",\"at\":\"" at "\",\"every\":1," \
	"\"leap\":false},\"zone\":\"Asia/Shanghai\""
#define LIST   "{\"skill\":\"sys.list_alarms\"}"
#define CANCEL "{\"skill\":\"sys.cancel_alarm\""
#define CHANGE "{\"skill\":\"sys.change_alarm\""

static const struct {
	const char *command, *normalized;
} commands[] = {
	/* Setting. */
	{ "10分钟后叫我", SET_ONLY("alarm", IN("17:50:00")) },
	{ "十分钟后提醒我", SET_ONLY("reminder", IN("17:50:00")) },
	{ "10分钟后提醒我喝水", SET("reminder", "喝水", IN("17:50:00")) },
	{ "请在3分钟后提醒我喝水吧", SET("reminder", "喝水", IN("17:43:00")) },
	{ "提醒我周五下午三点开会",
	    SET("reminder", "开会", ON_DATE("2026-02-27", "15:00")) },
	{ "提醒我明天早上八点要吃药",
	    SET("reminder", "吃药", ON_DATE("2026-02-23", "08:00")) },
	{ "明天提醒我下午三点开会",
	    SET("reminder", "开会", ON_DATE("2026-02-23", "15:00")) },
	{ "明天早上八点提醒我下午三点开会",
	    SET("reminder", "下午三点开会", ON_DATE("2026-02-23", "08:00")) },
	{ "明天早上提醒我跑步30分钟",
	    SET("reminder", "跑步30分钟", ON_DATE("2026-02-23", "08:00")) },
	{ "每天晚上十点提醒我睡觉", SET("reminder", "睡觉", DAILY("22:00")) },
	{ "明早七点叫我起床",
	    SET("alarm", "起床", ON_DATE("2026-02-23", "07:00")) },
	{ "叫我明天早上六点半起床",
	    SET("alarm", "起床", ON_DATE("2026-02-23", "06:30")) },
	{ "定一个明天早上八点的闹钟",
	    SET_ONLY("alarm", ON_DATE("2026-02-23", "08:00")) },
	{ "帮我设个闹钟，明天早上七点",
	    SET_ONLY("alarm", ON_DATE("2026-02-23", "07:00")) },
	{ "定一个周五早上八点的闹钟",
	    SET_ONLY("alarm", ON_DATE("2026-02-27", "08:00")) },
	{ "设個明天早上七點的鬧鐘",
	    SET_ONLY("alarm", ON_DATE("2026-02-23", "07:00")) },
	{ "加个周五下午三点开会的提醒",
	    SET("reminder", "开会", ON_DATE("2026-02-27", "15:00")) },
	{ "明天早上八点设个闹钟",
	    SET_ONLY("alarm", ON_DATE("2026-02-23", "08:00")) },
	{ "定个闹钟明天早上八点叫我起床",
	    SET("alarm", "起床", ON_DATE("2026-02-23", "08:00")) },
	{ "set a reminder for friday at 3 pm to call Mom",
	    SET("reminder", "call Mom", ON_DATE("2026-02-27", "15:00")) },
	{ "闹钟定在明天早上七点",
	    SET_ONLY("alarm", ON_DATE("2026-02-23", "07:00")) },
	{ "倒计时五分钟", SET_ONLY("timer", IN("17:45:00")) },
	{ "开始计时10分钟", SET_ONLY("timer", IN("17:50:00")) },
	{ "定个五分钟的计时器", SET_ONLY("timer", IN("17:45:00")) },
	{ "除夕晚上提醒我打电话",
	    SET("reminder", "打电话", ON_DATE("2027-02-05", "20:00")) },
	{ "remind me to drink water in 10 minutes",
	    SET("reminder", "drink water", IN("17:50:00")) },
	{ "Remind me tomorrow at 7 am to call Mom",
	    SET("reminder", "call Mom", ON_DATE("2026-02-23", "07:00")) },
	{ "in 10 minutes remind me", SET_ONLY("reminder", IN("17:50:00")) },
	{ "wake me up at 7 am tomorrow",
	    SET_ONLY("alarm", ON_DATE("2026-02-23", "07:00")) },
	{ "set an alarm for 7 am tomorrow",
	    SET_ONLY("alarm", ON_DATE("2026-02-23", "07:00")) },
	{ "please set a timer for 10 minutes",
	    SET_ONLY("timer", IN("17:50:00")) },
	/* Listing. */
	{ "我有哪些闹钟", LIST },
	{ "我都定了哪些闹钟？", LIST },
	{ "看看我的闹钟", LIST },
	{ "查一下我有哪些提醒", LIST },
	{ "我有闹钟吗", LIST },
	{ "明天有没有闹钟",
	    "{\"skill\":\"sys.list_alarms\",\"when\":\"明天\"}" },
	{ "明天有什么提醒",
	    "{\"skill\":\"sys.list_alarms\",\"when\":\"明天\"}" },
	{ "what alarms do i have", LIST },
	{ "show my reminders", LIST },
	{ "do i have any alarms tomorrow",
	    "{\"skill\":\"sys.list_alarms\",\"when\":\"tomorrow\"}" },
	/* Canceling. */
	{ "取消明天早上的闹钟", CANCEL ",\"when\":\"明天早上\"}" },
	{ "把七点的闹钟取消了", CANCEL ",\"when\":\"七点\"}" },
	{ "把喝水的提醒删掉", CANCEL ",\"match_text\":\"喝水\"}" },
	{ "取消所有的闹钟", CANCEL ",\"all\":true}" },
	{ "把所有提醒都取消", CANCEL ",\"all\":true}" },
	{ "关掉闹钟", CANCEL "}" },
	{ "取消倒计时", CANCEL "}" },
	{ "cancel my 7 am alarm", CANCEL ",\"when\":\"7 am\"}" },
	{ "delete all alarms", CANCEL ",\"all\":true}" },
	{ "cancel the alarm for tomorrow", CANCEL ",\"when\":\"tomorrow\"}" },
	/* Changing: the half of the day is the alarm's. */
	{ "把七点的闹钟改到八点",
	    CHANGE ",\"select_when\":\"七点\",\"when\":\"八点\"}" },
	{ "把明天早上的闹钟推迟到九点半",
	    CHANGE ",\"select_when\":\"明天早上\",\"when\":\"九点半\"}" },
	{ "把开会的提醒改到周五下午四点",
	    CHANGE ",\"match_text\":\"开会\",\"when\":\"周五下午四点\"}" },
	{ "change my 7 am alarm to 8 am",
	    CHANGE ",\"select_when\":\"7 am\",\"when\":\"8 am\"}" },
};

static void
alarms_check(const json_t *r, const char *command, const char *normalized)
{
	json_t *intents = json_object_get(r, "intents");

	ck_assert_msg(json_array_size(intents) == 1, "%s", command);
	filter_fixture_equal(
	    filter_fixture_intent(r, 0, "normalized"), normalized, command);
	filter_fixture_equal(
	    filter_fixture_intent(r, 0, "status"), "\"system\"", command);
	ck_assert_str_eq(filter_fixture_action(r), "execute_intents");
}

TEST(commands_to_alarms_are_system_intents)
{
	size_t i;

	for (i = 0; i < NELEM(commands); i++) {
		json_t *r, *single;

		if (commands[i].normalized == NULL)
			continue;
		r = alarms_run(
		    alarms_catalog, commands[i].command, ALARMS | MULTI);
		alarms_check(r, commands[i].command, commands[i].normalized);
		single =
		    alarms_run(alarms_catalog, commands[i].command, ALARMS);
		alarms_check(
		    single, commands[i].command, commands[i].normalized);
		json_decref(r);
		json_decref(single);
	}
}

TEST(no_system_intents_without_the_option)
{
	size_t i, k;

	for (i = 0; i < NELEM(commands); i++) {
		json_t *r =
		    alarms_run(alarms_catalog, commands[i].command, MULTI);
		json_t *intents = json_object_get(r, "intents"), *intent;

		json_array_foreach (intents, k, intent) {
			const char *id = json_string_value(
			    json_object_get(intent, "intent_id"));

			ck_assert_msg(strcmp(id, "sys.fallback_reasoning") == 0,
			    "%s: %s", commands[i].command, id);
		}
		json_decref(r);
	}
}

/* No alarm is set, changed or canceled by these. */
static const char *const others[] = {
	"设计一个提醒功能",
	"明天设计一个闹钟",
	"明天设置提醒功能",
	"add alarm support tomorrow",
	"set a timer interrupt handler",
	"每天叫我起床的是谁",
	"明天提醒我的是什么",
	"每天提醒我的人是谁",
	"闹钟是什么",
	"昨天的闹钟没响",
	"不要提醒我",
	"别叫我",
	"闹钟响了",
	"为什么闹钟没响",
	"闹钟怎么用",
	"别取消闹钟",
	"不要取消明天的闹钟",
	"如果明天下雨就提醒我带伞",
	"他提醒我明天开会",
	"老师昨天提醒我交作业",
	"妈妈八点叫我吃饭",
	"以后叫我老大",
	"叫我小王",
	"你叫我什么",
	"叫我一声哥",
	"谁提醒我的",
	"你怎么没提醒我",
	"我已经取消闹钟了",
	"闹钟取消了吗",
	"你昨天提醒我了吗",
	"提醒我了",
	"提醒我的是谁",
	"我喜欢闹钟",
	"买一个闹钟",
	"闹钟多少钱",
	"有什么好用的闹钟推荐",
	"讲个闹钟的故事",
	"十分钟后",
	"七点的闹钟好吵",
	"等他回来再叫我",
	"我把闹钟取消了",
	"提醒大家明天开会",
	"what is an alarm",
	"don't remind me",
	"the alarm did not ring",
	"why did you not remind me",
	"she reminded me yesterday",
	"call me John",
	"never wake me up at 7 am",
	"is the alarm loud",
	"remind me why we are here?",
	"《十分钟后叫我》是什么歌",
};

TEST(other_sentences_are_no_commands_to_alarms)
{
	size_t i, k;

	for (i = 0; i < NELEM(others); i++) {
		json_t *r =
		    alarms_run(alarms_catalog, others[i], ALARMS | MULTI);
		json_t *intents = json_object_get(r, "intents"), *intent;

		json_array_foreach (intents, k, intent) {
			const char *id = json_string_value(
			    json_object_get(intent, "intent_id"));

			ck_assert_msg(strcmp(id, "sys.fallback_reasoning") == 0,
			    "%s: %s", others[i], id);
		}
		ck_assert_str_eq(
		    filter_fixture_action(r), "fallback_reasoning");
		json_decref(r);
	}
}

static const struct {
	const char *command, *question;
} inexact[] = {
	{ "九点提醒我", "“九点”不够准确：是早上还是晚上，具体几点？" },
	{ "明天九点叫我起床",
	    "“明天九点”不够准确：是早上还是晚上，具体几点？" },
	{ "明天提醒我八点开会",
	    "“明天八点”不够准确：是早上还是晚上，具体几点？" },
	{ "定个闹钟", "没有说时间：具体什么时候？" },
	{ "提醒我喝水", "没有说时间：具体什么时候？" },
	{ "今天早上八点提醒我", "“今天早上八点”已经过去了：想定在什么时候？" },
	{ "待会儿提醒我喝水", "“待会儿”不是确切的时间：具体是哪天、几点？" },
	{ "周五之前提醒我交作业", "“周五之前”只是期限或时段：具体几点？" },
	{ "remind me at 9",
	    "\"at 9\" may be in the morning or in the evening, "
	    "or is not one exact time: which one?" },
	{ "set an alarm", "no time was given: when exactly?" },
	/* An action at a time. */
	{ "九点关灯", "“九点”不够准确：是早上还是晚上，具体几点？" },
	{ "待会儿关灯", "“待会儿”不是确切的时间：具体是哪天、几点？" },
};

TEST(a_time_that_is_not_exact_becomes_a_question)
{
	size_t i;

	for (i = 0; i < NELEM(inexact); i++) {
		json_t *r = alarms_run(
		    alarms_catalog, inexact[i].command, ALARMS | MULTI);
		json_t *normalized = filter_fixture_intent(r, 0, "normalized");
		const char *question =
		    json_string_value(json_object_get(normalized, "question"));

		ck_assert_msg(question != NULL, "%s", inexact[i].command);
		ck_assert_str_eq(question, inexact[i].question);
		ck_assert_ptr_null(json_object_get(normalized, "rule"));
		filter_fixture_equal(
		    filter_fixture_intent(r, 0, "missing_parameters"),
		    "[\"when\"]", inexact[i].command);
		json_decref(r);
	}
}

static const struct {
	const char *command, *rule, *text;
} scheduled[] = {
	{ "十分钟后关灯", "{" IN("17:50:00") "}", "关灯" },
	{ "每天晚上十点关灯", "{" DAILY("22:00") "}", "关灯" },
	{ "明天早上八点关灯", "{" ON_DATE("2026-02-23", "08:00") "}", "关灯" },
	{ "turn off the light in 10 minutes", "{" IN("17:50:00") "}",
	    "turn off the light" },
};

TEST(an_action_at_a_time_is_scheduled)
{
	size_t i;

	for (i = 0; i < NELEM(scheduled); i++) {
		json_t *r = alarms_run(
		    alarms_catalog, scheduled[i].command, ALARMS | MULTI);
		json_t *normalized = filter_fixture_intent(r, 0, "normalized");
		json_t *action = json_object_get(normalized, "action"), *when;
		json_t *intent =
		    json_array_get(json_object_get(action, "intents"), 0);

		ck_assert_str_eq(filter_fixture_action(r), "execute_intents");
		filter_fixture_equal(filter_fixture_intent(r, 0, "status"),
		    "\"system\"", scheduled[i].command);
		filter_fixture_equal(json_object_get(intent, "normalized"),
		    "{\"skill\":\"control_light\",\"mode\":\"off\"}",
		    scheduled[i].command);
		filter_fixture_equal(json_object_get(intent, "intent_id"),
		    "\"light\"", scheduled[i].command);
		when = json_pack("{s:O, s:O}", "rule",
		    json_object_get(normalized, "rule"), "zone",
		    json_object_get(normalized, "zone"));
		filter_fixture_equal(
		    when, scheduled[i].rule, scheduled[i].command);
		filter_fixture_equal(json_object_get(normalized, "kind"),
		    "\"action\"", scheduled[i].command);
		ck_assert_str_eq(
		    tk_text(normalized, "text"), scheduled[i].text);
		json_decref(when);
		json_decref(r);
	}
}

/* Both are done then, none now. */
TEST(actions_that_are_joined_share_their_time)
{
	static const char *const at[] = { "{" IN("17:50:00") "}", NULL };
	static const char joined[] =
	    "[{\"id\":\"light\",\"match\":{\"keywords_any\":[\"关灯\"]},"
	    "\"slots\":[{\"name\":\"skill\",\"default\":\"a\"}]},"
	    "{\"id\":\"fan\",\"match\":{\"keywords_any\":[\"开风扇\"]},"
	    "\"slots\":[{\"name\":\"skill\",\"default\":\"b\"}]}]";
	static const char *const both[] = { "十分钟后关灯并开风扇",
		"十分钟后关灯，开风扇" };

	for (size_t i = 0; i < NELEM(both); i++) {
		json_t *r = alarms_run(joined, both[i], ALARMS | MULTI);
		json_t *n = filter_fixture_intent(r, 1, "normalized"), *when;

		filter_fixture_equal(filter_fixture_intent(r, 0, "status"),
		    "\"system\"", both[i]);
		filter_fixture_equal(filter_fixture_intent(r, 1, "status"),
		    at[i] != NULL ? "\"system\"" : "\"ready\"", both[i]);
		if (at[i] != NULL) {
			when = json_pack("{s:O, s:O}", "rule",
			    json_object_get(n, "rule"), "zone",
			    json_object_get(n, "zone"));
			filter_fixture_equal(when, at[i], both[i]);
			json_decref(when);
		}
		json_decref(r);
	}
	/* Nor now without alarms. */
	json_t *r = alarms_run(joined, both[0], MULTI);
	ck_assert_str_eq(filter_fixture_action(r), "fallback_reasoning");
	json_decref(r);
}

/* As without the option: how long, conditions, what is over. */
static const char *const rejected[] = { "关灯十分钟", "昨天关灯",
	"等他回来再关灯", "如果十分钟后没人就关灯", "别在十分钟后关灯" };

TEST(what_is_no_time_of_an_action_is_left_to_the_model)
{
	size_t i;

	for (i = 0; i < NELEM(rejected); i++) {
		json_t *r =
		    alarms_run(alarms_catalog, rejected[i], ALARMS | MULTI);

		ck_assert_msg(
		    strcmp(filter_fixture_action(r), "fallback_reasoning") == 0,
		    "%s", rejected[i]);
		json_decref(r);
	}
}

TEST(an_intent_of_the_catalog_wins)
{
	json_t *r = alarms_run(own_catalog, "十分钟后提醒我", ALARMS | MULTI);

	filter_fixture_equal(
	    filter_fixture_intent(r, 0, "intent_id"), "\"own_alarm\"", "own");
	json_decref(r);
	/* Its slot cannot repeat: the server's alarm can. */
	r = alarms_run(own_catalog, "每天晚上十点提醒我", ALARMS | MULTI);
	alarms_check(r, "daily", SET_ONLY("reminder", DAILY("22:00")));
	json_decref(r);
	r = alarms_run(alarms_catalog, "明天早上八点喂食", ALARMS | MULTI);
	filter_fixture_equal(
	    filter_fixture_intent(r, 0, "status"), "\"ready\"", "feed");
	json_decref(r);
}

/*
 * It is not the catalog's then, but the server's, if the command is one to an
 * alarm; else the slot is asked for.
 */
TEST(a_time_of_either_half_fills_no_slot)
{
	static const struct {
		const char *command;
		unsigned options;
		const char *id, *status, *missing;
	} rows[] = {
		{ "九点提醒我", ALARMS | MULTI, "sys.set_alarm", "system",
		    "[\"when\"]" },
		{ "明天九点提醒我", ALARMS, "sys.set_alarm", "system",
		    "[\"when\"]" },
		{ "七八点提醒我", ALARMS | MULTI, "sys.set_alarm", "system",
		    "[\"when\"]" },
		{ "把九点提醒我的闹钟改到十点", ALARMS | MULTI,
		    "sys.change_alarm", "system", "[]" },
		{ "八点半喂食", ALARMS | MULTI, "feed", "need_clarification",
		    "[\"feed_at\"]" },
		{ "早上九点提醒我", ALARMS | MULTI, "own_alarm", "ready",
		    "[]" },
		{ "明天早上提醒我", ALARMS | MULTI, "own_alarm", "ready",
		    "[]" },
		{ "21点提醒我", ALARMS | MULTI, "own_alarm", "ready", "[]" },
		{ "十分钟后提醒我", ALARMS, "own_alarm", "ready", "[]" },
		{ "九点提醒我", MULTI, "own_alarm", "ready", "[]" },
		{ "八点半喂食", MULTI, "feed", "ready", "[]" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		bool feeds = strstr(rows[i].command, "喂食") != NULL;
		json_t *r = alarms_run(feeds ? alarms_catalog : own_catalog,
		    rows[i].command, rows[i].options);
		json_t *in = tk_at(r, "intents.0");

		ck_assert_msg(
		    strcmp(tk_text(in, "intent_id"), rows[i].id) == 0 &&
			strcmp(tk_text(in, "status"), rows[i].status) == 0,
		    "%s: %s %s", rows[i].command, tk_text(in, "intent_id"),
		    tk_text(in, "status"));
		filter_fixture_equal(
		    filter_fixture_intent(r, 0, "missing_parameters"),
		    rows[i].missing, rows[i].command);
		json_decref(r);
	}
}

TEST(an_alarm_beside_another_request)
{
	json_t *r = alarms_run(
	    alarms_catalog, "关灯，然后十分钟后提醒我喝水", ALARMS | MULTI);

	filter_fixture_equal(
	    filter_fixture_intent(r, 0, "intent_id"), "\"light\"", "first");
	filter_fixture_equal(filter_fixture_intent(r, 1, "intent_id"),
	    "\"sys.set_alarm\"", "second");
	ck_assert_uint_eq(json_array_size(json_object_get(r, "intents")), 2);
	json_decref(r);
}
