/*
 * Words become rules, or errors in words; moments are written so that they read
 * back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "alarm/alarm_moment.h"
#include "alarm/alarm_when.h"
#include "alarm/alarm_wire.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

/* A Friday. */
#define NOW "2026-11-27T14:40:20+08:00"

static struct zone *
when_zone(const char *name)
{
	struct zone *z = NULL;

	ck_assert_int_eq(zone_load(name, &z), RC_OK);
	return z;
}

static struct wall
when_now(void)
{
	struct wall now = { 0 };

	ck_assert_int_eq(wall_parse(STR(NOW), &now), RC_OK);
	return now;
}

/* The rule in words, then its first occurrence in the zone. */
static void
when_show(const struct alarm_rule *r, const struct zone *z, struct buf *out)
{
	char text[WALL_FORMAT_MAX];
	struct wall at;

	if (r->kind != ALARM_SINGLE) {
		alarm_rule_describe(r, when_now(), z, true, out);
		buf_putc(out, ' ');
	}
	ck_assert_int_eq(alarm_rule_next(r, z, when_now(), &at), RC_OK);
	wall_format(at, zone_offset_min(z, at), text);
	buf_put(out, text, strlen(text) - strlen("+08:00"));
}

static const struct {
	const char *when, *repeat, *want;
} wordings[] = {
	/* Parts of the day have their hour. */
	{ "明天早上", NULL, "2026-11-28T08:00:00" },
	{ "早上", NULL, "2026-11-28T08:00:00" },
	{ "今晚", NULL, "2026-11-27T20:00:00" },
	{ "明天", NULL, "2026-11-28T09:00:00" },
	{ "tomorrow morning", NULL, "2026-11-28T08:00:00" },
	{ "tonight", NULL, "2026-11-27T20:00:00" },
	{ "除夕晚上", NULL, "2027-02-05T20:00:00" },
	{ "周末", NULL, "2026-11-28T09:00:00" },
	/* Both halves of the day are given, or only one is ahead. */
	{ "下周四晚上九点", NULL, "2026-12-03T21:00:00" },
	{ "周五下午三点", NULL, "2026-11-27T15:00:00" },
	{ "今天三点", NULL, "2026-11-27T15:00:00" },
	{ "20:30", NULL, "2026-11-27T20:30:00" },
	{ "08:30", NULL, "2026-11-28T08:30:00" },
	{ "１５：３０", NULL, "2026-11-27T15:30:00" },
	{ "明天早上八点半", NULL, "2026-11-28T08:30:00" },
	{ "明天上午九点一刻的", NULL, "2026-11-28T09:15:00" },
	{ "在明天晚上八点", NULL, "2026-11-28T20:00:00" },
	{ "明天下午三點", NULL, "2026-11-28T15:00:00" },
	{ "tomorrow at 7 am", NULL, "2026-11-28T07:00:00" },
	{ "next Thursday at 9 PM", NULL, "2026-12-03T21:00:00" },
	{ "december 24th at 6 pm", NULL, "2026-12-24T18:00:00" },
	{ "明天下午三点到五点", NULL, "2026-11-28T15:00:00" },
	/* Elapsed time. */
	{ "十分钟后", NULL, "2026-11-27T14:50:20" },
	{ "90秒后", NULL, "2026-11-27T14:41:50" },
	{ "in 10 minutes", NULL, "2026-11-27T14:50:20" },
	{ "大概十分钟后", NULL, "2026-11-27T14:50:20" },
	{ "半小时", NULL, "2026-11-27T15:10:20" },
	{ "5分钟", NULL, "2026-11-27T14:45:20" },
	{ "三天后", NULL, "2026-11-30T09:00:00" },
	{ "三天后早上八点", NULL, "2026-11-30T08:00:00" },
	/* RFC 3339. */
	{ "2026-11-28T08:00:00+08:00", NULL, "2026-11-28T08:00:00" },
	{ "2026-11-28T00:00:00Z", NULL, "2026-11-28T08:00:00" },
	{ "2026-11-28T08:00", NULL, "2026-11-28T08:00:00" },
	{ " 2026-11-28 08:00:30 ", NULL, "2026-11-28T08:00:30" },
	/* Repetitions. */
	{ "每天早上八点", NULL, "每天早上8:00 2026-11-28T08:00:00" },
	{ "每天", NULL, "每天上午9:00 2026-11-28T09:00:00" },
	{ "每天早上", NULL, "每天早上8:00 2026-11-28T08:00:00" },
	{ "每天晚上十点", NULL, "每天晚上10:00 2026-11-27T22:00:00" },
	{ "每天半夜", NULL, "每天凌晨0:00 2026-11-28T00:00:00" },
	{ "每隔一天早上七点", NULL, "每2天早上7:00 2026-11-28T07:00:00" },
	{ "每个工作日早上八点", NULL,
	    "每个工作日早上8:00（2027年起的放假安排尚未收录，按周一到周五） "
	    "2026-11-30T08:00:00" },
	{ "every weekday at 7:30 am", NULL,
	    "每周一、二、三、四、五早上7:30 2026-11-30T07:30:00" },
	{ "周一到周五早上七点", NULL,
	    "每周一、二、三、四、五早上7:00 2026-11-30T07:00:00" },
	{ "每周一三五早上七点", NULL,
	    "每周一、三、五早上7:00 2026-11-30T07:00:00" },
	{ "每周五半夜", NULL, "每周六凌晨0:00 2026-11-28T00:00:00" },
	{ "每两周的周三上午十点", NULL,
	    "每2周的周三上午10:00 2026-12-02T10:00:00" },
	{ "every monday at 9 am", NULL, "每周一上午9:00 2026-11-30T09:00:00" },
	{ "每月最后一天", NULL, "每月最后一天上午9:00 2026-11-30T09:00:00" },
	{ "每月31号晚上八点", NULL,
	    "每月31日晚上8:00（没有这一天的月份跳过） 2026-12-31T20:00:00" },
	{ "每月1号和15号早上九点", NULL,
	    "每月1、15日上午9:00 2026-12-01T09:00:00" },
	{ "2026-11-28 08:00:00+09:00", NULL, "2026-11-28T07:00:00" },
	{ "每月1号早上九点", NULL, "每月1日上午9:00 2026-12-01T09:00:00" },
	{ "每年2月29日早上八点", NULL,
	    "每年2月29日早上8:00（只在闰年） 2028-02-29T08:00:00" },
	{ "每年3月5日", NULL, "每年3月5日上午9:00 2027-03-05T09:00:00" },
	{ "每年除夕晚上", NULL,
	    "农历12月最后一天晚上8:00 2027-02-05T20:00:00" },
	{ "每年中秋", NULL, "农历8月15日上午9:00 2027-09-15T09:00:00" },
	{ "每年国庆", NULL, "每年10月1日上午9:00 2027-10-01T09:00:00" },
	{ "每两小时", NULL, "每2小时 2026-11-27T16:40:20" },
	{ "每30分钟", NULL, "每30分钟 2026-11-27T15:10:20" },
	{ "every 2 hours", NULL, "每2小时 2026-11-27T16:40:20" },
	/* repeat beside when. */
	{ "早上八点", "每天", "每天早上8:00 2026-11-28T08:00:00" },
	{ "早上八点", "每周一三五",
	    "每周一、三、五早上8:00 2026-11-30T08:00:00" },
	{ "8 am", "daily", "每天早上8:00 2026-11-28T08:00:00" },
	{ "2026-11-30T08:00", "weekly", "每周一早上8:00 2026-11-30T08:00:00" },
	{ "明天早上八点", "工作日",
	    "每个工作日早上8:00（2027年起的放假安排尚未收录，按周一到周五） "
	    "2026-11-30T08:00:00" },
	{ "每天早上八点", "weekly", "每天早上8:00 2026-11-28T08:00:00" },
	{ "8 am", "every monday", "每周一早上8:00 2026-11-30T08:00:00" },
};

