/*
 * What alarm-clock is requested, and its replies as sentences.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/alarm_call.h"
#include "tools/alarm_text.h"
#include "wire/wire.h"

#define NORMALIZED                                                            \
	"{\"skill\":\"sys.set_alarm\",\"kind\":\"reminder\",\"text\":"        \
	"\"喝水\",\"rule\":{\"kind\":\"daily\",\"at\":\"08:00\"},\"zone\":" \
	"\"Asia/Shanghai\"}"

TEST(requests_have_the_members_of_their_intent)
{
	static const struct alarm_call_owner owner = { STR_INIT("ia_1"),
		STR_INIT("u1"), STR_INIT("soul_1"), STR_INIT("t1"),
		STR_INIT("s1") };
	static const struct alarm_call_intent set = { .id = STR_INIT(
							  "sys.set_alarm"),
		.normalized = STR_INIT(NORMALIZED),
		.now = STR_INIT("2026-11-27T14:40:00+08:00") };
	static const struct alarm_call_intent words = { .id = STR_INIT(
							    "sys.set_alarm"),
		.normalized = STR_INIT(NORMALIZED),
		.parameters = STR_INIT("{\"when\":\"每天早上八点\"}"),
		.now = STR_INIT("2026-11-27T14:40:00+08:00") };
	static const struct alarm_call_intent canceled = {
		.id = STR_INIT("sys.cancel_alarm"),
		.normalized = STR_INIT("{\"skill\":\"sys.cancel_alarm\","
				       "\"when\":\"明天早上\"}"),
		.parameters = STR_INIT("{\"when\":\"明天早上\"}")
	};
	static const struct alarm_call_intent broken = {
		.id = STR_INIT("sys.list_alarms"), .normalized = STR_INIT("{")
	};
	struct arena *a = arena_new(64 * 1024);
	struct wire_alarm_put_request put;
	struct wire_alarm_cancel_request cancel;
	struct buf b = BUF_INIT(8192);
	struct wire_err err;

	alarm_call_request(&set, &owner, &b);
	ck_assert_msg(wire_decode(&wire_alarm_put_request_desc, buf_str(&b), a,
			  &put, &err) == RC_OK,
	    "%s: %s", err.path, err.why);
	ck_assert(str_eq(put.request_id, STR("ia_1")) &&
	    str_eq(put.user_id, STR("u1")) &&
	    str_eq(put.terminal_id, STR("t1")) &&
	    str_eq(put.text, STR("喝水")));
	ck_assert(put.has_rule && put.when.p == NULL);
	ck_assert_int_eq(put.rule.kind, WIRE_ALARM_RULE_KIND_DAILY);
	/* Its words are read in the zone of the user. */
	buf_reset(&b);
	alarm_call_request(&words, &owner, &b);
	ck_assert_msg(wire_decode(&wire_alarm_put_request_desc, buf_str(&b), a,
			  &put, &err) == RC_OK,
	    "%s: %s", err.path, err.why);
	ck_assert(!put.has_rule && put.zone.p == NULL &&
	    str_eq(put.when, STR("每天早上八点")));
	buf_reset(&b);
	alarm_call_request(&canceled, &owner, &b);
	ck_assert_msg(str_eq(buf_str(&b),
			  STR("{\"user_id\":\"u1\",\"when\":\"明天早上\"}")),
	    "%.*s", STR_ARG(buf_str(&b)));
	ck_assert_int_eq(wire_decode(&wire_alarm_cancel_request_desc,
			     buf_str(&b), a, &cancel, &err),
	    RC_OK);
	/* Not JSON: nothing but the owner. */
	buf_reset(&b);
	alarm_call_request(&broken, &owner, &b);
	ck_assert(str_eq(buf_str(&b), STR("{\"user_id\":\"u1\"}")));
	buf_free(&b);
	arena_free(a);
}

TEST(a_question_is_found)
{
	struct arena *a = arena_new(4096);

	ck_assert(
	    str_eq(alarm_call_question(STR("{\"question\":\"几点？\"}"), a),
		STR("几点？")));
	ck_assert_uint_eq(alarm_call_question(STR(NORMALIZED), a).n, 0);
	ck_assert_uint_eq(alarm_call_question(STR("["), a).n, 0);
	ck_assert(alarm_call_is_intent(STR("sys.change_alarm")));
	ck_assert(!alarm_call_is_intent(STR("sys.no_action")));
	arena_free(a);
}

