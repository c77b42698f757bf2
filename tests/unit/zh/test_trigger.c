/*
 * The trigger of an expression: the one instant that an alarm takes, never
 * before now.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/zh_fixture.h"

#define SUNDAY ZH_FIXTURE_NOW /* 2026-02-22T17:40 */
#define FRIDAY "2026-02-27T09:30:00+08:00"

/* want: local time; "": no trigger. */
static const struct {
	const char *now, *text, *want;
} triggers[] = {
	/* A deadline is its end. */
	{ SUNDAY, "周五之前", "2026-02-27" },
	{ SUNDAY, "下午六点前", "2026-02-22T18:00" },
	{ SUNDAY, "before 6 pm", "2026-02-22T18:00" },
	{ SUNDAY, "before friday", "2026-02-27" },
	{ SUNDAY, "三天内", "2026-02-25T17:40" },
	{ SUNDAY, "今天之内", "2026-02-23" },
	{ SUNDAY, "within 2 hours", "2026-02-22T19:40" },
	{ SUNDAY, "明天为止", "2026-02-24" },
	{ SUNDAY, "今天中午之前", "" },
	{ SUNDAY, "昨天之前", "" },
	{ SUNDAY, "三点以后", "2026-02-23T03:00" },
	{ SUNDAY, "明天以后", "2026-02-24T09:00" },
	/* A part of the day has an hour, on the day given or the next one. */
	{ SUNDAY, "早上", "2026-02-23T08:00" },
	{ SUNDAY, "明天早上", "2026-02-23T08:00" },
	{ SUNDAY, "明早", "2026-02-23T08:00" },
	{ SUNDAY, "凌晨", "2026-02-23T05:00" },
	{ SUNDAY, "清晨", "2026-02-23T07:00" },
	{ SUNDAY, "上午", "2026-02-23T10:00" },
	{ SUNDAY, "中午", "2026-02-23T12:00" },
	{ SUNDAY, "下午", "2026-02-23T15:00" },
	{ SUNDAY, "傍晚", "2026-02-22T18:00" },
	{ SUNDAY, "晚上", "2026-02-22T20:00" },
	{ SUNDAY, "今晚", "2026-02-22T20:00" },
	{ SUNDAY, "夜里", "2026-02-22T23:00" },
	{ SUNDAY, "半夜", "2026-02-23" },
	{ SUNDAY, "明天白天", "2026-02-23T09:00" },
	{ SUNDAY, "tomorrow morning", "2026-02-23T08:00" },
	{ SUNDAY, "tomorrow afternoon", "2026-02-23T15:00" },
	{ SUNDAY, "tonight", "2026-02-22T20:00" },
	{ SUNDAY, "at noon", "2026-02-23T12:00" },
	{ SUNDAY, "今天下午", "" },
	{ SUNDAY, "今天早上", "" },
	{ SUNDAY, "今天早上八点", "" },
	{ SUNDAY, "周日下午", "2026-03-01T15:00" },
	{ FRIDAY, "早上", "2026-02-28T08:00" },
	{ FRIDAY, "今天早上", "" },
	{ FRIDAY, "今天下午", "2026-02-27T15:00" },
	{ FRIDAY, "周五早上", "2026-03-06T08:00" },
	/* Days: the first one that is not over. */
	{ SUNDAY, "明天", "2026-02-23T09:00" },
	{ SUNDAY, "今天", "" },
	{ SUNDAY, "昨天", "" },
	{ SUNDAY, "下周", "2026-02-23T09:00" },
	{ SUNDAY, "春节前一天", "2027-02-05T09:00" },
	{ SUNDAY, "未来三天", "2026-02-23T09:00" },
	{ SUNDAY, "最近三天", "" },
	{ FRIDAY, "周末", "2026-02-28T09:00" },
	{ SUNDAY, "月底", "2026-02-28T09:00" },
	{ SUNDAY, "年底", "2026-12-31T09:00" },
	{ SUNDAY, "月初", "2026-03-01T09:00" },
	{ SUNDAY, "月中", "2026-03-11T09:00" },
	{ SUNDAY, "年初", "2026-02-23T09:00" },
	{ "2026-02-28T12:00:00+08:00", "月底", "2026-03-31T09:00" },
	{ "2026-02-28T12:00:00+08:00", "这个月底", "" },
	/* Everything else is unambiguous. */
	{ SUNDAY, "明天下午三点到五点", "2026-02-23T15:00" },
	{ SUNDAY, "十分钟后", "2026-02-22T17:50" },
	{ SUNDAY, "十分钟前", "" },
	{ SUNDAY, "现在", "2026-02-22T17:40" },
	{ SUNDAY, "以前", "" },
	{ SUNDAY, "每天早上", "2026-02-23T08:00" },
	{ SUNDAY, "每周五下午三点", "2026-02-27T15:00" },
	{ SUNDAY, "每天", "2026-02-23T09:00" },
	{ FRIDAY, "每天晚上", "2026-02-27T20:00" },
	{ SUNDAY, "半小时", "" },
};

