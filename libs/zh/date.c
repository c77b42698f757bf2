/*
 * Parts of a date.
 */
#include "core/mem.h"
#include "zh/holiday.h"
#include "zh/zh_internal.h"

/* The number of the lowest bit, from 1. */
static int
date_weekday_of_bits(int bits)
{
	int n = 1;

	while ((bits & 1) == 0) {
		bits >>= 1;
		n++;
	}
	return n;
}

/* What may follow a year: a month, a season, 底, 第一季度, 春节. */
static bool
date_is_part_of_year(const struct token *t)
{
	if (t->type == TOK_OF)
		t++;
	switch (t->type) {
	case TOK_NUM:
		return token_is_unit(t + 1, UNIT_MONTH) ||
		    token_is_unit(t + 1, UNIT_QUARTER) ||
		    (t[1].type == TOK_EDGE && t[1].w == UNIT_MONTH) || t->x > 0;
	case TOK_ORDINAL:
		return t->num < 0 || t[1].type == TOK_GE ||
		    t[1].type == TOK_UNIT;
	case TOK_EDGE:
	case TOK_HALF_YEAR:
	case TOK_HOLIDAY:
	case TOK_LUNAR:
	case TOK_LEAP:
	case TOK_QUARTER:
		return true;
	default:
		return t->type == TOK_MONTH && !t->is_latin;
	}
}

/*
 * 08年, 零六年, 九五年, 13年5月; but 五六年 is five or six years, and 13年 is
 * thirteen.
 */
static bool
date_is_short_year(const struct token *t)
{
	if (!token_is_int(t, 0, 99) || t->digits != 2 ||
	    !token_is_unit(t + 1, UNIT_YEAR) || t[1].is_latin)
		return false;
	if (date_is_part_of_year(t + 2) || t->has_zero)
		return true;
	if (!t->is_ascii)
		return !token_is_pair_row(t) && !token_is_int(t, 35, 35);
	/* 18年到20年 */
	if (t[2].type == TOK_TO && token_is_int(t + 3, 0, 99) &&
	    t[3].digits == 2 && token_is_unit(t + 4, UNIT_YEAR))
		return true;
	if (t[-1].type == TOK_TO &&
	    (token_is_unit(t - 2, UNIT_YEAR) ||
		(t[-2].type == TOK_NUM && t[-2].has_zero)))
		return true;
	return t->num >= 70 && t[2].type != TOK_AFTER &&
	    t[2].type != TOK_BEFORE && t[2].type != TOK_WITHIN &&
	    t[2].type != TOK_MORE && t[2].type != TOK_HALF;
}

static void
date_set_year(struct instant *m, const struct token *t)
{
	m->has |= HAS_YEAR;
	m->year = (int)t->num;
	m->year_is_short = t->digits == 2;
}

static const struct token *
date_parse_year(const struct token *t, struct instant *m)
{
	bool four;

	if (t->type == TOK_YEAR) {
		m->has |= HAS_YEAR;
		m->year = t->v;
		m->year_is_rel = true;
		return t + 1;
	}
	four = token_is_int(t, 1000, 2999) && t->digits == 4;
	/* 两千零八年 */
	if (!four && token_is_int(t, 2000, 2000) && t->is_pair)
		four = t[2].type == TOK_END || date_is_part_of_year(t + 2);
	if (!four && token_is_int(t, 2001, 2099) && !t->is_ascii)
		four = t[2].type != TOK_AFTER && t[2].type != TOK_BEFORE &&
		    t[2].type != TOK_WITHIN;
	if ((four && token_is_unit(t + 1, UNIT_YEAR) && !t[1].is_latin) ||
	    date_is_short_year(t)) {
		date_set_year(m, t);
		return t + 2;
	}
	/* 2026年底, 13年底 */
	if ((four || (token_is_int(t, 0, 99) && t->digits == 2)) &&
	    t[1].type == TOK_EDGE && t[1].w == UNIT_YEAR &&
	    (t[1].v <= EDGE_END || four)) {
		date_set_year(m, t);
		return t + 1;
	}
	/* 2018春节, 2018q3 */
	if (four && t->is_ascii &&
	    (t[1].type == TOK_HOLIDAY || t[1].type == TOK_QUARTER) &&
	    token_touches(t, t + 1)) {
		date_set_year(m, t);
		return t + 1;
	}
	return NULL;
}

