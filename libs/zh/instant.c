/*
 * Instants: dates, parts of the day and clock times put together, and what
 * they mean on the calendar.
 */
#include "core/clock.h"
#include "zh/holiday.h"
#include "zh/zh_internal.h"

#define DAY INT64_C(86400)

/* ---- parsing ---- */

/* Coarse to fine, the order of Chinese dates. */
static int
instant_rank(unsigned has)
{
	if ((has & HAS_CLOCK) != 0)
		return 6;
	if ((has & HAS_DAY_PART) != 0)
		return 5;
	if ((has & HAS_ONE_DAY) != 0)
		return 4;
	if ((has & (HAS_EDGE | HAS_WEEKEND)) != 0)
		return 3;
	if ((has & (HAS_MONTH | HAS_WEEK | HAS_QUARTER | HAS_HALF_YEAR)) != 0)
		return 2;
	return (has & HAS_YEAR) != 0 ? 1 : 0;
}

bool
instant_may_join(
    const struct instant *old, const struct instant *new, bool is_latin)
{
	unsigned added = new->has & ~old->has;
	unsigned days = HAS_DAY | HAS_DAYS | HAS_HOLIDAY | HAS_MONTHS;
	unsigned weekday = HAS_WDAY | HAS_WEEK;
	unsigned units = HAS_YEAR | HAS_MONTH | HAS_WEEK;

	if (old->has == 0 || added == 0)
		return old->has == 0 || new->is_lunar != old->is_lunar;
	/* 明年今天, 下周今天 */
	if ((added & HAS_DAYS) != 0 && (old->has & ~units) == 0 && !is_latin)
		return new->days == 0 &&
		    ((old->has & HAS_YEAR) == 0 || old->year_is_rel) &&
		    ((old->has & HAS_MONTH) == 0 || old->month_is_rel);
	if ((old->has & days) != 0 && (added & (days | HAS_WEEKEND)) != 0)
		return false;
	/* 周日, 二月十号 and 二月十号周日 give one day twice. */
	if ((old->has & HAS_WDAY) != 0 && (old->has & HAS_WEEK) == 0 &&
	    (added & (HAS_MONTH | HAS_DAY)) != 0 &&
	    (old->has & (HAS_DAY_PART | HAS_CLOCK)) == 0)
		return (added & HAS_DAY) != 0 || (new->has &HAS_MONTH) != 0;
	if ((old->has & HAS_DAYS) != 0 &&
	    (added & ~(weekday | HAS_DAY_PART | HAS_CLOCK)) != 0)
		return is_latin && (added & HAS_DATE) == 0;
	return is_latin || instant_rank(added) >= instant_rank(old->has);
}

static const struct token *
instant_parse_day_part(const struct token *t, struct instant *m)
{
	struct instant next = *m;

	if (t->type == TOK_AT && t->v == 1 && t[1].type == TOK_DAY_PART)
		t++;
	if (t->type == TOK_IN && t[1].type == TOK_AT &&
	    t[2].type == TOK_DAY_PART)
		t += 2;
	if (t->type != TOK_DAY_PART || (m->has & HAS_DAY_PART) != 0)
		return NULL;
	/* 早, 晚: only after a day or before an hour. */
	if (t->w == 1 && m->has == 0 && t[1].type != TOK_CLOCK &&
	    (t[1].type != TOK_NUM || t[2].type != TOK_OCLOCK))
		return NULL;
	next.has |= HAS_DAY_PART;
	next.day_part = t->v;
	if (!instant_may_join(m, &next, t->is_latin || m->is_latin))
		return NULL;
	*m = next;
	return t + 1;
}

const struct token *
instant_parse_time(const struct token *t, struct instant *m)
{
	const struct token *last = NULL, *n;
	struct instant next;

	if (t->type == TOK_OF)
		t++;
	for (;;) {
		if (t->type == TOK_ABOUT && t->w == 0)
			t++;
		n = instant_parse_day_part(t, m);
		if (n == NULL && (m->has & HAS_CLOCK) == 0) {
			next = *m;
			n = clock_time_parse(t, &next);
			if (n != NULL)
				*m = next;
		}
		if (n == NULL)
			return last;
		m->is_latin = m->is_latin || t->is_latin;
		t = last = n;
	}
}

