/*
 * A time is used if a slot holds it, or if other slots hold its words and what
 * remains of them says no time.
 */
#include "timing.h"

#define DAY_MS INT64_C(86400000)
/* Below it an expression likely means something else, as in reading.c. */
#define SURE .5

static bool
contains(struct reading_span a, size_t start, size_t end)
{
	return a.start <= start && a.end >= end;
}

uint64_t
timing_bit(const struct reading *r, const struct datetime *t)
{
	return UINT64_C(1) << (t - r->times);
}

void
timing_note(struct timing *s, size_t start, size_t end)
{
	if (s->n_words < TIMING_WORDS_MAX && end > start)
		s->words[s->n_words++] = (struct reading_span){ start, end };
}

/* The first time that a part of the command says by itself. */
static bool
time_in(const struct reading *r, size_t start, size_t end, struct datetime *out)
{
	struct str part = { r->cmd.folded.p + start, end - start };

	return datetime_find((struct datetime_now){ r->now, r->zone }, part,
		   out, 1) > 0 &&
	    out->confidence >= SURE;
}

bool
timing_says_repeat(
    const struct timing *s, const struct reading *r, const struct datetime *t)
{
	struct reading_span whole = { t->start, t->end };
	struct datetime w;
	size_t i;

	for (i = 0; i < s->n_words; i++) {
		const struct reading_span *p = &s->words[i];

		if (contains(whole, p->start, p->end) &&
		    time_in(r, p->start, p->end, &w) &&
		    w.kind == DATETIME_REPEAT)
			return true;
	}
	return false;
}

bool
timing_has_now(const struct reading *r, const struct datetime *t)
{
	return t->kind != DATETIME_REPEAT && t->kind != DATETIME_DURATION &&
	    !t->is_bounded && t->from.ms != 0 && t->from.ms <= r->now.ms &&
	    t->to.ms > r->now.ms;
}

bool
timing_is_today(const struct reading *r, const struct datetime *t)
{
	int64_t here = r->now.ms + (int64_t)r->offset_min * 60000;
	int64_t past = (here % DAY_MS + DAY_MS) % DAY_MS;

	return t->to.ms != 0 && t->to.ms > r->now.ms - past;
}

/* Words around a length that say no time by themselves. */
static const struct str around[] = { STR_INIT("之后"), STR_INIT("以后"),
	STR_INIT("过后"), STR_INIT("之内"), STR_INIT("以内"), STR_INIT("再过"),
	STR_INIT("大约"), STR_INIT("大概"), STR_INIT("左右"), STR_INIT("后"),
	STR_INIT("内"), STR_INIT("过"), STR_INIT("约"), STR_INIT("钟"),
	STR_INIT("整"), STR_INIT("的"), STR_INIT("later"), STR_INIT("from now"),
	STR_INIT("within"), STR_INIT("about"), STR_INIT("for"), STR_INIT("in"),
	STR_INIT("at"), STR_INIT("on"), STR_INIT("s"), STR_INIT(" ") };

/* Whether a part of the command says more than those. */
static bool
says_more(const struct reading *r, size_t start, size_t end)
{
	struct str rest = { r->cmd.folded.p + start, end - start };
	size_t i = 0;

	while (rest.n > 0 && i < NELEM(around)) {
		if (!str_starts(rest, around[i])) {
			i++;
			continue;
		}
		rest.p += around[i].n;
		rest.n -= around[i].n;
		i = 0;
	}
	return rest.n > 0;
}

/* Whether something remains of t beside the words that slots took. */
static bool
remains(
    const struct timing *s, const struct reading *r, const struct datetime *t)
{
	size_t at = t->start, next, i;
	bool any = false;

	while (at < t->end) {
		next = t->end;
		for (i = 0; i < s->n_words; i++) {
			const struct reading_span *p = &s->words[i];

			if (p->start <= at && p->end > at) {
				any = true;
				at = p->end;
				break;
			}
			if (p->start > at && p->start < next)
				next = p->start;
		}
		if (i < s->n_words)
			continue;
		if (says_more(r, at, next))
			return true;
		at = next;
	}
	return !any;
}

static bool
is_held(const struct timing *s, const struct datetime *t)
{
	size_t i;

	for (i = 0; i < s->n_words; i++) {
		if (contains(s->words[i], t->start, t->end))
			return true;
	}
	return false;
}

/* Whether the claim's own words are the time, or have it in them. */
static bool
is_alias(
    const struct reading *r, const struct claim *c, const struct datetime *t)
{
	struct str said = { r->cmd.folded.p + t->start, t->end - t->start };
	size_t i;

	if (reading_is_named(r, t->start, t->end))
		return true;
	for (i = 0; i < c->n; i++) {
		if (!contains(c->spans[i], t->start, t->end))
			continue;
		if (str_starts(c->evidence[i].type, STR("keyword")) ||
		    str_find(c->evidence[i].value, said) >= 0)
			return true;
	}
	return false;
}

/* 唱一会儿: not when, and hardly how long. */
static bool
is_while(
    const struct reading *r, const struct claim *c, const struct datetime *t)
{
	static const struct str words[] = { STR_INIT("一会"), STR_INIT("一阵"),
		STR_INIT("片刻") };
	struct str said = { r->cmd.folded.p + t->start, t->end - t->start };
	size_t i;

	for (i = 0; i < NELEM(words); i++) {
		if (str_starts(said, words[i]) && t->start > claim_start(c))
			return true;
	}
	return false;
}

/* 都十点了, 煮了十分钟了: why now, not when. */
static bool
is_reason(const struct reading *r, const struct datetime *t)
{
	return str_starts(
	    (struct str){ r->cmd.folded.p + t->end, r->cmd.folded.n - t->end },
	    STR("了"));
}

static bool
is_used(
    const struct timing *s, const struct reading *r, const struct datetime *t)
{
	uint64_t bit = timing_bit(r, t);

	if (t->kind == DATETIME_REPEAT && !timing_says_repeat(s, r, t))
		return (s->refused & bit) == 0 && is_held(s, t);
	return ((s->taken | s->over) & bit) != 0 || is_held(s, t) ||
	    !remains(s, r, t);
}

uint64_t
timing_left(const struct timing *s, const struct reading *r,
    const struct segment *g, const struct claim *claim)
{
	uint64_t left = 0;
	size_t i;

	if (!r->tells_times)
		return 0;
	for (i = 0; i < r->n_times; i++) {
		const struct datetime *t = &r->times[i];

		if (t->start < g->start || t->end > g->end || t->is_loose ||
		    timing_has_now(r, t) || reading_is_quoted(r, t->start) ||
		    is_alias(r, claim, t) || is_while(r, claim, t) ||
		    is_reason(r, t) || is_used(s, r, t))
			continue;
		left |= timing_bit(r, t);
	}
	return left;
}