static void
date_set_era(struct instant *m, int year, int years)
{
	m->has |= HAS_YEAR;
	m->year = year;
	m->era = years;
}

/* 80年代, 1980年代, 二十世纪六十年代, 上世纪, 本世纪. */
static const struct token *
date_parse_era(const struct token *t, struct instant *m)
{
	const struct token *n = t + 1;
	int year;

	if (t->type == TOK_ORDINAL || t->type == TOK_REL)
		n += n->type == TOK_GE;
	if (n->type != TOK_ERA || t->is_decimal)
		return NULL;
	if (n->v == 100) {
		if (t->type == TOK_REL) {
			/* instant_resolve() adds the current century. */
			m->year_is_rel = true;
			date_set_era(m, 100 * t->v, 100);
		} else if ((token_is_int(t, 1, 30) || t->type == TOK_ORDINAL) &&
		    t->num >= 1 && t->num <= 30) {
			date_set_era(m, ((int)t->num - 1) * 100, 100);
		} else {
			return NULL;
		}
		if (!token_is_int(n + 1, 10, 90) || n[2].type != TOK_ERA ||
		    n[2].v != 10)
			return n + 1;
		m->year += (int)n[1].num / 10 * 10;
		m->era = 10;
		return n + 3;
	}
	if (!token_is_int(t, 0, 2990) || (t->num > 90 && t->digits != 4) ||
	    (int)t->num % 10 != 0)
		return NULL;
	year = (int)t->num;
	date_set_era(m,
	    year > 90        ? year
		: year >= 30 ? 1900 + year
			     : 2000 + year,
	    10);
	return n + 1;
}

static const struct token *
date_set_edge(const struct token *t, int unit, struct instant *m)
{
	m->has |= HAS_EDGE;
	m->edge = t->v;
	m->edge_unit = unit;
	return t + 1;
}

static void
date_set_month(struct instant *m, int month, bool is_lunar)
{
	m->has |= HAS_MONTH;
	m->month = month;
	m->is_lunar = m->is_lunar || is_lunar;
}

/* 三月, 3月份, 三月底, 三月初三. */
static const struct token *
date_parse_month(const struct token *t, struct instant *m)
{
	if (!token_is_int(t, 1, 12) || t->is_pair || t->is_latin ||
	    token_is_pair_row(t))
		return NULL;
	if (t[1].type == TOK_EDGE && t[1].w == UNIT_MONTH) {
		date_set_month(m, (int)t->num, false);
		/* 三月初三 is a lunar date. */
		if (t[1].v == EDGE_START && token_is_int(t + 2, 1, 10) &&
		    !t[2].is_ascii && token_touches(t + 1, t + 2) &&
		    t[3].type != TOK_OCLOCK && t[3].type != TOK_HAO &&
		    t[3].type != TOK_UNIT) {
			m->is_lunar = true;
			m->has |= HAS_DAY;
			m->day = (int)t[2].num;
			return t + 3;
		}
		return t + 1;
	}
	if (!token_is_unit(t + 1, UNIT_MONTH) || t[1].w == 0)
		return NULL;
	date_set_month(m, (int)t->num, false);
	return t + 2;
}

static void
date_set_day(struct instant *m, int day)
{
	m->has |= HAS_DAY;
	m->day = day;
}

