/*
 * The reference time, time zones, and hostile texts.
 */
#include <stdlib.h>
#include <time.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/zh_fixture.h"

static const struct {
	const char *zone, *now, *text, *want;
} cases[] = {
	/* A time that is over means the next one, unless its day is given. */
	{ "Asia/Shanghai", "2026-02-22T19:35:00+08:00", "三点",
	    "[三点] at h 2026-02-23T03:00" },
	{ "Asia/Shanghai", "2026-02-22T21:00:00+08:00", "今晚8:30",
	    "[今晚8:30] at min 2026-02-22T20:30" },
	{ "Asia/Shanghai", "2026-02-22T09:00:00+08:00", "三点",
	    "[三点] at h 2026-02-22T15:00" },
	{ "Asia/Shanghai", "2026-02-22T09:00:00+08:00", "今天三点",
	    "[今天三点] at h 2026-02-22T15:00" },
	{ "Asia/Shanghai", "2026-02-22T09:00:00+08:00", "十二点",
	    "[十二点] at h 2026-02-22T12:00" },
	{ "Asia/Shanghai", "2026-02-22T01:00:00+08:00", "凌晨两点",
	    "[凌晨两点] at h 2026-02-22T02:00" },
	{ "Asia/Shanghai", "2026-02-25T10:00:00+08:00", "周三",
	    "[周三] at day 2026-03-04" },
	{ "Asia/Shanghai", "2026-02-25T10:00:00+08:00", "周三下午三点",
	    "[周三下午三点] at h 2026-02-25T15:00" },
	{ "Asia/Shanghai", "2026-12-31T23:59:59+08:00", "明天",
	    "[明天] at day 2027-01-01" },
	{ "Asia/Shanghai", "2026-12-31T12:00:00+08:00", "下个月三号",
	    "[下个月三号] at day 2027-01-03" },
	{ "Asia/Shanghai", "2026-01-31T12:00:00+08:00", "一个月后",
	    "[一个月后] at day 2026-02-28 2.592e+06s rel" },
	{ "Asia/Shanghai", "2026-01-31T12:00:00+08:00", "每月31号",
	    "[每月31号] repeat month 2026-03-31 every 1 month d31" },
	{ "Asia/Shanghai", "2026-02-22T12:00:00+08:00", "2月29号",
	    "[2月29号] at day 2028-02-29" },
	/* The day is the zone's, not UTC's. */
	{ "America/New_York", "2026-02-22T02:00:00Z", "今天",
	    "[今天] at day 2026-02-21" },
	{ "Asia/Kolkata", "2026-02-22T20:00:00Z", "tomorrow at 9",
	    "[tomorrow at 9] at h 2026-02-24T09:00" },
	/* Daylight saving: from 2026-03-08T02:00 to 2026-11-01T02:00. */
	{ "America/New_York", "2026-03-07T12:00:00-05:00", "明天早上八点",
	    "[明天早上八点] at h 2026-03-08T08:00" },
	{ "America/New_York", "2026-03-07T12:00:00-05:00", "明天凌晨两点半",
	    "[明天凌晨两点半] at min 2026-03-08T03:30" },
	{ "America/New_York", "2026-10-31T12:00:00-04:00", "明天凌晨一点半",
	    "[明天凌晨一点半] at min 2026-11-01T01:30" },
};

TEST(reference_time_and_zone_decide)
{
	char got[ZH_FIXTURE_TEXT_MAX];
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		struct zone *z = zh_fixture_zone(cases[i].zone);

		zh_fixture_show(
		    zh_fixture_now(z, cases[i].now), cases[i].text, got);
		zone_free(z);
		ck_assert_msg(strcmp(got, cases[i].want) == 0, "%s at %s: %s",
		    cases[i].text, cases[i].now, got);
	}
}

TEST(offsets_follow_daylight_saving)
{
	struct zone *z = zh_fixture_zone("America/New_York");
	struct datetime_now now =
	    zh_fixture_now(z, "2026-03-07T12:00:00-05:00");
	struct datetime w[1];

	ck_assert_uint_eq(datetime_find(now, STR("今天下午三点"), w, 1), 1);
	ck_assert_int_eq(w[0].offset_min, -300);
	ck_assert_uint_eq(datetime_find(now, STR("明天下午三点"), w, 1), 1);
	ck_assert_int_eq(w[0].offset_min, -240);
	zone_free(z);
}

TEST(at_most_max_are_written)
{
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct datetime_now now = zh_fixture_now(z, ZH_FIXTURE_NOW);
	struct datetime w[2];

	w[0].start = 77;
	ck_assert_uint_eq(datetime_find(now, STR("明天后天"), w, 0), 0);
	ck_assert_uint_eq(w[0].start, 77);
	ck_assert_uint_eq(datetime_find(now, STR("明天后天大后天"), w, 2), 2);
	ck_assert_uint_eq(datetime_find(now, STR(""), w, 2), 0);
	ck_assert_uint_eq(datetime_find(now, (struct str){ NULL, 0 }, w, 2), 0);
	zone_free(z);
}

