/*
 * Where the words of a catalog stand in a command; the evidence for each
 * intent, and its confidence.
 */
#include "match/candidate.h"

#include <math.h>
#include <stdlib.h>

#include "catalog/catalog_internal.h"
#include "core/mem.h"
#include "rx/rx.h"

/*
 * The confidence grows from CONFIDENCE_MIN, for one Chinese character, towards
 * CONFIDENCE_MAX.  The unit of weights is half a Chinese character, or one
 * Latin letter.
 */
#define CONFIDENCE_MIN .80
#define CONFIDENCE_MAX .95
#define WEIGHT_HAN     2
#define WEIGHT_BEND    10.0
#define HINT           .02
/* Entities of entity_types_any alone are weak evidence. */
#define ENTITY_ONLY .60
/* The least similarity that is evidence; 1 gives CONFIDENCE_MAX. */
#define SIMILARITY_MIN .62
/* The same without fillers and days. */
#define SIMILARITY_CORE_MIN .6
/* From this similarity on the segment is a request even without a verb. */
#define SIMILARITY_VERB .75

/* The evaluation of one intent. */
struct evaluation {
	const struct matcher *m;
	const struct segment *g;
	struct candidate *out;
	const struct automaton_hit *hits; /* of this intent */
	size_t n_hits;
	bool entities; /* all evidence so far is entities of one type */
	double similar;
	/* Text matched verbatim: without the unmatched spans of patterns. */
	struct text_span literal[2 * CANDIDATE_EVIDENCE_MAX];
	size_t n_literal;
};

/* ---- hits ---- */

/* What a hit of m->hits stands for. */
static const struct catalog_word *
matcher_meaning(const struct matcher *m, const struct automaton_hit *h)
{
	return &m->cat->meanings[h->word];
}

/* A phrase inside an opaque word does not match. */
static bool
matcher_is_part_of_word(
    const struct utterance *u, const struct automaton_hit *h)
{
	size_t i;

	for (i = 0; i < u->n_words && u->words[i].start <= h->start; i++) {
		const struct word_hit *w = &u->words[i];

		if (w->kind == WORD_OPAQUE && w->end >= h->end &&
		    w->end - w->start > h->end - h->start)
			return true;
	}
	return false;
}

/* 播放 of 播放量. */
static bool
matcher_is_part_of_noun(
    const struct utterance *u, const struct automaton_hit *h)
{
	struct str word = { u->cmd.folded.p + h->start, h->end - h->start };
	const char *value;

	return vocabulary_is_noun(u->cmd.folded, h->end) &&
	    vocabulary_prefix(
		word, 1UL << WORD_ACTION | 1UL << WORD_VERB, &value) == word.n;
}

static bool
matcher_is_verb_object(enum catalog_list list)
{
	return list == CATALOG_VERB_OBJECT ||
	    list == CATALOG_EXAMPLE_VERB_OBJECT;
}

static bool
matcher_is_pattern(enum catalog_list list)
{
	return list == CATALOG_RX_ANY || list == CATALOG_RX_ALL;
}

