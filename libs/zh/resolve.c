/*
 * What a moment means on the calendar, from here and now.
 */
#include "core/clock.h"
#include "zh/aim.h"
#include "zh/feast.h"
#include "zh/lunar.h"
#include "zh/moment.h"

#define DAY INT64_C(86400)

/* Days from from to before to. */
struct days {
	int64_t from, to;
	enum when_grain grain;
	bool is_interval;
};

static struct days
one_day(int64_t day)
{
	return (struct days){ day, day + 1, WHEN_DAY, false };
}

static int64_t
day_of(int64_t year, int month, int day)
{
	return civil_days((struct civil){ year, month, day });
}

/* The year said, or this one. */
static int64_t
year_of(const struct moment *m, struct here h)
{
	int64_t y = civil_of_days(h.today).year;

	if ((m->has & HAS_YEAR) == 0)
		return y;
	if (m->era > 0 && m->year_is_rel)
		return y / 100 * 100 + m->year;
	return m->year_is_rel ? y + m->year : m->year;
}

void
moment_month(const struct moment *m, struct here h, int64_t *year, int *month)
{
	struct civil c = civil_of_days(h.today);

	*year = year_of(m, h);
	*month = c.month;
	if ((m->has & HAS_MONTH) == 0)
		return;
	*month = m->month_is_rel ? c.month + m->month : m->month;
	c = civil_of_days(day_of(*year, *month, 1));
	*year = c.year;
	*month = c.month;
}

static bool
feast_reach(const struct moment *m, struct here h, struct days *d)
{
	enum feast f = (enum feast)m->feast;
	int64_t year = year_of(m, h), last = year, day;
	int n = m->feast_day > 0 ? 0 : feast_length(f);
	int off = m->feast_day > 0 ? m->feast_day - 1 - feast_first(f) : 0;

	if ((m->has & HAS_YEAR) == 0) {
		last++;
		/* It may have begun in the last year. */
		year -= n > 0;
	}
	do {
		if (!feast_day_once(h.seen, f, year, &day))
			return false;
	} while (day + off + (n > 0 ? n : 1) <= h.today && ++year <= last);
	*d = one_day(day + off);
	if (n > 0) {
		d->to = d->from + n;
		d->is_interval = true;
	}
	return true;
}

/* 正月, 农历八月: the whole month, the next one that is not over. */
static bool
lunar_month_reach(const struct moment *m, struct here h, struct days *d)
{
	int64_t year = year_of(m, h), last;
	int i;

	d->grain = WHEN_MONTH;
	d->is_interval = true;
	/* The lunar year may have begun in the last one of ours. */
	for (i = (m->has & HAS_YEAR) != 0 ? 0 : -1; i < 2; i++) {
		if (!lunar_day(year + i, m->month, 1, &d->from))
			return false;
		if (!lunar_day(year + i, m->month, 30, &last))
			last = d->from + 28;
		d->to = last + 1;
		if (d->to > h.today || (m->has & HAS_YEAR) != 0)
			return true;
	}
	return false;
}

static bool
lunar_reach(const struct moment *m, struct here h, struct days *d)
{
	int64_t year, day;
	int month, dom, i;

	if (!lunar_of_day(h.today, &year, &month, &dom))
		return false;
	if ((m->has & HAS_YEAR) != 0)
		year = year_of(m, h);
	if ((m->has & HAS_MONTH) != 0)
		month = m->month;
	for (i = 0; i < 3; i++) {
		/* 腊月三十 is the last day, though the month may have 29. */
		if ((lunar_day(year, month, m->day, &day) ||
			(month == 12 && m->day == 30 &&
			    lunar_day(year + 1, 1, 0, &day))) &&
		    (day >= h.today || (m->has & HAS_YEAR) != 0)) {
			*d = one_day(day);
			return true;
		}
		if ((m->has & HAS_YEAR) != 0)
			return false;
		/* The next month if none was said, else the next year. */
		if ((m->has & HAS_MONTH) != 0 || month == 12)
			year++;
		if ((m->has & HAS_MONTH) == 0)
			month = month % 12 + 1;
	}
	return false;
}

