/*
 * Holidays, and the lunar calendar by known dates and its own consistency.
 */
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/zh_fixture.h"
#include "zh/holiday.h"

static const struct zh_fixture_case holiday_cases[] = {
	{ "明年春节", "[明年春节] at day 2027-02-06" },
	{ "除夕", "[除夕] at day 2027-02-05" },
	{ "中秋", "[中秋] at day 2026-09-25" },
	{ "母亲节", "[母亲节] at day 2026-05-10" },
	{ "清明", "[清明] at day 2026-04-05" },
	{ "每年春节", "[每年春节] repeat year 2027-02-06 every 1 year" },
	{ "去年国庆", "[去年国庆] at day 2025-10-01" },
	{ "2025年国庆节", "[2025年国庆节] at day 2025-10-01" },
	{ "明年中秋节", "[明年中秋节] at day 2027-09-15" },
	{ "大年初一", "[大年初一] at day 2027-02-06" },
	{ "大年三十", "[大年三十] at day 2027-02-05" },
	{ "农历八月十五", "[农历八月十五] at day 2026-09-25" },
	{ "正月十五", "[正月十五] at day 2026-03-03" },
	{ "腊月二十三", "[腊月二十三] at day 2027-01-30" },
	{ "三月初三", "[三月初三] at day 2026-04-19" },
	{ "五月初五", "[五月初五] at day 2026-06-19" },
	{ "农历三月初三", "[农历三月初三] at day 2026-04-19" },
	{ "圣诞节前", "[圣诞节前] in day ..2026-12-25" },
	{ "圣诞节晚上八点", "[圣诞节晚上八点] at h 2026-12-25T20:00" },
	{ "五一劳动节", "[五一劳动节] at day 2026-05-01" },
	{ "双十一", "[双十一] at day 2026-11-11" },
	{ "感恩节", "[感恩节] at day 2026-11-26" },
	{ "父亲节", "[父亲节] at day 2026-06-21" },
	{ "冬至", "[冬至] at day 2026-12-22" },
	{ "大年初三", "[大年初三] at day 2027-02-08" },
	{ "正月初八", "[正月初八] at day 2026-02-24" },
	{ "每年除夕", "[每年除夕] repeat year 2027-02-05 every 1 year" },
	{ "春节后", "[春节后] in day 2027-02-07.." },
	{ "春节前一天", "[春节前一天] at day 2027-02-05" },
	{ "圣诞前夜", "[圣诞前夜] at day 2026-12-24" },
	{ "情人节晚上7点", "[情人节晚上7点] at h 2027-02-14T19:00" },
	{ "五一", "[五一] at day 2026-05-01" },
	{ "六一", "[六一] at day 2026-06-01" },
	{ "中秋节晚上", "[中秋节晚上] in h 2026-09-25T18:00..2026-09-26" },
	{ "七夕", "[七夕] at day 2026-08-19" },
	{ "重阳节", "[重阳节] at day 2026-10-18" },
	{ "清明节", "[清明节] at day 2026-04-05" },
	{ "元宵节", "[元宵节] at day 2026-03-03" },
	{ "腊八", "[腊八] at day 2027-01-15" },
	{ "小年", "[小年] at day 2027-01-30" },
	{ "龙抬头", "[龙抬头] at day 2026-03-20" },
	{ "端午节下午",
	    "[端午节下午] in h 2026-06-19T12:00..2026-06-19T18:00" },
	{ "教师节", "[教师节] at day 2026-09-10" },
	{ "明年母亲节", "[明年母亲节] at day 2027-05-09" },
	{ "2027年春节", "[2027年春节] at day 2027-02-06" },
	{ "阴历七月十五", "[阴历七月十五] at day 2026-08-27" },
	{ "冬月初一", "[冬月初一] at day 2026-12-09" },
	{ "国庆后两天", "[国庆后两天] at day 2026-10-03" },
	{ "2015年十月初一", "[2015年十月初一] at day 2015-11-12" },
	{ "农历二〇一五年十月初一",
	    "[农历二〇一五年十月初一] at day 2015-11-12" },
	{ "国庆节", "[国庆节] at day 2026-10-01" },
	{ "二月初二", "[二月初二] at day 2026-03-20" },
	{ "腊月廿九", "[腊月廿九] at day 2027-02-05" },
	{ "腊月三十", "[腊月三十] at day 2027-02-05" },
	{ "正月初一早上",
	    "[正月初一早上] in h 2027-02-06T04:00..2027-02-06T12:00" },
	{ "大年三十晚上", "[大年三十晚上] in h 2027-02-05T18:00..2027-02-06" },
	{ "阴历五月初五", "[阴历五月初五] at day 2026-06-19" },
	{ "农历七月初七", "[农历七月初七] at day 2026-08-19" },
	{ "农历十二月初八", "[农历十二月初八] at day 2027-01-15" },
	{ "初一", "[初一] at day 2026-03-19" },
	{ "感恩节晚上", "[感恩节晚上] in h 2026-11-26T18:00..2026-11-27" },
	{ "明年清明", "[明年清明] at day 2027-04-05" },
	{ "2026年中秋节", "[2026年中秋节] at day 2026-09-25" },
	{ "2030年除夕", "[2030年除夕] at day 2030-02-02" },
	{ "国庆前一天", "[国庆前一天] at day 2026-09-30" },
	{ "圣诞后一周", "[圣诞后一周] at day 2027-01-01" },
	{ "元旦那天", "[元旦那天] at day 2027-01-01" },
	{ "元旦当天", "[元旦当天] at day 2027-01-01" },
	{ "情人节前两天", "[情人节前两天] at day 2027-02-12" },
	{ "国庆到元旦", "[国庆到元旦] in day 2026-10-01..2027-01-02" },
	{ "春节到元宵", "[春节到元宵] in day 2027-02-06..2027-02-21" },
	{ "正月", "[正月] in month 2026-02-17..2026-03-19" },
	{ "明年正月", "[明年正月] in month 2027-02-06..2027-03-08" },
	{ "春节前夕", "[春节前夕] at day 2027-02-05" },
	{ "圣诞节翌日上午九点", "[圣诞节翌日上午九点] at h 2026-12-26T09:00" },
};