/* 15号, 15日; after a month also 十五 alone; 三十 in the lunar calendar. */
static const struct token *
date_parse_day(const struct token *t, struct instant *m)
{
	if (t->type == TOK_FIRST) {
		if (t->v == 1)
			date_set_month(m, 1, true);
		m->is_lunar = true;
		date_set_day(m, (int)t->num);
		return t + 1;
	}
	if (t->type == TOK_ORDINAL && t->is_ascii && t->num >= 1 &&
	    t->num <= 31 && t[-1].type == TOK_AT && t[-1].v == 3 &&
	    (t[1].type == TOK_END || t[1].type == TOK_AT)) {
		/* on the 15th */
		date_set_day(m, (int)t->num);
		return t + 1;
	}
	if (!token_is_int(t, 1, 31) || t->is_pair || t->is_latin ||
	    token_is_pair_row(t))
		return NULL;
	/* 二月三十号 is not a day, and neither is 三十号 of it. */
	if ((m->has & HAS_MONTH) == 0 && token_is_unit(t - 1, UNIT_MONTH) &&
	    token_touches(t - 1, t))
		return NULL;
	if (t[1].type == TOK_HAO) {
		date_set_day(m, (int)t->num);
		return t + 2;
	}
	if (token_is_unit(t + 1, UNIT_DAY) && t[1].w == 1 &&
	    ((m->has & HAS_MONTH) != 0 ||
		(t[2].type != TOK_AFTER && t[2].type != TOK_BEFORE &&
		    t[2].type != TOK_WITHIN))) {
		date_set_day(m, (int)t->num);
		return t + 2;
	}
	if ((m->has & HAS_MONTH) == 0 || m->month_is_rel ||
	    !token_touches(t - 1, t))
		return NULL;
	switch (t[1].type) {
	case TOK_UNIT:
	case TOK_GE:
	case TOK_OCLOCK:
	case TOK_NUM:
	case TOK_MORE:
	case TOK_HALF:
		return NULL;
	default:
		date_set_day(m, (int)t->num);
		m->confidence = m->is_lunar ? .9 : .7;
		return t + 1;
	}
}

/* 闰四月 */
static const struct token *
date_parse_leap_month(const struct token *t, struct instant *m)
{
	const struct token *n = t + 1;

	if (t->type != TOK_LEAP)
		return NULL;
	if (n->type == TOK_MONTH && n->w == 1) {
		date_set_month(m, n->v, true);
		n++;
	} else {
		n = date_parse_month(n, m);
	}
	m->is_leap = m->is_lunar = true;
	return n;
}

/* 春节, 春节第三天, 斋月的最后一天. */
static const struct token *
date_parse_holiday(const struct token *t, int holiday, struct instant *m)
{
	const struct token *n = t + 1;
	int days = holiday_days((enum holiday)holiday);

	m->has |= HAS_HOLIDAY;
	m->holiday = holiday;
	if (n->type == TOK_VACATION &&
	    (n->v == 1 || holiday_vacation((enum holiday)holiday) > 0)) {
		m->is_vacation = n->v == 0;
		return n + 1;
	}
	/* 国庆期间 */
	if (n->type == TOK_WITHIN && n->v == 1 &&
	    holiday_vacation((enum holiday)holiday) > 0) {
		m->is_vacation = true;
		return n + 1;
	}
	n += n->type == TOK_OF;
	if (n->type != TOK_ORDINAL)
		return t + 1;
	if (n->num >= 1 && n->num <= 50 && token_is_unit(n + 1, UNIT_DAY)) {
		m->holiday_day = (int)n->num;
		return n + 2;
	}
	if (n->num < 0 && days > 0 && token_is_int(n + 1, 1, 1) &&
	    token_is_unit(n + 2, UNIT_DAY)) {
		m->holiday_day = days;
		return n + 3;
	}
	return t + 1;
}

/* What makes a date of 4.5 and 11.20: 号, a year before it, a time of day. */
static bool
date_is_written_with_point(const struct token *t, const struct instant *m)
{
	const struct token *n = t + 1;

	if ((m->has & HAS_YEAR) != 0 && m->era == 0)
		return true;
	if (n->type == TOK_TO)
		return n[1].type == TOK_NUM && n[1].x > 0;
	if (n->type == TOK_NUM)
		return n[1].type == TOK_OCLOCK;
	if (n->type == TOK_DAY_PART || n->type == TOK_CLOCK ||
	    n->type == TOK_WDAY || n->type == TOK_AFTER ||
	    n->type == TOK_BEFORE || n->type == TOK_SINCE)
		return true;
	if (t[-1].type == TOK_TO)
		return t[-2].type == TOK_NUM && t[-2].x > 0;
	return t[-1].type == TOK_END && n->type == TOK_END;
}

