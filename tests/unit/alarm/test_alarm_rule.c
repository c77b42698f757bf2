/*
 * When rules are due: tables over zones, changes of the clocks, leap years and
 * the Chinese calendar, and every rule beside a search of all minutes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "alarm/alarm_rule.h"
#include "alarm/workdays.h"
#include "core/mem.h"
#include "core/str.h"
#include "testkit/testkit.h"
#include "zh/holiday.h"

#define DAY    INT64_C(86400)
#define MINUTE INT64_C(60000)

static struct zone *
rule_zone(const char *name)
{
	struct zone *z = NULL;

	ck_assert_msg(zone_load(name, &z) == RC_OK, "%s", name);
	return z;
}

static struct wall
rule_wall(const char *text)
{
	struct wall t = { 0 };

	ck_assert_msg(wall_parse(str_of(text), &t) == RC_OK, "%s", text);
	return t;
}

static int64_t
rule_day(int64_t year, int month, int day)
{
	return civil_days((struct civil){ year, month, day });
}

#define H(h, m) ((h)*3600 + (m)*60)

static const struct {
	const char *zone, *after;
	struct alarm_rule rule;
	const char *want[4]; /* one after the other; NULL: no more is checked,
				"": there is none */
} cases[] = {
	{ "Asia/Shanghai", "2026-11-27T08:00:00+08:00",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(8, 0) },
	    { "2026-11-28T08:00:00+08:00", "2026-11-29T08:00:00+08:00" } },
	{ "Asia/Kathmandu", "2026-11-27T01:14:59Z",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(7, 0) },
	    { "2026-11-27T07:00:00+05:45", "2026-11-28T07:00:00+05:45" } },
	/* Clocks are set forward at 02:00: the first minute after the gap. */
	{ "America/New_York", "2026-03-07T12:00:00-05:00",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(2, 30) },
	    { "2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00" } },
	{ "America/New_York", "2026-03-07T12:00:00-05:00",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(8, 0) },
	    { "2026-03-08T08:00:00-04:00", "2026-03-09T08:00:00-04:00" } },
	/* Set back at 02:00: the first of both. */
	{ "America/New_York", "2026-10-31T12:00:00-04:00",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(1, 30) },
	    { "2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00" } },
	/* After the first one, the second does not count. */
	{ "America/New_York", "2026-11-01T01:30:00-04:00",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(1, 30) },
	    { "2026-11-02T01:30:00-05:00" } },
	{ "Europe/Berlin", "2026-03-28T12:00:00+01:00",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(2, 0) },
	    { "2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00" } },
	{ "Europe/Berlin", "2026-10-24T12:00:00+02:00",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(2, 15) },
	    { "2026-10-25T02:15:00+02:00", "2026-10-26T02:15:00+01:00" } },
	/* Half an hour only. */
	{ "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(2, 10) },
	    { "2026-10-04T02:30:00+11:00", "2026-10-05T02:10:00+11:00" } },
	{ "Australia/Lord_Howe", "2026-04-04T12:00:00+11:00",
	    { .kind = ALARM_DAILY, .every = 1, .time_s = H(1, 45) },
	    { "2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30" } },
	/* Elapsed time, whatever the clocks show. */
	{ "America/New_York", "2026-03-08T01:00:00-05:00",
	    { .kind = ALARM_EVERY,
		.every = 1,
		.every_s = 7200,
		.instant = { INT64_C(1772946000000) } }, /* 00:00-05:00 */
	    { "2026-03-08T03:00:00-04:00", "2026-03-08T05:00:00-04:00" } },
	{ "Asia/Shanghai", "2026-11-27T08:00:00+08:00",
	    { .kind = ALARM_DAILY,
		.every = 3,
		.time_s = H(8, 0),
		.from_day = 20784, /* 2026-11-27 */
		.has_from = true },
	    { "2026-11-30T08:00:00+08:00", "2026-12-03T08:00:00+08:00" } },
	{ "Asia/Shanghai", "2026-11-27T08:00:00+08:00",
	    { .kind = ALARM_WEEKLY,
		.every = 1,
		.weekdays = 0x15,
		.time_s = H(7, 30) },
	    { "2026-11-30T07:30:00+08:00", "2026-12-02T07:30:00+08:00",
		"2026-12-04T07:30:00+08:00" } },
	/* Every second week, from the one of 2026-11-27 (a Friday) on. */
	{ "Asia/Shanghai", "2026-11-27T08:00:00+08:00",
	    { .kind = ALARM_WEEKLY,
		.every = 2,
		.weekdays = 0x14,
		.time_s = H(7, 0),
		.from_day = 20784,
		.has_from = true },
	    { "2026-12-09T07:00:00+08:00", "2026-12-11T07:00:00+08:00",
		"2026-12-23T07:00:00+08:00" } },
	/* A month without the day is left out. */
	{ "Asia/Shanghai", "2026-01-31T09:00:00+08:00",
	    { .kind = ALARM_MONTHLY,
		.every = 1,
		.month_days = UINT32_C(1) << 31,
		.time_s = H(9, 0) },
	    { "2026-03-31T09:00:00+08:00", "2026-05-31T09:00:00+08:00" } },
	{ "Asia/Shanghai", "2028-01-31T09:00:00+08:00",
	    { .kind = ALARM_MONTHLY,
		.every = 1,
		.month_days = UINT32_C(1) << ALARM_LAST_DAY | UINT32_C(2),
		.time_s = H(9, 0) },
	    { "2028-02-01T09:00:00+08:00", "2028-02-29T09:00:00+08:00",
		"2028-03-01T09:00:00+08:00", "2028-03-31T09:00:00+08:00" } },
	{ "Asia/Shanghai", "2026-11-27T00:00:00+08:00",
	    { .kind = ALARM_YEARLY,
		.every = 1,
		.month = 2,
		.day = 29,
		.time_s = H(9, 0) },
	    { "2028-02-29T09:00:00+08:00", "2032-02-29T09:00:00+08:00" } },
	{ "Asia/Shanghai", "2026-11-27T00:00:00+08:00",
	    { .kind = ALARM_YEARLY,
		.every = 1,
		.month = 2,
		.day = -1,
		.time_s = H(9, 0) },
	    { "2027-02-28T09:00:00+08:00", "2028-02-29T09:00:00+08:00" } },
	{ "Asia/Shanghai", "2026-11-27T00:00:00+08:00",
	    { .kind = ALARM_DATES,
		.every = 1,
		.dates = { 20784, 20790 },
		.n_dates = 2,
		.time_s = H(9, 0) },
	    { "2026-11-27T09:00:00+08:00", "2026-12-03T09:00:00+08:00", "" } },
	{ "Asia/Shanghai", "2026-11-27T09:00:00+08:00",
	    { .kind = ALARM_SINGLE,
		.every = 1,
		.dates = { 20784 },
		.n_dates = 1,
		.time_s = H(9, 0) },
	    { "" } },
	{ "Asia/Shanghai", "2026-11-27T09:00:00+08:00",
	    { .kind = ALARM_SINGLE, .every = 1, .instant = { 1 } }, { "" } },
	{ "Asia/Shanghai", "2026-11-27T09:00:00+08:00",
	    { .kind = ALARM_DAILY,
		.every = 1,
		.time_s = H(8, 0),
		.from_day = 20790,
		.until_day = 20791,
		.has_from = true,
		.has_until = true },
	    { "2026-12-03T08:00:00+08:00", "2026-12-04T08:00:00+08:00", "" } },
	/* 中秋; 除夕; the last day of a month of 29 days is not its 30th. */
	{ "Asia/Shanghai", "2026-01-01T00:00:00+08:00",
	    { .kind = ALARM_LUNAR,
		.every = 1,
		.month = 8,
		.day = 15,
		.time_s = H(20, 0) },
	    { "2026-09-25T20:00:00+08:00", "2027-09-15T20:00:00+08:00" } },
	{ "Asia/Shanghai", "2026-01-01T00:00:00+08:00",
	    { .kind = ALARM_LUNAR,
		.every = 1,
		.month = 12,
		.day = -1,
		.time_s = H(20, 0) },
	    { "2026-02-16T20:00:00+08:00", "2027-02-05T20:00:00+08:00",
		"2028-01-25T20:00:00+08:00" } },
	{ "Asia/Shanghai", "2026-01-01T00:00:00+08:00",
	    { .kind = ALARM_LUNAR,
		.every = 1,
		.month = 12,
		.day = 30,
		.time_s = H(20, 0) },
	    { "2030-02-02T20:00:00+08:00" } },
	/* 2025 has a second sixth month, 2033 a second eleventh. */
	{ "Asia/Shanghai", "2025-01-01T00:00:00+08:00",
	    { .kind = ALARM_LUNAR,
		.every = 1,
		.month = 6,
		.day = 1,
		.time_s = H(8, 0) },
	    { "2025-06-25T08:00:00+08:00", "2026-07-14T08:00:00+08:00" } },
	{ "Asia/Shanghai", "2025-01-01T00:00:00+08:00",
	    { .kind = ALARM_LUNAR,
		.every = 1,
		.month = 6,
		.day = 1,
		.leap = true,
		.time_s = H(8, 0) },
	    { "2025-07-25T08:00:00+08:00" } },
	{ "Asia/Shanghai", "2026-01-01T00:00:00+08:00",
	    { .kind = ALARM_LUNAR,
		.every = 1,
		.month = 11,
		.day = -1,
		.leap = true,
		.time_s = H(8, 0) },
	    { "2034-01-19T08:00:00+08:00" } },
	/* 2026-02-14 and 2026-02-28 are worked, 16 to 23 are not. */
	{ "Asia/Shanghai", "2026-02-13T08:00:00+08:00",
	    { .kind = ALARM_WORKDAYS, .every = 1, .time_s = H(8, 0) },
	    { "2026-02-14T08:00:00+08:00", "2026-02-24T08:00:00+08:00",
		"2026-02-25T08:00:00+08:00" } },
	{ "America/New_York", "2026-02-13T08:00:00-05:00",
	    { .kind = ALARM_WORKDAYS, .every = 1, .time_s = H(8, 0) },
	    { "2026-02-16T08:00:00-05:00" } },
	/* Not published: Monday to Friday, though 1 October is a holiday. */
	{ "Asia/Shanghai", "2030-09-30T08:00:00+08:00",
	    { .kind = ALARM_WORKDAYS, .every = 1, .time_s = H(8, 0) },
	    { "2030-10-01T08:00:00+08:00" } },
};

