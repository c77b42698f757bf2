/*
 * Durations, and what is counted from now with them.
 */
#include "core/clock.h"
#include "core/mem.h"
#include "zh/zh_internal.h"

#define DAY INT64_C(86400)

static const double duration_unit_seconds[UNIT_COUNT] = { 1, 60, 900, 3600,
	86400, 7 * 86400, 30 * 86400, 91 * 86400, 365 * 86400 };

/* Limits of what is counted from now. */
#define MONTHS_MAX  60000.0
#define SECONDS_MAX 1.5e11

/* One amount with its unit. */
struct duration_term {
	double n;
	int unit;
	bool is_approximate;
	bool is_short;  /* 分, 刻, 日: alone it may have another meaning */
	bool has_half;  /* 五分半 */
	bool has_count; /* 三个月, 两月: not the name of a month */
	double spread;  /* 三四天: n is between n - spread and n + spread */
};

/* 三五天, 两三个小时: the numeral's two digits, or two numerals. */
static const struct token *
duration_parse_approximate(const struct token *t, double *n)
{
	int a, b;

	if (t->type != TOK_NUM || t->is_ascii || t->is_decimal || t->is_latin)
		return NULL;
	if (t->digits == 2 && t->num >= 12) {
		a = (int)t->num / 10;
		b = (int)t->num % 10;
		if (b <= a || b > a + 2)
			return NULL;
		*n = (a + b) / 2.0;
		return t + 1;
	}
	/* 三四十 */
	if (t->num <= 9 && t[1].type == TOK_NUM && !t[1].is_ascii &&
	    token_touches(t, t + 1) && t[1].num >= 20 && t[1].num <= 90 &&
	    (int)t[1].num == ((int)t->num + 1) * 10) {
		*n = t[1].num - 5;
		return t + 2;
	}
	if (t->num <= 9 && t[1].type == TOK_NUM && !t[1].is_ascii &&
	    token_touches(t, t + 1) && t[1].num > t->num &&
	    t[1].num <= t->num + 2) {
		*n = (t->num + t[1].num) / 2;
		return t + 2;
	}
	return NULL;
}

/* The number before a unit; 几 counts as three. */
static const struct token *
duration_parse_amount(const struct token *t, struct duration_term *p)
{
	const struct token *n = duration_parse_approximate(t, &p->n);

	if (n != NULL) {
		p->is_approximate = true;
		p->spread = (p->n > (int)p->n) ? .5 : 1;
		return n;
	}
	if (t->type == TOK_NUM) {
		p->n = t->num;
		p->is_approximate = t->is_latin && t->w == 1;
		p->has_count = t->is_pair;
		n = t + 1;
		if (t->is_latin && n->type == TOK_NUM && n->is_latin) {
			/* a few, a couple (of) */
			p->n = n->num;
			p->is_approximate = n->w == 1;
			n++;
			if (n->type == TOK_OF)
				n++;
		}
	} else {
		p->n = 0;
		n = t;
	}
	if (n->type == TOK_SOME) {
		p->n += 3;
		p->is_approximate = true;
		n++;
	}
	if (n == t)
		return NULL;
	/* 一整天 */
	if (n->type == TOK_SHARP && n[1].type == TOK_UNIT)
		n++;
	if (n->type == TOK_MORE) {
		p->is_approximate = true;
		n++;
	}
	return n;
}

/* Half a unit, in a smaller unit where that is a whole number. */
static void
duration_set_half(struct duration_term *p, int unit)
{
	static const struct {
		double n;
		int unit;
	} halves[UNIT_COUNT] = {
		[UNIT_SECOND] = { .5, UNIT_SECOND },
		[UNIT_MINUTE] = { 30, UNIT_SECOND },
		[UNIT_KE] = { .5, UNIT_KE },
		[UNIT_HOUR] = { 30, UNIT_MINUTE },
		[UNIT_DAY] = { 12, UNIT_HOUR },
		[UNIT_WEEK] = { .5, UNIT_WEEK },
		[UNIT_MONTH] = { 15, UNIT_DAY },
		[UNIT_QUARTER] = { .5, UNIT_QUARTER },
		[UNIT_YEAR] = { 6, UNIT_MONTH },
	};

	p->n = halves[unit].n;
	p->unit = halves[unit].unit;
}

