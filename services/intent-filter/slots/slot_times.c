/*
 * A time is used if a slot holds it, or if other slots hold its words and the
 * rest of them is not a time.
 */
#include "core/mem.h"
#include "slots/slots.h"

static bool
slot_times_contains(struct text_span a, size_t start, size_t end)
{
	return a.start <= start && a.end >= end;
}

uint64_t
slot_times_bit(const struct utterance *u, const struct datetime *t)
{
	return UINT64_C(1) << (t - u->times);
}

void
slot_times_note(struct slot_times *s, size_t start, size_t end)
{
	if (s->n_words < SLOT_TIMES_WORDS_MAX && end > start)
		s->words[s->n_words++] = (struct text_span){ start, end };
}

/* The first time in a part of the command on its own. */
static bool
slot_times_parse_part(
    const struct utterance *u, size_t start, size_t end, struct datetime *out)
{
	struct str part = { u->cmd.folded.p + start, end - start };

	struct datetime_now now = { .now = u->now, .zone = u->zone };

	return datetime_find(now, part, out, 1) > 0 &&
	    out->confidence >= UTTERANCE_TIME_CONFIDENCE;
}

bool
slot_times_is_repeat(const struct slot_times *s, const struct utterance *u,
    const struct datetime *t)
{
	struct text_span whole = { t->start, t->end };
	struct datetime w;
	size_t i;

	for (i = 0; i < s->n_words; i++) {
		const struct text_span *p = &s->words[i];

		if (slot_times_contains(whole, p->start, p->end) &&
		    slot_times_parse_part(u, p->start, p->end, &w) &&
		    w.kind == DATETIME_REPEAT)
			return true;
	}
	return false;
}

/* Affixes of a duration that are not times on their own. */
static const struct str slot_times_affixes[] = { STR_INIT("之后"),
	STR_INIT("以后"), STR_INIT("过后"), STR_INIT("之内"), STR_INIT("以内"),
	STR_INIT("再过"), STR_INIT("大约"), STR_INIT("大概"), STR_INIT("左右"),
	STR_INIT("后"), STR_INIT("内"), STR_INIT("过"), STR_INIT("约"),
	STR_INIT("钟"), STR_INIT("整"), STR_INIT("的"), STR_INIT("later"),
	STR_INIT("from now"), STR_INIT("within"), STR_INIT("about"),
	STR_INIT("for"), STR_INIT("in"), STR_INIT("at"), STR_INIT("on"),
	STR_INIT("s"), STR_INIT(" ") };

/* Whether a part of the command has more than affixes. */
static bool
slot_times_has_more(const struct utterance *u, size_t start, size_t end)
{
	struct str rest = { u->cmd.folded.p + start, end - start };
	size_t i = 0;

	while (rest.n > 0 && i < NELEM(slot_times_affixes)) {
		if (!str_starts(rest, slot_times_affixes[i])) {
			i++;
			continue;
		}
		rest.p += slot_times_affixes[i].n;
		rest.n -= slot_times_affixes[i].n;
		i = 0;
	}
	return rest.n > 0;
}

/* Whether something of t remains outside the texts that slots took. */
static bool
slot_times_remains(const struct slot_times *s, const struct utterance *u,
    const struct datetime *t)
{
	size_t at = t->start, next, i;
	bool any = false;

	while (at < t->end) {
		next = t->end;
		for (i = 0; i < s->n_words; i++) {
			const struct text_span *p = &s->words[i];

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
		if (slot_times_has_more(u, at, next))
			return true;
		at = next;
	}
	return !any;
}

static bool
slot_times_is_held(const struct slot_times *s, const struct datetime *t)
{
	size_t i;

	for (i = 0; i < s->n_words; i++) {
		if (slot_times_contains(s->words[i], t->start, t->end))
			return true;
	}
	return false;
}

/* Whether a phrase of the catalog contains the time. */
static bool
slot_times_is_alias(
    const struct utterance *u, const struct claim *c, const struct datetime *t)
{
	struct str text = { u->cmd.folded.p + t->start, t->end - t->start };
	size_t i;

	if (utterance_is_part_of_name(u, t->start, t->end))
		return true;
	for (i = 0; i < c->n; i++) {
		if (!slot_times_contains(c->spans[i], t->start, t->end))
			continue;
		if (str_starts(c->evidence[i].type, STR("keyword")) ||
		    str_find(c->evidence[i].value, text) >= 0)
			return true;
	}
	return false;
}

/* 唱一会儿: neither a start nor a definite duration. */
static bool
slot_times_is_while(
    const struct utterance *u, const struct claim *c, const struct datetime *t)
{
	static const struct str words[] = { STR_INIT("一会"), STR_INIT("一阵"),
		STR_INIT("片刻") };
	struct str text = { u->cmd.folded.p + t->start, t->end - t->start };
	size_t i;

	for (i = 0; i < NELEM(words); i++) {
		if (str_starts(text, words[i]) && t->start > claim_start(c))
			return true;
	}
	return false;
}

/* 都十点了, 煮了十分钟了: the reason, not the time. */
static bool
slot_times_is_reason(const struct utterance *u, const struct datetime *t)
{
	return str_starts(
	    (struct str){ u->cmd.folded.p + t->end, u->cmd.folded.n - t->end },
	    STR("了"));
}

static bool
slot_times_is_used(const struct slot_times *s, const struct utterance *u,
    const struct datetime *t)
{
	uint64_t bit = slot_times_bit(u, t);

	if (t->kind == DATETIME_REPEAT && !slot_times_is_repeat(s, u, t))
		return (s->rejected & bit) == 0 && slot_times_is_held(s, t);
	return ((s->taken | s->expired) & bit) != 0 ||
	    slot_times_is_held(s, t) || !slot_times_remains(s, u, t);
}

uint64_t
slot_times_unused(const struct slot_times *s, const struct utterance *u,
    const struct segment *g, const struct claim *claim)
{
	uint64_t unused = 0;
	size_t i;

	if (!u->uses_times)
		return 0;
	for (i = 0; i < u->n_times; i++) {
		const struct datetime *t = &u->times[i];

		if (t->start < g->start || t->end > g->end || t->is_loose ||
		    utterance_time_includes_now(u, t) ||
		    utterance_is_quoted(u, t->start) ||
		    slot_times_is_alias(u, claim, t) ||
		    slot_times_is_while(u, claim, t) ||
		    slot_times_is_reason(u, t) || slot_times_is_used(s, u, t))
			continue;
		unused |= slot_times_bit(u, t);
	}
	return unused;
}