#define TIMES                                      \
	"\"created_at\":\"2026-11-27T06:40:00Z\"," \
	"\"updated_at\":\"2026-11-27T06:40:00Z\","
#define ALARM(members)                                                      \
	"{\"alarm_id\":\"a1\",\"user_id\":\"u1\",\"zone\":"                 \
	"\"Asia/Shanghai\",\"state\":\"set\",\"attempts\":0," TIMES members \
	"}"
#define ON_DATE                                                  \
	"\"rule\":{\"kind\":\"once\",\"at\":\"08:00\",\"date\":" \
	"\"2026-11-28\"},\"next_at\":\"2026-11-28T00:00:00Z\""
#define WATER ALARM("\"kind\":\"reminder\",\"text\":\"喝水\"," ON_DATE)
#define EACH_DAY                                           \
	ALARM("\"kind\":\"alarm\",\"text\":\"\",\"rule\":" \
	      "{\"kind\":\"daily\",\"at\":\"08:00\"},"     \
	      "\"next_at\":\"2026-11-28T00:00:00Z\"")
#define LIGHT_OFF                                              \
	ALARM("\"kind\":\"action\",\"text\":\"\",\"action\":"  \
	      "{\"intents\":[{\"intent_id\":\"light\","        \
	      "\"intent_name\":\"关灯\",\"confidence\":0.9," \
	      "\"normalized\":{}}]}," ON_DATE)
#define CREATED ",\"created\":true,\"on\":\"t1\"}"

static const struct {
	const char *json;
	bool chinese;
	const char *want;
} replies[] = {
	{ "{\"alarm\":" WATER ",\"created\":true,\"on\":\"t1\"}", true,
	    "好的，11月28日星期六早上8:00提醒你喝水，在这台设备上。" },
	{ "{\"alarm\":" WATER ",\"created\":true,\"on\":\"t1\"}", false,
	    "Set: Saturday, November 28 at 8:00 am to remind you 喝水, on this "
	    "device." },
	{ "{\"alarm\":" WATER ",\"on\":\"t2\",\"on_self\":true}", true,
	    "已经定过了：11月28日星期六早上8:00提醒你喝水，在设备t2上由它自己响铃。" },
	{ "{\"alarm\":" WATER ",\"created\":true}", true,
	    "好的，11月28日星期六早上8:00提醒你喝水，在你那时用的设备上。" },
	/* The body's own alarm stays. */
	{ "{\"alarm\":" WATER ",\"created\":true,\"on\":\"t1\","
	  "\"own_alarm_stays\":true}",
	    true,
	    "好的，11月28日星期六早上8:00提醒你喝水，在这台设备上。"
	    "设备自己也定了闹钟，那一个要在设备上关掉。" },
	{ "{\"alarm\":" EACH_DAY CREATED, true,
	    "好的，每天早上8:00，下一次是11月28日星期六早上8:00叫你，"
	    "在这台设备上。" },
	{ "{\"alarm\":" LIGHT_OFF CREATED, true,
	    "好的，11月28日星期六早上8:00执行：关灯。" },
};

static struct alarm_text_input
text_input(const char *intent, bool chinese, struct arena *a)
{
	struct alarm_text_input in = { .intent_id = str_of(intent),
		.terminal_id = STR("t1"),
		.chinese = chinese,
		.a = a };

	ck_assert_int_eq(
	    wall_parse(STR("2026-11-27T14:40:00+08:00"), &in.now), RC_OK);
	return in;
}

TEST(replies_have_the_moment_and_the_body)
{
	size_t i;

	for (i = 0; i < NELEM(replies); i++) {
		struct arena *a = arena_new(64 * 1024);
		struct alarm_text_input in =
		    text_input("sys.set_alarm", replies[i].chinese, a);
		struct wire_alarm_reply rep;
		struct wire_err err;
		struct str s;

		ck_assert_msg(
		    wire_decode(&wire_alarm_reply_desc, str_of(replies[i].json),
			a, &rep, &err) == RC_OK,
		    "%zu: %s: %s", i, err.path, err.why);
		s = alarm_text_reply(&in, &rep);
		ck_assert_msg(
		    str_eq(s, str_of(replies[i].want)), "%.*s", STR_ARG(s));
		arena_free(a);
	}
}

