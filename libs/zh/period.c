/*
 * What is counted from a date: the parts of a period (六月的第二周,
 * 今年头三个月), and times before and after it (春节前三天, 6月1号的两周后).
 */
#include "core/clock.h"
#include "zh/zh_internal.h"

#define DAY INT64_C(86400)
/* Parts of a period, and units of a distance from it. */
#define COUNT_MAX 10000
/* Largest distance between two instants, in seconds: some 3,000 years. */
#define SHIFT_MAX 1e11

/* ---- parts of a period ---- */

/* 第二周, 头三个月, 最后两天. */
struct period_part {
	int nth;           /* from 1; from the end from -1 */
	int count;         /* of units */
	int unit;          /* enum token_unit */
	unsigned weekdays; /* instead of a unit: 周五, 周末, 工作日 */
	bool is_weekend;
};

/* The unit, or the weekday, that is counted. */
static const struct token *
period_parse_unit(const struct token *t, struct period_part *p)
{
	if (t->type == TOK_GE)
		t++;
	if (t->type == TOK_UNIT && t->v != UNIT_KE && t->v >= UNIT_HOUR) {
		p->unit = t->v;
		/* 工作日 after 个 */
		if (t->x == 1)
			p->weekdays = 0x1f;
		return t + 1;
	}
	if (t->type == TOK_WORKDAY)
		p->weekdays = 0x1f;
	else if (t->type == TOK_WEEKEND)
		p->is_weekend = true;
	else if (t->type == TOK_WDAY && t->w != 1)
		p->weekdays = (unsigned)t->v;
	else
		return NULL;
	p->unit = UNIT_DAY;
	return t + 1;
}

static const struct token *
period_parse_part(const struct token *t, struct period_part *p)
{
	const struct token *n = t + 1;

	*p = (struct period_part){ .nth = 1, .count = 1 };
	switch (t->type) {
	case TOK_ORDINAL:
		if (t->num > COUNT_MAX || t->num < -COUNT_MAX || t->is_latin)
			return NULL;
		p->nth = (int)t->num;
		if (p->nth != -1)
			return period_parse_unit(n, p);
		break;
	case TOK_HEAD:
		break;
	case TOK_AFTER:
		/* 这个月后三天; but 六月后 */
		if (t->w == 0 || t->is_latin)
			return NULL;
		p->nth = -1;
		break;
	case TOK_BEFORE:
		if (t->w == 0 || t->is_latin)
			return NULL;
		break;
	default:
		return NULL;
	}
	if (token_is_int(n, 1, COUNT_MAX)) {
		p->count = (int)n->num;
		n++;
	} else if (t->type == TOK_AFTER || t->type == TOK_BEFORE) {
		return NULL;
	}
	return period_parse_unit(n, p);
}

const struct token *
period_skip_part(const struct token *t)
{
	struct period_part p;

	return period_parse_part(t->type == TOK_OF ? t + 1 : t, &p);
}

/* The Monday of the nth week of [from, to), whose Thursday lies in it. */
static int64_t
period_week(int64_t from, int64_t to, const struct period_part *p)
{
	int64_t thursday = from + (4 - civil_weekday(from) + 7) % 7;

	if (p->nth > 0)
		return thursday - 3 + 7 * (p->nth - 1);
	thursday = to - 1 - (civil_weekday(to - 1) - 4 + 7) % 7;
	return thursday - 3 + 7 * (p->nth + 1 - (p->count - 1));
}

/* The nth day of [from, to) that is one of the weekdays. */
static bool
period_weekday(
    int64_t from, int64_t to, const struct period_part *p, int64_t *out)
{
	int n = p->nth > 0 ? p->nth : p->count - p->nth - 1;
	int64_t day = p->nth > 0 ? from : to - 1;

	for (; day >= from && day<to; day += p->nth> 0 ? 1 : -1) {
		if ((p->weekdays >> (civil_weekday(day) - 1) & 1u) != 0 &&
		    --n == 0) {
			*out = day;
			return true;
		}
	}
	return false;
}

static int
period_months(int unit)
{
	return unit == UNIT_YEAR ? 12 : unit == UNIT_QUARTER ? 3 : 1;
}

/* n units from a day, negative before it. */
static int64_t
period_add(int64_t day, int unit, int64_t n)
{
	struct civil c = civil_of_days(day);

	if (unit == UNIT_DAY)
		return day + n;
	if (unit == UNIT_WEEK)
		return day + 7 * n;
	c.month += (int)n * period_months(unit);
	return civil_days(c);
}

