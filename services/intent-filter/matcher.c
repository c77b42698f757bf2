/*
 * One scan of the command, and one of its plain form.
 */
#include "matcher.h"

#include <stdlib.h>

#include "core/mem.h"

const struct catalog_word *
matcher_meaning(const struct matcher *m, const struct automaton_hit *h)
{
	return &m->cat->meanings[h->word];
}

/* A word that is only a part of another one has not been said. */
static bool
is_part(const struct reading *r, const struct automaton_hit *h)
{
	size_t i;

	for (i = 0; i < r->n_words && r->words[i].start <= h->start; i++) {
		const struct speech_hit *w = &r->words[i];

		if (w->kind == SPEECH_WHOLE && w->end >= h->end &&
		    w->end - w->start > h->end - h->start)
			return true;
	}
	return false;
}

static bool
is_pair(enum catalog_list list)
{
	return list == CATALOG_PAIR || list == CATALOG_EXAMPLE_PAIR;
}

static bool
is_pattern(enum catalog_list list)
{
	return list == CATALOG_RX_ANY || list == CATALOG_RX_ALL;
}

static int
hit_cmp(const void *pa, const void *pb)
{
	const struct automaton_hit *a = pa, *b = pb;

	if (a->word != b->word)
		return a->word < b->word ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* More words, from the plain text: only those that are not in the other. */
static size_t
scan_plain(const struct matcher *m, const struct reading *r,
    struct automaton_hit *dst, size_t max)
{
	size_t i, n, kept = 0, start, end;

	if (r->plain.text.p == NULL)
		return 0;
	n = automaton_scan(m->cat->words, r->plain.text, dst, max);
	for (i = 0; i < n; i++) {
		if (!plain_source(
			&r->plain, dst[i].start, dst[i].end, &start, &end))
			continue;
		dst[kept++] = (struct automaton_hit){ (uint32_t)start,
			(uint32_t)end, dst[i].word };
	}
	return kept;
}

/* Words are numbered intent by intent, so their order is that of intents. */
enum rc
matcher_init(struct matcher *m, struct reading *r)
{
	struct automaton_hit hits[MATCHER_HITS_MAX];
	size_t i, n, kept = 0;

	n = automaton_scan(m->cat->words, r->cmd.folded, hits, NELEM(hits));
	n += scan_plain(m, r, hits + n, NELEM(hits) - n);
	m->hits = arena_alloc(m->a, n * sizeof(*m->hits));
	r->names = arena_alloc(m->a, n * sizeof(*r->names));
	if (m->hits == NULL || r->names == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		const struct automaton_hit *h = &hits[i];

		if (is_pattern(matcher_meaning(m, h)->list)) {
			m->hits[kept++] = *h;
		} else if (speech_is_word(r->cmd.folded, h->start, h->end) &&
		    !is_part(r, h)) {
			m->hits[kept++] = *h;
			if (is_pair(matcher_meaning(m, h)->list))
				continue;
			r->names[r->n_names++] =
			    (struct reading_span){ h->start, h->end };
		}
	}
	m->r = r;
	qsort(m->hits, kept, sizeof(*m->hits), hit_cmp);
	m->n_hits = kept;
	return RC_OK;
}