TEST(rules_are_due_by_the_clocks_of_their_zone)
{
	size_t i, k;

	for (i = 0; i < NELEM(cases); i++) {
		struct zone *z = rule_zone(cases[i].zone);
		struct wall after = rule_wall(cases[i].after), at;

		ck_assert_msg(alarm_rule_is_valid(&cases[i].rule), "%zu", i);
		for (k = 0; k < 4 && cases[i].want[k] != NULL; k++) {
			const char *want = cases[i].want[k];
			char got[WALL_FORMAT_MAX] = "";

			if (alarm_rule_next(&cases[i].rule, z, after, &at) ==
			    RC_OK)
				wall_format(at, zone_offset_min(z, at), got);
			ck_assert_msg(strcmp(got, want) == 0,
			    "%zu (%s): %s, not %s", i, cases[i].zone, got,
			    want);
			after = at;
		}
		zone_free(z);
	}
}

/* ---- beside a search of all minutes ---- */

/* Whether a rule falls on a day, written without alarm_rule.c. */
static bool
search_falls_on(const struct alarm_rule *r, const struct zone *z, int64_t day)
{
	struct civil c = civil_of_days(day);
	int weekday = civil_weekday(day), month, dom;
	int64_t year, since = day - r->from_day;
	bool is_last = c.day == civil_month_days(c.year, c.month);

	if ((r->has_from && since < 0) || (r->has_until && day > r->until_day))
		return false;
	switch (r->kind) {
	case ALARM_DAILY:
		return since % r->every == 0;
	case ALARM_WORKDAYS:
		return workdays_apply(z) ? workdays_is_workday(day)
					 : weekday <= 5;
	case ALARM_WEEKLY:
		since += civil_weekday(r->from_day) - 1;
		return (r->weekdays & 1u << (weekday - 1)) != 0 &&
		    since / 7 % r->every == 0;
	case ALARM_MONTHLY:
		return (r->month_days & UINT32_C(1) << c.day) != 0 ||
		    (is_last && (r->month_days & 1) != 0);
	case ALARM_YEARLY:
		return c.month == r->month &&
		    (c.day == r->day || (r->day == -1 && is_last));
	case ALARM_LUNAR:
		return lunar_of_day(day, &year, &month, &dom) &&
		    month == r->month && dom == r->day;
	default:
		return false;
	}
}

