/*
 * Moments made of dates, parts of the day and clock times.
 */
#include "zh/moment.h"

#include "zh/vague.h"

/* From coarse to fine, as Chinese dates are said. */
static int
rank_of(unsigned has)
{
	if ((has & HAS_CLOCK) != 0)
		return 6;
	if ((has & HAS_PART) != 0)
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
moment_may_join(
    const struct moment *old, const struct moment *new, bool is_latin)
{
	unsigned added = new->has & ~old->has;
	unsigned days = HAS_DAY | HAS_DAYS | HAS_FEAST | HAS_MONTHS;
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
	/* 周日, 二月十号 and 二月十号周日 say one day twice. */
	if ((old->has & HAS_WDAY) != 0 && (old->has & HAS_WEEK) == 0 &&
	    (added & (HAS_MONTH | HAS_DAY)) != 0 &&
	    (old->has & (HAS_PART | HAS_CLOCK)) == 0)
		return (added & HAS_DAY) != 0 || (new->has &HAS_MONTH) != 0;
	if ((old->has & HAS_DAYS) != 0 &&
	    (added & ~(weekday | HAS_PART | HAS_CLOCK)) != 0)
		return is_latin && (added & HAS_DATE) == 0;
	return is_latin || rank_of(added) >= rank_of(old->has);
}

static const struct token *
part_read(const struct token *t, struct moment *m)
{
	struct moment next = *m;

	if (t->type == TOK_AT && t->v == 1 && t[1].type == TOK_PART)
		t++;
	if (t->type == TOK_IN && t[1].type == TOK_AT && t[2].type == TOK_PART)
		t += 2;
	if (t->type != TOK_PART || (m->has & HAS_PART) != 0)
		return NULL;
	/* 早, 晚: only with a day before or an hour behind. */
	if (t->w == 1 && m->has == 0 && t[1].type != TOK_CLOCK &&
	    (t[1].type != TOK_NUM || t[2].type != TOK_OCLOCK))
		return NULL;
	next.has |= HAS_PART;
	next.part = t->v;
	if (!moment_may_join(m, &next, t->is_latin || m->is_latin))
		return NULL;
	*m = next;
	return t + 1;
}

const struct token *
time_read(const struct token *t, struct moment *m)
{
	const struct token *last = NULL, *n;
	struct moment next;

	if (t->type == TOK_OF)
		t++;
	for (;;) {
		if (t->type == TOK_ABOUT && t->w == 0)
			t++;
		n = part_read(t, m);
		if (n == NULL && (m->has & HAS_CLOCK) == 0) {
			next = *m;
			n = clock_read(t, &next);
			if (n != NULL)
				*m = next;
		}
		if (n == NULL)
			return last;
		m->is_latin = m->is_latin || t->is_latin;
		t = last = n;
	}
}

/* Words between parts that add nothing: 的, a comma, on, the. */
static const struct token *
skip_between(const struct token *t, const struct moment *m)
{
	const struct token *n = t;

	if (n->type == TOK_OF || n->type == TOK_ABOUT)
		n++;
	else if (n->type == TOK_COMMA && (m->has & (HAS_CLOCK | HAS_PART)) == 0)
		n++;
	while (n->type == TOK_AT && n->v != 1)
		n++;
	return n;
}

/* 国庆当天, 明天这个时候: the day or the time again that is known. */
static const struct token *
same_read(const struct token *t, struct moment *m)
{
	if (t->type == TOK_SAME && (m->has & (HAS_PART | HAS_CLOCK)) == 0) {
		if ((m->has & HAS_ONE_DAY) == 0) {
			if (t->v == 1 || m->has != 0)
				return NULL;
			m->has |= HAS_DAYS;
		}
		if (t->w != PART_NONE) {
			m->has |= HAS_PART;
			m->part = t->w;
		}
		return t + 1;
	}
	if (t->type == TOK_EVE && m->shift == 0 &&
	    (m->has & HAS_ONE_DAY) != 0 &&
	    (m->has & (HAS_PART | HAS_CLOCK)) == 0) {
		m->shift = t->v;
		return t + 1;
	}
	if (t->type == TOK_VAGUE && t->v == VAGUE_NOW &&
	    (m->has == 0 || (m->has & HAS_ONE_DAY) != 0) &&
	    (m->has & (HAS_PART | HAS_CLOCK)) == 0) {
		m->clock_grain = m->has == 0 ? WHEN_SECOND : WHEN_MINUTE;
		m->has |= HAS_CLOCK | (m->has == 0 ? HAS_DAYS : 0u);
		m->is_24h = m->is_now = true;
		return t + 1;
	}
	return NULL;
}

const struct token *
moment_read(const struct token *t, struct moment *m)
{
	const struct token *last = NULL, *n;
	bool is_open = false;

	*m = (struct moment){ .confidence = .95 };
	while (t->type == TOK_AT && t->v != 1)
		t++;
	for (;;) {
		const struct token *at = last == NULL ? t : skip_between(t, m);

		n = date_read(at, m);
		if (n == NULL)
			n = same_read(at, m);
		if (n == NULL)
			n = part_read(at, m);
		if (n == NULL && (m->has & HAS_CLOCK) == 0) {
			struct moment next = *m;

			n = clock_read(at, &next);
			if (n != NULL) {
				next.has |= HAS_CLOCK;
				next.is_vague =
				    next.is_vague || n->type == TOK_ABOUT;
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