/* The days of the part; false: the period has none. */
static bool
period_resolve_days(int64_t from, int64_t to, const struct period_part *p,
    int64_t *first, int64_t *last)
{
	struct period_part saturday = { p->nth, p->count, UNIT_DAY, 0x20,
		false };

	if (p->is_weekend) {
		if (!period_weekday(from, to, &saturday, first))
			return false;
		*last = *first + 2;
		return true;
	}
	if (p->weekdays != 0) {
		if (!period_weekday(from, to, p, first))
			return false;
		*last = *first + 1;
		if (p->count > 1 && p->nth > 0) {
			struct period_part end = *p;

			end.nth = p->count;
			if (!period_weekday(from, to, &end, last))
				return false;
			++*last;
		} else if (p->count > 1) {
			*last = to;
		}
		return true;
	}
	if (p->unit == UNIT_WEEK) {
		*first = period_week(from, to, p);
		*last = *first + 7 * p->count;
		return *first + 3 < to && *first + 3 >= from;
	}
	*first = p->nth > 0 ? period_add(from, p->unit, p->nth - 1)
			    : period_add(to, p->unit, p->nth - p->count + 1);
	*last = period_add(*first, p->unit, p->count);
	return *first >= from && *last <= to;
}

/* A time of day after a single day. */
static const struct token *
period_parse_time(
    const struct token *t, struct local_now h, struct local_range *at)
{
	struct instant m = { .has = HAS_DAYS, .confidence = .9 };
	struct local_range out;
	const struct token *n;

	if (at->grain != DATETIME_DAY || at->is_interval ||
	    at->to - at->from != DAY)
		return t;
	m.days = (int)(at->from / DAY - h.today);
	n = instant_parse_time(t, &m);
	if (n == NULL || !instant_resolve(&m, h, &out))
		return t;
	*at = out;
	return n;
}

/* 第一周周五, 第二周的周末: within the week at. */
static const struct token *
period_parse_weekday(const struct token *t, struct local_range *at)
{
	const struct token *n = t->type == TOK_OF ? t + 1 : t;
	int64_t monday = at->from / DAY, day = 0;

	if (n->type == TOK_WEEKEND) {
		at->from = (monday + 5) * DAY;
		at->to = (monday + 7) * DAY;
		at->is_interval = true;
	} else if (n->type == TOK_WDAY && n->w == 0) {
		while ((n->v >> day & 1) == 0)
			day++;
		at->from = (monday + day) * DAY;
		at->to = at->from + DAY;
	} else {
		return t;
	}
	at->grain = DATETIME_DAY;
	return n + 1;
}

const struct token *
period_select(const struct token *t, struct local_now h, struct local_range *at)
{
	struct period_part p;
	struct local_range out = { 0 };
	const struct token *n = t;
	int64_t first, last;

	if (at->grain < DATETIME_DAY || at->from == RANGE_OPEN ||
	    at->to == RANGE_OPEN)
		return NULL;
	n += n->type == TOK_OF;
	if (n->type == TOK_WITHIN && n->w == 1 && n[1].type == TOK_OF)
		n += 2;
	n = period_parse_part(n, &p);
	/* 三天后, 三天内 are counted from now. */
	if (n == NULL || n->type == TOK_AGO ||
	    (n->type == TOK_WITHIN && n->w == 0 && p.nth < 0))
		return NULL;
	if (p.unit < UNIT_DAY) {
		/* 明天头三个小时 */
		out.from = p.nth > 0 ? at->from + (p.nth - 1) * 3600
				     : at->to - p.count * 3600;
		out.to = out.from + (int64_t)p.count * 3600;
		if (out.from < at->from || out.to > at->to)
			return NULL;
		out.grain = DATETIME_HOUR;
		out.is_interval = true;
		*at = out;
		return n;
	}
	if (at->to - at->from <= DAY ||
	    !period_resolve_days(
		local_day(at->from), local_day(at->to), &p, &first, &last))
		return NULL;
	out.from = first * DAY;
	out.to = last * DAY;
	out.grain = datetime_grain_of_unit(p.unit);
	out.is_interval = p.count > 1 || p.is_weekend;
	*at = out;
	if (p.unit == UNIT_WEEK && p.count == 1)
		n = period_parse_weekday(n, at);
	return period_parse_time(n, h, at);
}

/* ---- before and after a date ---- */

/* at by so much; false: too far. */
static bool
period_shift(struct local_range *at, const struct duration *l, int sign)
{
	struct local_now from = { .now = at->from };

	if (duration_seconds(l) > SHIFT_MAX)
		return false;
	at->to -= at->from;
	at->from = duration_add(l, from, sign);
	at->to += at->from;
	at->at = 0;
	if (at->grain > datetime_grain_of_unit(l->finest))
		at->grain = datetime_grain_of_unit(l->finest);
	return true;
}

