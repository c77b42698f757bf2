/*
 * All kinds but EVERY, and SINGLE at an instant, name days; each has at most
 * one occurrence.
 */
#include "alarm/alarm_rule.h"

#include "alarm/workdays.h"
#include "zh/holiday.h"

#define DAY INT64_C(86400)
/* Candidates until one is after an instant: see alarm_rule_next(). */
#define TRIES_MAX 8

static int64_t
alarm_local_day(int64_t local_s)
{
	return (local_s - (local_s < 0 ? DAY - 1 : 0)) / DAY;
}

struct wall
alarm_instant_of(const struct zone *zone, int64_t local_s)
{
	struct wall t = zone_wall_of(zone, local_s);
	int64_t lo, hi, mid;

	if (zone_local_of(zone, t) == local_s)
		return t;
	/* Skipped: find the transition, the first second that shows more. */
	hi = t.ms / 1000;
	lo = hi - DAY;
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (zone_local_of(zone, (struct wall){ mid * 1000 }) >= local_s)
			hi = mid;
		else
			lo = mid;
	}
	return (struct wall){ hi * 1000 };
}

/* ---- validity ---- */

static bool
alarm_dates_are_valid(const struct alarm_rule *r)
{
	size_t i;

	if (r->n_dates < 1 || r->n_dates > ALARM_DATES_MAX)
		return false;
	for (i = 1; i < r->n_dates; i++) {
		if (r->dates[i] <= r->dates[i - 1])
			return false;
	}
	return true;
}

static bool
alarm_weekdays_are_valid(unsigned weekdays)
{
	return weekdays > 0 && weekdays < 0x80;
}

bool
alarm_rule_is_valid(const struct alarm_rule *r)
{
	if (r->every < 1 || r->every > ALARM_EVERY_MAX || r->time_s < 0 ||
	    r->time_s >= DAY || (r->every > 1 && !r->has_from))
		return false;
	switch (r->kind) {
	case ALARM_SINGLE:
		return r->instant.ms > 0 || r->n_dates == 1;
	case ALARM_EVERY:
		return r->instant.ms > 0 && r->every_s >= ALARM_EVERY_S_MIN &&
		    r->every_s <= ALARM_EVERY_S_MAX;
	case ALARM_DAILY:
	case ALARM_WORKDAYS:
		return true;
	case ALARM_WEEKLY:
		return alarm_weekdays_are_valid(r->weekdays);
	case ALARM_MONTHLY:
		return r->month_days != 0;
	case ALARM_YEARLY:
		return r->month >= 1 && r->month <= 12 &&
		    (r->day == -1 ||
			(r->day >= 1 &&
			    r->day <= civil_month_days(2000, r->month)));
	case ALARM_LUNAR:
		return r->month >= 1 && r->month <= 12 &&
		    (r->day == -1 || (r->day >= 1 && r->day <= 30));
	case ALARM_DATES:
		return alarm_dates_are_valid(r);
	case ALARM_KIND_COUNT:
		break;
	}
	return false;
}

/* ---- the days of a rule ---- */

/* From *day on, the first of a rule; false: there is none. */

static bool
alarm_daily_from(const struct alarm_rule *r, int64_t *day)
{
	int64_t over;

	if (r->every == 1)
		return true;
	if (*day < r->from_day)
		*day = r->from_day;
	over = (*day - r->from_day) % r->every;
	if (over > 0)
		*day += r->every - over;
	return true;
}

static bool
alarm_workdays_from(const struct zone *zone, int64_t *day)
{
	bool china = workdays_apply(zone);

	/* No holiday lasts two weeks. */
	while (china ? !workdays_is_workday(*day) : civil_weekday(*day) > 5)
		++*day;
	return true;
}

static int64_t
alarm_monday(int64_t day)
{
	return day - civil_weekday(day) + 1;
}

static bool
alarm_weekly_from(const struct alarm_rule *r, int64_t *day)
{
	int64_t weeks, start = alarm_monday(r->from_day);

	if (r->every > 1 && *day < r->from_day)
		*day = r->from_day;
	for (;;) {
		weeks = (alarm_monday(*day) - start) / 7;
		if (r->every > 1 && weeks % r->every != 0)
			*day = start + 7 * (weeks / r->every + 1) * r->every;
		if ((r->weekdays >> (civil_weekday(*day) - 1) & 1u) != 0)
			return true;
		++*day;
	}
}

static int64_t
alarm_month_number(int64_t day)
{
	struct civil c = civil_of_days(day);

	return c.year * 12 + c.month - 1;
}

/* The first of the rule's days of a month that is not before least. */
static bool
alarm_day_of_month(
    const struct alarm_rule *r, int64_t month, int64_t least, int64_t *day)
{
	struct civil c = { month / 12, (int)(month % 12) + 1, 1 };
	int length = civil_month_days(c.year, c.month);

	for (; c.day <= length; c.day++) {
		bool is_last = c.day == length &&
		    (r->month_days & UINT32_C(1) << ALARM_LAST_DAY) != 0;

		*day = civil_days(c);
		if (*day >= least &&
		    (is_last || (r->month_days >> c.day & 1u) != 0))
			return true;
	}
	return false;
}

