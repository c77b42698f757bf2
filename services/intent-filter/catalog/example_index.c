/*
 * An inverted index: the sorted list of (bigram, example).  Only examples that
 * share a bigram with the text are visited.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "catalog/catalog_internal.h"
#include "core/mem.h"

/* Bigrams of a text; the rest of a longer one is ignored. */
#define TEXT_BIGRAMS_MAX 512

struct example_posting {
	uint64_t bigram;
	uint32_t example;
};

struct example {
	uint32_t intent, index;
	uint32_t bigrams;
};

struct example_index {
	struct example_posting *postings;
	struct example *list;
	size_t n_postings, cap_postings, n, cap;
};

struct example_index *
example_index_new(void)
{
	return mem_zalloc(sizeof(struct example_index));
}

void
example_index_free(struct example_index *e)
{
	if (e == NULL)
		return;
	free(e->postings);
	free(e->list);
	free(e);
}

size_t
example_index_bytes(const struct example_index *e)
{
	return sizeof(*e) + e->cap_postings * sizeof(*e->postings) +
	    e->cap * sizeof(*e->list);
}

static int
bigram_cmp(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* The distinct bigrams of s, sorted; both ends count as a character. */
static size_t
bigrams_of(struct str s, uint64_t dst[TEXT_BIGRAMS_MAX])
{
	size_t pos = 0, n = 0, i, n_unique = 0;
	uint32_t before = 0;
	int32_t c;

	while ((c = str_utf8_next(s, &pos)) >= 0 && n < TEXT_BIGRAMS_MAX - 1) {
		if (c == ' ')
			continue;
		dst[n++] = (uint64_t)before << 32 | (uint32_t)c;
		before = (uint32_t)c;
	}
	dst[n++] = (uint64_t)before << 32;
	qsort(dst, n, sizeof(*dst), bigram_cmp);
	for (i = 0; i < n; i++) {
		if (n_unique == 0 || dst[n_unique - 1] != dst[i])
			dst[n_unique++] = dst[i];
	}
	return n_unique;
}

void
example_index_add(
    struct example_index *e, uint32_t intent, uint32_t index, struct str folded)
{
	uint64_t bigrams[TEXT_BIGRAMS_MAX];
	size_t i, n = bigrams_of(folded, bigrams);

	if (e->n == e->cap) {
		e->cap = e->cap == 0 ? 16 : 2 * e->cap;
		e->list = mem_realloc(e->list, e->cap * sizeof(*e->list));
	}
	if (e->n_postings + n > e->cap_postings) {
		e->cap_postings = 2 * e->cap_postings + TEXT_BIGRAMS_MAX;
		e->postings = mem_realloc(
		    e->postings, e->cap_postings * sizeof(*e->postings));
	}
	for (i = 0; i < n; i++)
		e->postings[e->n_postings++] =
		    (struct example_posting){ bigrams[i], (uint32_t)e->n };
	e->list[e->n++] = (struct example){ intent, index, (uint32_t)n };
}

static int
example_posting_cmp(const void *pa, const void *pb)
{
	const struct example_posting *a = pa, *b = pb;

	if (a->bigram != b->bigram)
		return a->bigram < b->bigram ? -1 : 1;
	return a->example < b->example ? -1 : a->example > b->example;
}

void
example_index_build(struct example_index *e)
{
	if (e->n_postings > 0)
		qsort(e->postings, e->n_postings, sizeof(*e->postings),
		    example_posting_cmp);
}

/* The first posting of the bigram, or of the next one. */
static size_t
example_first_posting(const struct example_index *e, uint64_t bigram)
{
	size_t lo = 0, hi = e->n_postings, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (e->postings[mid].bigram < bigram)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct example_similarity *
example_index_search(const struct example_index *e, struct str folded,
    double least, struct arena *a, size_t *n)
{
	uint64_t bigrams[TEXT_BIGRAMS_MAX];
	struct example_similarity *out;
	uint32_t *shared;
	size_t i, j, n_bigrams;
	double share;

	*n = 0;
	if (e->n == 0)
		return NULL;
	shared = arena_alloc(a, e->n * sizeof(*shared));
	out = arena_alloc(a, e->n * sizeof(*out));
	if (shared == NULL || out == NULL)
		return NULL;
	n_bigrams = bigrams_of(folded, bigrams);
	for (i = 0; i < n_bigrams; i++) {
		for (j = example_first_posting(e, bigrams[i]);
		     j < e->n_postings && e->postings[j].bigram == bigrams[i];
		     j++)
			shared[e->postings[j].example]++;
	}
	for (i = 0; i < e->n; i++) {
		share =
		    2.0 * shared[i] / (double)(e->list[i].bigrams + n_bigrams);
		if (shared[i] == 0 || share < least)
			continue;
		/* Examples are added intent by intent. */
		if (*n > 0 && out[*n - 1].intent == e->list[i].intent) {
			if (share <= out[*n - 1].share)
				continue;
			(*n)--;
		}
		out[(*n)++] = (struct example_similarity){ e->list[i].intent,
			e->list[i].index, share };
	}
	return out;
}

size_t
example_index_merge(const struct example_similarity *a, size_t na,
    const struct example_similarity *b, size_t nb,
    struct example_similarity *dst)
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