static const struct token *
date_parse_point(const struct token *t, struct instant *m)
{
	bool is_day;

	if (t->type != TOK_NUM || t->x == 0 || (m->has & HAS_MONTH) != 0)
		return NULL;
	is_day = t[1].type == TOK_HAO ||
	    (token_is_unit(t + 1, UNIT_DAY) && t[1].w == 1);
	if (!is_day && !date_is_written_with_point(t, m))
		return NULL;
	date_set_month(m, t->x / 100, false);
	date_set_day(m, t->x % 100);
	/* Alone it is more likely a number. */
	m->confidence = is_day                              ? .9
	    : t[-1].type == TOK_END && t[1].type == TOK_END ? .4
							    : .6;
	return is_day ? t + 2 : t + 1;
}

/* 十一, the national day: alone, after a year, or before 假期. */
static const struct token *
date_parse_eleventh(const struct token *t, struct instant *m)
{
	const struct token *n = t + 1;

	if (!token_is_int(t, 11, 11) || t->is_ascii || t->digits != 0 ||
	    (m->has & ~(unsigned)HAS_YEAR) != 0)
		return NULL;
	if (n->type != TOK_VACATION && n->type != TOK_WITHIN &&
	    !(t[-1].type == TOK_END && n->type == TOK_END) &&
	    ((n->type != TOK_END && n->type != TOK_BEFORE &&
		 n->type != TOK_AFTER && n->type != TOK_SAME) ||
		((m->has & HAS_YEAR) == 0 && n->type != TOK_SAME)))
		return NULL;
	m->confidence = .7;
	return date_parse_holiday(t, HOLIDAY_NATIONAL, m);
}

/* march 5th, the 5th of march, may 5 2026. */
static const struct token *
date_parse_month_name(const struct token *t, struct instant *m)
{
	const struct token *n = t;
	int day = 0;

	if (t->type == TOK_ORDINAL && t->is_ascii && t->num <= 31) {
		n = t + 1;
		if (n->type == TOK_OF)
			n++;
		if (n->type != TOK_MONTH || !n->is_latin)
			return NULL;
		day = (int)t->num;
	} else if (token_is_int(t, 1, 31) && t->is_ascii &&
	    t[1].type == TOK_MONTH && t[1].is_latin) {
		n = t + 1;
		day = (int)t->num;
	}
	if (n->type != TOK_MONTH)
		return NULL;
	date_set_month(m, n->v, n->w == 1);
	t = n + 1;
	if (!n->is_latin)
		return t;
	m->is_latin = true;
	if (day == 0) {
		if (t->type == TOK_AT && t->v == 3 && t[1].type == TOK_ORDINAL)
			t++;
		if ((t->type == TOK_ORDINAL || token_is_int(t, 1, 31)) &&
		    t->is_ascii && t->num <= 31 && t[1].type != TOK_AMPM) {
			day = (int)t->num;
			t++;
		} else if (n->w == 2) {
			/* "may" alone is not a month. */
			return NULL;
		}
	}
	if (day > 0)
		date_set_day(m, day);
	if (t->type == TOK_COMMA && token_is_int(t + 1, 1900, 2199))
		t++;
	if (token_is_int(t, 1900, 2199) && t->digits == 4) {
		m->has |= HAS_YEAR;
		m->year = (int)t->num;
		t++;
	}
	return t;
}

