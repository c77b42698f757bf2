/*
 * Evidence, and the confidence it gives.
 */
#include "match.h"

#include <math.h>
#include <stdlib.h>

#include "clause.h"
#include "core/mem.h"
#include "entity.h"
#include "examples.h"
#include "pair.h"
#include "rx/rx.h"

/*
 * The confidence rises from LEAST, of one Chinese character, towards MOST.
 * Weights are halves of a Chinese character; a Latin letter is one.
 */
#define LEAST       .80
#define MOST        .95
#define WEIGHT_HAN  2
#define WEIGHT_BEND 10.0
#define HINT        .02
/* Entities of one of several types alone are a weak sign. */
#define ENTITY_ONLY .60
/* From this likeness on an example is evidence; at 1 it gives MOST. */
#define LIKE_LEAST .62
/* The same without what examples differ in by chance. */
#define LIKE_CORE .6
/* From this likeness on the segment wishes something even without a verb. */
#define LIKE_ACTS .75

/* An intent being judged. */
struct tally {
	const struct matcher *m;
	const struct segment *g;
	struct match *out;
	const struct automaton_hit *hits; /* of this intent */
	size_t n_hits;
	bool entities; /* all evidence so far is entities of one type */
	double like;
	/* What was said word for word; the gaps of a pattern were not. */
	struct reading_span said[2 * MATCH_EVIDENCE_MAX];
	size_t n_said;
};

/* ---- evidence -------------------------------------------------------------
 */

static void
note_said(struct tally *t, size_t start, size_t end)
{
	if (t->n_said < NELEM(t->said))
		t->said[t->n_said++] = (struct reading_span){ start, end };
}

/* The evidence, but not that it was said word for word. */
static void
note(struct tally *t, const char *type, struct str value, size_t start,
    size_t end)
{
	struct match *out = t->out;

	if (out->n == MATCH_EVIDENCE_MAX)
		return;
	if (out->evidence == NULL) {
		out->evidence = arena_alloc(
		    t->m->a, MATCH_EVIDENCE_MAX * sizeof(*out->evidence));
		out->spans = arena_alloc(
		    t->m->a, MATCH_EVIDENCE_MAX * sizeof(*out->spans));
	}
	if (out->evidence == NULL || out->spans == NULL)
		return;
	out->spans[out->n] = (struct reading_span){ start, end };
	out->evidence[out->n++] =
	    (struct wire_intent_filter_response_intents_evidence){
		    .type = str_of(type), .value = value, .score = 1
	    };
}

static bool
is_here(const struct tally *t, const struct automaton_hit *h)
{
	return h->start >= t->g->start && h->end <= t->g->end;
}

/* Quoted words speak for an intent only where something is to be done. */
static bool
is_said(const struct tally *t, const struct automaton_hit *h)
{
	const struct reading *r = t->m->r;
	size_t i;

	if (!reading_is_quoted(r, h->start))
		return true;
	for (i = 0; i < r->n_words; i++) {
		const struct speech_hit *w = &r->words[i];

		if (clause_has(t->g, w) &&
		    (w->kind == SPEECH_ACTION || w->kind == SPEECH_VERB) &&
		    !reading_is_quoted(r, w->start))
			return true;
	}
	return false;
}

/* Whether a hit counts for the list, and the verb beside it, if it is a pair.
 */
static bool
is_of_list(const struct tally *t, const struct automaton_hit *h,
    enum catalog_list list, const struct speech_hit **verb)
{
	enum catalog_list own = matcher_meaning(t->m, h)->list;

	*verb = NULL;
	if (own == list)
		return true;
	if (!(list == CATALOG_ANY && own == CATALOG_PAIR) &&
	    !(list == CATALOG_EXAMPLE && own == CATALOG_EXAMPLE_PAIR))
		return false;
	*verb = is_here(t, h) ? pair_verb(t->m->r, t->g,
				    &(struct reading_span){ h->start, h->end },
				    matcher_meaning(t->m, h)->verb)
			      : NULL;
	return *verb != NULL;
}

/* The keywords of a list in this segment, each once. */
static size_t
count_words(struct tally *t, enum catalog_list list, const struct str *source,
    const char *type)
{
	const struct speech_hit *verb;
	size_t i, n = 0;
	uint32_t last = UINT32_MAX;

	for (i = 0; i < t->n_hits; i++) {
		const struct automaton_hit *h = &t->hits[i];

		if (h->word == last || !is_here(t, h) ||
		    !is_of_list(t, h, list, &verb) || !is_said(t, h))
			continue;
		last = h->word;
		n++;
		if (type == NULL)
			continue;
		note(t, type, source[matcher_meaning(t->m, h)->index], h->start,
		    h->end);
		note_said(t, h->start, h->end);
		if (verb == NULL)
			continue;
		note(t, type, source[matcher_meaning(t->m, h)->index],
		    verb->start, verb->end);
		note_said(t, verb->start, verb->end);
	}
	return n;
}