#define SEARCH_DAYS   8
#define SEARCH_BEFORE 120
#define SEARCH_N      (SEARCH_DAYS * 1440)

/* Minutes, and what the clocks show in each, from SEARCH_BEFORE earlier on. */
struct search {
	const struct zone *zone;
	struct wall start;
	int64_t local[SEARCH_BEFORE + SEARCH_N];
};

static void
search_begin(struct search *s, const struct zone *z, const char *from)
{
	int i;

	s->zone = z;
	s->start = rule_wall(from);
	for (i = 0; i < SEARCH_BEFORE + SEARCH_N; i++)
		s->local[i] = zone_local_of(z,
		    (struct wall){
			s->start.ms + (i - SEARCH_BEFORE) * MINUTE });
}

/* Whether it is due in a minute. */
static bool
search_is_due(const struct alarm_rule *r, const struct search *s, int minute)
{
	const int64_t *local = &s->local[SEARCH_BEFORE + minute];
	int64_t day, due;
	int i;

	for (day = local[-1] / DAY; day <= local[0] / DAY; day++) {
		due = day * DAY + r->time_s;
		if (due <= local[-1] || due > local[0])
			continue;
		/* Shown before: clocks were set back. */
		for (i = 1; i < SEARCH_BEFORE && local[-i] != due; i++)
			;
		if (i == SEARCH_BEFORE && search_falls_on(r, s->zone, day))
			return true;
	}
	return false;
}