static int
matcher_hit_cmp(const void *pa, const void *pb)
{
	const struct automaton_hit *a = pa, *b = pb;

	if (a->word != b->word)
		return a->word < b->word ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Further hits, in the normalized text: only those that it made possible. */
static size_t
matcher_scan_normalized(const struct matcher *m, const struct utterance *u,
    struct automaton_hit *dst, size_t max)
{
	size_t i, n, n_hits = 0, start, end;

	if (u->normalized.text.p == NULL)
		return 0;
	n = automaton_scan(m->cat->words, u->normalized.text, dst, max);
	for (i = 0; i < n; i++) {
		if (!normalized_text_source(
			&u->normalized, dst[i].start, dst[i].end, &start, &end))
			continue;
		dst[n_hits++] = (struct automaton_hit){ (uint32_t)start,
			(uint32_t)end, dst[i].word };
	}
	return n_hits;
}

enum rc
matcher_init(struct matcher *m, struct utterance *u)
{
	struct automaton_hit hits[MATCHER_HITS_MAX];
	size_t i, n, n_hits = 0;

	n = automaton_scan(m->cat->words, u->cmd.folded, hits, NELEM(hits));
	n += matcher_scan_normalized(m, u, hits + n, NELEM(hits) - n);
	m->hits = arena_alloc(m->a, n * sizeof(*m->hits));
	u->names = arena_alloc(m->a, n * sizeof(*u->names));
	u->things = arena_alloc(m->a, n * sizeof(*u->things));
	if (m->hits == NULL || u->names == NULL || u->things == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		const struct automaton_hit *h = &hits[i];

		if (matcher_is_pattern(matcher_meaning(m, h)->list)) {
			m->hits[n_hits++] = *h;
		} else if (vocabulary_is_whole_word(
			       u->cmd.folded, h->start, h->end) &&
		    !matcher_is_part_of_word(u, h) &&
		    !matcher_is_part_of_noun(u, h)) {
			m->hits[n_hits++] = *h;
			struct text_span at = { h->start, h->end };

			if (matcher_is_verb_object(matcher_meaning(m, h)->list))
				u->things[u->n_things++] = at;
			else
				u->names[u->n_names++] = at;
		}
	}
	m->u = u;
	automaton_sort(m->hits, n_hits, matcher_hit_cmp);
	m->n_hits = n_hits;
	return RC_OK;
}

/* ---- evidence ---- */

static void
candidate_add_literal(struct evaluation *t, size_t start, size_t end)
{
	if (t->n_literal < NELEM(t->literal))
		t->literal[t->n_literal++] = (struct text_span){ start, end };
}

/* Add evidence without counting it as matched verbatim. */
static void
candidate_add_evidence(struct evaluation *t, const char *type,
    struct str slot_value, size_t start, size_t end)
{
	struct candidate *out = t->out;

	if (out->n == CANDIDATE_EVIDENCE_MAX)
		return;
	if (out->evidence == NULL) {
		out->evidence = arena_alloc(
		    t->m->a, CANDIDATE_EVIDENCE_MAX * sizeof(*out->evidence));
		out->spans = arena_alloc(
		    t->m->a, CANDIDATE_EVIDENCE_MAX * sizeof(*out->spans));
	}
	if (out->evidence == NULL || out->spans == NULL)
		return;
	out->spans[out->n] = (struct text_span){ start, end };
	out->evidence[out->n++] =
	    (struct wire_intent_filter_response_intents_evidence){
		    .type = str_of(type), .value = slot_value, .score = 1
	    };
}

static bool
candidate_hit_is_here(const struct evaluation *t, const struct automaton_hit *h)
{
	return h->start >= t->g->start && h->end <= t->g->end;
}

/* Whether a verb begins in [start, end). */
static bool
candidate_has_verb_in(const struct utterance *u, size_t start, size_t end)
{
	size_t i;

	for (i = 0; i < u->n_words && u->words[i].start < end; i++) {
		if (u->words[i].start >= start &&
		    (u->words[i].kind == WORD_ACTION ||
			u->words[i].kind == WORD_VERB))
			return true;
	}
	return false;
}

/* The object of a verb here, or its name: 灯太亮了，关掉它. */
static bool
candidate_hit_is_carried(
    const struct evaluation *t, const struct automaton_hit *h)
{
	enum catalog_list list = matcher_meaning(t->m, h)->list;

	return h->start >= t->g->carried.start && h->end <= t->g->carried.end &&
	    !t->g->amends &&
	    (matcher_is_verb_object(list) ||
		(list == CATALOG_ANY &&
		    !candidate_has_verb_in(t->m->u, h->start, h->end)));
}

/* Quoted phrases are evidence only if an action is requested. */
static bool
candidate_hit_counts(const struct evaluation *t, const struct automaton_hit *h)
{
	const struct utterance *u = t->m->u;
	size_t i;

	if (!utterance_is_quoted(u, h->start))
		return true;
	for (i = 0; i < u->n_words; i++) {
		const struct word_hit *w = &u->words[i];

		if (segment_contains(t->g, w) &&
		    (w->kind == WORD_ACTION || w->kind == WORD_VERB) &&
		    !utterance_is_quoted(u, w->start))
			return true;
	}
	return false;
}

/* Whether a hit counts for the list, and the verb of an object. */
static bool
candidate_hit_is_of_list(const struct evaluation *t,
    const struct automaton_hit *h, enum catalog_list list,
    const struct word_hit **verb)
{
	enum catalog_list own = matcher_meaning(t->m, h)->list;

	*verb = NULL;
	if (own == list)
		return true;
	if (!(list == CATALOG_ANY && own == CATALOG_VERB_OBJECT) &&
	    !(list == CATALOG_EXAMPLE && own == CATALOG_EXAMPLE_VERB_OBJECT))
		return false;
	*verb = candidate_hit_is_here(t, h) || candidate_hit_is_carried(t, h)
	    ? verb_object_find_verb(t->m->u, t->g,
		  &(struct text_span){ h->start, h->end },
		  matcher_meaning(t->m, h)->verb)
	    : NULL;
	return *verb != NULL;
}

/* Count the keywords of a list in this segment, each one a single time. */
static size_t
candidate_count_words(struct evaluation *t, enum catalog_list list,
    const struct str *source, const char *type)
{
	const struct word_hit *verb;
	size_t i, n = 0;
	uint32_t last = UINT32_MAX;

	for (i = 0; i < t->n_hits; i++) {
		const struct automaton_hit *h = &t->hits[i];

		if (h->word == last ||
		    !(candidate_hit_is_here(t, h) ||
			candidate_hit_is_carried(t, h)) ||
		    !candidate_hit_is_of_list(t, h, list, &verb) ||
		    !candidate_hit_counts(t, h))
			continue;
		last = h->word;
		n++;
		if (type == NULL)
			continue;
		candidate_add_evidence(t, type,
		    source[matcher_meaning(t->m, h)->index], h->start, h->end);
		candidate_add_literal(t, h->start, h->end);
		if (verb == NULL)
			continue;
		candidate_add_evidence(t, type,
		    source[matcher_meaning(t->m, h)->index], verb->start,
		    verb->end);
		candidate_add_literal(t, verb->start, verb->end);
	}
	return n;
}

static bool
candidate_has_literal(
    const struct evaluation *t, enum catalog_list list, size_t index)
{
	size_t i;

	for (i = 0; i < t->n_hits; i++) {
		if (matcher_meaning(t->m, &t->hits[i])->list == list &&
		    matcher_meaning(t->m, &t->hits[i])->index == index &&
		    candidate_hit_is_here(t, &t->hits[i]))
			return true;
	}
	return false;
}

/* Add a match without its unmatched spans. */
static void
candidate_add_spelled(struct evaluation *t, const struct catalog_pattern *p,
    const struct rx_match *found)
{
	size_t i, at = t->g->start + (size_t)found->g[0].start;
	size_t end = t->g->start + (size_t)found->g[0].end;

	for (i = 1; i < found->n && p->unmatched != 0; i++) {
		size_t from = t->g->start + (size_t)found->g[i].start;

		if ((p->unmatched & 1U << i) == 0 || found->g[i].start < 0 ||
		    from < at)
			continue;
		candidate_add_literal(t, at, from);
		at = t->g->start + (size_t)found->g[i].end;
	}
	candidate_add_literal(t, at, end);
}

/* light of "traffic light" */
static bool
candidate_begins_in_word(const struct evaluation *t, size_t at)
{
	const struct utterance *u = t->m->u;
	size_t i;

	for (i = 0; i < u->n_words && u->words[i].start < at; i++) {
		if (u->words[i].kind == WORD_OPAQUE && u->words[i].end > at)
			return true;
	}
	return false;
}

/* A pattern that exceeds its match limits does not match. */
static size_t
candidate_count_patterns(struct evaluation *t, enum catalog_list list,
    const struct catalog_pattern *p, const struct str *source, size_t n)
{
	struct str text = { t->m->u->cmd.folded.p + t->g->start,
		t->g->end - t->g->start };
	struct rx_match found;
	size_t i, hits = 0;

	for (i = 0; i < n; i++) {
		if (p[i].has_literal && !candidate_has_literal(t, list, i))
			continue;
		if (rx_find(p[i].rx, t->m->rx, text, 0, &found) != RC_OK ||
		    candidate_begins_in_word(
			t, t->g->start + (size_t)found.g[0].start))
			continue;
		hits++;
		candidate_add_evidence(t,
		    list == CATALOG_RX_ANY ? "regex_any" : "regex_all",
		    source[i], t->g->start + (size_t)found.g[0].start,
		    t->g->start + (size_t)found.g[0].end);
		candidate_add_spelled(t, &p[i], &found);
	}
	return hits;
}

static size_t
candidate_count_entities(
    struct evaluation *t, const struct str *types, size_t n)
{
	struct entity e;
	size_t i, hits = 0;

	for (i = 0; i < n; i++) {
		if (!entity_next(t->m->u, t->g->start, t->g->end, types[i], &e))
			continue;
		hits++;
		candidate_add_evidence(
		    t, "entity_type", types[i], e.start, e.end);
		candidate_add_literal(t, e.start, e.end);
	}
	return hits;
}

/* ---- evaluation ---- */

/* Whether everything required matches, and no negative keyword. */
static bool
candidate_has_all(struct evaluation *t)
{
	const struct catalog_intent *in = t->out->intent;
	const struct wire_intent_match *candidate = &in->def->match;

	return (candidate->n_negative_keywords == 0 ||
		   candidate_count_words(t, CATALOG_NOT, NULL, NULL) == 0) &&
	    (candidate->n_keywords_all == 0 ||
		candidate_count_words(t, CATALOG_ALL, candidate->keywords_all,
		    "keyword_all") == candidate->n_keywords_all) &&
	    candidate_count_patterns(t, CATALOG_RX_ALL, in->rx_all,
		candidate->regex_all,
		candidate->n_regex_all) == candidate->n_regex_all &&
	    candidate_count_entities(t, candidate->entity_types_all,
		candidate->n_entity_types_all) == candidate->n_entity_types_all;
}

/* Whether one of the _any lists has a hit, or all of them are empty. */
static bool
candidate_has_any(struct evaluation *t)
{
	const struct catalog_intent *in = t->out->intent;
	const struct wire_intent_match *candidate = &in->def->match;
	size_t before = t->out->n, hits;

	hits = candidate_count_words(
	    t, CATALOG_ANY, candidate->keywords_any, "keyword_any");
	hits += candidate_count_patterns(t, CATALOG_RX_ANY, in->rx_any,
	    candidate->regex_any, candidate->n_regex_any);
	if (candidate->n_examples > 0)
		hits += candidate_count_words(t, CATALOG_EXAMPLE,
		    candidate->examples, "example_similarity");
	t->entities = hits == 0 && before == 0 && t->similar == 0;
	hits += candidate_count_entities(
	    t, candidate->entity_types_any, candidate->n_entity_types_any);
	if (hits > 0 || t->similar > 0)
		return true;
	return candidate->n_keywords_any + candidate->n_regex_any +
		candidate->n_entity_types_any ==
	    0 &&
	    t->out->n > 0;
}

static int
candidate_span_cmp(const void *pa, const void *pb)
{
	const struct text_span *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* The weight of the text that was matched verbatim. */
static double
candidate_weight(struct evaluation *t)
{
	struct text_span *spans = t->literal;
	struct str s = { t->m->u->cmd.folded.p, t->g->end };
	size_t i, pos = 0, start, weight = 0;
	int32_t c;

	if (t->n_literal > 1)
		qsort(spans, t->n_literal, sizeof(*spans), candidate_span_cmp);
	for (i = 0; i < t->n_literal; i++) {
		start = spans[i].start > pos ? spans[i].start : pos;
		for (pos = start; pos < spans[i].end;) {
			c = str_utf8_next(s, &pos);
			if (c < 0)
				return (double)weight;
			weight += c < 0x2e80 ? 1 : WEIGHT_HAN;
		}
	}
	return (double)weight;
}

/* "大声点", "声音小一点": a request for more or less; not "小点的". */
static bool
candidate_is_comparative(const struct evaluation *t, size_t at)
{
	static const struct str ends[] = { STR_INIT("一点"), STR_INIT("点"),
		STR_INIT("一些"), STR_INIT("些") };
	struct str s = { t->m->u->cmd.folded.p, t->g->end }, rest;
	size_t i, pass;

	/* Directly, or after one character: the quality. */
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < NELEM(ends); i++) {
			rest = (struct str){ s.p + at, s.n - at };
			if (!str_starts(rest, ends[i]))
				continue;
			rest.p += ends[i].n;
			rest.n -= ends[i].n;
			return !str_starts(rest, STR("的")) &&
			    !str_starts(rest, STR("钟"));
		}
		if (str_utf8_next(s, &at) < 0)
			break;
	}
	return false;
}