TEST(words_become_rules)
{
	struct zone *z = when_zone("Asia/Shanghai");
	size_t i;

	for (i = 0; i < NELEM(wordings); i++) {
		struct buf b = BUF_INIT(1024);
		struct alarm_when_input in = { .when = str_of(wordings[i].when),
			.repeat = str_of(wordings[i].repeat),
			.now = when_now(),
			.zone = z,
			.near_s = -1 };
		struct alarm_rule r;
		char why[ALARM_WHY_MAX] = "";

		if (alarm_when_read(&in, &r, why, sizeof(why)) == RC_OK)
			when_show(&r, z, &b);
		ck_assert_msg(str_eq(buf_str(&b), str_of(wordings[i].want)),
		    "%s: %.*s %s", wordings[i].when, STR_ARG(buf_str(&b)), why);
		buf_free(&b);
	}
	zone_free(z);
}

static const struct {
	const char *when;
	enum alarm_when_error want;
} errors[] = {
	{ "", ALARM_WHEN_NONE },
	{ "喝水", ALARM_WHEN_NONE },
	{ "soon enough", ALARM_WHEN_UNREAD },
	{ "九点", ALARM_WHEN_AMBIGUOUS },
	{ "明天九点", ALARM_WHEN_AMBIGUOUS },
	{ "八点半", ALARM_WHEN_AMBIGUOUS },
	{ "十二点", ALARM_WHEN_AMBIGUOUS },
	{ "8:30", ALARM_WHEN_AMBIGUOUS },
	{ "at 9", ALARM_WHEN_AMBIGUOUS },
	{ "tomorrow at 9", ALARM_WHEN_AMBIGUOUS },
	{ "每天九点", ALARM_WHEN_AMBIGUOUS },
	{ "every monday at 9", ALARM_WHEN_AMBIGUOUS },
	{ "七八点", ALARM_WHEN_INEXACT },
	{ "明天七八点", ALARM_WHEN_INEXACT },
	{ "明天早上七八点", ALARM_WHEN_INEXACT },
	{ "待会儿", ALARM_WHEN_INEXACT },
	{ "过几分钟", ALARM_WHEN_INEXACT },
	{ "下个月", ALARM_WHEN_INEXACT },
	{ "明年", ALARM_WHEN_INEXACT },
	{ "每周", ALARM_WHEN_INEXACT },
	{ "昨天", ALARM_WHEN_EXPIRED },
	{ "今天早上八点", ALARM_WHEN_EXPIRED },
	{ "十分钟前", ALARM_WHEN_EXPIRED },
	{ "现在", ALARM_WHEN_EXPIRED },
	{ "2026-11-27T08:00:00+08:00", ALARM_WHEN_EXPIRED },
	{ "2026-11-27T08:00", ALARM_WHEN_EXPIRED },
	{ "yesterday", ALARM_WHEN_EXPIRED },
	{ "周五之前", ALARM_WHEN_OPEN },
	{ "下午三点以后", ALARM_WHEN_OPEN },
	{ "三天内", ALARM_WHEN_OPEN },
	{ "before 6 pm", ALARM_WHEN_OPEN },
	{ "明天早上八点和晚上九点", ALARM_WHEN_SEVERAL },
	{ "明天早上八点喝水", ALARM_WHEN_UNREAD },
	{ "等他回来", ALARM_WHEN_NONE },
	{ "每年母亲节", ALARM_WHEN_UNSUPPORTED },
	{ "每季度", ALARM_WHEN_UNSUPPORTED },
	{ "每月第一个周一", ALARM_WHEN_UNSUPPORTED },
	{ "每年五月第二个周日", ALARM_WHEN_UNSUPPORTED },
	{ "饭后半小时", ALARM_WHEN_UNREAD },
	{ "每10秒", ALARM_WHEN_UNSUPPORTED },
	{ "9999-11-28T08:00", ALARM_WHEN_FAR },
	{ "\xff\xfe", ALARM_WHEN_NONE },
};

