/*
 * Repetitions.
 */
#include "core/clock.h"
#include "zh/aim.h"
#include "zh/reader.h"

#define DAY      INT64_C(86400)
#define WORKDAYS 0x1fu
#define WEEKENDS 0x60u
/* Every date comes again within that many days, 29 February included. */
#define SEARCH_MAX (8 * 366 + 1)

/* What is repeated, as read. */
struct rule {
	struct when_repeat r;
	struct moment time;  /* part of the day and clock time */
	struct moment date;  /* of a yearly one */
	struct length every; /* of 每两小时 */
	bool is_counted;     /* every is said */
	bool has_date;
	int until_s; /* 三点到五点: the end; else -1 */
};

static void
set_unit(struct rule *r, int unit)
{
	r->r.unit = reader_grain(unit);
	r->r.every = unit == UNIT_KE ? 15 : 1;
}

static unsigned
bits_between(unsigned from, unsigned to)
{
	unsigned bits = 0, b;

	for (b = from; b != to; b = b == 0x40u ? 1u : b << 1)
		bits |= b;
	return bits | to;
}

/* 周一三五; 周一、三、五; 周一到周五; 周六和周日. */
static const struct token *
weekdays_read(const struct token *t, unsigned *bits)
{
	if (t->type != TOK_WDAY)
		return NULL;
	*bits = (unsigned)t->v;
	t++;
	if (t->type == TOK_TO && t[1].type == TOK_WDAY && t[-1].w != 1 &&
	    t[1].w != 1) {
		*bits = bits_between(*bits, (unsigned)t[1].v);
		return t + 2;
	}
	if (t->type == TOK_TO && t[1].type == TOK_NUM && !t[1].is_ascii &&
	    t[1].num >= 1 && t[1].num <= 6 && t[-1].w != 1 &&
	    t[2].type != TOK_OCLOCK) {
		*bits = bits_between(*bits, 1u << ((int)t[1].num - 1));
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
weekly_read(const struct token *t, struct rule *r)
{
	unsigned bits = 0;

	if (t->type == TOK_WORKDAY || t->type == TOK_WEEKEND) {
		bits = t->type == TOK_WORKDAY ? WORKDAYS : WEEKENDS;
		t++;
	} else {
		t = weekdays_read(t, &bits);
	}
	if (t == NULL)
		return NULL;
	set_unit(r, UNIT_WEEK);
	r->r.weekdays = bits;
	return t;
}

/* 每月1号, 每个月底, 每月第一个周一. */
static const struct token *
monthly_read(const struct token *t, struct rule *r)
{
	struct moment m = { .has = HAS_MONTH, .month_is_rel = true };
	const struct token *n;

	set_unit(r, UNIT_MONTH);
	if (t->type == TOK_OF)
		t++;
	if (t->type == TOK_EDGE && (t->w < 0 || t->w == UNIT_MONTH)) {
		r->r.month_day = t->v == EDGE_END ? -1
		    : t->v == EDGE_MIDDLE         ? 15
						  : 1;
		return t + 1;
	}
	if (t->type == TOK_ORDINAL && t->num < 0 && t[1].type == TOK_UNIT &&
	    t[1].v == UNIT_DAY) {
		r->r.month_day = -1;
		return t + 2;
	}
	n = date_read(t, &m);
	if (n == NULL || m.is_lunar)
		return t;
	if ((m.has & HAS_DAY) != 0) {
		r->r.month_day = m.day;
	} else if (m.nth != 0) {
		r->date = m;
		r->has_date = true;
	} else {
		return t;
	}
	return n;
}

/* 每年3月5日, 每年春节. */
static const struct token *
yearly_read(const struct token *t, struct rule *r)
{
	struct moment m = { .confidence = 1 };
	const struct token *n, *last = t;

	set_unit(r, UNIT_YEAR);
	if (t->type == TOK_OF)
		t++;
	while ((n = date_read(t, &m)) != NULL)
		t = last = n;
	if ((m.has & (HAS_YEAR | HAS_DAYS | HAS_WEEK)) != 0 || m.has == 0)
		return last;
	r->date = m;
	r->has_date = true;
	if ((m.has & HAS_MONTH) != 0 && !m.is_lunar) {
		r->r.month = m.month;
		if ((m.has & HAS_DAY) != 0)
			r->r.month_day = m.day;
	}
	return last;
}

static const struct token *
unit_rule(const struct token *t, int unit, struct rule *r)
{
	const struct token *n;

	if (unit == UNIT_MONTH)
		return monthly_read(t, r);
	if (unit == UNIT_YEAR)
		return yearly_read(t, r);
	set_unit(r, unit);
	if (unit == UNIT_WEEK) {
		n = weekly_read(t->type == TOK_OF ? t + 1 : t, r);
		return n != NULL ? n : t;
	}
	return t;
}

/* Every so many weeks, and on which days: 每两周的周三. */
static const struct token *
weeks_read(const struct token *t, struct rule *r)
{
	struct rule week = { .is_counted = false };
	const struct token *n =
	    weekly_read(t->type == TOK_OF ? t + 1 : t, &week);

	if (n == NULL)
		return t;
	r->r.weekdays = week.r.weekdays;
	r->is_counted = false;
	return n;
}

/* 每两小时, 每隔一天, every 2 weeks. */
static const struct token *
counted_read(const struct token *t, bool apart, struct rule *r)
{
	const struct token *n = length_read(t, &r->every);
	int unit, i, units = 0;

	if (n == NULL)
		return NULL;
	for (i = 0; i < UNIT_COUNT; i++)
		units += r->every.n[i] > 0;
	unit = r->every.finest;
	r->is_counted = true;
	r->r.unit = reader_grain(unit);
	if (units == 1)
		r->r.every = r->every.n[unit] * (unit == UNIT_KE ? 15 : 1);
	else if (unit >= UNIT_MONTH)
		r->r.every = r->every.n[UNIT_MONTH] +
		    3 * r->every.n[UNIT_QUARTER] + 12 * r->every.n[UNIT_YEAR];
	else
		r->r.every = length_seconds(&r->every) /
		    (unit == UNIT_SECOND        ? 1
			    : unit <= UNIT_KE   ? 60
			    : unit == UNIT_HOUR ? 3600
			    : unit == UNIT_DAY  ? 86400
						: 604800);
	/* 每隔一天 leaves one day out; 每隔两小时 is said of the distance. */
	if (apart && unit >= UNIT_DAY) {
		r->r.every += 1;
		r->every.n[unit] += 1;
	}
	if (r->r.every <= 0)
		return NULL;
	if (units == 1 && unit == UNIT_WEEK && r->r.every > 1)
		return weeks_read(n, r);
	/* 每一周的周三 */
	if (units == 1 && unit >= UNIT_WEEK && !apart && r->r.every <= 1) {
		r->is_counted = false;
		return unit_rule(n, unit, r);
	}
	return n;
}

/* What stands behind 每. */
static const struct token *
every_read(const struct token *t, bool apart, struct rule *r)
{
	const struct token *n = weekly_read(t, r);
	struct length other = { .n = { 0 } };

	if (n != NULL)
		return n;
	n = counted_read(t, apart, r);
	if (n != NULL)
		return n;
	if (t->type == TOK_GE)
		t++;
	if (t->type == TOK_UNIT) {
		if (!apart)
			return unit_rule(t + 1, t->v, r);
		/* 隔天, every other day */
		set_unit(r, t->v);
		r->r.every *= 2;
		other.n[t->v] = 2;
		other.finest = t->v;
		r->every = other;
		r->is_counted = true;
		return t->v == UNIT_WEEK ? weeks_read(t + 1, r) : t + 1;
	}
	if (t->type == TOK_EDGE && t->w == UNIT_MONTH)
		return monthly_read(t, r);
	if (t->type == TOK_EDGE && t->w == UNIT_YEAR)
		return yearly_read(t, r);
	if (t->type == TOK_PART) {
		set_unit(r, UNIT_DAY);
		return t;
	}
	if (t->type == TOK_FEAST)
		return yearly_read(t, r);
	if (t->type == TOK_NUM && t[1].type == TOK_HAO)
		return monthly_read(t, r);
	return NULL;
}

static const struct token *
rule_read(const struct token *t, struct rule *r)
{
	const struct token *n;
	unsigned bits;

	switch (t->type) {
	case TOK_EVERY:
		return every_read(t + 1, t->v == 1, r);
	case TOK_DAILY:
		n = unit_rule(t + 1, t->v, r);
		if (t->w != PART_NONE) {
			r->time.has |= HAS_PART;
			r->time.part = t->w;
		}
		return n;
	case TOK_WORKDAY:
		n = weekly_read(t, r);
		/* 工作日每天 */
		return n != NULL && n->type == TOK_DAILY && n->v == UNIT_DAY &&
			n->w == PART_NONE
		    ? n + 1
		    : n;
	case TOK_WEEKEND:
		return t->w == 1 ? weekly_read(t, r) : NULL;
	case TOK_WDAY:
		/* 周一三五, mondays; 周一到周五 only with a time of day. */
		n = weekdays_read(t, &bits);
		if (t->w == 0 &&
		    (n == NULL || n[-2].type != TOK_TO || n != t + 3))
			return NULL;
		set_unit(r, UNIT_WEEK);
		r->r.weekdays = bits;
		if (n->type == TOK_DAILY && n->v == UNIT_DAY)
			return n + 1;
		if (t->w == 0) {
			struct moment m = { .has = 0 };

			if (time_read(n, &m) == NULL)
				return NULL;
		}
		return n;
	case TOK_AT:
		return t->v == 2 && t[1].type != TOK_WDAY ? rule_read(t + 1, r)
							  : NULL;
	default:
		return NULL;
	}
}

/* Whether the rule holds on a day. */
static bool
falls_on(const struct when_repeat *r, int64_t day)
{
	struct civil c = civil_of_days(day);

	if (r->weekdays != 0 &&
	    (r->weekdays >> (civil_weekday(day) - 1) & 1u) == 0)
		return false;
	if (r->month != 0 && c.month != r->month)
		return false;
	if (r->month_day > 0)
		return c.day == r->month_day;
	if (r->month_day < 0)
		return c.day == civil_month_days(c.year, c.month);
	/* A week, month, year that no day is said of: its first one. */
	if (r->unit == WHEN_WEEK && r->weekdays == 0)
		return civil_weekday(day) == 1;
	if (r->unit == WHEN_QUARTER)
		return c.day == 1 && c.month % 3 == 1;
	if (r->unit >= WHEN_MONTH && c.day != 1)
		return false;
	return r->unit != WHEN_YEAR || r->month != 0 || c.month == 1;
}

/* The first day on which second s of it is after now. */
static int64_t
first_day(const struct rule *r, struct here h, int64_t s)
{
	int64_t day;

	for (day = h.today; day < h.today + SEARCH_MAX; day++) {
		bool ok = r->is_counted || falls_on(&r->r, day);

		if (ok && day * DAY + s > h.now)
			break;
	}
	return day;
}

/* The first one after now. */
static void
first_of(const struct rule *r, struct here h, struct reach *out)
{
	int from = r->r.time_s >= 0 ? r->r.time_s : 0;
	int length = r->r.until_s > from ? r->r.until_s - from
	    : r->r.time_s >= 0           ? 60
					 : (int)DAY;
	struct moment m = r->date;
	int64_t at = (r->time.has & HAS_CLOCK) != 0
	    ? from
	    : aim_part(
		  (r->time.has & HAS_PART) != 0 ? r->time.part : PART_NONE);

	out->at = 0;
	if (r->has_date && moment_reach(&m, h, out)) {
		if (out->from + from <= h.now && r->r.unit == WHEN_MONTH) {
			m.month++;
			if (!moment_reach(&m, h, out))
				return;
		}
		out->at = out->from + at;
		out->from += from;
		out->to = out->from + length;
		return;
	}
	if (r->is_counted && r->r.time_s < 0) {
		out->from = out->at = length_add(&r->every, h, 1);
		out->to = out->from + 1;
		return;
	}
	if (r->r.unit < WHEN_DAY) {
		int step = r->r.unit == WHEN_HOUR ? 3600
		    : r->r.unit == WHEN_MINUTE    ? 60
						  : 1;

		out->from = h.now + (int64_t)(step * r->r.every);
		out->to = out->from + step;
		return;
	}
	out->from = first_day(r, h, from) * DAY + from;
	out->to = out->from + length;
	out->at = first_day(r, h, at) * DAY + at;
}

/* A time of day, or from one to another. */
static const struct token *
times_read(const struct token *t, struct rule *r)
{
	const struct token *n = time_read(t, &r->time), *end;
	struct moment to = { .has = 0 };

	r->until_s = -1;
	if (n == NULL || n->type != TOK_TO || (r->time.has & HAS_CLOCK) == 0)
		return n;
	end = time_read(n + 1, &to);
	if (end == NULL || (to.has & HAS_CLOCK) == 0)
		return n;
	if ((to.has & HAS_PART) == 0 && !to.is_24h) {
		to.has |= r->time.has & HAS_PART;
		to.part = r->time.part;
	}
	r->until_s = moment_clock(&to);
	while (r->until_s <= moment_clock(&r->time))
		r->until_s += 12 * 3600;
	return end;
}

const struct token *
read_repeat(struct reader *rd, const struct token *t, struct when *w)
{
	struct rule r = { .r = { .time_s = -1, .until_s = -1 } };
	struct reach first = { 0 };
	const struct token *n = rule_read(t, &r), *end;
	int from, to;

	if (n == NULL) {
		/* 早上七点每天, at 7 every day */
		n = time_read(t, &r.time);
		if (n != NULL && (n->type == TOK_EVERY || n->type == TOK_DAILY))
			n = rule_read(n, &r);
		else
			n = NULL;
		end = n;
		r.until_s = -1;
	} else {
		end = times_read(n, &r);
	}
	if (n == NULL)
		return NULL;
	if (end != NULL && r.r.unit >= WHEN_DAY)
		n = end;
	else
		r.time.has &= HAS_PART;
	if (r.r.unit < WHEN_DAY)
		r.time.has = 0;
	w->grain = r.r.unit;
	if ((r.time.has & HAS_CLOCK) != 0) {
		r.r.time_s = moment_clock(&r.time);
		w->grain = r.time.clock_grain;
		r.r.until_s = r.until_s;
	} else if ((r.time.has & HAS_PART) != 0) {
		part_span(r.time.part, &from, &to);
		r.r.time_s = from;
		r.r.until_s = to;
		w->grain = WHEN_HOUR;
	}
	first_of(&r, rd->here, &first);
	first.grain = w->grain;
	w->kind = WHEN_REPEAT;
	w->repeat = r.r;
	w->confidence = .95;
	when_set(w, first, rd);
	return n;
}