/* 半小时, 半个月, half an hour, half a day. */
static const struct token *
duration_parse_half(const struct token *t, struct duration_term *p)
{
	if (t->type != TOK_HALF)
		return NULL;
	t++;
	if (t->type == TOK_GE || t->type == TOK_MORE ||
	    (t->type == TOK_NUM && t->is_latin && t->num <= 1))
		t++;
	if (t->type == TOK_MORE)
		t++;
	if (t->type == TOK_BELL) {
		duration_set_half(p, UNIT_HOUR);
		return t + 1;
	}
	if (t->type != TOK_UNIT ||
	    (t->w == 1 && t->v != UNIT_DAY && t->v != UNIT_MONTH &&
		t->v != UNIT_WEEK))
		return NULL;
	duration_set_half(p, t->v);
	p->is_approximate = t[1].type == TOK_MORE && t[1].v == 1;
	return p->is_approximate ? t + 2 : t + 1;
}

/* 个半小时: one and a half, 一 omitted. */
static const struct token *
duration_parse_ge_half(const struct token *t, struct duration_term *p)
{
	if (t->type == TOK_GE && t[1].type == TOK_HALF &&
	    (t[2].type == TOK_BELL ||
		(t[2].type == TOK_UNIT && t[2].v != UNIT_MINUTE))) {
		p->unit = t[2].type == TOK_BELL ? UNIT_HOUR : t[2].v;
		p->n = 1.5;
		return t + 3;
	}
	/* 分半钟 */
	if (token_is_unit(t, UNIT_MINUTE) && t->w == 1 &&
	    t[1].type == TOK_HALF &&
	    (t[2].type == TOK_BELL || t[2].type == TOK_END)) {
		p->unit = UNIT_MINUTE;
		p->n = 1.5;
		p->has_half = true;
		return t[2].type == TOK_BELL ? t + 3 : t + 2;
	}
	return NULL;
}

/* 五点五分钟, 两点五小时: the unit rules out a clock time. */
static const struct token *
duration_parse_decimal(const struct token *t, struct duration_term *p)
{
	const struct token *f = t + 2, *u = t + 3;
	double scale = 1;
	int i;

	if (t->type != TOK_NUM || t->is_decimal || t[1].type != TOK_OCLOCK ||
	    t[1].w != 0 || f->type != TOK_NUM || f->digits < 1 ||
	    f->digits > 6 || !token_touches(t + 1, f))
		return NULL;
	if (u->type == TOK_GE)
		u++;
	if (u->type != TOK_UNIT || u->w == 1)
		return NULL;
	for (i = 0; i < f->digits; i++)
		scale /= 10;
	if (f->digits > 1 && u->v == UNIT_MINUTE)
		return NULL;
	p->n = t->num + f->num * scale;
	p->unit = u->v;
	return u + 1;
}