/* Skip words between parts that add nothing: 的, a comma, on, the. */
static const struct token *
instant_skip_between(const struct token *t, const struct instant *m)
{
	const struct token *n = t;

	if (n->type == TOK_OF || n->type == TOK_ABOUT)
		n++;
	else if (n->type == TOK_COMMA &&
	    (m->has & (HAS_CLOCK | HAS_DAY_PART)) == 0)
		n++;
	while (n->type == TOK_AT && n->v != 1)
		n++;
	return n;
}

/* 去年, 下个月, 上周: of which a day like today is meant. */
static bool
instant_is_relative_unit(const struct instant *m)
{
	return m->has != 0 && !m->is_lunar && m->era == 0 &&
	    (m->has & ~(unsigned)(HAS_YEAR | HAS_MONTH | HAS_WEEK)) == 0 &&
	    ((m->has & HAS_YEAR) == 0 || m->year_is_rel) &&
	    ((m->has & HAS_MONTH) == 0 || m->month_is_rel);
}

/* 国庆当天, 明天这个时候: the day or the time that is already known. */
static const struct token *
instant_parse_same(const struct token *t, struct instant *m)
{
	/* 去年同一天 */
	if (t->type == TOK_SAME && t->v == 2) {
		if (!instant_is_relative_unit(m))
			return NULL;
		m->has |= HAS_DAYS;
		return t + 1;
	}
	if (t->type == TOK_SAME && (m->has & (HAS_DAY_PART | HAS_CLOCK)) == 0) {
		if ((m->has & HAS_ONE_DAY) == 0) {
			if (t->v == 1 || m->has != 0)
				return NULL;
			m->has |= HAS_DAYS;
		}
		if (t->w != DAY_PART_NONE) {
			m->has |= HAS_DAY_PART;
			m->day_part = t->w;
		}
		return t + 1;
	}
	if (t->type == TOK_EVE && m->shift == 0 &&
	    (m->has & (HAS_DAY_PART | HAS_CLOCK)) == 0) {
		if ((m->has & HAS_ONE_DAY) != 0) {
			m->shift = t->v;
		} else if (m->has == 0 && (t->v > 0 || t->w != 0)) {
			/* 次日, 前一晚 */
			m->has = HAS_DAYS;
			m->days = t->v;
		} else {
			return NULL;
		}
		if (t->w != DAY_PART_NONE) {
			m->has |= HAS_DAY_PART;
			m->day_part = t->w;
		}
		return t + 1;
	}
	if (t->type == TOK_ADVERB && t->v == ADVERB_NOW &&
	    (m->has == 0 || (m->has & HAS_ONE_DAY) != 0 ||
		instant_is_relative_unit(m)) &&
	    (m->has & (HAS_DAY_PART | HAS_CLOCK)) == 0) {
		m->clock_grain =
		    m->has == 0 ? DATETIME_SECOND : DATETIME_MINUTE;
		m->has |=
		    HAS_CLOCK | ((m->has & HAS_ONE_DAY) == 0 ? HAS_DAYS : 0u);
		m->is_24h = m->is_now = true;
		return t + 1;
	}
	return NULL;
}

const struct token *
instant_parse(const struct token *t, struct instant *m)
{
	const struct token *last = NULL, *n;
	bool is_open = false;

	*m = (struct instant){ .confidence = .95 };
	while (t->type == TOK_AT && t->v != 1)
		t++;
	for (;;) {
		const struct token *at =
		    last == NULL ? t : instant_skip_between(t, m);

		n = date_parse(at, m);
		if (n == NULL)
			n = instant_parse_same(at, m);
		if (n == NULL)
			n = instant_parse_day_part(at, m);
		if (n == NULL && (m->has & HAS_CLOCK) == 0) {
			struct instant next = *m;

			n = clock_time_parse(at, &next);
			if (n != NULL) {
				next.has |= HAS_CLOCK;
				next.is_approximate =
				    next.is_approximate || n->type == TOK_ABOUT;
				next.is_latin |= at->is_latin;
				*m = next;
			}
		}
		if (n == NULL)
			break;
		/* A closing bracket belongs to what it closes. */
		is_open = is_open ||
		    (at > t && at[-1].type == TOK_COMMA && at[-1].w == 1);
		if (is_open && n->type == TOK_COMMA && n->w == 1) {
			is_open = false;
			n++;
		}
		t = last = n;
	}
	if (m->has == 0)
		return NULL;
	return last;
}

