/*
 * An inverted index: the sorted list of (pair, example).  Only examples that
 * share a pair with the text are ever looked at.
 */
#include "examples.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/mem.h"

#define TEXT_PAIRS_MAX                                         \
	512 /* of a text; the rest of a longer one is not read \
	     */

struct posting {
	uint64_t pair;
	uint32_t example;
};

struct example {
	uint32_t intent, index;
	uint32_t pairs;
};

struct examples {
	struct posting *postings;
	struct example *list;
	size_t n_postings, cap_postings, n, cap;
};

struct examples *
examples_new(void)
{
	return mem_zalloc(sizeof(struct examples));
}

void
examples_free(struct examples *e)
{
	if (e == NULL)
		return;
	free(e->postings);
	free(e->list);
	free(e);
}

size_t
examples_bytes(const struct examples *e)
{
	return sizeof(*e) + e->cap_postings * sizeof(*e->postings) +
	    e->cap * sizeof(*e->list);
}

static int
pair_cmp(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* The different pairs of s in dst, sorted; the ends count as characters. */
static size_t
pairs_of(struct str s, uint64_t dst[TEXT_PAIRS_MAX])
{
	size_t pos = 0, n = 0, i, kept = 0;
	uint32_t before = 0;
	int32_t c;

	while ((c = str_utf8_next(s, &pos)) >= 0 && n < TEXT_PAIRS_MAX - 1) {
		if (c == ' ')
			continue;
		dst[n++] = (uint64_t)before << 32 | (uint32_t)c;
		before = (uint32_t)c;
	}
	dst[n++] = (uint64_t)before << 32;
	qsort(dst, n, sizeof(*dst), pair_cmp);
	for (i = 0; i < n; i++) {
		if (kept == 0 || dst[kept - 1] != dst[i])
			dst[kept++] = dst[i];
	}
	return kept;
}

void
examples_add(
    struct examples *e, uint32_t intent, uint32_t index, struct str folded)
{
	uint64_t pairs[TEXT_PAIRS_MAX];
	size_t i, n = pairs_of(folded, pairs);

	if (e->n == e->cap) {
		e->cap = e->cap == 0 ? 16 : 2 * e->cap;
		e->list = mem_realloc(e->list, e->cap * sizeof(*e->list));
	}
	if (e->n_postings + n > e->cap_postings) {
		e->cap_postings = 2 * e->cap_postings + TEXT_PAIRS_MAX;
		e->postings = mem_realloc(
		    e->postings, e->cap_postings * sizeof(*e->postings));
	}
	for (i = 0; i < n; i++)
		e->postings[e->n_postings++] =
		    (struct posting){ pairs[i], (uint32_t)e->n };
	e->list[e->n++] = (struct example){ intent, index, (uint32_t)n };
}

static int
posting_cmp(const void *pa, const void *pb)
{
	const struct posting *a = pa, *b = pb;

	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	return a->example < b->example ? -1 : a->example > b->example;
}

void
examples_build(struct examples *e)
{
	if (e->n_postings > 0)
		qsort(e->postings, e->n_postings, sizeof(*e->postings),
		    posting_cmp);
}

/* The first posting of the pair, or of the next one. */
static size_t
first_of(const struct examples *e, uint64_t pair)
{
	size_t lo = 0, hi = e->n_postings, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (e->postings[mid].pair < pair)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct example_likeness *
examples_like(const struct examples *e, struct str folded, double least,
    struct arena *a, size_t *n)
{
	uint64_t pairs[TEXT_PAIRS_MAX];
	struct example_likeness *out;
	uint32_t *shared;
	size_t i, j, n_pairs;
	double share;

	*n = 0;
	if (e->n == 0)
		return NULL;
	shared = arena_alloc(a, e->n * sizeof(*shared));
	out = arena_alloc(a, e->n * sizeof(*out));
	if (shared == NULL || out == NULL)
		return NULL;
	n_pairs = pairs_of(folded, pairs);
	for (i = 0; i < n_pairs; i++) {
		for (j = first_of(e, pairs[i]);
		     j < e->n_postings && e->postings[j].pair == pairs[i]; j++)
			shared[e->postings[j].example]++;
	}
	for (i = 0; i < e->n; i++) {
		share = 2.0 * shared[i] / (double)(e->list[i].pairs + n_pairs);
		if (shared[i] == 0 || share < least)
			continue;
		/* Examples are added intent by intent. */
		if (*n > 0 && out[*n - 1].intent == e->list[i].intent) {
			if (share <= out[*n - 1].share)
				continue;
			(*n)--;
		}
		out[(*n)++] = (struct example_likeness){ e->list[i].intent,
			e->list[i].index, share };
	}
	return out;
}

size_t
examples_merge(const struct example_likeness *a, size_t na,
    const struct example_likeness *b, size_t nb, struct example_likeness *dst)
{
	size_t i = 0, j = 0, n = 0;

	while (i < na || j < nb) {
		if (j == nb || (i < na && a[i].intent < b[j].intent)) {
			dst[n++] = a[i++];
		} else if (i == na || b[j].intent < a[i].intent) {
			dst[n++] = b[j++];
		} else {
			dst[n++] = a[i].share >= b[j].share ? a[i] : b[j];
			i++;
			j++;
		}
	}
	return n;
}