/* The unit after an amount, with a half before or after it. */
static const struct token *
duration_parse_unit(const struct token *t, struct duration_term *p)
{
	bool ge = t->type == TOK_GE;

	if (ge)
		t++;
	if (t->type == TOK_MORE) {
		p->is_approximate = true;
		t++;
	}
	if (t->type == TOK_AND && t->is_latin && t[1].type == TOK_NUM &&
	    t[2].type == TOK_HALF && t[3].type == TOK_UNIT) {
		/* two and a half hours */
		p->n += .5;
		t += 3;
	} else if (t->type == TOK_HALF && (ge || t->is_latin) &&
	    (t[1].type == TOK_UNIT || t[1].type == TOK_BELL)) {
		p->n += .5;
		t++;
	}
	if (t->type == TOK_BELL && ge) {
		p->unit = UNIT_HOUR;
		return t + 1;
	}
	if (t->type != TOK_UNIT)
		return NULL;
	p->unit = t->v;
	p->is_short = t->w != 0;
	p->has_count = p->has_count || ge;
	/* 个 precedes no other unit (三个分), except in 五个半分钟. */
	p->is_approximate = p->is_approximate || t->x == 1;
	if (ge && t->x != 1 && t[-1].type != TOK_HALF && t->v != UNIT_HOUR &&
	    t->v != UNIT_MONTH && t->v != UNIT_WEEK && t->v != UNIT_QUARTER)
		return NULL;
	t++;
	if (t->type == TOK_MORE && !t->is_latin && t->v == 1) {
		/* 一年多 */
		p->is_approximate = true;
		t++;
	}
	if (t->type == TOK_HALF && !t->is_latin && t[1].type != TOK_GE &&
	    t[1].type != TOK_UNIT) {
		p->n += .5;
		p->has_half = true;
		t++;
		if (t->type == TOK_BELL)
			t++;
	} else if (t->type == TOK_AND && t->is_latin && t[1].type == TOK_NUM &&
	    t[1].is_latin && t[2].type == TOK_HALF && t[3].type != TOK_UNIT &&
	    t[3].type != TOK_NUM) {
		/* an hour and a half */
		p->n += .5;
		t += 3;
	} else if (p->unit == UNIT_KE && t->type == TOK_OF &&
	    t[1].type == TOK_NUM && token_is_unit(t + 2, UNIT_HOUR)) {
		/* three quarters of an hour */
		t += 3;
	}
	return t;
}

static const struct token *
duration_parse_term(const struct token *t, struct duration_term *p)
{
	const struct token *n;

	*p = (struct duration_term){ 0 };
	n = duration_parse_half(t, p);
	if (n == NULL)
		n = duration_parse_ge_half(t, p);
	if (n == NULL)
		n = duration_parse_decimal(t, p);
	if (n != NULL)
		return n;
	n = duration_parse_amount(t, p);
	if (n == NULL)
		return NULL;
	/* 2026年 is a year, not a duration. */
	if (t->digits == 4 && token_is_unit(t + 1, UNIT_YEAR))
		return NULL;
	return duration_parse_unit(n, p);
}

/* Whether the term is a duration alone: not 十分, 一刻, 三月, 五日. */
static bool
duration_stands_alone(const struct duration_term *p, const struct token *next)
{
	bool related = next->type == TOK_AFTER || next->type == TOK_BEFORE ||
	    next->type == TOK_WITHIN;

	if (!p->is_short || p->has_half)
		return true;
	switch (p->unit) {
	case UNIT_MONTH:
		return p->has_count;
	case UNIT_MINUTE:
	case UNIT_KE:
		return related;
	case UNIT_DAY:
		return related || p->has_count || p->n > 31;
	default:
		return true;
	}
}

static void
duration_add_term(struct duration *l, const struct duration_term *p)
{
	l->n[p->unit] += p->n;
	l->finest = p->unit;
	l->spread = p->spread;
	l->is_approximate = l->is_approximate || p->is_approximate;
}

/* Where the next term of the same duration may begin. */
static const struct token *
duration_skip_and(const struct token *t)
{
	if (t->type == TOK_AND || (t->type == TOK_COMMA && t[1].is_ascii))
		return t + 1;
	return t;
}

double
duration_seconds(const struct duration *l)
{
	double s = 0;
	int i;

	for (i = 0; i < UNIT_COUNT; i++)
		s += l->n[i] * duration_unit_seconds[i];
	return s;
}