TEST(what_is_no_exact_time_is_an_error_in_words)
{
	struct zone *z = when_zone("Asia/Shanghai");
	size_t i;

	for (i = 0; i < NELEM(errors); i++) {
		struct alarm_when_input in = { .when = str_of(errors[i].when),
			.now = when_now(),
			.zone = z,
			.near_s = -1 };
		struct alarm_rule r;
		enum alarm_when_error e = alarm_when_parse(&in, &r);
		char why[ALARM_WHY_MAX] = "";

		ck_assert_msg(e == errors[i].want, "%s: %d, not %d",
		    errors[i].when, (int)e, (int)errors[i].want);
		ck_assert_int_eq(
		    alarm_when_read(&in, &r, why, sizeof(why)), RC_INVALID);
		ck_assert(why[0] != '\0');
		ck_assert(str_utf8_count(str_of(why)) > 0 ||
		    strcmp(errors[i].when, "\xff\xfe") == 0);
	}
	zone_free(z);
}

TEST(an_error_is_in_the_language_of_the_words)
{
	char why[ALARM_WHY_MAX];

	alarm_when_explain(ALARM_WHEN_AMBIGUOUS, STR("九点"), why, sizeof(why));
	ck_assert_str_eq(why, "“九点”不够准确：是早上还是晚上，具体几点？");
	alarm_when_explain(
	    ALARM_WHEN_EXPIRED, STR("yesterday"), why, sizeof(why));
	ck_assert_str_eq(
	    why, "\"yesterday\" is over: when is it to be instead?");
}