TEST(holidays_and_lunar_dates_are_found)
{
	zh_fixture_check(holiday_cases, NELEM(holiday_cases));
}

/* Christian and Muslim days, and others. */
static const struct zh_fixture_case other_cases[] = {
	{ "斋月", "[斋月] in day 2026-02-18..2026-03-20" },
	{ "2021年开斋节", "[2021年开斋节] at day 2021-05-13" },
	{ "2024年大斋期", "[2024年大斋期] in day 2024-02-14..2024-03-31" },
	{ "2023年四旬节", "[2023年四旬节] in day 2023-02-27..2023-04-08" },
	{ "东正教棕榈主日", "[东正教棕榈主日] at day 2026-04-05" },
	{ "2024年拉撒路星期六", "[2024年拉撒路星期六] at day 2024-04-27" },
	{ "2024年五旬节星期一", "[2024年五旬节星期一] at day 2024-05-20" },
	{ "地球一小时",
	    "[地球一小时] in min 2026-03-28T20:30..2026-03-28T21:30" },
	{ "2024年地球一小时",
	    "[2024年地球一小时] in min 2024-03-23T20:30..2024-03-23T21:30" },
	{ "老板节晚上八点", "[老板节晚上八点] at h 2026-10-16T20:00" },
	{ "斋月第三天", "[斋月第三天] at day 2027-02-10" },
	{ "每年圣周", "[每年圣周] repeat year 2026-03-29 every 1 year" },
	{ "大斋期前夕", "[大斋期前夕] at day 2026-02-17" },
	{ "大斋期翌日", "[大斋期翌日] at day 2026-04-05" },
	{ "2022年斋月的最后一天", "[2022年斋月的最后一天] at day 2022-05-02" },
	{ "东正教的圣诞节", "[东正教的圣诞节] at day 2027-01-07" },
	{ "春节第二天", "[春节第二天] at day 2027-02-07" },
	/* Not holidays. */
	{ "周日节目", "[周日] at day 2026-03-01" },
	{ "国庆节目单", "[国庆] at day 2026-10-01" },
};

TEST(christian_and_muslim_holidays_are_found)
{
	zh_fixture_check(other_cases, NELEM(other_cases));
}

/* A holiday that has begun is meant until its last day is over. */
TEST(a_long_holiday_counts_until_its_last_day)
{
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	char got[ZH_FIXTURE_TEXT_MAX];

	zh_fixture_show(
	    zh_fixture_now(z, "2000-01-01T10:00:00+08:00"), "斋月", got);
	ck_assert_str_eq(got, "[斋月] in day 1999-12-09..2000-01-08");
	zh_fixture_show(
	    zh_fixture_now(z, "2000-01-08T10:00:00+08:00"), "斋月", got);
	ck_assert_str_eq(got, "[斋月] in day 2000-11-28..2000-12-28");
	zone_free(z);
}

/* Each falls into its year, and the cache returns the same day. */
TEST_T(every_holiday_falls_into_its_year, 30)
{
	static struct holiday_cache none;
	struct holiday_cache cache = none;
	int64_t year, day, first, second;
	int f;

	for (year = 1901; year <= 2100; year++) {
		for (f = 0; f < HOLIDAY_COUNT; f++) {
			ck_assert(holiday_day((enum holiday)f, year, &day));
			/* The eighth of the last month may fall into the next
			 * year. */
			ck_assert_msg(f == HOLIDAY_LABA ||
				civil_of_days(day).year == year,
			    "holiday %d of %d", f, (int)year);
			ck_assert(holiday_day_cached(
			    &cache, (enum holiday)f, year, &first));
			ck_assert(holiday_day_cached(
			    &cache, (enum holiday)f, year, &second));
			ck_assert_int_eq(first, day);
			ck_assert_int_eq(second, day);
		}
	}
}