static bool
alarm_monthly_from(const struct alarm_rule *r, int64_t *day)
{
	int64_t least = *day, month, start = alarm_month_number(r->from_day);

	if (r->every > 1 && least < r->from_day)
		least = r->from_day;
	month = alarm_month_number(least);
	if (r->every > 1 && (month - start) % r->every != 0)
		month += r->every - (month - start) % r->every;
	for (; month / 12 <= ALARM_YEAR_MAX; month += r->every) {
		if (alarm_day_of_month(r, month, least, day))
			return true;
	}
	return false;
}

static bool
alarm_yearly_from(const struct alarm_rule *r, int64_t *day)
{
	struct civil c = { civil_of_days(*day).year, r->month, r->day };
	int64_t least = *day;
	int length;

	for (; c.year <= ALARM_YEAR_MAX; c.year++) {
		length = civil_month_days(c.year, c.month);
		if (r->day < 0)
			c.day = length;
		*day = civil_days(c);
		if (*day >= least && c.day <= length)
			return true;
	}
	return false;
}

/* The rule's day of the leap month of its number in a lunar year. */
static bool
alarm_leap_day(const struct alarm_rule *r, int64_t last, int64_t *day)
{
	int64_t year;
	int month, dom;

	if (!lunar_of_day(last + 1, &year, &month, &dom) || month != r->month)
		return false;
	*day = last + (r->day < 0 ? 30 : r->day);
	if (!lunar_of_day(*day, &year, &month, &dom))
		return false;
	if (r->day < 0 && dom != 30)
		*day -= dom;
	return r->day < 0 || dom == r->day;
}

static bool
alarm_lunar_day(const struct alarm_rule *r, int64_t year, int64_t *day)
{
	int64_t last;

	if (r->day > 0 && !r->leap)
		return lunar_day(year, r->month, r->day, day);
	if (!lunar_day(year, r->month, 30, &last) &&
	    !lunar_day(year, r->month, 29, &last))
		return false;
	*day = last;
	return !r->leap || alarm_leap_day(r, last, day);
}

static bool
alarm_lunar_from(const struct alarm_rule *r, int64_t *day)
{
	int64_t least = *day, year;

	/* A lunar year begins in the civil one and ends in the next. */
	for (year = civil_of_days(least).year - 1; year <= ALARM_YEAR_MAX;
	     year++) {
		if (alarm_lunar_day(r, year, day) && *day >= least)
			return true;
	}
	return false;
}

static bool
alarm_dates_from(const struct alarm_rule *r, int64_t *day)
{
	size_t i;

	for (i = 0; i < r->n_dates; i++) {
		if (r->dates[i] >= *day) {
			*day = r->dates[i];
			return true;
		}
	}
	return false;
}

static bool
alarm_day_from(
    const struct alarm_rule *r, const struct zone *zone, int64_t *day)
{
	switch (r->kind) {
	case ALARM_DAILY:
		return alarm_daily_from(r, day);
	case ALARM_WORKDAYS:
		return alarm_workdays_from(zone, day);
	case ALARM_WEEKLY:
		return alarm_weekly_from(r, day);
	case ALARM_MONTHLY:
		return alarm_monthly_from(r, day);
	case ALARM_YEARLY:
		return alarm_yearly_from(r, day);
	case ALARM_LUNAR:
		return alarm_lunar_from(r, day);
	case ALARM_SINGLE:
	case ALARM_DATES:
		return alarm_dates_from(r, day);
	case ALARM_EVERY:
	case ALARM_KIND_COUNT:
		break;
	}
	return false;
}

/* ---- occurrences ---- */

static enum rc
alarm_every_next(
    const struct alarm_rule *r, struct wall after, struct wall *out)
{
	int64_t step = r->every_s * 1000, since = after.ms - r->instant.ms;

	*out = r->instant;
	if (since >= 0)
		out->ms += (since / step + 1) * step;
	return RC_OK;
}

static enum rc
alarm_day_next(const struct alarm_rule *r, const struct zone *zone,
    struct wall after, struct wall *out)
{
	int64_t day = alarm_local_day(zone_local_of(zone, after)) - 1;
	int i;

	/*
	 * A time skipped at the end of the previous day may be due today; from
	 * two days later on every candidate is after the instant.
	 */
	for (i = 0; i < TRIES_MAX; i++, day++) {
		if (!alarm_day_from(r, zone, &day) ||
		    civil_of_days(day).year > ALARM_YEAR_MAX)
			return RC_NOENT;
		*out = alarm_instant_of(zone, day * DAY + r->time_s);
		if (out->ms > after.ms)
			return RC_OK;
	}
	return RC_NOENT;
}

enum rc
alarm_rule_next(const struct alarm_rule *r, const struct zone *zone,
    struct wall after, struct wall *out)
{
	struct wall first;
	enum rc rc;

	if (r->has_from) {
		first = alarm_instant_of(zone, r->from_day * DAY);
		if (after.ms < first.ms - 1)
			after.ms = first.ms - 1;
	}
	if (r->kind == ALARM_EVERY) {
		rc = alarm_every_next(r, after, out);
	} else if (r->kind == ALARM_SINGLE && r->instant.ms > 0) {
		*out = r->instant;
		rc = out->ms > after.ms ? RC_OK : RC_NOENT;
	} else {
		rc = alarm_day_next(r, zone, after, out);
	}
	if (rc == RC_OK && r->has_until &&
	    alarm_local_day(zone_local_of(zone, *out)) > r->until_day)
		rc = RC_NOENT;
	return rc;
}