/* 上, 这, 下 with 周, 月, 季度, 年, 周三, 周末, 月底, 早上. */
static const struct token *
date_parse_relative(const struct token *t, struct instant *m)
{
	const struct token *n = t + 1;
	int v = t->v;

	if (t->type != TOK_REL)
		return NULL;
	if (n->type == TOK_GE ||
	    (n->type == TOK_NUM && n->num <= 1 && !n->is_ascii &&
		token_touches(t, n)))
		n++;
	if (n->type == TOK_WDAY && n->w != 1) {
		/* "this friday" is the next one. */
		m->has |= HAS_WDAY | (v == 0 && n->is_latin ? 0u : HAS_WEEK);
		m->week = v;
		m->wday = date_weekday_of_bits(n->v);
		return n + 1;
	}
	if (n->type == TOK_WEEKEND) {
		m->has |= HAS_WEEKEND | HAS_WEEK;
		m->week = v;
		return n + 1;
	}
	if (token_is_unit(n, UNIT_WEEK) ||
	    (n->type == TOK_EDGE && n->w == UNIT_WEEK)) {
		m->has |= HAS_WEEK;
		m->week = v;
		return n->type == TOK_EDGE ? n : n + 1;
	}
	if (token_is_unit(n, UNIT_MONTH) ||
	    (n->type == TOK_EDGE && n->w == UNIT_MONTH)) {
		m->has |= HAS_MONTH;
		m->month = v;
		m->month_is_rel = true;
		return n->type == TOK_EDGE ? n : n + 1;
	}
	if (token_is_unit(n, UNIT_QUARTER) ||
	    (token_is_unit(n, UNIT_KE) && n->is_latin)) {
		m->has |= HAS_QUARTER;
		m->quarter = v;
		m->quarter_is_rel = true;
		return n + 1;
	}
	if (token_is_unit(n, UNIT_YEAR) ||
	    (n->type == TOK_EDGE && n->w == UNIT_YEAR)) {
		m->has |= HAS_YEAR;
		m->year = v;
		m->year_is_rel = true;
		return n->type == TOK_EDGE ? n : n + 1;
	}
	if (n->type == TOK_DAY_PART && v == 0 && n->is_latin) {
		m->has |= HAS_DAYS;
		m->days = 0;
		return n;
	}
	return NULL;
}

/* A month or a year alone, whose days are counted. */
static bool
date_is_month_or_year(const struct instant *m)
{
	return (m->has & (HAS_MONTH | HAS_YEAR)) != 0 && m->era == 0 &&
	    !m->is_lunar && (m->has & ~(unsigned)(HAS_MONTH | HAS_YEAR)) == 0;
}

/* 第一个星期一, 最后一个周五. */
static const struct token *
date_parse_nth(const struct token *t, struct instant *m)
{
	const struct token *n = t + 1;

	if (t->type != TOK_ORDINAL || t->num > 366 || t->num < -1)
		return NULL;
	/* 最后一天 */
	if (t->num < 0 && token_is_int(n, 1, 1) &&
	    token_is_unit(n + 1, UNIT_DAY) && date_is_month_or_year(m)) {
		if ((m->has & HAS_MONTH) == 0)
			date_set_month(m, 12, false);
		date_set_day(m, -1);
		return n + 2;
	}
	if (token_is_unit(n, UNIT_DAY) && t->num > 0) {
		/* 第一天 of a month; 第二天 alone is the next day. */
		if (date_is_month_or_year(m) && t->num <= 31) {
			if ((m->has & HAS_MONTH) == 0)
				date_set_month(m, 1, false);
			date_set_day(m, (int)t->num);
			return n + 1;
		}
		if (m->has != 0 || t->num < 2 || t->num > 2)
			return NULL;
		m->has = HAS_DAYS;
		m->days = 1;
		m->confidence = .6;
		return n + 1;
	}
	if (n->type == TOK_GE)
		n++;
	/* Those of quarters and years are in period.c. */
	if (n->type == TOK_WDAY && n->w != 1 && t->num <= 5 &&
	    ((m->has & HAS_MONTH) != 0 || m->has == 0)) {
		m->has |= HAS_WDAY;
		m->wday = date_weekday_of_bits(n->v);
		m->nth = (int)t->num;
		return n + 1;
	}
	return NULL;
}

static const struct token *
date_parse_quarter(const struct token *t, struct instant *m)
{
	if (t->type == TOK_QUARTER) {
		m->has |= HAS_QUARTER;
		m->quarter = t->v;
		return t + 1;
	}
	if ((t->type != TOK_ORDINAL && !token_is_int(t, 1, 4)) || t->num > 4 ||
	    t->num < 1 || !token_is_unit(t + 1, UNIT_QUARTER))
		return NULL;
	m->has |= HAS_QUARTER;
	m->quarter = (int)t->num;
	return t + 2;
}