/* ---- the lunar calendar ---- */

static int64_t
test_day(int64_t year, int month, int dom)
{
	return civil_days((struct civil){ year, month, dom });
}

/* Lunar New Year's days, some of years with a leap month. */
static const struct {
	int year, month, day;
} known_new_years[] = {
	{ 1949, 1, 29 },
	{ 1976, 1, 31 },
	{ 1985, 2, 20 },
	{ 2000, 2, 5 },
	{ 2012, 1, 23 },
	{ 2020, 1, 25 },
	{ 2023, 1, 22 },
	{ 2024, 2, 10 },
	{ 2025, 1, 29 },
	{ 2026, 2, 17 },
	{ 2027, 2, 6 },
	{ 2033, 1, 31 },
	{ 2034, 2, 19 },
};

TEST(lunar_new_years_match)
{
	int64_t d;
	size_t i;

	for (i = 0; i < NELEM(known_new_years); i++) {
		ck_assert(holiday_day(
		    HOLIDAY_SPRING_FESTIVAL, known_new_years[i].year, &d));
		ck_assert_msg(d ==
			test_day(known_new_years[i].year,
			    known_new_years[i].month, known_new_years[i].day),
		    "%d", known_new_years[i].year);
	}
}

static const struct {
	enum holiday holiday;
	int year, month, day;
} known_holidays[] = {
	{ HOLIDAY_MID_AUTUMN, 2023, 9, 29 }, /* after a leap month */
	{ HOLIDAY_MID_AUTUMN, 2025, 10, 6 },
	{ HOLIDAY_MID_AUTUMN, 2026, 9, 25 },
	{ HOLIDAY_DRAGON_BOAT, 2024, 6, 10 },
	{ HOLIDAY_QIXI, 2025, 8, 29 },
	{ HOLIDAY_DOUBLE_NINTH, 2024, 10, 11 },
	{ HOLIDAY_LUNAR_EVE, 2025, 1, 28 },
	{ HOLIDAY_LANTERN, 2026, 3, 3 },
	{ HOLIDAY_LABA, 2025, 1, 7 },
	{ HOLIDAY_QINGMING, 2024, 4, 4 },
	{ HOLIDAY_QINGMING, 2026, 4, 5 },
	{ HOLIDAY_WINTER_SOLSTICE, 2025, 12, 21 },
	{ HOLIDAY_SUMMER_SOLSTICE, 2024, 6, 21 },
	{ HOLIDAY_START_OF_SPRING, 2025, 2, 3 },
	{ HOLIDAY_EASTER, 2024, 3, 31 },
	{ HOLIDAY_EASTER, 2025, 4, 20 },
	{ HOLIDAY_EASTER, 2038, 4, 25 },
	{ HOLIDAY_MOTHERS, 2026, 5, 10 },
	{ HOLIDAY_FATHERS, 2025, 6, 15 },
	{ HOLIDAY_THANKSGIVING, 2024, 11, 28 },
};

TEST(holidays_of_known_years_match)
{
	int64_t d;
	size_t i;

	for (i = 0; i < NELEM(known_holidays); i++) {
		ck_assert(holiday_day(
		    known_holidays[i].holiday, known_holidays[i].year, &d));
		ck_assert_msg(d ==
			test_day(known_holidays[i].year,
			    known_holidays[i].month, known_holidays[i].day),
		    "row %zu", i);
	}
}

/* Months have 29 or 30 days, and each day converts back to its date. */
TEST(lunar_dates_round_trip)
{
	int64_t year, start, next, y;
	int month, m, dom;

	for (year = 1950; year < 2100; year += 3) {
		for (month = 1; month <= 12; month++) {
			ck_assert(lunar_day(year, month, 1, &start));
			ck_assert(lunar_day(year, month, 29, &next));
			ck_assert_int_eq(next - start, 28);
			ck_assert(lunar_of_day(start + 14, &y, &m, &dom));
			ck_assert_int_eq(y, year);
			ck_assert_int_eq(m, month);
			ck_assert_int_eq(dom, 15);
		}
	}
}

TEST(dates_out_of_range_are_unknown)
{
	int64_t d, y;
	int m, dom;

	ck_assert(!lunar_day(1899, 1, 1, &d));
	ck_assert(!lunar_day(2101, 1, 1, &d));
	ck_assert(!lunar_day(2026, 13, 1, &d));
	ck_assert(!lunar_day(2026, 0, 1, &d));
	ck_assert(!lunar_day(2026, 1, 31, &d));
	ck_assert(!lunar_day(2026, 1, -1, &d));
	ck_assert(!lunar_of_day(test_day(1800, 1, 1), &y, &m, &dom));
	ck_assert(!lunar_of_day(test_day(2500, 1, 1), &y, &m, &dom));
	ck_assert(!holiday_day(HOLIDAY_MID_AUTUMN, 3000, &d));
	ck_assert(holiday_day(HOLIDAY_CHRISTMAS, 3000, &d));
}
