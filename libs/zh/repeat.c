/*
 * Repetitions.
 */
#include "core/clock.h"
#include "zh/zh_internal.h"

#define DAY      INT64_C(86400)
#define WORKDAYS 0x1fu
#define WEEKENDS 0x60u
/* Every date recurs within this many days, 29 February included. */
#define SEARCH_MAX (8 * 366 + 1)

/* A rule as parsed. */
struct repeat_rule {
	struct datetime_repeat r;
	struct instant time;   /* part of the day and clock time */
	struct instant date;   /* of a yearly one */
	struct duration every; /* of 每两小时 */
	bool is_counted;       /* every is given */
	bool has_date;
	int until_s; /* 三点到五点: the end; else -1 */
};

static void
repeat_set_unit(struct repeat_rule *r, int unit)
{
	r->r.unit = datetime_grain_of_unit(unit);
	r->r.every = unit == UNIT_KE ? 15 : 1;
}

static unsigned
repeat_weekdays_between(unsigned from, unsigned to)
{
	unsigned bits = 0, b;

	for (b = from; b != to; b = b == 0x40u ? 1u : b << 1)
		bits |= b;
	return bits | to;
}

/* 周一三五; 周一、三、五; 周一到周五; 周六和周日. */
static const struct token *
repeat_parse_weekdays(const struct token *t, unsigned *bits)
{
	if (t->type != TOK_WDAY)
		return NULL;
	*bits = (unsigned)t->v;
	t++;
	if (t->type == TOK_TO && t[1].type == TOK_WDAY && t[-1].w != 1 &&
	    t[1].w != 1) {
		*bits = repeat_weekdays_between(*bits, (unsigned)t[1].v);
		return t + 2;
	}
	if (t->type == TOK_TO && t[1].type == TOK_NUM && !t[1].is_ascii &&
	    t[1].num >= 1 && t[1].num <= 6 && t[-1].w != 1 &&
	    t[2].type != TOK_OCLOCK) {
		*bits =
		    repeat_weekdays_between(*bits, 1u << ((int)t[1].num - 1));
		return t + 2;
	}
	while (
	    t->type == TOK_COMMA || t->type == TOK_AND || t->type == TOK_WDAY) {
		const struct token *n = t->type == TOK_WDAY ? t : t + 1;

		if (n->type == TOK_COMMA || n->type == TOK_AND)
			n++;
		if (n->type == TOK_WDAY)
			*bits |= (unsigned)n->v;
		else if (n->type == TOK_NUM && !n->is_ascii && n->num >= 1 &&
		    n->num <= 6 && n[1].type != TOK_OCLOCK &&
		    n[1].type != TOK_UNIT)
			*bits |= 1u << ((int)n->num - 1);
		else if (n->type == TOK_UNIT && n->v == UNIT_DAY && n->w == 1)
			*bits |= 0x40u;
		else
			break;
		t = n + 1;
	}
	return t;
}

static const struct token *
repeat_parse_weekly(const struct token *t, struct repeat_rule *r)
{
	unsigned bits = 0;

	if (t->type == TOK_WORKDAY || t->type == TOK_WEEKEND) {
		bits = t->type == TOK_WORKDAY ? WORKDAYS : WEEKENDS;
		t++;
	} else {
		t = repeat_parse_weekdays(t, &bits);
	}
	if (t == NULL)
		return NULL;
	repeat_set_unit(r, UNIT_WEEK);
	r->r.weekdays = bits;
	return t;
}

/* 每月5号和20号, 每月1、15号, 每月1号到5号: two days or more. */
static const struct token *
repeat_parse_month_days(const struct token *t, struct repeat_rule *r)
{
	const struct token *last = NULL;
	unsigned bits = 0;
	int from = 0, count = 0, day, first = 0;

	while (token_is_int(t, 1, 31) && !t->is_pair) {
		day = (int)t->num;
		for (; from > 0 && from < day; from++)
			bits |= 1u << (from - 1);
		from = 0;
		bits |= 1u << (day - 1);
		first = first == 0 || day < first ? day : first;
		count++;
		t++;
		if (t->type == TOK_HAO ||
		    (token_is_unit(t, UNIT_DAY) && t->w == 1))
			last = ++t;
		if (t->type == TOK_TO)
			from = day;
		else if (t->type != TOK_COMMA && t->type != TOK_OR &&
		    (t->type != TOK_AND || t->v != 1))
			break;
		t++;
	}
	if (last == NULL || last != t || count < 2)
		return NULL;
	r->r.month_day = first;
	r->r.month_days = bits;
	return last;
}