/* 月底, 上旬; 底 and 春 after what they are of. */
static const struct token *
date_parse_edge(const struct token *t, struct instant *m)
{
	bool is_season = t->v >= EDGE_SPRING && t->v <= EDGE_WINTER;

	if (t->w >= 0)
		return date_set_edge(t, t->w, m);
	if (m->has == 0 || !token_touches(t - 1, t))
		return NULL;
	if (is_season || (m->has & HAS_YEAR) == m->has)
		return (m->has & HAS_YEAR) == m->has
		    ? date_set_edge(t, UNIT_YEAR, m)
		    : NULL;
	if ((m->has & HAS_QUARTER) != 0)
		return date_set_edge(t, UNIT_QUARTER, m);
	if ((m->has & HAS_MONTH) != 0)
		return date_set_edge(t, UNIT_MONTH, m);
	if ((m->has & HAS_YEAR) != 0)
		return date_set_edge(t, UNIT_YEAR, m);
	return (m->has & HAS_WEEK) != 0 ? date_set_edge(t, UNIT_WEEK, m) : NULL;
}

/* Single words that are a part of a date. */
static const struct token *
date_parse_word(const struct token *t, struct instant *m)
{
	const struct token *n;

	switch (t->type) {
	case TOK_DAY:
		m->has |= HAS_DAYS;
		m->days = t->v;
		if (t->w != DAY_PART_NONE) {
			m->has |= HAS_DAY_PART;
			m->day_part = t->w;
		}
		return t + 1;
	case TOK_WDAY:
		if (t->w != 0)
			return NULL;
		m->has |= HAS_WDAY;
		m->wday = date_weekday_of_bits(t->v);
		return t + 1;
	case TOK_WEEKEND:
		m->has |= HAS_WEEKEND;
		return t + 1;
	case TOK_HOLIDAY:
		/* 小雪, 雨水 are weather, too. */
		if (t->w == 1 && (m->has & HAS_YEAR) == 0 &&
		    t[1].type != TOK_SAME && t[1].type != TOK_VACATION &&
		    t[1].type != TOK_EVE &&
		    (t[-1].type != TOK_END || t[1].type != TOK_END))
			return NULL;
		return date_parse_holiday(t, t->v, m);
	case TOK_RELIGION:
		n = t + 1;
		n += n->type == TOK_OF;
		return n->type == TOK_HOLIDAY
		    ? date_parse_holiday(n, n->v | t->v, m)
		    : NULL;
	case TOK_HALF_YEAR:
		m->has |= HAS_HALF_YEAR;
		m->half = t->v;
		return t + 1;
	case TOK_DATE:
		m->has |= HAS_MONTH;
		m->month = t->v;
		if (t->w > 0)
			date_set_day(m, t->w);
		if (t->x > 0) {
			m->has |= HAS_YEAR;
			m->year = t->x;
			if (t->w == 0)
				m->confidence = .7;
		} else {
			/* 3/5 may be a fraction. */
			m->confidence = .5;
		}
		return t + 1;
	case TOK_EDGE:
		return date_parse_edge(t, m);
	case TOK_LUNAR:
		m->is_lunar = true;
		return t + 1;
	default:
		return NULL;
	}
}

const struct token *
date_parse(const struct token *t, struct instant *m)
{
	static const struct token *(*const parsers[])(
	    const struct token *, struct instant *) = { date_parse_year,
		date_parse_era, date_parse_relative, date_parse_month_name,
		date_parse_quarter, date_parse_nth, date_parse_month,
		date_parse_day, date_parse_leap_month, date_parse_point,
		date_parse_eleventh, date_parse_word };
	struct instant next;
	const struct token *n;
	size_t i;

	for (i = 0; i < NELEM(parsers); i++) {
		next = *m;
		n = parsers[i](t, &next);
		if (n == NULL || !instant_may_join(m, &next, t->is_latin))
			continue;
		/* A part that repeats begins another expression. */
		if (next.has == m->has && next.is_lunar == m->is_lunar)
			continue;
		*m = next;
		m->is_latin = m->is_latin || t->is_latin;
		return n;
	}
	return NULL;
}
