/*
 * Open addressing over the keys; the terms themselves lie in one array.
 */
#include "terms.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "tokens.h"

void
terms_reset(struct terms *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->term[i].p);
	free(t->term);
	free(t->slots);
	*t = (struct terms){ .seed = t->seed };
}

/* The slot of a term, or the empty one where it belongs. */
static size_t
slot_of(const struct terms *t, uint64_t key)
{
	size_t i = (size_t)tokens_mix(key ^ t->seed) & (t->nslots - 1);

	while (t->slots[i] != 0 && t->term[t->slots[i] - 1].key != key)
		i = (i + 1) & (t->nslots - 1);
	return i;
}

static struct term *
find(const struct terms *t, uint64_t key)
{
	size_t i;

	if (t->nslots == 0)
		return NULL;
	i = slot_of(t, key);
	return t->slots[i] != 0 ? &t->term[t->slots[i] - 1] : NULL;
}

const struct term *
terms_find(const struct terms *t, uint64_t key)
{
	return find(t, key);
}

static void
grow(struct terms *t)
{
	size_t i, cap = t->cap == 0 ? 64 : 2 * t->cap;

	t->bytes += (cap - t->cap) * sizeof(t->term[0]);
	t->bytes += (2 * cap - t->nslots) * sizeof(t->slots[0]);
	t->term = mem_realloc(t->term, cap * sizeof(t->term[0]));
	t->cap = cap;
	free(t->slots);
	t->nslots = 2 * cap;
	t->slots = mem_calloc(t->nslots, sizeof(t->slots[0]));
	for (i = 0; i < t->n; i++)
		t->slots[slot_of(t, t->term[i].key)] = (uint32_t)i + 1;
}

static struct term *
make(struct terms *t, uint64_t key)
{
	struct term *term = find(t, key);

	if (term != NULL)
		return term;
	if (t->n == t->cap)
		grow(t);
	term = &t->term[t->n++];
	*term = (struct term){ .key = key };
	t->slots[slot_of(t, key)] = (uint32_t)t->n;
	return term;
}

void
terms_count(struct terms *t, uint64_t key, uint32_t doc)
{
	struct term *term = make(t, key);
	uint32_t cap;

	if (term->n > 0 && term->p[term->n - 1].doc == doc) {
		term->p[term->n - 1].tf++;
		return;
	}
	if (term->n == term->cap) {
		cap = term->cap == 0 ? 2 : 2 * term->cap;
		t->bytes += (cap - term->cap) * sizeof(term->p[0]);
		term->p = mem_realloc(term->p, cap * sizeof(term->p[0]));
		term->cap = cap;
	}
	term->p[term->n++] = (struct posting){ doc, 1 };
}

void
terms_drop(struct terms *t, uint64_t key, uint32_t doc)
{
	struct term *term = find(t, key);
	size_t lo = 0, hi, mid;

	if (term == NULL)
		return;
	hi = term->n;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (term->p[mid].doc < doc)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Its other tokens of this term have done it. */
	if (lo == term->n || term->p[lo].doc != doc)
		return;
	term->n--;
	memmove(&term->p[lo], &term->p[lo + 1],
	    (term->n - lo) * sizeof(term->p[0]));
}