TEST(lists_are_counted)
{
	struct arena *a = arena_new(256 * 1024);
	struct alarm_text_input in = text_input("sys.list_alarms", true, a);
	struct wire_alarm_list list;
	struct wire_err err;
	struct buf b = BUF_INIT(64 * 1024);
	struct str s;
	int i;

	buf_puts(&b, "{\"alarms\":[");
	for (i = 0; i < 12; i++)
		buf_printf(&b, "%s" WATER, i > 0 ? "," : "");
	buf_puts(&b, "]}");
	ck_assert_int_eq(
	    wire_decode(&wire_alarm_list_desc, buf_str(&b), a, &list, &err),
	    RC_OK);
	s = alarm_text_list(&in, &list);
	ck_assert(str_starts(s, STR("有12个：11月28日星期六早上8:00 喝水；")));
	ck_assert(str_ends(s, STR("；还有2个。")));
	list.n_alarms = 1;
	in.intent_id = STR("sys.cancel_alarm");
	ck_assert(str_eq(alarm_text_list(&in, &list),
	    STR("好的，已取消：11月28日星期六早上8:00 喝水。")));
	list.n_alarms = 0;
	ck_assert(str_eq(alarm_text_list(&in, &list), STR("没有闹钟和提醒。")));
	buf_free(&b);
	arena_free(a);
}

#define OWN    \
	ALARM( \
	    "\"kind\":\"alarm\",\"text\":\"起床\",\"self_ringing\":true," ON_DATE)

/* The body's own alarm rings all the same, and is mentioned a single time. */
TEST(a_canceled_alarm_of_the_body_is_reported_to_stay)
{
	static const struct {
		const char *intent, *json;
		bool chinese;
		const char *want;
	} rows[] = {
		{ "sys.cancel_alarm", "{\"alarms\":[" OWN "]}", true,
		    "好的，已取消：11月28日星期六早上8:00 起床。"
		    "设备自己也定了闹钟，那一个要在设备上关掉。" },
		{ "sys.cancel_alarm", "{\"alarms\":[" OWN "]}", false,
		    "Canceled: Saturday, November 28 at 8:00 am 起床. The "
		    "device has set an alarm of its own, too: turn that off "
		    "there." },
		{ "sys.cancel_alarm",
		    "{\"alarms\":[" WATER "," OWN "," OWN "]}", true,
		    "好的，已取消：11月28日星期六早上8:00 喝水；"
		    "11月28日星期六早上8:00 起床；"
		    "11月28日星期六早上8:00 起床。"
		    "设备自己也定了闹钟，那一个要在设备上关掉。" },
		{ "sys.list_alarms", "{\"alarms\":[" OWN "]}", true,
		    "有1个：11月28日星期六早上8:00 起床。" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct arena *a = arena_new(64 * 1024);
		struct alarm_text_input in =
		    text_input(rows[i].intent, rows[i].chinese, a);
		struct wire_alarm_list list;
		struct wire_err err;
		struct str s;

		ck_assert_msg(
		    wire_decode(&wire_alarm_list_desc, str_of(rows[i].json), a,
			&list, &err) == RC_OK,
		    "%zu: %s: %s", i, err.path, err.why);
		s = alarm_text_list(&in, &list);
		ck_assert_msg(
		    str_eq(s, str_of(rows[i].want)), "%.*s", STR_ARG(s));
		arena_free(a);
	}
}

/* Nothing is claimed that alarm-clock has not confirmed. */
TEST(failures_are_reported_as_such)
{
	struct arena *a = arena_new(4096);
	struct alarm_text_input in = text_input("sys.set_alarm", true, a);
	struct str none = { NULL, 0 };

	ck_assert(str_eq(alarm_text_error(&in, RC_NOENT, none),
	    STR("闹钟服务现在用不了，没有设置成功。")));
	ck_assert(str_eq(alarm_text_error(&in, RC_TIMEOUT, none),
	    STR("闹钟服务没有回应，不能确认是否成功，请稍后再查。")));
	ck_assert(str_eq(alarm_text_error(&in, RC_CONFLICT, STR("有两个：…")),
	    STR("有两个：…")));
	arena_free(a);
}
