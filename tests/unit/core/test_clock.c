/*
 * Time: saturating sums, RFC 3339, calendar dates, CPU budgets.
 */
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"

TEST(clocks_are_monotonic)
{
	struct mono a = clock_mono(), b = clock_mono();
	int64_t ms = clock_wall().ms;

	ck_assert_int_gt(a.ns, 0);
	ck_assert_int_ge(mono_diff_ns(b, a), 0);
	ck_assert_int_le(llabs(ms / 1000 - (int64_t)time(NULL)), 1);
}

TEST(sums_and_differences_saturate)
{
	struct mono t = { 5000000 };

	ck_assert_int_eq(mono_add_ms(t, 3).ns, 8000000);
	ck_assert_int_eq(mono_add_ms(t, -3).ns, 2000000);
	ck_assert_int_eq(mono_add_ms(t, INT64_MAX).ns, INT64_MAX);
	ck_assert_int_eq(mono_add_ms(t, INT64_MAX / 1000000).ns, INT64_MAX);
	ck_assert_int_eq(
	    mono_add_ms((struct mono){ -5 }, INT64_MIN).ns, INT64_MIN);
	ck_assert_int_eq(mono_diff_ms(t, (struct mono){ 1 }), 4);
	ck_assert_int_eq(mono_diff_ms((struct mono){ 1 }, t), -4);
	ck_assert_int_eq(
	    mono_diff_ns((struct mono){ INT64_MAX }, (struct mono){ -1 }),
	    INT64_MAX);
	ck_assert_int_eq(
	    mono_diff_ns((struct mono){ INT64_MIN }, (struct mono){ 1 }),
	    INT64_MIN);
}

TEST(a_time_as_text_is_from_the_arena)
{
	struct wall t = { 1771753200000 };
	struct arena *a = arena_new(64);

	ck_assert(
	    str_eq(wall_text(t, 480, a), STR("2026-02-22T17:40:00+08:00")));
	while (arena_alloc(a, 1) != NULL)
		;
	ck_assert_ptr_null(wall_text(t, 0, a).p);
	arena_free(a);
}

TEST(deadlines_convert_to_monotonic_time)
{
	struct mono before = clock_mono();
	struct mono at =
	    clock_mono_of((struct wall){ clock_wall().ms + 10000 });
	struct mono after = clock_mono();

	/* Rounded by a millisecond on either side. */
	ck_assert_int_ge(mono_diff_ms(at, before), 9998);
	ck_assert_int_le(mono_diff_ms(at, after), 10001);
	ck_assert_int_eq(clock_mono_of((struct wall){ 0 }).ns, 0);
	/* Far in the past, but not "never"; far in the future. */
	ck_assert_int_eq(clock_mono_of((struct wall){ 1 }).ns, 1);
	ck_assert_int_eq(clock_mono_of((struct wall){ INT64_MIN }).ns, 1);
	ck_assert_int_eq(
	    clock_mono_of((struct wall){ INT64_MAX }).ns, INT64_MAX);
}