const struct token *
duration_parse(const struct token *t, struct duration *l)
{
	struct duration_term p, next;
	const struct token *n, *last;
	int terms = 1;

	*l = (struct duration){ .confidence = .95 };
	n = duration_parse_term(t, &p);
	if (n == NULL)
		return NULL;
	duration_add_term(l, &p);
	for (;;) {
		last = n;
		n = duration_parse_term(duration_skip_and(last), &next);
		if (n == NULL || next.unit >= l->finest ||
		    (next.unit == UNIT_KE && next.is_short))
			break;
		if (next.unit == UNIT_MONTH && next.is_short && !next.has_count)
			break;
		duration_add_term(l, &next);
		terms++;
	}
	if (terms == 1 && !duration_stands_alone(&p, last))
		return NULL;
	/* 6月1日 is a date. */
	if (terms > 1 && p.unit == UNIT_MONTH && p.is_short && !p.has_count)
		return NULL;
	/* 两天一夜 */
	if (terms == 1 && p.unit == UNIT_DAY && token_is_int(last, 1, 31) &&
	    last[1].type == TOK_DAY_PART && last[1].v == DAY_PART_EVENING &&
	    last[1].w == 1)
		last += 2;
	if (duration_seconds(l) > SECONDS_MAX)
		return NULL;
	if (l->is_approximate)
		l->confidence = .8;
	return last;
}

/* Calendar months; the day is clamped to the length of its month. */
static int64_t
duration_add_months(int64_t local, int64_t months)
{
	int64_t day = local_day(local);
	struct civil c = civil_of_days(day);
	int64_t m = c.month - 1 + months;
	int64_t years = (m >= 0 ? m : m - 11) / 12;
	int most;

	c.year += years;
	c.month = (int)(m - years * 12) + 1;
	most = civil_month_days(c.year, c.month);
	if (c.day > most)
		c.day = most;
	return civil_days(c) * 86400 + (local - day * 86400);
}

int64_t
duration_add(const struct duration *l, struct local_now h, int sign)
{
	double months =
	    l->n[UNIT_MONTH] + 3 * l->n[UNIT_QUARTER] + 12 * l->n[UNIT_YEAR];
	double whole, rest;
	int i;

	if (months > MONTHS_MAX)
		months = MONTHS_MAX;
	whole = (double)(int64_t)months;
	rest = (months - whole) * duration_unit_seconds[UNIT_MONTH];
	for (i = 0; i <= UNIT_WEEK; i++)
		rest += l->n[i] * duration_unit_seconds[i];
	if (rest > SECONDS_MAX)
		rest = SECONDS_MAX;
	return duration_add_months(h.now, (int64_t)whole * sign) +
	    (int64_t)(rest + .5) * sign;
}

/* ---- counted from now ---- */

/* Most units before or after the current one. */
#define COUNT_MAX 10000

/* The start of the unit in which a local time lies. */
static int64_t
relative_unit_start(int64_t local, int unit, int64_t add)
{
	int64_t day = local_day(local);
	struct civil c = civil_of_days(day);

	switch (unit) {
	case UNIT_SECOND:
		return local + add;
	case UNIT_MINUTE:
		return local - local % 60 + add * 60;
	case UNIT_KE:
		return local - local % 900 + add * 900;
	case UNIT_HOUR:
		return local - local % 3600 + add * 3600;
	case UNIT_DAY:
		return (day + add) * DAY;
	case UNIT_WEEK:
		return (day - civil_weekday(day) + 1 + 7 * add) * DAY;
	case UNIT_MONTH:
		c.month += (int)add;
		break;
	case UNIT_QUARTER:
		c.month = (c.month - 1) / 3 * 3 + 1 + 3 * (int)add;
		break;
	default:
		c.month = 1;
		c.year += add;
	}
	c.day = 1;
	return civil_days(c) * DAY;
}

/* Windows counted from now. */
enum window {
	WINDOW_WITHIN,    /* 三天内: from now on */
	WINDOW_COMING,    /* 未来三天: whole days, from tomorrow on */
	WINDOW_PRECEDING, /* 过去三天: whole days, up to yesterday */
	WINDOW_RECENT,    /* 最近三天: up to now */
};