/* Whether a verb begins in the evidence. */
static bool
candidate_has_verb(const struct evaluation *t)
{
	const struct utterance *u = t->m->u;
	size_t i, j;

	for (i = 0; i < u->n_words; i++) {
		const struct word_hit *w = &u->words[i];

		if (w->kind != WORD_ACTION && w->kind != WORD_VERB &&
		    w->kind != WORD_REMINDER && w->kind != WORD_CANCEL)
			continue;
		for (j = 0; j < t->out->n; j++) {
			if (w->start >= t->out->spans[j].start &&
			    w->start < t->out->spans[j].end)
				return true;
		}
	}
	for (j = 0; j < t->out->n; j++) {
		if (candidate_is_comparative(t, t->out->spans[j].end))
			return true;
	}
	return t->similar >= SIMILARITY_VERB;
}

static size_t
candidate_longest(const struct candidate *m)
{
	size_t i, most = 0;

	for (i = 0; i < m->n; i++) {
		if (m->spans[i].end - m->spans[i].start > most)
			most = m->spans[i].end - m->spans[i].start;
	}
	return most;
}

static double
candidate_confidence(struct evaluation *t)
{
	const struct wire_intent *def = t->out->intent->def;
	double weight = candidate_weight(t), c;

	if (t->entities)
		c = ENTITY_ONLY;
	else
		c = CONFIDENCE_MAX -
		    (CONFIDENCE_MAX - CONFIDENCE_MIN) *
			exp(-fmax(weight - WEIGHT_HAN, 0) / WEIGHT_BEND);
	if (t->similar > 0)
		c = fmax(c,
		    CONFIDENCE_MIN +
			(CONFIDENCE_MAX - CONFIDENCE_MIN) *
			    (t->similar - SIMILARITY_CORE_MIN) /
			    (1 - SIMILARITY_CORE_MIN));
	if (def->has_hint_score)
		c += HINT * def->hint_score;
	return round(fmin(c, CONFIDENCE_MAX) * 1e4) / 1e4;
}