/* A day of a named month without a year: 二月十号, 周日. */
static bool
yearless_reach(const struct moment *m, struct here h, struct days *d)
{
	int64_t year = civil_of_days(h.today).year, day, y;

	if ((m->has & HAS_WDAY) != 0) {
		/* The weekday says which year. */
		for (y = year; y <= year + 1; y++) {
			day = day_of(y, m->month, m->day);
			if (civil_weekday(day) == m->wday) {
				*d = one_day(day);
				return true;
			}
		}
	}
	for (y = year; y <= year + 8; y++) {
		day = day_of(y, m->month, m->day);
		if (day >= h.today && m->day <= civil_month_days(y, m->month)) {
			*d = one_day(day);
			return true;
		}
	}
	return false;
}

static bool
dated_reach(const struct moment *m, struct here h, struct days *d)
{
	int64_t year;
	int month, i;

	if (m->is_lunar)
		return lunar_reach(m, h, d);
	if (m->day < 0) {
		moment_month(m, h, &year, &month);
		*d = one_day(day_of(year, month + 1, 0));
		return true;
	}
	if ((m->has & (HAS_YEAR | HAS_MONTH)) == HAS_MONTH && !m->month_is_rel)
		return yearless_reach(m, h, d);
	moment_month(m, h, &year, &month);
	for (i = 0; i < 3; i++) {
		struct civil c = civil_of_days(day_of(year, month + i, 1));
		int64_t day = day_of(c.year, c.month, m->day);

		if (m->day <= civil_month_days(c.year, c.month) &&
		    (day >= h.today ||
			(m->has & (HAS_YEAR | HAS_MONTH)) != 0)) {
			*d = one_day(day);
			return true;
		}
		if ((m->has & (HAS_YEAR | HAS_MONTH)) != 0)
			return false;
	}
	return false;
}

/* The nth (-1: last) weekday of a month. */
static int64_t
nth_weekday(int64_t year, int month, int wday, int nth)
{
	int64_t first = day_of(year, month, 1);
	int days = civil_month_days(year, month);
	int64_t day = first + (wday - civil_weekday(first) + 7) % 7;

	if (nth > 0)
		return day + 7 * (nth - 1);
	while (day + 7 < first + days)
		day += 7;
	return day;
}

static bool
weekday_reach(const struct moment *m, struct here h, struct days *d)
{
	int today = civil_weekday(h.today), from, to, month;
	int64_t year, day;

	if (m->nth != 0) {
		moment_month(m, h, &year, &month);
		day = nth_weekday(year, month, m->wday, m->nth);
		if (day < h.today && (m->has & HAS_YEAR) == 0 &&
		    !m->month_is_rel) {
			if ((m->has & HAS_MONTH) != 0)
				year++;
			else
				month++;
			day = nth_weekday(year, month, m->wday, m->nth);
		}
		*d = one_day(day);
		return true;
	}
	if ((m->has & HAS_WEEK) != 0) {
		*d = one_day(h.today - today + m->wday + 7 * m->week);
		return true;
	}
	day = h.today + (m->wday - today + 7) % 7;
	if (m->wday == today) {
		/* Today only for what is still to come. */
		part_span(
		    (m->has & HAS_PART) != 0 ? m->part : PART_NONE, &from, &to);
		if ((m->has & HAS_CLOCK) != 0)
			to = moment_clock(m) +
			    (m->is_24h || (m->has & HAS_PART) != 0 ? 0 : 43200);
		else if ((m->has & HAS_PART) == 0)
			to = 0;
		if (h.today * DAY + to <= h.now)
			day += 7;
	}
	*d = one_day(day);
	return true;
}

/* The first month of the quarter said. */
static int
quarter_month(const struct moment *m, struct here h)
{
	int now = (civil_of_days(h.today).month - 1) / 3 + 1;

	return ((m->quarter_is_rel ? now : 0) + m->quarter - 1) * 3 + 1;
}