/* ---- resolving ---- */

/* Days [from, to). */
struct day_range {
	int64_t from, to;
	enum datetime_grain grain;
	bool is_interval;
};

static struct day_range
instant_one_day(int64_t day)
{
	return (struct day_range){ day, day + 1, DATETIME_DAY, false };
}

static int64_t
instant_civil_day(int64_t year, int month, int day)
{
	return civil_days((struct civil){ year, month, day });
}

/* The year given, else the current one. */
static int64_t
instant_year(const struct instant *m, struct local_now h)
{
	int64_t y = civil_of_days(h.today).year;

	if ((m->has & HAS_YEAR) == 0)
		return y;
	if (m->era > 0 && m->year_is_rel)
		return y / 100 * 100 + m->year;
	/* Up to twenty years ahead, else before. */
	if (m->year_is_short)
		return y - y % 100 + m->year -
		    (m->year > y % 100 + 20 ? 100 : 0);
	return m->year_is_rel ? y + m->year : m->year;
}

/* The month it is in; the current one if none is given. */
static void
instant_month(
    const struct instant *m, struct local_now h, int64_t *year, int *month)
{
	struct civil c = civil_of_days(h.today);

	*year = instant_year(m, h);
	*month = c.month;
	if ((m->has & HAS_MONTH) == 0)
		return;
	*month = m->month_is_rel ? c.month + m->month : m->month;
	c = civil_of_days(instant_civil_day(*year, *month, 1));
	*year = c.year;
	*month = c.month;
}

static bool
instant_resolve_holiday(
    const struct instant *m, struct local_now h, struct day_range *d)
{
	enum holiday f = (enum holiday)m->holiday;
	int64_t year = instant_year(m, h), last = year, day;
	int n = m->holiday_day > 0 ? 0 : holiday_days(f);
	int off = m->holiday_day > 0 ? m->holiday_day - 1 : 0;

	if ((m->has & HAS_YEAR) == 0) {
		last++;
		/* It may have begun in the previous year. */
		year -= n > 0;
	}
	do {
		if (!holiday_day_cached(h.holidays, f, year, &day))
			return false;
	} while (day + off + (n > 0 ? n : 1) <= h.today && ++year <= last);
	*d = instant_one_day(day + off);
	if (m->is_vacation) {
		n = holiday_vacation(f);
		d->from -= f == HOLIDAY_SPRING_FESTIVAL;
	}
	if (n > 0) {
		d->to = d->from + n;
		d->is_interval = true;
	}
	return true;
}

/* A leap month returns after at most so many years. */
#define LEAP_YEARS_MAX 100

/* 闰四月初一, 闰四月: the next one. */
static bool
instant_resolve_leap(
    const struct instant *m, struct local_now h, struct day_range *d)
{
	int64_t year = instant_year(m, h), last = year, day;
	int dom = (m->has & HAS_DAY) != 0 ? m->day : 1;

	if ((m->has & HAS_YEAR) == 0)
		last += LEAP_YEARS_MAX;
	for (; year <= last; year++) {
		if (!lunar_leap_day(year, m->month, dom, &d->from))
			continue;
		d->to = d->from + 1;
		if ((m->has & HAS_DAY) == 0) {
			d->to = d->from + 29;
			if (lunar_leap_day(year, m->month, 30, &day))
				d->to = day + 1;
		}
		if (d->to > h.today || (m->has & HAS_YEAR) != 0) {
			d->grain = (m->has & HAS_DAY) != 0 ? DATETIME_DAY
							   : DATETIME_MONTH;
			d->is_interval = (m->has & HAS_DAY) == 0;
			return true;
		}
	}
	return false;
}