/* Texts that have a time at some reference times only, or never. */
static const struct {
	const char *text;
	bool uses_now;
} uses_of_now[] = {
	{ "打开灯", false },
	{ "把亮度调到百分之五十", false },
	{ "打开3号房间的灯", false },
	{ "", false },
	{ "turn on the light", false },
	{ "五分钟后提醒我", true },
	{ "跑十分钟", true },
	{ "现在开灯", true },
	{ "2月29日提醒我", true },
	{ "2月30日提醒我", true },
	{ "腊月三十提醒我", true },
	{ "每天七点", true },
	{ "三点到五点", true },
};

TEST(use_of_the_reference_time_is_reported)
{
	static const char *const times[] = { ZH_FIXTURE_NOW,
		"2027-03-01T00:00:00+08:00", "2028-02-29T23:59:59+08:00",
		"2031-12-31T12:00:00+08:00" };
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct datetime w[4];

	for (size_t i = 0; i < NELEM(uses_of_now) * NELEM(times); i++) {
		size_t at = i / NELEM(times);
		struct datetime_now now =
		    zh_fixture_now(z, times[i % NELEM(times)]);
		bool used = false;
		size_t n;

		now.is_used = &used;
		n = datetime_find(now, str_of(uses_of_now[at].text), w, 4);
		ck_assert_msg(used == uses_of_now[at].uses_now, "%s at %s",
		    uses_of_now[at].text, times[i % NELEM(times)]);
		ck_assert(used || n == 0);
	}
	zone_free(z);
}

TEST(position_in_a_long_text_does_not_matter)
{
	static const char phrase[] = "下周四晚上九点半";
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct datetime_now now = zh_fixture_now(z, ZH_FIXTURE_NOW);
	struct datetime w[4];
	char *text = mem_alloc(8192);
	size_t pad, n = sizeof(phrase) - 1;

	for (pad = 0; pad < 4000; pad += 7) {
		memset(text, ',', pad);
		memcpy(text + pad, phrase, n);
		memset(text + pad + n, ',', 100);
		ck_assert_uint_eq(
		    datetime_find(
			now, (struct str){ text, pad + n + 100 }, w, 4),
		    1);
		ck_assert_uint_eq(w[0].start, pad);
		ck_assert_uint_eq(w[0].end, pad + n);
	}
	free(text);
	zone_free(z);
}

/* Absurd numbers must not produce times outside the calendar. */
static const char *const huge[] = {
	"后66666666666666666666日",
	"前9999999999999999999999天",
	"春节前66666666666666666666天",
	"八点后99999999999999999999秒",
	"66666666666666666666年后",
	"每隔66666666666666666666天",
	"第66666666666666666666天",
	"66666666666666666666点66666666666666666666分",
};

TEST(huge_numbers_stay_in_the_calendar)
{
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct datetime_now now = zh_fixture_now(z, ZH_FIXTURE_NOW);
	int64_t most = INT64_C(5000) * 366 * 86400 * 1000;
	struct datetime w[4];
	size_t i, j, n;

	for (i = 0; i < NELEM(huge); i++) {
		n = datetime_find(now, str_of(huge[i]), w, 4);
		for (j = 0; j < n; j++)
			ck_assert_msg(w[j].from.ms < now.now.ms + most &&
				w[j].from.ms > now.now.ms - most,
			    "%s", huge[i]);
	}
	zone_free(z);
}

/* For the sanitizers: each copy ends where the text is truncated. */
TEST(truncated_text_is_not_overread)
{
	static const char text[] =
	    "每周一三五晚上八点半到十点, 三分之一小时后, 2026-03-05 08:30:15";
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct datetime_now now = zh_fixture_now(z, ZH_FIXTURE_NOW);
	struct datetime w[8];
	size_t n, from, i, k;

	for (n = 0; n < sizeof(text); n++) {
		for (from = 0; from < n; from += 5) {
			char *copy = mem_alloc(n - from);

			memcpy(copy, text + from, n - from);
			k = datetime_find(
			    now, (struct str){ copy, n - from }, w, 8);
			for (i = 0; i < k; i++)
				ck_assert_uint_le(w[i].end, n - from);
			free(copy);
		}
	}
	zone_free(z);
}

static double
cpu_s(void)
{
	struct timespec t;

	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

TEST(long_texts_take_linear_time)
{
	static const char *const parts[] = { "一", "周一", "三点到", "每",
		"一个半", "零", "1:", "1/", "a ", "every ", "2026-",
		"农历三月三十", "周一到", "每周一、", "个半", "\xe4", "\xff" };
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct datetime_now now = zh_fixture_now(z, ZH_FIXTURE_NOW);
	char *text = mem_alloc(DATETIME_TEXT_MAX);
	struct datetime w[ZH_FIXTURE_FOUND];
	double start;
	size_t i, n, at;

	for (i = 0; i < NELEM(parts); i++) {
		n = strlen(parts[i]);
		for (at = 0; at + n <= DATETIME_TEXT_MAX; at += n)
			memcpy(text + at, parts[i], n);
		start = cpu_s();
		(void)datetime_find(
		    now, (struct str){ text, at }, w, ZH_FIXTURE_FOUND);
		/* Some hundredths without sanitizers. */
		ck_assert_msg(
		    cpu_s() - start < 1, "%s: %g s", parts[i], cpu_s() - start);
	}
	free(text);
	zone_free(z);
}