static void
relative_set_window(struct parser *r, const struct duration *l,
    enum window kind, struct datetime *w)
{
	int sign = kind == WINDOW_WITHIN || kind == WINDOW_COMING ? 1 : -1;
	int64_t at = r->local.now, other;
	struct local_range out = { .grain = datetime_grain_of_unit(l->finest) };

	if (l->finest >= UNIT_DAY && kind == WINDOW_COMING)
		at = (r->local.today + 1) * DAY;
	else if (l->finest >= UNIT_DAY && kind != WINDOW_WITHIN)
		at = r->local.today * DAY;
	other = duration_add(
	    l, (struct local_now){ .now = at, .today = r->local.today }, sign);
	out.from = sign > 0 ? at : other;
	out.to = sign > 0 ? other : kind == WINDOW_RECENT ? r->local.now : at;
	if (kind == WINDOW_WITHIN)
		out.at = out.to;
	w->kind = DATETIME_INTERVAL;
	w->is_bounded = true;
	w->is_relative = true;
	w->is_approximate = l->is_approximate;
	w->confidence = l->confidence;
	datetime_set(w, out, r);
	w->seconds = sign * duration_seconds(l);
}

/* 今明两年, 明后天. */
static const struct token *
datetime_parse_row(struct parser *r, const struct token *t, struct datetime *w)
{
	int unit = t->type == TOK_YEARS ? UNIT_YEAR : UNIT_DAY;
	struct local_range out = { .grain = datetime_grain_of_unit(unit) };

	if (t->type != TOK_YEARS && t->type != TOK_DAYS)
		return NULL;
	out.from = relative_unit_start(r->local.now, unit, t->v);
	out.to = relative_unit_start(r->local.now, unit, t->w);
	w->kind = DATETIME_INTERVAL;
	w->confidence = .95;
	datetime_set(w, out, r);
	return t + 1;
}

const struct token *
datetime_parse_units(
    struct parser *r, const struct token *t, struct datetime *w)
{
	const struct token *n;
	struct duration l;
	struct local_range out = { 0 };
	int64_t count;
	int sign;

	n = datetime_parse_row(r, t, w);
	if (n != NULL)
		return n;
	n = t + 1;
	if (n->type == TOK_GE || (n->type == TOK_NUM && n->num <= 1))
		n++;
	if (t->type == TOK_REL && t->v >= -1 && t->v <= 1 && !t->is_latin &&
	    n->type == TOK_UNIT && n->w == 0 && n->v < UNIT_DAY) {
		/* 下一个小时 */
		out.from = relative_unit_start(r->local.now, n->v, t->v);
		out.to = relative_unit_start(r->local.now, n->v, t->v + 1);
		out.grain = datetime_grain_of_unit(n->v);
		w->kind = DATETIME_INTERVAL;
		w->confidence = .85;
		datetime_set(w, out, r);
		return n + 1;
	}
	if (t->type == TOK_REL && t->v == 0 && !t->is_latin &&
	    (t[1].type == TOK_NUM || t[1].type == TOK_SOME)) {
		/* 这两年, 这几个月 */
		n = duration_parse(t + 1, &l);
		if (n == NULL || l.finest < UNIT_DAY || l.n[l.finest] <= 1)
			return NULL;
		l.is_approximate = true;
		relative_set_window(r, &l, WINDOW_RECENT, w);
		return n;
	}
	if (t->type == TOK_REL && t->v != 0 && t->v >= -1 && t->v <= 1)
		sign = t->v;
	else if ((t->type == TOK_AFTER || t->type == TOK_BEFORE) && t->w == 1)
		sign = t->type == TOK_AFTER ? 1 : -1;
	else
		return NULL;
	n = t + 1;
	if (n->type != TOK_NUM && n->type != TOK_SOME)
		return NULL;
	n = duration_parse(n, &l);
	/* 开会前十分钟 is not counted from now. */
	if (n != NULL && l.finest < UNIT_DAY &&
	    token_scan_is_suffix(&r->scan, t))
		return NULL;
	if (n == NULL) {
		/* 前两月 */
		if (t[1].type != TOK_NUM || t[2].type != TOK_UNIT)
			return NULL;
		l = (struct duration){ .finest = t[2].v };
		l.n[l.finest] = t[1].num;
		n = t + 3;
	}
	if (l.n[l.finest] < 1 || l.n[l.finest] > COUNT_MAX)
		return NULL;
	count = (int64_t)l.n[l.finest];
	if (sign > 0) {
		out.from = relative_unit_start(r->local.now, l.finest, 1);
		out.to = relative_unit_start(r->local.now, l.finest, 1 + count);
	} else {
		out.from = relative_unit_start(r->local.now, l.finest, -count);
		out.to = relative_unit_start(r->local.now, l.finest, 0);
	}
	out.grain = datetime_grain_of_unit(l.finest);
	w->kind = DATETIME_INTERVAL;
	w->is_approximate = l.is_approximate;
	w->confidence = .85;
	datetime_set(w, out, r);
	return n;
}