static void
search_compare(const struct alarm_rule *r, const struct search *s)
{
	struct wall t = s->start, next, more;
	char text[WALL_FORMAT_MAX];
	int i;

	ck_assert(alarm_rule_is_valid(r));
	if (alarm_rule_next(r, s->zone, (struct wall){ t.ms - 1 }, &next) !=
	    RC_OK)
		next.ms = INT64_MAX;
	for (i = 0; i < SEARCH_N; i++, t.ms += MINUTE) {
		bool due = search_is_due(r, s, i);

		if (due != (t.ms == next.ms)) {
			wall_format(t, 0, text);
			ck_abort_msg("kind %d, %02d:%02d, %s: %s at %s",
			    (int)r->kind, r->time_s / 3600, r->time_s / 60 % 60,
			    zone_name(s->zone), due ? "missing" : "unexpected",
			    text);
		}
		if (!due)
			continue;
		if (alarm_rule_next(r, s->zone, next, &more) != RC_OK)
			more.ms = INT64_MAX;
		ck_assert(more.ms > next.ms);
		next = more;
	}
}

static const struct {
	const char *zone;
	const char *from[2]; /* some days before clocks are changed */
} search_zones[] = {
	{ "Asia/Shanghai", { "2026-02-10T00:00:00Z", "2026-09-15T00:00:00Z" } },
	{ "America/New_York",
	    { "2026-03-05T00:00:00Z", "2026-10-29T00:00:00Z" } },
	{ "Europe/Berlin", { "2026-03-26T00:00:00Z", "2026-10-22T00:00:00Z" } },
	{ "Australia/Lord_Howe",
	    { "2026-04-02T00:00:00Z", "2026-10-01T00:00:00Z" } },
	{ "Asia/Kathmandu",
	    { "2026-02-25T00:00:00Z", "2028-02-20T00:00:00Z" } },
};

static const int search_times[] = { H(0, 0), H(1, 45), H(2, 10), H(2, 30),
	H(8, 0), H(23, 59) };

TEST(no_minute_is_skipped_or_due_twice)
{
	const int64_t start = rule_day(2026, 1, 14);
	struct alarm_rule rules[] = {
		{ .kind = ALARM_DAILY, .every = 1 },
		{ .kind = ALARM_DAILY,
		    .every = 3,
		    .from_day = start,
		    .has_from = true },
		{ .kind = ALARM_WORKDAYS, .every = 1 },
		{ .kind = ALARM_WEEKLY,
		    .every = 2,
		    .weekdays = 0x65,
		    .from_day = start,
		    .has_from = true },
		{ .kind = ALARM_MONTHLY,
		    .every = 1,
		    .month_days = 0x40100003 }, /* last, 1, 20, 30 */
		{ .kind = ALARM_YEARLY, .every = 1, .month = 3, .day = 29 },
		{ .kind = ALARM_YEARLY, .every = 1, .month = 2, .day = 29 },
		{ .kind = ALARM_LUNAR, .every = 1, .month = 9, .day = 20 },
	};
	static struct search search;
	size_t i, k, m;

	for (i = 0; i < 2 * NELEM(search_zones); i++) {
		struct zone *z = rule_zone(search_zones[i / 2].zone);

		search_begin(&search, z, search_zones[i / 2].from[i % 2]);
		for (k = 0; k < NELEM(rules); k++) {
			for (m = 0; m < NELEM(search_times); m++) {
				rules[k].time_s = search_times[m];
				search_compare(&rules[k], &search);
			}
		}
		zone_free(z);
	}
}