/* Whether there is evidence for the intent; *out is then complete. */
static bool
candidate_evaluate(
    struct evaluation *t, const struct example_similarity *similar)
{
	struct candidate *out = t->out;

	if (similar != NULL)
		t->similar = similar->share;
	if (!candidate_has_all(t))
		return false;
	if (similar != NULL)
		candidate_add_evidence(t, "example_similarity",
		    out->intent->def->match.examples[similar->index],
		    t->g->start, t->g->end);
	if (!candidate_has_any(t) || out->n == 0)
		return false;
	out->has_verb = candidate_has_verb(t);
	out->longest = candidate_longest(out);
	out->confidence = candidate_confidence(t);
	return true;
}

/* Positions in the three sorted lists of intents to evaluate. */
struct candidate_cursor {
	const struct matcher *m;
	size_t hit, always;
	const struct example_similarity *similar;
	size_t n_similar, at_similar;
};

static uint32_t
candidate_next_intent(const struct candidate_cursor *w)
{
	const struct matcher *m = w->m;
	uint32_t next = UINT32_MAX;

	if (w->hit < m->n_hits)
		next = matcher_meaning(m, &m->hits[w->hit])->intent;
	if (w->always < m->cat->n_always && m->cat->always[w->always] < next)
		next = m->cat->always[w->always];
	if (w->at_similar < w->n_similar &&
	    w->similar[w->at_similar].intent < next)
		next = w->similar[w->at_similar].intent;
	return next;
}

