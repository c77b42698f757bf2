/*
 * What a segment refers to in those before it: a thing, or a request that was
 * taken back.
 */
#include "core/mem.h"
#include "text/utterance.h"

/* Segments back that are searched for a thing. */
#define REFERENCE_BACK 2
/* Known words of a segment that are examined. */
#define REFERENCE_WORDS 64
/* Most bytes of a value that amends a request: "是客厅的", "the bedroom light".
 */
#define REFERENCE_VALUE_MAX 40

/* Whether a word of the kind is in the segment, outside of quotations. */
static bool
reference_has_kind(
    const struct utterance *u, const struct segment *g, unsigned long kinds)
{
	size_t i;

	for (i = 0; i < u->n_words; i++) {
		if ((kinds & 1UL << u->words[i].kind) != 0 &&
		    segment_contains(g, &u->words[i]))
			return true;
	}
	return false;
}

static bool
reference_has_span(
    const struct segment *g, const struct text_span *spans, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (spans[i].start >= g->start && spans[i].end <= g->end)
			return true;
	}
	return false;
}

/* Whether it names a thing, or says a phrase of the catalog. */
static bool
reference_has_thing(const struct utterance *u, const struct segment *g)
{
	return reference_has_kind(u, g, 1UL << WORD_DEVICE) ||
	    reference_has_span(g, u->things, u->n_things) ||
	    reference_has_span(g, u->names, u->n_names);
}

static bool
reference_has_time(const struct utterance *u, const struct segment *g)
{
	size_t i;

	for (i = 0; i < u->n_times; i++) {
		if (u->times[i].start >= g->start &&
		    u->times[i].end <= g->end &&
		    !utterance_time_includes_now(u, &u->times[i]))
			return true;
	}
	return false;
}

/* What may stand beside the verb of a request without an object. */
static bool
reference_is_bare_word(const struct utterance *u, const struct word_hit *w)
{
	static const struct str things[] = { STR_INIT("它"), STR_INIT("它们"),
		STR_INIT("it"), STR_INIT("them") };
	struct str text = { u->cmd.folded.p + w->start, w->end - w->start };
	size_t i;

	switch (w->kind) {
	case WORD_ACTION:
	case WORD_VERB:
	case WORD_OBJECT_MARKER:
	case WORD_MODAL:
	case WORD_POLITE:
	case WORD_ROOM:
	case WORD_PROHIBITION:
	case WORD_FILLER:
		return true;
	case WORD_THIRD_PERSON:
		for (i = 0; i < NELEM(things); i++) {
			if (str_eq(text, things[i]))
				return true;
		}
		return false;
	default:
		return false;
	}
}

/* "把它关了吧", "switch it off": a verb, and no more than a pronoun. */
static bool
reference_is_bare(const struct utterance *u, const struct segment *g)
{
	struct text_span spans[REFERENCE_WORDS];
	size_t i, n = 0;

	for (i = 0; i < u->n_words && n < NELEM(spans); i++) {
		const struct word_hit *w = &u->words[i];

		if (segment_contains(g, w) && reference_is_bare_word(u, w))
			spans[n++] = (struct text_span){ w->start, w->end };
	}
	return n > 0 && !reference_has_thing(u, g) &&
	    (!utterance_has_content(u, g->start, g->end) ||
		utterance_share(u, g->start, g->end, spans, n) >= 1);
}

/* Its first verb; "off" of "turn it off". */
static const struct word_hit *
reference_verb(const struct utterance *u, const struct segment *g)
{
	const struct word_hit *verb = NULL;
	size_t i;

	for (i = 0; i < u->n_words; i++) {
		const struct word_hit *w = &u->words[i];

		if (!segment_contains(g, w))
			continue;
		if (w->kind == WORD_ACTION)
			return w;
		if (w->kind == WORD_VERB && verb == NULL)
			verb = w;
	}
	return verb;
}

/* Verbs that say enough without their object. */
static bool
reference_is_switch(const struct word_hit *verb)
{
	static const char *const values[] = { "open", "close", "lock",
		"unlock" };
	size_t i;

	for (i = 0; verb != NULL && verb->value != NULL && i < NELEM(values);
	     i++) {
		if (strcmp(verb->value, values[i]) == 0)
			return true;
	}
	return false;
}

static bool
reference_is_same_verb(const struct utterance *u, const struct word_hit *a,
    const struct word_hit *b)
{
	struct str s = { u->cmd.folded.p + a->start, a->end - a->start };
	struct str t = { u->cmd.folded.p + b->start, b->end - b->start };

	/* 拉 of "别拉了" is 拉开. */
	return str_starts(s, t) || str_starts(t, s) ||
	    (a->value != NULL && b->value != NULL &&
		strcmp(a->value, b->value) == 0);
}

/* "关窗帘，等等，先别关": the prohibition is of what was asked before. */
static void
reference_retract(const struct utterance *u, struct segment *g, size_t at)
{
	const struct word_hit *verb = reference_verb(u, &g[at]), *before;
	size_t i;

	for (i = at; i-- > 0;) {
		before = reference_verb(u, &g[i]);
		if (g[i].is_retracted || before == NULL)
			continue;
		if (verb == NULL || reference_is_same_verb(u, verb, before))
			g[i].is_retracted = true;
		return;
	}
}

/* "24度", "是客厅的": values for a request that was taken back. */
static bool
reference_is_value(const struct utterance *u, const struct segment *g)
{
	return g->end - g->start <= REFERENCE_VALUE_MAX &&
	    (utterance_has_content(u, g->start, g->end) ||
		reference_has_time(u, g)) &&
	    !reference_has_kind(u, g,
		1UL << WORD_ACTION | 1UL << WORD_VERB |
		    1UL << WORD_PROHIBITION | 1UL << WORD_NEGATION |
		    1UL << WORD_CANCEL | 1UL << WORD_WH | 1UL << WORD_YES_NO |
		    1UL << WORD_CONDITION | 1UL << WORD_REPORTED |
		    1UL << WORD_COMPLETED | 1UL << WORD_OPINION |
		    1UL << WORD_META | 1UL << WORD_REMINDER);
}

/* The nearest segment before that names a thing. */
static void
reference_carry(const struct utterance *u, struct segment *g, size_t at)
{
	size_t i;

	for (i = at; i-- > 0 && at - i <= REFERENCE_BACK;) {
		if (!reference_has_thing(u, &g[i]))
			continue;
		/* Its time was taken back with it. */
		if (!g[i].is_retracted || !reference_has_time(u, &g[i]))
			g[at].carried =
			    (struct text_span){ g[i].start, g[i].end };
		return;
	}
}

void
segment_refer(const struct utterance *u, struct segment *g, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (g[i].is_retracted)
			continue;
		if (g[i - 1].is_retracted && reference_is_value(u, &g[i])) {
			g[i].carried =
			    (struct text_span){ g[i - 1].start, g[i - 1].end };
			g[i].amends = true;
		} else if (reference_is_bare(u, &g[i])) {
			if (reference_has_kind(
				u, &g[i], 1UL << WORD_PROHIBITION))
				reference_retract(u, g, i);
			else if (reference_is_switch(reference_verb(u, &g[i])))
				reference_carry(u, g, i);
		}
	}
}