static bool
has_literal(const struct tally *t, enum catalog_list list, size_t index)
{
	size_t i;

	for (i = 0; i < t->n_hits; i++) {
		if (matcher_meaning(t->m, &t->hits[i])->list == list &&
		    matcher_meaning(t->m, &t->hits[i])->index == index &&
		    is_here(t, &t->hits[i]))
			return true;
	}
	return false;
}

/* A match without its gaps. */
static void
note_spelled(struct tally *t, const struct catalog_pattern *p,
    const struct rx_match *found)
{
	size_t i, at = t->g->start + (size_t)found->g[0].start;
	size_t end = t->g->start + (size_t)found->g[0].end;

	for (i = 1; i < found->n && p->gaps != 0; i++) {
		size_t from = t->g->start + (size_t)found->g[i].start;

		if ((p->gaps & 1U << i) == 0 || found->g[i].start < 0 ||
		    from < at)
			continue;
		note_said(t, at, from);
		at = t->g->start + (size_t)found->g[i].end;
	}
	note_said(t, at, end);
}

/* A pattern that hits its limits has not matched. */
static size_t
count_patterns(struct tally *t, enum catalog_list list,
    const struct catalog_pattern *p, const struct str *source, size_t n)
{
	struct str text = { t->m->r->cmd.folded.p + t->g->start,
		t->g->end - t->g->start };
	struct rx_match found;
	size_t i, hits = 0;

	for (i = 0; i < n; i++) {
		if (p[i].has_literal && !has_literal(t, list, i))
			continue;
		if (rx_find(p[i].rx, t->m->rx, text, 0, &found) != RC_OK)
			continue;
		hits++;
		note(t, list == CATALOG_RX_ANY ? "regex_any" : "regex_all",
		    source[i], t->g->start + (size_t)found.g[0].start,
		    t->g->start + (size_t)found.g[0].end);
		note_spelled(t, &p[i], &found);
	}
	return hits;
}

static size_t
count_entities(struct tally *t, const struct str *types, size_t n)
{
	struct entity e;
	size_t i, hits = 0;

	for (i = 0; i < n; i++) {
		if (!entity_next(t->m->r, t->g->start, t->g->end, types[i], &e))
			continue;
		hits++;
		note(t, "entity_type", types[i], e.start, e.end);
		note_said(t, e.start, e.end);
	}
	return hits;
}

/* ---- judging --------------------------------------------------------------
 */

/* Whether what all must be there is there, and nothing that must not. */
static bool
has_all(struct tally *t)
{
	const struct catalog_intent *in = t->out->intent;
	const struct wire_intent_match *match = &in->def->match;

	return count_words(t, CATALOG_NOT, NULL, NULL) == 0 &&
	    count_words(t, CATALOG_ALL, match->keywords_all, "keyword_all") ==
	    match->n_keywords_all &&
	    count_patterns(t, CATALOG_RX_ALL, in->rx_all, match->regex_all,
		match->n_regex_all) == match->n_regex_all &&
	    count_entities(t, match->entity_types_all,
		match->n_entity_types_all) == match->n_entity_types_all;
}

/* Whether one of the lists of which one is enough has a hit, or none is. */
static bool
has_any(struct tally *t)
{
	const struct catalog_intent *in = t->out->intent;
	const struct wire_intent_match *match = &in->def->match;
	size_t before = t->out->n, hits;

	hits = count_words(t, CATALOG_ANY, match->keywords_any, "keyword_any");
	hits += count_patterns(t, CATALOG_RX_ANY, in->rx_any, match->regex_any,
	    match->n_regex_any);
	hits += count_words(
	    t, CATALOG_EXAMPLE, match->examples, "example_similarity");
	t->entities = hits == 0 && before == 0 && t->like == 0;
	hits += count_entities(
	    t, match->entity_types_any, match->n_entity_types_any);
	if (hits > 0 || t->like > 0)
		return true;
	return match->n_keywords_any + match->n_regex_any +
		match->n_entity_types_any ==
	    0 &&
	    t->out->n > 0;
}