/* Compare the text with the examples, with and without fillers and days. */
static void
candidate_find_similar(const struct matcher *m, const struct segment *g,
    struct candidate_cursor *w)
{
	struct str text = { m->u->cmd.folded.p + g->start, g->end - g->start };
	const struct example_similarity *literal, *core;
	struct example_similarity *both;
	size_t n_literal, n_core;
	struct str s;

	literal = example_index_search(
	    m->cat->examples, text, SIMILARITY_MIN, m->a, &n_literal);
	w->similar = literal;
	w->n_similar = n_literal;
	s = utterance_core(m->u, g->start, g->end, m->a);
	if (s.n == text.n)
		return;
	core = example_index_search(
	    m->cat->examples, s, SIMILARITY_CORE_MIN, m->a, &n_core);
	both = arena_alloc(m->a, (n_literal + n_core + 1) * sizeof(*both));
	if (both == NULL)
		return;
	w->n_similar =
	    example_index_merge(literal, n_literal, core, n_core, both);
	w->similar = both;
}

size_t
candidate_find(const struct matcher *m, const struct segment *g,
    struct candidate dst[CANDIDATE_MAX])
{
	struct candidate_cursor w = { .m = m };
	uint32_t intent;
	size_t n = 0;

	if (m->cat->has_examples)
		candidate_find_similar(m, g, &w);
	while (n < CANDIDATE_MAX && n < m->cat->n &&
	    (intent = candidate_next_intent(&w)) != UINT32_MAX) {
		const struct example_similarity *similar = NULL;
		struct evaluation t; /* literal is large, and empty at first */

		t.m = m;
		t.g = g;
		t.out = &dst[n];
		t.hits = m->hits + w.hit;
		t.n_hits = t.n_literal = 0;
		t.entities = false;
		t.similar = 0;
		while (w.hit < m->n_hits &&
		    matcher_meaning(m, &m->hits[w.hit])->intent == intent) {
			w.hit++;
			t.n_hits++;
		}
		if (w.always < m->cat->n_always &&
		    m->cat->always[w.always] == intent)
			w.always++;
		if (w.at_similar < w.n_similar &&
		    w.similar[w.at_similar].intent == intent)
			similar = &w.similar[w.at_similar++];
		dst[n] =
		    (struct candidate){ .intent = &m->cat->intents[intent] };
		if (candidate_evaluate(&t, similar))
			n++;
	}
	return n;
}