static struct days
edge_reach(const struct moment *m, struct here h)
{
	/* First and last day or month, from 1; 0: to the end. */
	static const int of_month[][2] = { { 1, 11 }, { 11, 21 }, { 21, 0 },
		{ 1, 11 }, { 11, 21 }, { 21, 0 } };
	static const int of_year[][2] = { { 1, 4 }, { 6, 8 }, { 10, 13 },
		{ 0, 0 }, { 0, 0 }, { 0, 0 }, { 3, 6 }, { 6, 9 }, { 9, 12 },
		{ 12, 15 } };
	struct days d = { .grain = WHEN_DAY, .is_interval = true };
	int64_t year;
	int month;

	moment_month(m, h, &year, &month);
	if (m->edge_unit == UNIT_QUARTER) {
		month = quarter_month(m, h);
		if (m->edge != EDGE_START)
			month += m->edge == EDGE_END ? 2 : 1;
		d.from = day_of(year, month, 1);
		d.to = day_of(year, month + 1, 1);
		return d;
	}
	if (m->edge_unit == UNIT_YEAR) {
		/* A season that is over is the next year's. */
		if (m->edge >= EDGE_SPRING && (m->has & HAS_YEAR) == 0 &&
		    day_of(year, of_year[m->edge][1], 1) <= h.today)
			year++;
		d.from = day_of(year, of_year[m->edge][0], 1);
		d.to = day_of(year, of_year[m->edge][1], 1);
		d.grain = WHEN_MONTH;
		return d;
	}
	/* A month that is over is the next year's. */
	if ((m->has & HAS_MONTH) != 0 && (m->has & HAS_YEAR) == 0 &&
	    !m->month_is_rel && day_of(year, month + 1, 1) <= h.today)
		year++;
	d.from = day_of(year, month, of_month[m->edge][0]);
	d.to = of_month[m->edge][1] > 0
	    ? day_of(year, month, of_month[m->edge][1])
	    : day_of(year, month + 1, 1);
	return d;
}

/* Months from the first, a whole unit. */
static struct days
months(int64_t year, int month, int n, enum when_grain grain)
{
	return (struct days){ day_of(year, month, 1),
		day_of(year, month + n, 1), grain, false };
}

static struct days
coarse_reach(const struct moment *m, struct here h)
{
	int64_t year = year_of(m, h), monday;
	int month;

	if ((m->has & HAS_WEEKEND) != 0 || (m->has & HAS_WEEK) != 0) {
		monday = h.today - civil_weekday(h.today) + 1 + 7 * m->week;
		if ((m->has & HAS_WEEKEND) != 0)
			return (struct days){ monday + 5, monday + 7, WHEN_DAY,
				true };
		return (struct days){ monday, monday + 7, WHEN_WEEK, false };
	}
	if ((m->has & HAS_EDGE) != 0)
		return edge_reach(m, h);
	if ((m->has & HAS_QUARTER) != 0)
		return months(year, quarter_month(m, h), 3, WHEN_QUARTER);
	if ((m->has & HAS_HALF_YEAR) != 0) {
		struct days d = months(year, m->half * 6 + 1, 6, WHEN_MONTH);

		d.is_interval = true;
		return d;
	}
	if ((m->has & HAS_MONTH) != 0) {
		moment_month(m, h, &year, &month);
		if ((m->has & HAS_YEAR) == 0 && !m->month_is_rel &&
		    month < civil_of_days(h.today).month)
			year++;
		return months(year, month, 1, WHEN_MONTH);
	}
	if ((m->has & HAS_YEAR) != 0) {
		struct days d =
		    months(year, 1, 12 * (m->era > 0 ? m->era : 1), WHEN_YEAR);

		d.is_interval = m->era > 0;
		return d;
	}
	return one_day(h.today);
}