/* 每季度第一天, 每季度末. */
static const struct token *
repeat_parse_quarterly(const struct token *t, struct repeat_rule *r)
{
	const struct token *n = t->type == TOK_OF ? t + 1 : t;

	repeat_set_unit(r, UNIT_QUARTER);
	if (n->type == TOK_EDGE && n->w < 0 && n->v <= EDGE_END &&
	    n->v != EDGE_MIDDLE) {
		r->r.month_day = n->v == EDGE_END ? -1 : 1;
		return n + 1;
	}
	if (n->type != TOK_ORDINAL || n->num > 1 || n->num < -1)
		return t;
	r->r.month_day = (int)n->num;
	n++;
	if (token_is_int(n, 1, 1))
		n++;
	if (token_is_unit(n, UNIT_DAY))
		return n + 1;
	r->r.month_day = 0;
	return t;
}

/* 每月1号, 每个月底, 每月第一个周一. */
static const struct token *
repeat_parse_monthly(const struct token *t, struct repeat_rule *r)
{
	struct instant m = { .has = HAS_MONTH, .month_is_rel = true };
	const struct token *n;

	repeat_set_unit(r, UNIT_MONTH);
	if (t->type == TOK_OF)
		t++;
	if (t->type == TOK_EDGE && (t->w < 0 || t->w == UNIT_MONTH)) {
		r->r.month_day = t->v == EDGE_END ? -1
		    : t->v == EDGE_MIDDLE         ? 15
						  : 1;
		return t + 1;
	}
	if (t->type == TOK_ORDINAL && t->num >= -1 && t->num < 0 &&
	    t[1].type == TOK_UNIT && t[1].v == UNIT_DAY) {
		r->r.month_day = -1;
		return t + 2;
	}
	n = repeat_parse_month_days(t, r);
	if (n != NULL)
		return n;
	n = date_parse(t, &m);
	/* 每月倒数第三天 is not known, and not each month. */
	if (n == NULL && t->type == TOK_ORDINAL)
		return NULL;
	if (n == NULL || m.is_lunar)
		return t;
	if ((m.has & HAS_DAY) != 0) {
		r->r.month_day = m.day;
	} else if (m.nth != 0) {
		r->r.nth = m.nth;
		r->r.weekdays = 1u << (m.wday - 1);
		r->date = m;
		r->has_date = true;
	} else {
		return t;
	}
	return n;
}

/* 每年3月5日, 每年春节. */
static const struct token *
repeat_parse_yearly(const struct token *t, struct repeat_rule *r)
{
	struct instant m = { .confidence = 1 };
	const struct token *n, *last = t;

	repeat_set_unit(r, UNIT_YEAR);
	if (t->type == TOK_OF)
		t++;
	while ((n = date_parse(t->type == TOK_OF ? t + 1 : t, &m)) != NULL)
		t = last = n;
	if ((m.has & (HAS_YEAR | HAS_DAYS | HAS_WEEK)) != 0 || m.has == 0)
		return last;
	/* 每年3月到5月 begins in March. */
	if (last->type == TOK_TO) {
		struct instant end = { .confidence = 1 };

		n = date_parse(last + 1, &end);
		if (n != NULL && (end.has & HAS_MONTH) != 0)
			last = n;
	}
	r->date = m;
	r->has_date = true;
	if (m.nth != 0) {
		r->r.nth = m.nth;
		r->r.weekdays = 1u << (m.wday - 1);
	}
	if ((m.has & HAS_MONTH) != 0 && !m.is_lunar) {
		r->r.month = m.month;
		if ((m.has & HAS_DAY) != 0)
			r->r.month_day = m.day;
	}
	return last;
}