const struct token *
datetime_parse_window(
    struct parser *r, const struct token *t, struct datetime *w)
{
	const struct token *n = NULL;
	struct duration l;
	enum window kind = WINDOW_WITHIN;

	if (t->type == TOK_COMING || t->type == TOK_PRECEDING) {
		kind = t->type == TOK_COMING ? WINDOW_COMING
		    : t->v > 0               ? WINDOW_RECENT
					     : WINDOW_PRECEDING;
		n = t + 1;
		if (n->type == TOK_OF)
			n++;
	} else if ((t->type == TOK_IN && t->w == 1) || t->type == TOK_WITHIN) {
		n = t + 1;
	} else if (t->type == TOK_REL && t->is_latin && t->v != 0 &&
	    t[1].type == TOK_NUM) {
		kind = t->v > 0 ? WINDOW_COMING : WINDOW_PRECEDING;
		n = t + 1;
	}
	if (n != NULL) {
		if (n->type == TOK_AT)
			n++;
		n = duration_parse(n, &l);
		if (n == NULL)
			return NULL;
		/* 近十年来, 过去三年里 */
		if (n->type == TOK_WITHIN || n->type == TOK_BETWEEN ||
		    (kind != WINDOW_COMING && !n->is_latin &&
			(n->type == TOK_SINCE || n->type == TOK_MORE)))
			n++;
	} else {
		n = duration_parse(t, &l);
		if (n == NULL)
			return NULL;
		/* 三年来, 一个月以来 */
		if (n->type == TOK_SINCE ||
		    (n->type == TOK_MORE && n->v == 0 && !n->is_latin &&
			(n[1].type == TOK_END || n[1].type == TOK_COMMA)))
			kind = WINDOW_RECENT;
		else if (n->type != TOK_WITHIN)
			return NULL;
		n++;
	}
	/* 最近两三天: the longer one */
	if (l.finest >= UNIT_DAY)
		l.n[l.finest] += l.spread;
	relative_set_window(r, &l, kind, w);
	return n;
}

/* The instant a whole number of days from today; a time may follow. */
static bool
relative_day(const struct duration *l, int sign, struct instant *m)
{
	double months =
	    12 * l->n[UNIT_YEAR] + 3 * l->n[UNIT_QUARTER] + l->n[UNIT_MONTH];
	double days = 7 * l->n[UNIT_WEEK] + l->n[UNIT_DAY];
	int i;

	for (i = 0; i < UNIT_DAY; i++) {
		if (l->n[i] > 0)
			return false;
	}
	if (months > 12000 || days > 365000)
		return false;
	/* 一个半月后 */
	days += (months - (int)months) * 30;
	if (days < (int)days || days > (int)days)
		return false;
	*m = (struct instant){ .confidence = l->confidence };
	m->days = (int)days * sign;
	m->months = (int)months * sign;
	m->has = m->months == 0 ? HAS_DAYS : HAS_MONTHS;
	return true;
}

/*
 * 两年前的夏天, 三个月后的15号: a part of the year, or a day of the month, that
 * is so far from now.
 */