/* 正月, 农历八月: the whole month, the first one that is not over. */
static bool
instant_resolve_lunar_month(
    const struct instant *m, struct local_now h, struct day_range *d)
{
	int64_t year = instant_year(m, h), last;
	int i;

	d->grain = DATETIME_MONTH;
	d->is_interval = true;
	/* The lunar year may have begun in the previous civil year. */
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
instant_resolve_lunar_day(
    const struct instant *m, struct local_now h, struct day_range *d)
{
	int64_t year, day;
	int month, dom, i;

	if (!lunar_of_day(h.today, &year, &month, &dom))
		return false;
	if ((m->has & HAS_YEAR) != 0)
		year = instant_year(m, h);
	if ((m->has & HAS_MONTH) != 0)
		month = m->month;
	for (i = 0; i < 3; i++) {
		/* 腊月三十 is the last day, though the month may have 29. */
		if ((lunar_day(year, month, m->day, &day) ||
			(month == 12 && m->day == 30 &&
			    lunar_day(year + 1, 1, 0, &day))) &&
		    (day >= h.today || (m->has & HAS_YEAR) != 0)) {
			*d = instant_one_day(day);
			return true;
		}
		if ((m->has & HAS_YEAR) != 0)
			return false;
		/* The next month if none was given, else the next year. */
		if ((m->has & HAS_MONTH) != 0 || month == 12)
			year++;
		if ((m->has & HAS_MONTH) == 0)
			month = month % 12 + 1;
	}
	return false;
}

/* A day of a named month without a year: 二月十号, 周日. */
static bool
instant_resolve_yearless(
    const struct instant *m, struct local_now h, struct day_range *d)
{
	int64_t year = civil_of_days(h.today).year, day, y;

	if ((m->has & HAS_WDAY) != 0) {
		/* The weekday determines the year. */
		for (y = year; y <= year + 1; y++) {
			day = instant_civil_day(y, m->month, m->day);
			if (civil_weekday(day) == m->wday) {
				*d = instant_one_day(day);
				return true;
			}
		}
	}
	for (y = year; y <= year + 8; y++) {
		day = instant_civil_day(y, m->month, m->day);
		if (day >= h.today && m->day <= civil_month_days(y, m->month)) {
			*d = instant_one_day(day);
			return true;
		}
	}
	return false;
}

static bool
instant_resolve_dated(
    const struct instant *m, struct local_now h, struct day_range *d)
{
	int64_t year;
	int month, i;

	if (m->is_lunar)
		return m->is_leap ? instant_resolve_leap(m, h, d)
				  : instant_resolve_lunar_day(m, h, d);
	if (m->day < 0) {
		instant_month(m, h, &year, &month);
		/* 二月的最后一天: the next one */
		if ((m->has & (HAS_YEAR | HAS_MONTH)) == HAS_MONTH &&
		    !m->month_is_rel && month < civil_of_days(h.today).month)
			year++;
		*d = instant_one_day(instant_civil_day(year, month + 1, 0));
		return true;
	}
	if ((m->has & (HAS_YEAR | HAS_MONTH)) == HAS_MONTH && !m->month_is_rel)
		return instant_resolve_yearless(m, h, d);
	instant_month(m, h, &year, &month);
	for (i = 0; i < 3; i++) {
		struct civil c =
		    civil_of_days(instant_civil_day(year, month + i, 1));
		int64_t day = instant_civil_day(c.year, c.month, m->day);

		if (m->day <= civil_month_days(c.year, c.month) &&
		    (day >= h.today ||
			(m->has & (HAS_YEAR | HAS_MONTH)) != 0)) {
			*d = instant_one_day(day);
			return true;
		}
		if ((m->has & (HAS_YEAR | HAS_MONTH)) != 0)
			return false;
	}
	return false;
}

static bool
instant_resolve_weekday(
    const struct instant *m, struct local_now h, struct day_range *d)
{
	int today = civil_weekday(h.today), from, to, month;
	int64_t year, day;

	if (m->nth != 0) {
		instant_month(m, h, &year, &month);
		day = calendar_nth_weekday(year, month, m->nth, m->wday);
		if (day < h.today && (m->has & HAS_YEAR) == 0 &&
		    !m->month_is_rel) {
			if ((m->has & HAS_MONTH) != 0)
				year++;
			else
				month++;
			day =
			    calendar_nth_weekday(year, month, m->nth, m->wday);
		}
		*d = instant_one_day(day);
		return true;
	}
	if ((m->has & HAS_WEEK) != 0) {
		*d = instant_one_day(h.today - today + m->wday + 7 * m->week);
		return true;
	}
	day = h.today + (m->wday - today + 7) % 7;
	if (m->wday == today) {
		/* Today only if the time is still ahead. */
		day_part_bounds(
		    (m->has & HAS_DAY_PART) != 0 ? m->day_part : DAY_PART_NONE,
		    &from, &to);
		if ((m->has & HAS_CLOCK) != 0)
			to = instant_clock(m) +
			    (m->is_24h || (m->has & HAS_DAY_PART) != 0 ? 0
								       : 43200);
		else if ((m->has & HAS_DAY_PART) == 0)
			to = 0;
		if (h.today * DAY + to <= h.now)
			day += 7;
	}
	*d = instant_one_day(day);
	return true;
}

/* The first month of the quarter. */
static int
instant_quarter_month(const struct instant *m, struct local_now h)
{
	int now = (civil_of_days(h.today).month - 1) / 3 + 1;

	return ((m->quarter_is_rel ? now : 0) + m->quarter - 1) * 3 + 1;
}

/* 九十年代初, 上世纪末: in tenths of it. */
static struct day_range
instant_resolve_era_edge(const struct instant *m, int64_t year)
{
	static const int tenths[][2] = { { 0, 3 }, { 3, 7 }, { 7, 10 } };
	static const int century[][2] = { { 0, 2 }, { 4, 6 }, { 9, 10 } };
	const int *part = m->era > 10 ? century[m->edge] : tenths[m->edge];

	return (struct day_range){ instant_civil_day(
				       year + m->era * part[0] / 10, 1, 1),
		instant_civil_day(year + m->era * part[1] / 10, 1, 1),
		DATETIME_YEAR, true };
}

/* 周初, 周中, 上半周: days from its Monday. */
static struct day_range
instant_resolve_week_edge(const struct instant *m, struct local_now h)
{
	int64_t monday = h.today - civil_weekday(h.today) + 1 + 7 * m->week;
	int from = 0, to = 2;

	switch (m->edge) {
	case EDGE_MIDDLE:
		from = 2;
		to = 4;
		break;
	case EDGE_END:
		from = 4;
		to = 7;
		break;
	case EDGE_HALF1:
		to = 3;
		break;
	case EDGE_HALF2:
		from = 3;
		to = 7;
		break;
	default:
		break;
	}
	return (
	    struct day_range){ monday + from, monday + to, DATETIME_DAY, true };
}

static struct day_range
instant_resolve_edge(const struct instant *m, struct local_now h)
{
	/* First and last day or month, from 1; 0: to the end. */
	static const int of_month[][2] = { { 1, 11 }, { 11, 21 }, { 21, 0 },
		{ 1, 11 }, { 11, 21 }, { 21, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 },
		{ 1, 0 }, { 1, 16 }, { 16, 0 } };
	static const int of_year[][2] = { { 1, 4 }, { 6, 8 }, { 10, 13 },
		{ 0, 0 }, { 0, 0 }, { 0, 0 }, { 3, 6 }, { 6, 9 }, { 9, 12 },
		{ 12, 15 } };
	struct day_range d = { .grain = DATETIME_DAY, .is_interval = true };
	int64_t year;
	int month;

	if (m->edge_unit == UNIT_WEEK)
		return instant_resolve_week_edge(m, h);
	instant_month(m, h, &year, &month);
	if (m->era > 0 && m->edge <= EDGE_END)
		return instant_resolve_era_edge(m, year);
	if (m->edge_unit == UNIT_QUARTER) {
		month = instant_quarter_month(m, h);
		if (m->edge != EDGE_START)
			month += m->edge == EDGE_END ? 2 : 1;
		d.from = instant_civil_day(year, month, 1);
		d.to = instant_civil_day(year, month + 1, 1);
		return d;
	}
	if (m->edge_unit == UNIT_YEAR) {
		/* A season that is over means the next year's. */
		if (m->edge >= EDGE_SPRING && (m->has & HAS_YEAR) == 0 &&
		    instant_civil_day(year, of_year[m->edge][1], 1) <= h.today)
			year++;
		d.from = instant_civil_day(year, of_year[m->edge][0], 1);
		d.to = instant_civil_day(year, of_year[m->edge][1], 1);
		d.grain = DATETIME_MONTH;
		return d;
	}
	/* A month that is over means the next year's. */
	if ((m->has & HAS_MONTH) != 0 && (m->has & HAS_YEAR) == 0 &&
	    !m->month_is_rel &&
	    instant_civil_day(year, month + 1, 1) <= h.today)
		year++;
	d.from = instant_civil_day(year, month, of_month[m->edge][0]);
	d.to = of_month[m->edge][1] > 0
	    ? instant_civil_day(year, month, of_month[m->edge][1])
	    : instant_civil_day(year, month + 1, 1);
	return d;
}

/* n whole months from the first of month. */
static struct day_range
instant_months(int64_t year, int month, int n, enum datetime_grain grain)
{
	return (struct day_range){ instant_civil_day(year, month, 1),
		instant_civil_day(year, month + n, 1), grain, false };
}

static struct day_range
instant_resolve_coarse(const struct instant *m, struct local_now h)
{
	int64_t year = instant_year(m, h), monday;
	int month;

	if ((m->has & HAS_EDGE) == 0 &&
	    ((m->has & HAS_WEEKEND) != 0 || (m->has & HAS_WEEK) != 0)) {
		monday = h.today - civil_weekday(h.today) + 1 + 7 * m->week;
		if ((m->has & HAS_WEEKEND) != 0)
			return (struct day_range){ monday + 5, monday + 7,
				DATETIME_DAY, true };
		return (struct day_range){ monday, monday + 7, DATETIME_WEEK,
			false };
	}
	if ((m->has & HAS_EDGE) != 0)
		return instant_resolve_edge(m, h);
	if ((m->has & HAS_QUARTER) != 0)
		return instant_months(
		    year, instant_quarter_month(m, h), 3, DATETIME_QUARTER);
	if ((m->has & HAS_HALF_YEAR) != 0) {
		struct day_range d =
		    instant_months(year, m->half * 6 + 1, 6, DATETIME_MONTH);

		d.is_interval = true;
		return d;
	}
	if ((m->has & HAS_MONTH) != 0) {
		instant_month(m, h, &year, &month);
		if ((m->has & HAS_YEAR) == 0 && !m->month_is_rel &&
		    month < civil_of_days(h.today).month)
			year++;
		return instant_months(year, month, 1, DATETIME_MONTH);
	}
	if ((m->has & HAS_YEAR) != 0) {
		struct day_range d = instant_months(
		    year, 1, 12 * (m->era > 0 ? m->era : 1), DATETIME_YEAR);

		d.is_interval = m->era > 0;
		return d;
	}
	return instant_one_day(h.today);
}

static bool
instant_resolve_date(
    const struct instant *m, struct local_now h, struct day_range *d)
{
	struct duration l = { .n = { [UNIT_MONTH] = 0 } };
	int off = 0;

	if ((m->has & HAS_HOLIDAY) != 0)
		return instant_resolve_holiday(m, h, d);
	if ((m->has & HAS_MONTHS) != 0) {
		l.n[UNIT_MONTH] = m->months < 0 ? -m->months : m->months;
		*d = instant_one_day(
		    duration_add(&l, h, m->months < 0 ? -1 : 1) / DAY +
		    m->days);
		return true;
	}
	if ((m->has & HAS_DAYS) != 0) {
		/* 明年今天, 下周今天 */
		if ((m->has & HAS_YEAR) != 0)
			off = 12 * m->year;
		else if ((m->has & HAS_MONTH) != 0)
			off = m->month;
		l.n[UNIT_MONTH] = off < 0 ? -off : off;
		*d = instant_one_day(
		    duration_add(&l, h, off < 0 ? -1 : 1) / DAY + m->days +
		    7 * m->week);
		return true;
	}
	if ((m->has & HAS_DAY) != 0)
		return instant_resolve_dated(m, h, d);
	if ((m->has & HAS_WDAY) != 0)
		return instant_resolve_weekday(m, h, d);
	if ((m->has & HAS_MONTH) != 0 && m->is_lunar && !m->month_is_rel)
		return m->is_leap ? instant_resolve_leap(m, h, d)
				  : instant_resolve_lunar_month(m, h, d);
	*d = instant_resolve_coarse(m, h);
	return true;
}

static int64_t
instant_grain_seconds(enum datetime_grain g)
{
	return g == DATETIME_HOUR ? 3600 : g == DATETIME_MINUTE ? 60 : 1;
}

/* A clock time without a date: the next one. */
static int64_t
instant_next_clock(const struct instant *m, struct local_now h, int s)
{
	int64_t at = h.today * DAY + s % DAY;

	if (!m->is_24h && (m->has & HAS_DAY_PART) == 0) {
		/* The next of both halves of the day. */
		while (at > h.now)
			at -= DAY / 2;
		while (at <= h.now)
			at += DAY / 2;
		return at;
	}
	if (at <= h.now && (m->has & HAS_DAY_PART) != 0 && s >= DAY)
		return h.today * DAY + s;
	return at <= h.now ? at + DAY : at;
}

static void
instant_resolve_clock(const struct instant *m, struct local_now h, int64_t day,
    struct local_range *out)
{
	int s = m->is_now ? (int)(h.now - h.today * DAY) : instant_clock(m);

	out->grain = m->clock_grain;
	out->is_either_half = !m->is_24h && (m->has & HAS_DAY_PART) == 0 &&
	    ((m->has & HAS_DATE) == 0 || day * DAY + s > h.now);
	out->is_zoned = m->is_zoned && (m->has & HAS_DATE) != 0;
	if (out->is_zoned) {
		out->from = zone_local_of(h.zone,
		    (struct wall){ (day * DAY + s - m->zone_min * 60) * 1000 });
	} else if ((m->has & HAS_DATE) == 0) {
		out->from = instant_next_clock(m, h, s);
	} else {
		out->from = day * DAY + s;
		/* 今天三点 in the afternoon means 15:00. */
		if (day == h.today && out->from <= h.now && !m->is_24h &&
		    (m->has & (HAS_DAY_PART | HAS_DAY)) == 0 && s < DAY / 2 &&
		    out->from + DAY / 2 > h.now)
			out->from += DAY / 2;
	}
	out->to = out->from + instant_grain_seconds(m->clock_grain);
	out->is_interval = false;
}

static void
instant_resolve_day_part(const struct instant *m, struct local_now h,
    int64_t day, struct local_range *out)
{
	int from, to;

	day_part_bounds(m->day_part, &from, &to);
	if ((m->has & HAS_DATE) == 0 && h.today * DAY + to <= h.now)
		day++;
	out->from = day * DAY + from;
	out->to = day * DAY + to;
	out->grain = DATETIME_HOUR;
	out->is_interval =
	    m->day_part != DAY_PART_NOON && m->day_part != DAY_PART_MIDNIGHT;
}

/* 地球一小时 */
static void
instant_resolve_holiday_hour(const struct instant *m, struct local_range *out)
{
	int s = (m->has & HAS_HOLIDAY) != 0
	    ? holiday_hour((enum holiday)m->holiday)
	    : -1;

	if (s < 0)
		return;
	out->from += s;
	out->to = out->from + 3600;
	out->grain = DATETIME_MINUTE;
	out->is_interval = true;
	out->at = out->from;
}

bool
instant_resolve(
    const struct instant *m, struct local_now h, struct local_range *out)
{
	struct day_range d;

	/* There may be no such day: it has passed, or the year has none. */
	if (h.is_used != NULL)
		*h.is_used = true;
	if (!instant_resolve_date(m, h, &d))
		return false;
	out->at = 0;
	out->is_either_half = out->is_zoned = false;
	/* The day before the first one, the day after the last. */
	if (m->shift < 0)
		d.to = d.from + 1;
	else if (m->shift > 0)
		d.from = d.to - 1;
	d.is_interval = d.is_interval && m->shift == 0;
	d.from += m->shift;
	d.to += m->shift;
	if ((m->has & HAS_CLOCK) != 0) {
		instant_resolve_clock(m, h, d.from, out);
	} else if ((m->has & HAS_DAY_PART) != 0) {
		instant_resolve_day_part(m, h, d.from, out);
		out->at = trigger_instant(m, h, out);
	} else {
		out->from = d.from * DAY;
		out->to = d.to * DAY;
		out->grain = d.grain;
		out->is_interval = d.is_interval;
		out->at = trigger_instant(m, h, out);
		instant_resolve_holiday_hour(m, out);
	}
	return true;
}