TEST(expressions_have_one_trigger)
{
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	char got[WALL_FORMAT_MAX];
	struct datetime w[2];
	size_t i, bad = 0;

	for (i = 0; i < NELEM(triggers); i++) {
		struct datetime_now now = zh_fixture_now(z, triggers[i].now);
		size_t n = datetime_find(now, str_of(triggers[i].text), w, 2);

		if (n == 1)
			zh_fixture_time(now, w[0].at, got);
		else
			snprintf(got, sizeof(got), "%zu found", n);
		if (strcmp(got, triggers[i].want) == 0)
			continue;
		bad++;
		printf("%s at %s\n  want %s\n  got  %s\n", triggers[i].text,
		    triggers[i].now, triggers[i].want, got);
	}
	zone_free(z);
	ck_assert_msg(bad == 0, "%zu of %zu cases", bad, NELEM(triggers));
}

/* "": none. */
static const char *const days[] = { "", "今天", "明天", "昨天", "后天", "周一",
	"周日", "下周三", "上周五", "这周六", "周末", "下周", "月底", "月初",
	"年底", "本月底", "22号", "1号", "二月二十二号", "3月5日", "12月31日",
	"2月29号", "春节", "国庆", "每天", "每周五", "每月1号", "每年春节",
	"三天后", "两周前", "today ", "tomorrow ", "monday ", "last friday " };
static const char *const hours[] = { "", "早上", "凌晨", "上午", "中午", "下午",
	"傍晚", "晚上", "深夜", "半夜", "八点", "零点", "24点", "两点半",
	"晚上十一点", "早上五点", "凌晨两点半", "17:40", "at 5 pm", "tonight",
	"in the morning" };
static const char *const ends[] = { "", "之前", "以前", "以后", "之内", "为止",
	"到五点", "到后天", "起", "前十分钟" };
static const char *const nows[] = { "2026-02-22T17:40:00.250+08:00",
	"2026-02-23T00:00:00+08:00", "2026-02-28T23:59:59.999+08:00",
	"2026-12-31T23:30:00+08:00", "2028-02-29T08:00:00+08:00",
	"2026-03-08T01:59:30-05:00", "2026-11-01T01:30:00-04:00",
	"2026-11-01T01:30:00-05:00", "1999-06-15T12:00:00Z" };

static void
check_trigger(struct datetime_now now, const char *text, const char *at)
{
	struct datetime w[8];
	size_t i, n = datetime_find(now, str_of(text), w, NELEM(w));

	for (i = 0; i < n; i++)
		ck_assert_msg(w[i].at.ms == 0 || w[i].at.ms >= now.now.ms,
		    "%s at %s: %lld is before %lld", text, at,
		    (long long)w[i].at.ms, (long long)now.now.ms);
}

TEST_T(no_trigger_is_before_now, 120)
{
	static const char *const zones[] = { ZH_FIXTURE_ZONE,
		"America/New_York" };
	size_t at, zone, d, h, e, tried = 0;
	char text[128];

	for (zone = 0; zone < NELEM(zones); zone++) {
		struct zone *z = zh_fixture_zone(zones[zone]);

		for (at = 0; at < NELEM(nows); at++)
			for (d = 0; d < NELEM(days); d++)
				for (h = 0; h < NELEM(hours); h++)
					for (e = 0; e < NELEM(ends); e++) {
						snprintf(text, sizeof(text),
						    "%s%s%s", days[d], hours[h],
						    ends[e]);
						check_trigger(
						    zh_fixture_now(z, nows[at]),
						    text, nows[at]);
						tried++;
					}
		zone_free(z);
	}
	ck_assert_uint_gt(tried, 100000);
}