static const struct token *
relative_parse_part(const struct token *t, const struct duration *l, int sign,
    struct local_now h, struct local_range *out)
{
	struct instant m = { .confidence = l->confidence };
	const struct token *n, *last = NULL;
	double count = l->n[l->finest];

	if (t->type != TOK_OF || count > 1000 || count > (int)count)
		return NULL;
	if (l->finest == UNIT_YEAR) {
		m.has = HAS_YEAR;
		m.year = (int)count * sign;
		m.year_is_rel = true;
	} else if (l->finest == UNIT_MONTH && l->n[UNIT_YEAR] <= 0) {
		m.has = HAS_MONTH;
		m.month = (int)count * sign;
		m.month_is_rel = true;
	} else {
		return NULL;
	}
	t++;
	while ((n = date_parse(t, &m)) != NULL)
		t = last = n;
	if (last == NULL || (m.has & (HAS_DAYS | HAS_WEEK)) != 0)
		return NULL;
	n = instant_parse_time(last, &m);
	return instant_resolve(&m, h, out) ? (n != NULL ? n : last) : NULL;
}

/* The bounds of an instant counted from now. */
static const struct token *
relative_set_instant(struct parser *r, const struct token *n,
    const struct duration *l, int sign, struct datetime *w)
{
	struct local_range out = { 0 };
	const struct token *end;
	struct instant m;

	w->kind = DATETIME_INSTANT;
	w->is_relative = true;
	w->is_approximate = l->is_approximate;
	w->confidence = l->confidence;
	end = relative_parse_part(n, l, sign, r->local, &out);
	if (end != NULL) {
		w->kind =
		    out.is_interval ? DATETIME_INTERVAL : DATETIME_INSTANT;
		w->is_relative = false;
		n = end;
	} else if (relative_day(l, sign, &m)) {
		/* 两周后的周三 */
		if (l->finest == UNIT_WEEK && n->type == TOK_OF &&
		    n[1].type == TOK_WDAY && n[1].w == 0) {
			struct instant d = { .has = 0 };

			end = date_parse(n + 1, &d);
			m.has = HAS_WEEK | HAS_WDAY;
			m.week = m.days / 7;
			m.wday = d.wday;
			n = end != NULL ? end : n;
		}
		/* 一周后的今天 */
		if (n->type == TOK_OF && n[1].type == TOK_DAY && n[1].v == 0 &&
		    n[1].w == DAY_PART_NONE)
			n += 2;
		end = instant_parse_time(n, &m);
		n = end != NULL ? end : n;
		if (!instant_resolve(&m, r->local, &out))
			return NULL;
		if (end != NULL && out.is_interval)
			w->kind = DATETIME_INTERVAL;
		w->is_relative = end == NULL && m.has != (HAS_WEEK | HAS_WDAY);
	} else {
		out.from = duration_add(l, r->local, sign);
		out.grain = datetime_grain_of_unit(l->finest);
		out.to = out.from +
		    (out.grain == DATETIME_SECOND          ? 1
			    : out.grain == DATETIME_MINUTE ? 60
							   : 3600);
	}
	datetime_set(w, out, r);
	if (w->is_relative)
		w->seconds = sign * duration_seconds(l);
	return n;
}

/* 三四天后: from the shorter distance to the end of the longer one's day. */
static const struct token *
relative_set_between(struct parser *r, const struct token *n, struct duration l,
    int sign, struct datetime *w)
{
	struct local_range out = { .grain = datetime_grain_of_unit(l.finest) };
	struct duration far = l;
	int64_t a, b;

	l.n[l.finest] -= l.spread;
	far.n[l.finest] += l.spread;
	a = duration_add(sign > 0 ? &l : &far, r->local, sign);
	b = duration_add(sign > 0 ? &far : &l, r->local, sign);
	if (l.finest >= UNIT_DAY) {
		out.from = local_day(a) * DAY;
		out.to = (local_day(b) + 1) * DAY;
	} else {
		out.from = a;
		out.to = b;
	}
	w->kind = DATETIME_INTERVAL;
	w->is_relative = true;
	w->is_approximate = true;
	w->confidence = l.confidence;
	datetime_set(w, out, r);
	w->seconds = sign * duration_seconds(&l);
	return n;
}