/* 八点 for an alarm at 07:00 is 08:00, for one at 19:00 it is 20:00. */
TEST(a_changed_alarm_stays_in_its_half_of_the_day)
{
	static const struct {
		const char *when;
		int near_s;
		const char *want;
	} all[] = {
		{ "八点", 7 * 3600, "2026-11-28T08:00:00" },
		{ "八点", 19 * 3600, "2026-11-27T20:00:00" },
		{ "明天八点半", 7 * 3600, "2026-11-28T08:30:00" },
		{ "每天九点", 19 * 3600, "每天晚上9:00 2026-11-27T21:00:00" },
		{ "晚上八点", 7 * 3600, "2026-11-27T20:00:00" },
	};
	struct zone *z = when_zone("Asia/Shanghai");
	size_t i;

	for (i = 0; i < NELEM(all); i++) {
		struct buf b = BUF_INIT(1024);
		struct alarm_when_input in = { .when = str_of(all[i].when),
			.now = when_now(),
			.zone = z,
			.near_s = all[i].near_s };
		struct alarm_rule r;

		ck_assert_int_eq(alarm_when_parse(&in, &r), ALARM_WHEN_OK);
		when_show(&r, z, &b);
		ck_assert_msg(str_eq(buf_str(&b), str_of(all[i].want)),
		    "%s: %.*s", all[i].when, STR_ARG(buf_str(&b)));
		buf_free(&b);
	}
	zone_free(z);
}

/* The rule keeps its time of day, though clocks skip it at first. */
TEST(a_skipped_first_occurrence_does_not_move_the_rule)
{
	struct zone *z = when_zone("America/New_York");
	struct alarm_when_input in = {
		.when = STR("every day at 2:30 am"), .zone = z, .near_s = -1
	};
	struct alarm_rule r;

	ck_assert_int_eq(
	    wall_parse(STR("2026-03-07T12:00:00-05:00"), &in.now), RC_OK);
	ck_assert_int_eq(alarm_when_parse(&in, &r), ALARM_WHEN_OK);
	ck_assert_int_eq(r.time_s, 2 * 3600 + 1800);
	zone_free(z);
}

TEST(elapsed_time_ignores_the_clocks)
{
	struct zone *z = when_zone("America/New_York");
	struct alarm_when_input in = {
		.when = STR("in 2 hours"), .zone = z, .near_s = -1
	};
	struct alarm_rule r;

	ck_assert_int_eq(
	    wall_parse(STR("2026-03-08T01:00:00-05:00"), &in.now), RC_OK);
	ck_assert_int_eq(alarm_when_parse(&in, &r), ALARM_WHEN_OK);
	ck_assert(r.instant.ms == in.now.ms + 7200000);
	zone_free(z);
}

/* ---- selecting ---- */

TEST(words_select_alarms_by_a_range)
{
	static const struct {
		const char *when;
		const char *want[4];
	} all[] = {
		{ "明天早上的闹钟",
		    { "2026-11-28T04:00:00+08:00",
			"2026-11-28T12:00:00+08:00" } },
		{ "明天",
		    { "2026-11-28T00:00:00+08:00",
			"2026-11-29T00:00:00+08:00" } },
		{ "七点的",
		    { "2026-11-27T19:00:00+08:00", "2026-11-27T19:01:00+08:00",
			"2026-11-28T07:00:00+08:00",
			"2026-11-28T07:01:00+08:00" } },
		{ "明天早上八点",
		    { "2026-11-28T08:00:00+08:00",
			"2026-11-28T08:01:00+08:00" } },
	};
	struct zone *z = when_zone("Asia/Shanghai");
	struct alarm_range got;
	size_t i, k;

	for (i = 0; i < NELEM(all); i++) {
		ck_assert_int_eq(
		    alarm_when_range(str_of(all[i].when), when_now(), z, &got),
		    RC_OK);
		struct wall ends[4] = { got.from, got.to, got.other_from,
			got.other_to };
		for (k = 0; k < 4; k++) {
			char text[WALL_FORMAT_MAX] = "";

			if (ends[k].ms != 0)
				wall_format(ends[k], 480, text);
			ck_assert_msg(
			    strcmp(text,
				all[i].want[k] != NULL ? all[i].want[k] : "") ==
				0,
			    "%s %zu: %s", all[i].when, k, text);
		}
	}
	ck_assert_int_eq(
	    alarm_when_range(STR("喝水"), when_now(), z, &got), RC_INVALID);
	zone_free(z);
}