static const struct token *
repeat_parse_of_unit(const struct token *t, int unit, struct repeat_rule *r)
{
	const struct token *n;

	if (unit == UNIT_MONTH)
		return repeat_parse_monthly(t, r);
	if (unit == UNIT_YEAR)
		return repeat_parse_yearly(t, r);
	if (unit == UNIT_QUARTER)
		return repeat_parse_quarterly(t, r);
	repeat_set_unit(r, unit);
	if (unit == UNIT_WEEK) {
		n = repeat_parse_weekly(t->type == TOK_OF ? t + 1 : t, r);
		return n != NULL ? n : t;
	}
	return t;
}

/* Every so many weeks, and on which days: 每两周的周三. */
static const struct token *
repeat_parse_weeks(const struct token *t, struct repeat_rule *r)
{
	struct repeat_rule week = { .is_counted = false };
	const struct token *n =
	    repeat_parse_weekly(t->type == TOK_OF ? t + 1 : t, &week);

	if (n == NULL)
		return t;
	r->r.weekdays = week.r.weekdays;
	r->is_counted = false;
	return n;
}

/* 每两小时, 每隔一天, every 2 weeks. */
static const struct token *
repeat_parse_counted(const struct token *t, bool apart, struct repeat_rule *r)
{
	const struct token *n = duration_parse(t, &r->every);
	int unit, i, units = 0;

	if (n == NULL)
		return NULL;
	for (i = 0; i < UNIT_COUNT; i++)
		units += r->every.n[i] > 0;
	unit = r->every.finest;
	r->is_counted = true;
	r->r.unit = datetime_grain_of_unit(unit);
	if (units == 1)
		r->r.every = r->every.n[unit] * (unit == UNIT_KE ? 15 : 1);
	else if (unit >= UNIT_MONTH)
		r->r.every = r->every.n[UNIT_MONTH] +
		    3 * r->every.n[UNIT_QUARTER] + 12 * r->every.n[UNIT_YEAR];
	else
		r->r.every = duration_seconds(&r->every) /
		    (unit == UNIT_SECOND        ? 1
			    : unit <= UNIT_KE   ? 60
			    : unit == UNIT_HOUR ? 3600
			    : unit == UNIT_DAY  ? 86400
						: 604800);
	/* 每隔一天 skips one day; 每隔两小时 is the distance itself. */
	if (apart && unit >= UNIT_DAY) {
		r->r.every += 1;
		r->every.n[unit] += 1;
	}
	if (r->r.every <= 0)
		return NULL;
	if (units == 1 && unit == UNIT_WEEK && r->r.every > 1)
		return repeat_parse_weeks(n, r);
	/* 每一周的周三 */
	if (units == 1 && unit >= UNIT_WEEK && !apart && r->r.every <= 1) {
		r->is_counted = false;
		return repeat_parse_of_unit(n, unit, r);
	}
	return n;
}

/* The expression after 每. */
static const struct token *
repeat_parse_every(const struct token *t, bool apart, struct repeat_rule *r)
{
	const struct token *n = repeat_parse_weekly(t, r);
	struct duration other = { .n = { 0 } };

	if (n != NULL)
		return n;
	n = repeat_parse_counted(t, apart, r);
	if (n != NULL)
		return n;
	if (t->type == TOK_GE)
		t++;
	if (t->type == TOK_UNIT) {
		if (!apart)
			return repeat_parse_of_unit(t + 1, t->v, r);
		/* 隔天, every other day */
		repeat_set_unit(r, t->v);
		r->r.every *= 2;
		other.n[t->v] = 2;
		other.finest = t->v;
		r->every = other;
		r->is_counted = true;
		return t->v == UNIT_WEEK ? repeat_parse_weeks(t + 1, r) : t + 1;
	}
	if (t->type == TOK_EDGE && t->w == UNIT_MONTH)
		return repeat_parse_monthly(t, r);
	if (t->type == TOK_EDGE && t->w == UNIT_YEAR)
		return repeat_parse_yearly(t, r);
	if (t->type == TOK_DAY_PART) {
		repeat_set_unit(r, UNIT_DAY);
		return t;
	}
	if (t->type == TOK_HOLIDAY)
		return repeat_parse_yearly(t, r);
	if (t->type == TOK_NUM && t[1].type == TOK_HAO)
		return repeat_parse_monthly(t, r);
	return NULL;
}