TEST(wall_times_are_formatted)
{
	static const struct {
		int64_t ms;
		int offset;
		const char *want;
	} rows[] = {
		{ 0, 0, "1970-01-01T00:00:00Z" },
		{ 1, 0, "1970-01-01T00:00:00.001Z" },
		{ -1, 0, "1969-12-31T23:59:59.999Z" },
		{ 1771753200000, 480, "2026-02-22T17:40:00+08:00" },
		{ 1771753200120, 480, "2026-02-22T17:40:00.120+08:00" },
		{ 1771753200000, -210, "2026-02-22T06:10:00-03:30" },
		{ 951782400000, 0, "2000-02-29T00:00:00Z" },
		{ 4107542400000, 0, "2100-03-01T00:00:00Z" },
		{ -2203891200000, 0, "1900-03-01T00:00:00Z" },
		{ 253402300799999, 0, "9999-12-31T23:59:59.999Z" },
		{ 253402300799999, 60, "9999-12-31T23:59:59.999+01:00" },
		{ INT64_MAX, 0, "9999-12-31T23:59:59.999Z" },
		{ INT64_MIN, 0, "0000-01-01T00:00:00Z" },
		{ 0, 1439, "1970-01-01T23:59:00+23:59" },
		{ 0, 100000, "1970-01-01T23:59:00+23:59" },
		{ 0, -100000, "1969-12-31T00:01:00-23:59" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		char dst[WALL_FORMAT_MAX];

		wall_format((struct wall){ rows[i].ms }, rows[i].offset, dst);
		ck_assert_str_eq(dst, rows[i].want);
	}
}

TEST(valid_times_are_parsed)
{
	static const struct {
		const char *in;
		int64_t ms;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01t00:00:00z", 0 },
		{ "1970-01-01T00:00:00-00:00", 0 },
		{ "2026-02-22T17:40:00+08:00", 1771753200000 },
		{ "2026-02-22T17:40:00.1+08:00", 1771753200100 },
		{ "2026-02-22T17:40:00.123456789+08:00", 1771753200123 },
		{ "2026-02-22T17:40:00.0009Z", 1771782000000 },
		{ "1969-12-31T23:59:59.999Z", -1 },
		{ "1970-01-01T00:30:00+01:00", -1800000 },
		{ "2024-02-29T00:00:00Z", 1709164800000 },
		{ "2000-02-29T23:59:59Z", 951868799000 },
		{ "0000-01-01T00:00:00Z", -62167219200000 },
		{ "9999-12-31T23:59:59.999Z", 253402300799999 },
		{ "1990-12-31T23:59:60Z", 662687999999 },
		{ "1990-12-31T15:59:60.5-08:00", 662687999999 },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wall t = { 4711 };

		ck_assert_msg(wall_parse(str_of(rows[i].in), &t) == RC_OK, "%s",
		    rows[i].in);
		ck_assert_msg(t.ms == rows[i].ms, "%s: %lld", rows[i].in,
		    (long long)t.ms);
	}
}

TEST(invalid_times_are_rejected)
{
	static const char *const rows[] = { "", "Z", "2026-02-22",
		"2026-02-22T17:40:00", "2026-02-22 17:40:00Z",
		"2026-02-22T17:40Z", "2026-02-22T17:40:00.Z",
		"2026-02-22T17:40:00,5Z", "2026-02-22T17:40:00+0800",
		"2026-02-22T17:40:00+08", "2026-02-22T17:40:00+8:00",
		"2026-02-22T17:40:00+24:00", "2026-02-22T17:40:00+08:60",
		"2026-02-22T17:40:00Zx", " 2026-02-22T17:40:00Z",
		"2026-02-22T17:40:00Z ", "2026-00-22T17:40:00Z",
		"2026-13-22T17:40:00Z", "2026-02-00T17:40:00Z",
		"2026-02-29T17:40:00Z", "1900-02-29T00:00:00Z",
		"2100-02-29T00:00:00Z", "2024-02-30T00:00:00Z",
		"2026-04-31T00:00:00Z", "2026-01-32T00:00:00Z",
		"2026-02-22T24:00:00Z", "2026-02-22T17:60:00Z",
		"2026-02-22T17:40:61Z", "2026-02-22T17:40:60Z",
		"1990-12-31T23:59:60-08:00", "26-02-22T17:40:00Z",
		"02026-02-22T17:40:00Z", "+2026-02-22T17:40:00Z",
		"-026-02-22T17:40:00Z", "2026-2-22T17:40:00Z",
		"2026-02-22T-7:40:00Z", "2026/02/22T17:40:00Z",
		"20260222T174000Z" };

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wall t = { 4711 };

		ck_assert_msg(wall_parse(str_of(rows[i]), &t) == RC_INVALID,
		    "\"%s\"", rows[i]);
		ck_assert_int_eq(t.ms, 4711);
	}
	ck_assert_int_eq(
	    wall_parse((struct str){ NULL, 0 }, &(struct wall){ 0 }),
	    RC_INVALID);
}