const struct token *
datetime_parse_relative(
    struct parser *r, const struct token *t, struct datetime *w)
{
	const struct token *n = t;
	bool passes = false, in = false, is_range = false;
	struct duration l;
	int sign = 0;

	if (n->type == TOK_ABOUT)
		n++;
	if (n->type == TOK_PASS) {
		passes = true;
		n++;
		if (n->type == TOK_ABOUT)
			n++;
	} else if (n->type == TOK_IN && n->w == 0) {
		in = true;
		n++;
	}
	if (n->type == TOK_NUM && n[1].type == TOK_TO && n[2].type == TOK_NUM &&
	    n[2].num > n->num && !n->is_latin) {
		/* 三到五天后 */
		double least = n->num;

		n = duration_parse(n + 2, &l);
		if (n == NULL || l.spread > 0)
			return NULL;
		l.spread = (l.n[l.finest] - least) / 2;
		l.n[l.finest] -= l.spread;
		is_range = true;
	} else {
		n = duration_parse(n, &l);
	}
	if (n == NULL)
		return NULL;
	if (n->type == TOK_ABOUT && n->w == 1) {
		l.is_approximate = true;
		n++;
	}
	if (n->type == TOK_OF && n[1].type == TOK_AFTER)
		n++;
	if (n->type == TOK_AFTER && !n->is_latin) {
		sign = 1;
		n++;
	} else if (n->type == TOK_LATER) {
		sign = 1;
		n++;
	} else if (n->type == TOK_AGO ||
	    (n->type == TOK_BEFORE && !n->is_latin)) {
		sign = -1;
		n++;
	} else if (passes || in) {
		sign = 1;
	}
	if (sign == 0)
		return NULL;
	if (l.spread > 0 && (l.finest >= UNIT_DAY || is_range))
		return relative_set_between(r, n, l, sign, w);
	return relative_set_instant(r, n, &l, sign, w);
}

const struct token *
datetime_parse_duration(
    struct parser *r, const struct token *t, struct datetime *w)
{
	const struct token *n;
	struct duration l, to;
	bool about = false;

	if (t->type == TOK_FOR || t->type == TOK_ABOUT ||
	    (t->type == TOK_SHARP && t[1].type == TOK_NUM)) {
		about = t->type == TOK_ABOUT;
		t++;
	}
	/* 三到五天, 10-15分钟 */
	if (t->type == TOK_NUM && t[1].type == TOK_TO && t[2].type == TOK_NUM &&
	    t[2].num > t->num) {
		n = duration_parse(t + 2, &l);
		if (n != NULL) {
			to = l;
			to.n[l.finest] = (t->num + t[2].num) / 2;
			l = to;
			l.is_approximate = true;
		}
	} else {
		n = duration_parse(t, &l);
	}
	/* 头三天: of a period that is not known. */
	if (n == NULL ||
	    (t[-1].type == TOK_HEAD && l.finest >= UNIT_DAY &&
		!token_scan_is_suffix(&r->scan, t - 1)))
		return NULL;
	/* 一天三次 */
	if (n->type == TOK_NUM &&
	    str_starts(token_scan_after(&r->scan, n), STR("次")))
		return NULL;
	if (n[-1].is_latin &&
	    str_starts(token_scan_after(&r->scan, n - 1), STR(" old")))
		return NULL;
	if (n->type == TOK_ABOUT && n->w == 1) {
		about = true;
		n++;
	}
	w->kind = DATETIME_DURATION;
	w->grain = datetime_grain_of_unit(l.finest);
	w->seconds = duration_seconds(&l);
	w->is_approximate = l.is_approximate || about;
	w->confidence = l.confidence;
	w->offset_min = 0;
	return n;
}