static bool
date_reach(const struct moment *m, struct here h, struct days *d)
{
	struct length l = { .n = { [UNIT_MONTH] = 0 } };
	int off = 0;

	if ((m->has & HAS_FEAST) != 0)
		return feast_reach(m, h, d);
	if ((m->has & HAS_MONTHS) != 0) {
		l.n[UNIT_MONTH] = m->months < 0 ? -m->months : m->months;
		*d = one_day(
		    length_add(&l, h, m->months < 0 ? -1 : 1) / DAY + m->days);
		return true;
	}
	if ((m->has & HAS_DAYS) != 0) {
		/* 明年今天, 下周今天 */
		if ((m->has & HAS_YEAR) != 0)
			off = 12 * m->year;
		else if ((m->has & HAS_MONTH) != 0)
			off = m->month;
		l.n[UNIT_MONTH] = off < 0 ? -off : off;
		*d = one_day(length_add(&l, h, off < 0 ? -1 : 1) / DAY +
		    m->days + 7 * m->week);
		return true;
	}
	if ((m->has & HAS_DAY) != 0)
		return dated_reach(m, h, d);
	if ((m->has & HAS_WDAY) != 0)
		return weekday_reach(m, h, d);
	if ((m->has & HAS_MONTH) != 0 && m->is_lunar && !m->month_is_rel)
		return lunar_month_reach(m, h, d);
	*d = coarse_reach(m, h);
	return true;
}

static int64_t
grain_seconds(enum when_grain g)
{
	return g == WHEN_HOUR ? 3600 : g == WHEN_MINUTE ? 60 : 1;
}

/* A clock time without a date: the next one. */
static int64_t
next_clock(const struct moment *m, struct here h, int s)
{
	int64_t at = h.today * DAY + s % DAY;

	if (!m->is_24h && (m->has & HAS_PART) == 0) {
		/* Either half of the day. */
		while (at > h.now)
			at -= DAY / 2;
		while (at <= h.now)
			at += DAY / 2;
		return at;
	}
	if (at <= h.now && (m->has & HAS_PART) != 0 && s >= DAY)
		return h.today * DAY + s;
	return at <= h.now ? at + DAY : at;
}

static void
clock_reach(
    const struct moment *m, struct here h, int64_t day, struct reach *out)
{
	int s = m->is_now ? (int)(h.now - h.today * DAY) : moment_clock(m);

	out->grain = m->clock_grain;
	if ((m->has & HAS_DATE) == 0) {
		out->from = next_clock(m, h, s);
	} else {
		out->from = day * DAY + s;
		/* 今天三点, said in the afternoon. */
		if (day == h.today && out->from <= h.now && !m->is_24h &&
		    (m->has & (HAS_PART | HAS_DAY)) == 0 && s < DAY / 2 &&
		    out->from + DAY / 2 > h.now)
			out->from += DAY / 2;
	}
	out->to = out->from + grain_seconds(m->clock_grain);
	out->is_interval = false;
}

static void
part_reach(
    const struct moment *m, struct here h, int64_t day, struct reach *out)
{
	int from, to;

	part_span(m->part, &from, &to);
	if ((m->has & HAS_DATE) == 0 && h.today * DAY + to <= h.now)
		day++;
	out->from = day * DAY + from;
	out->to = day * DAY + to;
	out->grain = WHEN_HOUR;
	out->is_interval = m->part != PART_NOON && m->part != PART_MIDNIGHT;
}

/* 地球一小时 */
static void
hour_reach(const struct moment *m, struct reach *out)
{
	int s =
	    (m->has & HAS_FEAST) != 0 ? feast_hour((enum feast)m->feast) : -1;

	if (s < 0)
		return;
	out->from += s;
	out->to = out->from + 3600;
	out->grain = WHEN_MINUTE;
	out->is_interval = true;
	out->at = out->from;
}

bool
moment_reach(const struct moment *m, struct here h, struct reach *out)
{
	struct days d;

	if (!date_reach(m, h, &d))
		return false;
	out->at = 0;
	/* The day before the first one, the day after the last. */
	if (m->shift < 0)
		d.to = d.from + 1;
	else if (m->shift > 0)
		d.from = d.to - 1;
	d.is_interval = d.is_interval && m->shift == 0;
	d.from += m->shift;
	d.to += m->shift;
	if ((m->has & HAS_CLOCK) != 0) {
		clock_reach(m, h, d.from, out);
	} else if ((m->has & HAS_PART) != 0) {
		part_reach(m, h, d.from, out);
		out->at = aim_moment(m, h, out);
	} else {
		out->from = d.from * DAY;
		out->to = d.to * DAY;
		out->grain = d.grain;
		out->is_interval = d.is_interval;
		out->at = aim_moment(m, h, out);
		hour_reach(m, out);
	}
	return true;
}