/* ---- moments ---- */

TEST(a_moment_is_written_in_full)
{
	static const struct {
		const char *at, *zh, *en;
	} all[] = {
		{ "2026-11-28T08:00:00+08:00", "11月28日星期六早上8:00",
		    "Saturday, November 28 at 8:00 am" },
		{ "2026-11-27T20:05:00+08:00", "11月27日星期五晚上8:05",
		    "Friday, November 27 at 8:05 pm" },
		{ "2027-01-01T00:00:30+08:00", "2027年1月1日星期五凌晨0:00:30",
		    "Friday, January 1, 2027 at 12:00:30 am" },
		{ "2026-11-28T12:00:00+08:00", "11月28日星期六中午12:00",
		    "Saturday, November 28 at 12:00 pm" },
	};
	struct zone *z = when_zone("Asia/Shanghai");
	char text[ALARM_MOMENT_MAX];
	struct wall at;
	size_t i;

	for (i = 0; i < NELEM(all); i++) {
		ck_assert_int_eq(wall_parse(str_of(all[i].at), &at), RC_OK);
		alarm_moment_write(at, when_now(), z, true, text);
		ck_assert_str_eq(text, all[i].zh);
		alarm_moment_write(at, when_now(), z, false, text);
		ck_assert_str_eq(text, all[i].en);
	}
	zone_free(z);
}

TEST(moments_read_back)
{
	struct zone *z = when_zone("Asia/Shanghai");
	char text[ALARM_MOMENT_MAX];
	struct wall at = when_now();
	struct alarm_rule r;
	int i;

	at.ms -= at.ms % 60000;
	for (i = 0; i < 400; i++) {
		/* Each minute of the hour, each hour, nearly each day. */
		at.ms += INT64_C(60000) * 61 * 23;
		alarm_moment_write(at, when_now(), z, i % 2 == 0, text);
		struct alarm_when_input in = { .when = str_of(text),
			.now = when_now(),
			.zone = z,
			.near_s = -1 };
		struct wall got = { 0 };

		ck_assert_msg(alarm_when_parse(&in, &r) == ALARM_WHEN_OK &&
			alarm_rule_next(&r, z, when_now(), &got) == RC_OK &&
			got.ms == at.ms,
		    "%s", text);
	}
	zone_free(z);
}

TEST(rules_are_described_in_english)
{
	static const struct {
		const char *when, *want;
	} all[] = {
		{ "every day at 8 am", "every day at 8:00 am" },
		{ "every workday at 8 am",
		    "every working day at 8:00 am (holidays from 2027 on are "
		    "not known yet: Monday to Friday)" },
		{ "每周一三五早上七点",
		    "every week on Monday, Wednesday, Friday at 7:00 am" },
		{ "每月最后一天", "every month on the last day at 9:00 am" },
		{ "每年3月5日", "every March 5 at 9:00 am" },
		{ "每两小时", "every 2 hours" },
		{ "每年中秋",
		    "every year of the Chinese calendar, month 8, day 15 at "
		    "9:00 am" },
		{ "明天早上", "Saturday, November 28 at 8:00 am" },
	};
	struct zone *z = when_zone("Asia/Shanghai");
	size_t i;

	for (i = 0; i < NELEM(all); i++) {
		struct buf b = BUF_INIT(1024);
		struct alarm_when_input in = { .when = str_of(all[i].when),
			.now = when_now(),
			.zone = z,
			.near_s = -1 };
		struct alarm_rule r;

		ck_assert_int_eq(alarm_when_parse(&in, &r), ALARM_WHEN_OK);
		alarm_rule_describe(&r, when_now(), z, false, &b);
		ck_assert_msg(str_eq(buf_str(&b), str_of(all[i].want)),
		    "%s: %.*s", all[i].when, STR_ARG(buf_str(&b)));
		buf_free(&b);
	}
	zone_free(z);
}