static int
span_cmp(const void *pa, const void *pb)
{
	const struct reading_span *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Half characters that were said word for word. */
static double
weigh(struct tally *t)
{
	struct reading_span *spans = t->said;
	struct str s = { t->m->r->cmd.folded.p, t->g->end };
	size_t i, pos = 0, start, weight = 0;
	int32_t c;

	if (t->n_said > 1)
		qsort(spans, t->n_said, sizeof(*spans), span_cmp);
	for (i = 0; i < t->n_said; i++) {
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

/* "大声点", "声音小一点": more of it is wished; not "小点的". */
static bool
is_more(const struct tally *t, size_t at)
{
	static const struct str ends[] = { STR_INIT("一点"), STR_INIT("点"),
		STR_INIT("一些"), STR_INIT("些") };
	struct str s = { t->m->r->cmd.folded.p, t->g->end }, rest;
	size_t i, pass;

	/* Directly, or behind one character: the quality. */
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
acts(const struct tally *t)
{
	const struct reading *r = t->m->r;
	size_t i, j;

	for (i = 0; i < r->n_words; i++) {
		const struct speech_hit *w = &r->words[i];

		if (w->kind != SPEECH_ACTION && w->kind != SPEECH_VERB &&
		    w->kind != SPEECH_MEMO && w->kind != SPEECH_CANCEL)
			continue;
		for (j = 0; j < t->out->n; j++) {
			if (w->start >= t->out->spans[j].start &&
			    w->start < t->out->spans[j].end)
				return true;
		}
	}
	for (j = 0; j < t->out->n; j++) {
		if (is_more(t, t->out->spans[j].end))
			return true;
	}
	return t->like >= LIKE_ACTS;
}

static size_t
longest(const struct match *m)
{
	size_t i, most = 0;

	for (i = 0; i < m->n; i++) {
		if (m->spans[i].end - m->spans[i].start > most)
			most = m->spans[i].end - m->spans[i].start;
	}
	return most;
}

static double
confidence(struct tally *t)
{
	const struct wire_intent *def = t->out->intent->def;
	double weight = weigh(t), c;

	if (t->entities)
		c = ENTITY_ONLY;
	else
		c = MOST -
		    (MOST - LEAST) *
			exp(-fmax(weight - WEIGHT_HAN, 0) / WEIGHT_BEND);
	if (t->like > 0)
		c = fmax(c,
		    LEAST +
			(MOST - LEAST) * (t->like - LIKE_CORE) /
			    (1 - LIKE_CORE));
	if (def->has_hint_score)
		c += HINT * def->hint_score;
	return round(fmin(c, MOST) * 1e4) / 1e4;
}

/* Whether anything speaks for the intent; *out is then complete. */
static bool
judge(struct tally *t, const struct example_likeness *like)
{
	struct match *out = t->out;

	if (like != NULL)
		t->like = like->share;
	if (!has_all(t))
		return false;
	if (like != NULL)
		note(t, "example_similarity",
		    out->intent->def->match.examples[like->index], t->g->start,
		    t->g->end);
	if (!has_any(t) || out->n == 0)
		return false;
	out->acts = acts(t);
	out->longest = longest(out);
	out->confidence = confidence(t);
	return true;
}

/* The three sorted lists of intents to look at, walked side by side. */
struct walk {
	const struct matcher *m;
	size_t hit, always;
	const struct example_likeness *like;
	size_t n_like, at_like;
};

static uint32_t
next_intent(const struct walk *w)
{
	const struct matcher *m = w->m;
	uint32_t next = UINT32_MAX;

	if (w->hit < m->n_hits)
		next = matcher_meaning(m, &m->hits[w->hit])->intent;
	if (w->always < m->cat->n_always && m->cat->always[w->always] < next)
		next = m->cat->always[w->always];
	if (w->at_like < w->n_like && w->like[w->at_like].intent < next)
		next = w->like[w->at_like].intent;
	return next;
}

/* As it was said, and without what examples differ in by chance. */
static void
find_likeness(const struct matcher *m, const struct segment *g, struct walk *w)
{
	struct str text = { m->r->cmd.folded.p + g->start, g->end - g->start };
	const struct example_likeness *said, *core;
	struct example_likeness *both;
	size_t n_said, n_core;
	struct str s;

	said = examples_like(m->cat->examples, text, LIKE_LEAST, m->a, &n_said);
	w->like = said;
	w->n_like = n_said;
	s = reading_core(m->r, g->start, g->end, m->a);
	if (s.n == text.n)
		return;
	core = examples_like(m->cat->examples, s, LIKE_CORE, m->a, &n_core);
	both = arena_alloc(m->a, (n_said + n_core + 1) * sizeof(*both));
	if (both == NULL)
		return;
	w->n_like = examples_merge(said, n_said, core, n_core, both);
	w->like = both;
}

size_t
match_segment(const struct matcher *m, const struct segment *g,
    struct match dst[MATCH_MAX])
{
	struct walk w = { .m = m };
	uint32_t intent;
	size_t n = 0;

	if (m->cat->has_examples)
		find_likeness(m, g, &w);
	while (n < MATCH_MAX && n < m->cat->n &&
	    (intent = next_intent(&w)) != UINT32_MAX) {
		struct tally t = {
			.m = m, .g = g, .out = &dst[n], .hits = m->hits + w.hit
		};
		const struct example_likeness *like = NULL;

		while (w.hit < m->n_hits &&
		    matcher_meaning(m, &m->hits[w.hit])->intent == intent) {
			w.hit++;
			t.n_hits++;
		}
		if (w.always < m->cat->n_always &&
		    m->cat->always[w.always] == intent)
			w.always++;
		if (w.at_like < w.n_like && w.like[w.at_like].intent == intent)
			like = &w.like[w.at_like++];
		dst[n] = (struct match){ .intent = &m->cat->intents[intent] };
		if (judge(&t, like))
			n++;
	}
	return n;
}