TEST(every_day_converts_to_text_and_back)
{
	/* Noon of every day of eight centuries and the ends of the range. */
	for (int64_t day = -200000; day < 100000; day++) {
		struct wall t = { day * 86400000 + 43200123 }, back;
		char text[WALL_FORMAT_MAX];
		struct tm tm;
		time_t sec = (time_t)(day * 86400);
		char want[32];

		wall_format(t, (int)(day % 1000), text);
		ck_assert_int_eq(wall_parse(str_of(text), &back), RC_OK);
		if (back.ms != t.ms)
			ck_abort_msg("%s", text);
		/* The C library agrees on the date. */
		wall_format(t, 0, text);
		(void)gmtime_r(&sec, &tm);
		(void)strftime(want, sizeof(want), "%Y-%m-%d", &tm);
		if (strncmp(text, want, 10) != 0)
			ck_abort_msg("%s is not %s", text, want);
	}
}

static const struct {
	struct civil c;
	int64_t days;
	int weekday;
} known[] = {
	{ { 1970, 1, 1 }, 0, 4 },
	{ { 1969, 12, 31 }, -1, 3 },
	{ { 2000, 2, 29 }, 11016, 2 },
	{ { 2026, 2, 22 }, 20506, 7 },
	{ { 1600, 1, 1 }, -135140, 6 },
};

TEST(known_days_of_the_calendar)
{
	size_t i;

	for (i = 0; i < NELEM(known); i++) {
		ck_assert_int_eq(civil_days(known[i].c), known[i].days);
		ck_assert_int_eq(
		    civil_weekday(known[i].days), known[i].weekday);
	}
}

TEST(days_convert_to_dates_and_back)
{
	int64_t day, year = -1000;
	struct civil c;

	for (day = civil_days((struct civil){ year, 1, 1 }); day < 800000;
	     day += 13) {
		c = civil_of_days(day);
		ck_assert_int_eq(civil_days(c), day);
		ck_assert_int_ge(c.month, 1);
		ck_assert_int_le(c.month, 12);
		ck_assert_int_ge(c.day, 1);
		ck_assert_int_le(c.day, civil_month_days(c.year, c.month));
	}
}

TEST(months_and_days_out_of_range_are_normalized)
{
	ck_assert_int_eq(civil_days((struct civil){ 2026, 13, 1 }),
	    civil_days((struct civil){ 2027, 1, 1 }));
	ck_assert_int_eq(civil_days((struct civil){ 2026, -11, 1 }),
	    civil_days((struct civil){ 2025, 1, 1 }));
	ck_assert_int_eq(civil_days((struct civil){ 2026, 3, 0 }),
	    civil_days((struct civil){ 2026, 2, 28 }));
	ck_assert_int_eq(civil_month_days(2024, 2), 29);
	ck_assert_int_eq(civil_month_days(1900, 2), 28);
	ck_assert_int_eq(civil_month_days(2026, 12), 31);
}

static double
cpu_ms(void)
{
	struct timespec t;
	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

TEST(work_uses_up_a_budget)
{
	struct budget b;
	double from = cpu_ms();
	budget_start(&b, 20 * 1000 * 1000);
	while (!budget_over(&b))
		ck_assert(cpu_ms() - from < 5000);
	ck_assert(cpu_ms() - from >= 20);
	ck_assert(budget_over(&b));
}

TEST(waiting_does_not_use_up_a_budget)
{
	struct budget b;
	budget_start(&b, 20 * 1000 * 1000);
	ck_assert_int_eq(poll(NULL, 0, 60), 0);
	ck_assert(!budget_over(&b));
}

TEST(an_empty_budget_is_used_up_at_start)
{
	struct budget b;
	budget_start(&b, 0);
	ck_assert(budget_over(&b));
}