/* ---- messages ---- */

TEST(rules_survive_their_message)
{
	struct zone *z = when_zone("Asia/Shanghai");
	size_t i;

	for (i = 0; i < NELEM(wordings); i++) {
		struct alarm_when_input in = { .when = str_of(wordings[i].when),
			.repeat = str_of(wordings[i].repeat),
			.now = when_now(),
			.zone = z,
			.near_s = -1 };
		struct arena *a = arena_new(64 * 1024);
		struct wire_alarm_rule sent, got;
		struct alarm_rule r, back;
		struct wire_err err;
		struct buf b = BUF_INIT(4096);
		char why[ALARM_WHY_MAX] = "";

		ck_assert_int_eq(alarm_when_parse(&in, &r), ALARM_WHEN_OK);
		ck_assert_int_eq(alarm_rule_to_wire(&r, z, a, &sent), RC_OK);
		ck_assert_int_eq(
		    wire_encode(&wire_alarm_rule_desc, &sent, &b, &err), RC_OK);
		ck_assert_int_eq(wire_decode(&wire_alarm_rule_desc, buf_str(&b),
				     a, &got, &err),
		    RC_OK);
		ck_assert_msg(
		    alarm_rule_of_wire(&got, &back, why, sizeof(why)) == RC_OK,
		    "%s: %s", wordings[i].when, why);
		ck_assert_msg(memcmp(&r, &back, sizeof(r)) == 0, "%s: %.*s",
		    wordings[i].when, STR_ARG(buf_str(&b)));
		buf_free(&b);
		arena_free(a);
	}
	zone_free(z);
}

TEST(a_wrong_rule_is_named_by_its_path)
{
	static const struct {
		const char *json, *want;
	} all[] = {
		{ "{\"kind\":\"once\",\"at\":\"08:00\"}",
		    "/date: must be a day, YYYY-MM-DD, or instant be "
		    "given" },
		{ "{\"kind\":\"once\",\"at\":\"08:00\",\"date\":"
		  "\"2026-02-30\"}",
		    "/date: must be a day, YYYY-MM-DD, or instant be "
		    "given" },
		{ "{\"kind\":\"daily\"}",
		    "/at: must be a time of day, HH:MM or HH:MM:SS" },
		{ "{\"kind\":\"every\",\"every_s\":60}",
		    "/instant: must be given" },
		{ "{\"kind\":\"every\",\"instant\":\"2026-11-28T08:00:00Z\"}",
		    "/every_s: must be given" },
		{ "{\"kind\":\"weekly\",\"at\":\"08:00\"}",
		    "/weekdays: must be given" },
		{ "{\"kind\":\"monthly\",\"at\":\"08:00\",\"month_days\":[0]}",
		    "/month_days: must be 1 to 31, or -1" },
		{ "{\"kind\":\"yearly\",\"at\":\"08:00\",\"month\":2,"
		  "\"day\":30}",
		    "/day: the kind has no such day" },
		{ "{\"kind\":\"dates\",\"at\":\"08:00\",\"dates\":"
		  "[\"2026-11-29\",\"2026-11-28\"]}",
		    "/dates: must be days, YYYY-MM-DD, in order" },
		{ "{\"kind\":\"daily\",\"at\":\"08:00\",\"every\":2}",
		    "/from: is required with every" },
		{ "{\"kind\":\"daily\",\"at\":\"08:00\",\"until\":"
		  "\"2026-13-01\"}",
		    "/until: must be a day, YYYY-MM-DD" },
	};
	size_t i;

	for (i = 0; i < NELEM(all); i++) {
		struct arena *a = arena_new(64 * 1024);
		struct wire_alarm_rule in;
		struct alarm_rule r;
		struct wire_err err;
		char why[ALARM_WHY_MAX] = "";

		ck_assert_msg(wire_decode(&wire_alarm_rule_desc,
				  str_of(all[i].json), a, &in, &err) == RC_OK,
		    "%s", all[i].json);
		ck_assert_int_eq(
		    alarm_rule_of_wire(&in, &r, why, sizeof(why)), RC_INVALID);
		ck_assert_str_eq(why, all[i].want);
		arena_free(a);
	}
}