static const struct token *
repeat_parse_rule(const struct token *t, struct repeat_rule *r)
{
	const struct token *n;
	unsigned bits;

	switch (t->type) {
	case TOK_EVERY:
		return repeat_parse_every(t + 1, t->v == 1, r);
	case TOK_DAILY:
		n = repeat_parse_of_unit(t + 1, t->v, r);
		if (t->w != DAY_PART_NONE) {
			r->time.has |= HAS_DAY_PART;
			r->time.day_part = t->w;
		}
		return n;
	case TOK_WORKDAY:
		n = repeat_parse_weekly(t, r);
		/* 工作日每天 */
		return n != NULL && n->type == TOK_DAILY && n->v == UNIT_DAY &&
			n->w == DAY_PART_NONE
		    ? n + 1
		    : n;
	case TOK_WEEKEND:
		return t->w == 1 ? repeat_parse_weekly(t, r) : NULL;
	case TOK_WDAY:
		/* 周一三五, mondays; 周一到周五 only with a time of day. */
		n = repeat_parse_weekdays(t, &bits);
		if (t->w == 0 &&
		    (n == NULL || n[-2].type != TOK_TO || n != t + 3))
			return NULL;
		repeat_set_unit(r, UNIT_WEEK);
		r->r.weekdays = bits;
		if (n->type == TOK_DAILY && n->v == UNIT_DAY)
			return n + 1;
		if (t->w == 0) {
			struct instant m = { .has = 0 };

			if (instant_parse_time(n, &m) == NULL)
				return NULL;
		}
		return n;
	case TOK_AT:
		return t->v == 2 && t[1].type != TOK_WDAY
		    ? repeat_parse_rule(t + 1, r)
		    : NULL;
	default:
		return NULL;
	}
}

/* Whether the rule holds on a day. */
static bool
repeat_falls_on(const struct datetime_repeat *r, int64_t day)
{
	struct civil c = civil_of_days(day);

	if (r->weekdays != 0 &&
	    (r->weekdays >> (civil_weekday(day) - 1) & 1u) == 0)
		return false;
	if (r->month != 0 && c.month != r->month)
		return false;
	if (r->month_days != 0)
		return (r->month_days >> (c.day - 1) & 1u) != 0;
	if (r->unit == DATETIME_QUARTER && r->month_day != 0 &&
	    c.month % 3 != (r->month_day < 0 ? 0 : 1))
		return false;
	if (r->month_day > 0)
		return c.day == r->month_day;
	if (r->month_day < 0)
		return c.day == civil_month_days(c.year, c.month);
	/* A week, month or year without a day: its first one. */
	if (r->unit == DATETIME_WEEK && r->weekdays == 0)
		return civil_weekday(day) == 1;
	if (r->unit == DATETIME_QUARTER)
		return c.day == 1 && c.month % 3 == 1;
	if (r->unit >= DATETIME_MONTH && c.day != 1)
		return false;
	return r->unit != DATETIME_YEAR || r->month != 0 || c.month == 1;
}

/* The first day whose second s is after now. */
static int64_t
repeat_first_day(const struct repeat_rule *r, struct local_now h, int64_t s)
{
	int64_t day;

	for (day = h.today; day < h.today + SEARCH_MAX; day++) {
		bool ok = r->is_counted || repeat_falls_on(&r->r, day);

		if (ok && day * DAY + s > h.now)
			break;
	}
	return day;
}