/* A whole day is skipped in Samoa: 2011-12-30. */
TEST(a_skipped_day_is_due_at_the_start_of_the_next)
{
	struct zone *z = rule_zone("Pacific/Apia");
	struct alarm_rule r = { .kind = ALARM_DAILY, .every = 1 };
	struct wall at = rule_wall("2011-12-28T12:00:00-10:00"), next;
	int n = 0;

	while (at.ms < rule_wall("2012-01-01T12:00:00+14:00").ms) {
		ck_assert_int_eq(alarm_rule_next(&r, z, at, &next), RC_OK);
		ck_assert(next.ms > at.ms);
		at = next;
		n++;
	}
	/* 29, 31, 1, 2 */
	ck_assert_int_eq(n, 4);
	zone_free(z);
}

/* ---- bounds ---- */

TEST(rules_out_of_bounds_are_not_valid)
{
	static const struct alarm_rule bad[] = {
		{ .kind = ALARM_DAILY },
		{ .kind = ALARM_DAILY, .every = 367, .has_from = true },
		{ .kind = ALARM_DAILY, .every = 2 },
		{ .kind = ALARM_DAILY, .every = 1, .time_s = 86400 },
		{ .kind = ALARM_DAILY, .every = 1, .time_s = -1 },
		{ .kind = ALARM_SINGLE, .every = 1 },
		{ .kind = ALARM_EVERY, .every = 1, .instant = { 1 } },
		{ .kind = ALARM_EVERY,
		    .every = 1,
		    .instant = { 1 },
		    .every_s = 59 },
		{ .kind = ALARM_WEEKLY, .every = 1 },
		{ .kind = ALARM_WEEKLY, .every = 1, .weekdays = 0x80 },
		{ .kind = ALARM_MONTHLY, .every = 1 },
		{ .kind = ALARM_YEARLY, .every = 1, .month = 2, .day = 30 },
		{ .kind = ALARM_YEARLY, .every = 1, .month = 0, .day = 1 },
		{ .kind = ALARM_YEARLY, .every = 1, .month = 1, .day = 0 },
		{ .kind = ALARM_LUNAR, .every = 1, .month = 1, .day = 31 },
		{ .kind = ALARM_DATES, .every = 1 },
		{ .kind = ALARM_DATES,
		    .every = 1,
		    .dates = { 2, 2 },
		    .n_dates = 2 },
		{ .kind = ALARM_KIND_COUNT, .every = 1 },
	};
	size_t i;

	for (i = 0; i < NELEM(bad); i++)
		ck_assert_msg(!alarm_rule_is_valid(&bad[i]), "%zu", i);
}

TEST(an_instant_beyond_the_calendar_has_no_next)
{
	struct zone *z = rule_zone("Europe/Berlin");
	struct alarm_rule r = { .kind = ALARM_DAILY, .every = 1 };
	struct wall at;

	for (; r.kind < ALARM_KIND_COUNT; r.kind++) {
		r.weekdays = 1;
		r.month_days = 2;
		r.month = r.day = 1;
		r.n_dates = 1;
		r.instant.ms = r.kind == ALARM_EVERY ? 1 : 0;
		r.every_s = 60;
		ck_assert(alarm_rule_is_valid(&r));
		ck_assert_int_eq(
		    alarm_rule_next(
			&r, z, (struct wall){ INT64_C(5000000000000) }, &at),
		    r.kind == ALARM_EVERY ? RC_OK : RC_NOENT);
	}
	zone_free(z);
}

/* ---- the public calendar ---- */

TEST(the_public_calendar_has_as_many_working_days_as_published)
{
	int64_t day;
	int year, n;

	/* 2025: 365 days, 104 on weekends, 28 holidays, 5 worked weekends. */
	static const int worked[] = { 248, 248 };

	for (year = 2025; year <= 2026; year++) {
		ck_assert(workdays_is_known(year));
		n = 0;
		for (day = rule_day(year, 1, 1); day < rule_day(year + 1, 1, 1);
		     day++)
			n += workdays_is_workday(day);
		ck_assert_int_eq(n, worked[year - 2025]);
	}
	ck_assert(!workdays_is_known(2024) && !workdays_is_known(2027));
}

/* A make-up day is on a weekend, and a holiday lasts less than two weeks. */
TEST(make_up_days_are_on_weekends)
{
	int64_t day = rule_day(2025, 1, 1);
	int off = 0, made_up = 0;

	for (; day < rule_day(2027, 1, 1); day++) {
		off = workdays_is_workday(day) ? 0 : off + 1;
		ck_assert_int_lt(off, 14);
		made_up += workdays_is_workday(day) && civil_weekday(day) > 5;
	}
	ck_assert_int_eq(made_up, 5 + 6);
}
