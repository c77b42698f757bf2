/*
 * Lengths of time.
 */
#include "core/clock.h"
#include "core/mem.h"
#include "zh/moment.h"

static const double seconds_of[UNIT_COUNT] = { 1, 60, 900, 3600, 86400,
	7 * 86400, 30 * 86400, 91 * 86400, 365 * 86400 };

/* Farther than that nobody means. */
#define MONTHS_MAX  60000.0
#define SECONDS_MAX 1.5e11

/* One amount with its unit. */
struct piece {
	double n;
	int unit;
	bool is_vague;
	bool is_short;  /* 分, 刻, 日: alone it may be something else */
	bool has_half;  /* 五分半 */
	bool has_count; /* 三个月, 两月: not the name of a month */
};

/* 三五天, 两三个小时: the numeral's two digits, or two numerals. */
static const struct token *
about_read(const struct token *t, double *n)
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

/* The number before a unit; 几 is taken for three. */
static const struct token *
amount_read(const struct token *t, struct piece *p)
{
	const struct token *n = about_read(t, &p->n);

	if (n != NULL) {
		p->is_vague = true;
		return n;
	}
	if (t->type == TOK_NUM) {
		p->n = t->num;
		p->is_vague = t->is_latin && t->w == 1;
		p->has_count = t->is_pair;
		n = t + 1;
		if (t->is_latin && n->type == TOK_NUM && n->is_latin) {
			/* a few, a couple (of) */
			p->n = n->num;
			p->is_vague = n->w == 1;
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
		p->is_vague = true;
		n++;
	}
	if (n == t)
		return NULL;
	/* 一整天 */
	if (n->type == TOK_SHARP && n[1].type == TOK_UNIT)
		n++;
	if (n->type == TOK_MORE) {
		p->is_vague = true;
		n++;
	}
	return n;
}

/* Half a unit, in units of which it is a whole number. */
static void
half_of(struct piece *p, int unit)
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
half_read(const struct token *t, struct piece *p)
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
		half_of(p, UNIT_HOUR);
		return t + 1;
	}
	if (t->type != TOK_UNIT ||
	    (t->w == 1 && t->v != UNIT_DAY && t->v != UNIT_MONTH &&
		t->v != UNIT_WEEK))
		return NULL;
	half_of(p, t->v);
	p->is_vague = t[1].type == TOK_MORE && t[1].v == 1;
	return p->is_vague ? t + 2 : t + 1;
}

/* 个半小时: one and a half, the one left out. */
static const struct token *
ge_half_read(const struct token *t, struct piece *p)
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

/* 五点五分钟, 两点五小时: with a unit that no clock time has. */
static const struct token *
point_read(const struct token *t, struct piece *p)
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

/* The unit behind an amount, with a half before or after it. */
static const struct token *
unit_read(const struct token *t, struct piece *p)
{
	bool ge = t->type == TOK_GE;

	if (ge)
		t++;
	if (t->type == TOK_MORE) {
		p->is_vague = true;
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
	/* 个 goes with none of the others: 三个分; but 五个半分钟. */
	p->is_vague = p->is_vague || t->x == 1;
	if (ge && t->x != 1 && t[-1].type != TOK_HALF && t->v != UNIT_HOUR &&
	    t->v != UNIT_MONTH && t->v != UNIT_WEEK && t->v != UNIT_QUARTER)
		return NULL;
	t++;
	if (t->type == TOK_MORE && !t->is_latin && t->v == 1) {
		/* 一年多 */
		p->is_vague = true;
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
piece_read(const struct token *t, struct piece *p)
{
	const struct token *n;

	*p = (struct piece){ 0 };
	n = half_read(t, p);
	if (n == NULL)
		n = ge_half_read(t, p);
	if (n == NULL)
		n = point_read(t, p);
	if (n != NULL)
		return n;
	n = amount_read(t, p);
	if (n == NULL)
		return NULL;
	/* 2026年 is no length. */
	if (t->digits == 4 && token_is_unit(t + 1, UNIT_YEAR))
		return NULL;
	return unit_read(n, p);
}

/* Whether the piece may stand by itself: not 十分, 一刻, 三月, 五日. */
static bool
stands_alone(const struct piece *p, const struct token *next)
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
add_piece(struct length *l, const struct piece *p)
{
	l->n[p->unit] += p->n;
	l->finest = p->unit;
	l->is_vague = l->is_vague || p->is_vague;
}

/* Where the next piece of the same length may begin. */
static const struct token *
skip_and(const struct token *t)
{
	if (t->type == TOK_AND || (t->type == TOK_COMMA && t[1].is_ascii))
		return t + 1;
	return t;
}

double
length_seconds(const struct length *l)
{
	double s = 0;
	int i;

	for (i = 0; i < UNIT_COUNT; i++)
		s += l->n[i] * seconds_of[i];
	return s;
}

const struct token *
length_read(const struct token *t, struct length *l)
{
	struct piece p, next;
	const struct token *n, *last;
	int pieces = 1;

	*l = (struct length){ .confidence = .95 };
	n = piece_read(t, &p);
	if (n == NULL)
		return NULL;
	add_piece(l, &p);
	for (;;) {
		last = n;
		n = piece_read(skip_and(last), &next);
		if (n == NULL || next.unit >= l->finest ||
		    (next.unit == UNIT_KE && next.is_short))
			break;
		if (next.unit == UNIT_MONTH && next.is_short && !next.has_count)
			break;
		add_piece(l, &next);
		pieces++;
	}
	if (pieces == 1 && !stands_alone(&p, last))
		return NULL;
	if (length_seconds(l) > SECONDS_MAX)
		return NULL;
	if (l->is_vague)
		l->confidence = .8;
	return last;
}

/* Years and months by the calendar, the day kept within its month. */
static int64_t
add_months(int64_t local, int64_t months)
{
	int64_t day = local >= 0 ? local / 86400 : (local - 86399) / 86400;
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
length_add(const struct length *l, struct here h, int sign)
{
	double months =
	    l->n[UNIT_MONTH] + 3 * l->n[UNIT_QUARTER] + 12 * l->n[UNIT_YEAR];
	double whole, rest;
	int i;

	if (months > MONTHS_MAX)
		months = MONTHS_MAX;
	whole = (double)(int64_t)months;
	rest = (months - whole) * seconds_of[UNIT_MONTH];
	for (i = 0; i <= UNIT_WEEK; i++)
		rest += l->n[i] * seconds_of[i];
	if (rest > SECONDS_MAX)
		rest = SECONDS_MAX;
	return add_months(h.now, (int64_t)whole * sign) +
	    (int64_t)(rest + .5) * sign;
}