/* The moment of which a distance shorter than a day is counted. */
static void
period_set_begin(struct local_range *at, enum datetime_grain grain)
{
	at->grain = grain;
	at->to = at->from +
	    (grain == DATETIME_HOUR            ? 3600
		    : grain == DATETIME_MINUTE ? 60
					       : 1);
}

/* 后第三天, 的第二天: the days after it. */
static const struct token *
period_parse_nth_after(
    const struct token *n, bool is_after, struct local_range *at)
{
	if (n->type == TOK_OF)
		n++;
	if (n->type != TOK_ORDINAL || n->num < 1 || n->num > COUNT_MAX ||
	    !token_is_unit(n + 1, UNIT_DAY) || at->grain != DATETIME_DAY ||
	    (!is_after && n->num != 2))
		return NULL;
	at->from = at->to + ((int64_t)n->num - (is_after ? 1 : 2)) * DAY;
	at->to = at->from + DAY;
	at->at = 0;
	at->is_interval = false;
	return n + 2;
}

/* 起三天内, 起的10天, 开始的一周. */
static const struct token *
period_parse_since(const struct token *n, struct local_range *at)
{
	struct local_now from = { .now = at->from };
	struct duration l;

	n++;
	if (n->type == TOK_OF || n->type == TOK_COMMA)
		n++;
	n = duration_parse(n, &l);
	if (n == NULL || l.finest < UNIT_HOUR ||
	    duration_seconds(&l) > SHIFT_MAX)
		return NULL;
	at->to = duration_add(&l, from, 1);
	at->grain = datetime_grain_of_unit(l.finest);
	at->is_interval = true;
	return n->type == TOK_WITHIN ? n + 1 : n;
}

/* 前三天, 后两周内. */
static const struct token *
period_parse_side(const struct token *n, struct local_range *at)
{
	int sign = n->type == TOK_BEFORE ? -1 : 1;
	struct local_range whole = *at;
	const struct token *end;
	struct duration l;

	n++;
	if (n->type == TOK_OF)
		n++;
	end = duration_parse(n, &l);
	/* 国庆后三天后 has no meaning. */
	if (end == NULL || end->type == TOK_AFTER || end->type == TOK_BEFORE)
		return NULL;
	if (l.finest < UNIT_DAY && at->grain >= DATETIME_DAY)
		return NULL;
	if (!period_shift(at, &l, sign))
		return NULL;
	if (end->type == TOK_WITHIN) {
		if (sign < 0) {
			at->to = whole.from;
		} else {
			at->to = at->from + (whole.to - whole.from);
			at->from =
			    whole.grain < DATETIME_DAY ? whole.from : whole.to;
		}
		at->is_interval = true;
		return end + 1;
	}
	return end;
}

/* 的两周后, 三天前: the distance before its side. */
static const struct token *
period_parse_distance(const struct token *n, struct local_range *at)
{
	bool is_of = n->type == TOK_OF;
	const struct token *end;
	struct duration l;

	n += is_of;
	end = duration_parse(n, &l);
	if (end == NULL)
		return NULL;
	if (end->type == TOK_ABOUT && end->w == 1)
		end++;
	if ((end->type != TOK_AFTER && end->type != TOK_BEFORE) ||
	    end->is_latin)
		return NULL;
	if (l.finest < UNIT_DAY && at->grain >= DATETIME_DAY) {
		/* 明天十分钟后 is two times. */
		if (!is_of)
			return NULL;
		period_set_begin(at, datetime_grain_of_unit(l.finest));
	}
	if (!period_shift(at, &l, end->type == TOK_BEFORE ? -1 : 1))
		return NULL;
	return end + 1;
}

const struct token *
period_offset(const struct token *t, struct local_now h, struct local_range *at,
    bool is_named)
{
	struct local_range out = *at;
	const struct token *n = NULL, *side = t;

	if (at->is_interval || at->grain > DATETIME_DAY)
		return t->type == TOK_SINCE && !t->is_latin
		    ? period_parse_since(t, at)
		    : NULL;
	if (t->type == TOK_SINCE && !t->is_latin)
		return period_parse_since(t, at);
	if (t->type == TOK_OF)
		side++;
	if ((side->type == TOK_AFTER || side->type == TOK_BEFORE) &&
	    !side->is_latin) {
		n = period_parse_side(side, &out);
		if (n == NULL && side->type == TOK_AFTER) {
			out = *at;
			n = period_parse_nth_after(side + 1, true, &out);
		}
	} else if (is_named) {
		n = period_parse_nth_after(t, false, &out);
		if (n == NULL) {
			out = *at;
			n = period_parse_distance(t, &out);
		}
	}
	if (n == NULL)
		return NULL;
	*at = out;
	return period_parse_time(n, h, at);
}