/* The first occurrence after now. */
static void
repeat_first(
    const struct repeat_rule *r, struct local_now h, struct local_range *out)
{
	int from = r->r.time_s >= 0 ? r->r.time_s : 0;
	int duration = r->r.until_s > from ? r->r.until_s - from
	    : r->r.time_s >= 0             ? 60
					   : (int)DAY;
	struct instant m = r->date;
	int64_t at = (r->time.has & HAS_CLOCK) != 0
	    ? from
	    : trigger_hour((r->time.has & HAS_DAY_PART) != 0 ? r->time.day_part
							     : DAY_PART_NONE);

	out->at = 0;
	if (r->has_date && instant_resolve(&m, h, out)) {
		if (out->from + from <= h.now && r->r.unit == DATETIME_MONTH) {
			m.month++;
			if (!instant_resolve(&m, h, out))
				return;
		}
		out->at = out->from + at;
		out->from += from;
		out->to = out->from + duration;
		return;
	}
	if (r->is_counted && r->r.time_s < 0) {
		out->from = out->at = duration_add(&r->every, h, 1);
		out->to = out->from + 1;
		return;
	}
	if (r->r.unit < DATETIME_DAY) {
		int step = r->r.unit == DATETIME_HOUR ? 3600
		    : r->r.unit == DATETIME_MINUTE    ? 60
						      : 1;

		out->from = h.now + (int64_t)(step * r->r.every);
		out->to = out->from + step;
		return;
	}
	out->from = repeat_first_day(r, h, from) * DAY + from;
	out->to = out->from + duration;
	out->at = repeat_first_day(r, h, at) * DAY + at;
}

/* A time of day, or a range of two. */
static const struct token *
repeat_parse_times(const struct token *t, struct repeat_rule *r)
{
	const struct token *n = instant_parse_time(t, &r->time), *end;
	struct instant to = { .has = 0 };

	r->until_s = -1;
	if (n == NULL || n->type != TOK_TO || (r->time.has & HAS_CLOCK) == 0)
		return n;
	end = instant_parse_time(n + 1, &to);
	if (end == NULL || (to.has & HAS_CLOCK) == 0)
		return n;
	if ((to.has & HAS_DAY_PART) == 0 && !to.is_24h) {
		to.has |= r->time.has & HAS_DAY_PART;
		to.day_part = r->time.day_part;
	}
	r->until_s = instant_clock(&to);
	while (r->until_s <= instant_clock(&r->time))
		r->until_s += 12 * 3600;
	return end;
}

const struct token *
datetime_parse_repeat(
    struct parser *rd, const struct token *t, struct datetime *w)
{
	struct repeat_rule r = { .r = { .time_s = -1, .until_s = -1 } };
	struct local_range first = { 0 };
	const struct token *n = repeat_parse_rule(t, &r), *end;
	int from, to;

	if (n == NULL) {
		/* 早上七点每天, at 7 every day */
		n = instant_parse_time(t, &r.time);
		if (n != NULL && (n->type == TOK_EVERY || n->type == TOK_DAILY))
			n = repeat_parse_rule(n, &r);
		else
			n = NULL;
		end = n;
		r.until_s = -1;
	} else {
		end = repeat_parse_times(n, &r);
	}
	if (n == NULL)
		return NULL;
	if (end != NULL && r.r.unit >= DATETIME_DAY)
		n = end;
	else
		r.time.has &= HAS_DAY_PART;
	if (r.r.unit < DATETIME_DAY)
		r.time.has = 0;
	w->grain = r.r.unit;
	if ((r.time.has & HAS_CLOCK) != 0) {
		r.r.time_s = instant_clock(&r.time);
		w->grain = r.time.clock_grain;
		r.r.until_s = r.until_s;
	} else if ((r.time.has & HAS_DAY_PART) != 0) {
		day_part_bounds(r.time.day_part, &from, &to);
		r.r.time_s = from;
		r.r.until_s = to;
		w->grain = DATETIME_HOUR;
	}
	repeat_first(&r, rd->local, &first);
	first.grain = w->grain;
	first.is_either_half =
	    (r.time.has & (HAS_CLOCK | HAS_DAY_PART)) == HAS_CLOCK &&
	    !r.time.is_24h;
	w->kind = DATETIME_REPEAT;
	w->repeat = r.r;
	w->confidence = .95;
	datetime_set(w, first, rd);
	return n;
}
