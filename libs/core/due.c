/*
 * Each timer knows its place, so that it can be taken out from anywhere.
 */
#include "core/due.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/loop.h"
#include "core/mem.h"

static bool
is_before(const struct due *a, const struct due *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->t->at.ns != b->t->at.ns)
		return a->t->at.ns < b->t->at.ns;
	return a->seq < b->seq;
}

static void
place(struct due_heap *h, size_t i, struct due d)
{
	h->p[i] = d;
	d.t->pos = i + 1;
}

static void
sift_up(struct due_heap *h, size_t i, struct due d)
{
	while (i > 0) {
		size_t parent = (i - 1) / 2;

		if (!is_before(&d, &h->p[parent]))
			break;
		place(h, i, h->p[parent]);
		i = parent;
	}
	place(h, i, d);
}

static void
sift_down(struct due_heap *h, size_t i, struct due d)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->n)
			break;
		if (child + 1 < h->n &&
		    is_before(&h->p[child + 1], &h->p[child]))
			child++;
		if (!is_before(&h->p[child], &d))
			break;
		place(h, i, h->p[child]);
		i = child;
	}
	place(h, i, d);
}

void
due_put(struct due_heap *h, int64_t key, struct loop_timer *t)
{
	struct due d = { key, h->seq++, t };

	if (h->n == h->cap) {
		h->cap = h->cap != 0 ? h->cap * 2 : 16;
		h->p = mem_realloc(h->p, h->cap * sizeof(*h->p));
	}
	sift_up(h, h->n++, d);
}

void
due_del(struct due_heap *h, struct loop_timer *t)
{
	size_t i = t->pos - 1;
	struct due last;

	if (t->pos == 0)
		return;
	assert(i < h->n && h->p[i].t == t);
	t->pos = 0;
	last = h->p[--h->n];
	if (i == h->n)
		return;
	if (i > 0 && is_before(&last, &h->p[(i - 1) / 2]))
		sift_up(h, i, last);
	else
		sift_down(h, i, last);
}

void
due_free(struct due_heap *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		h->p[i].t->pos = 0;
	free(h->p);
	*h = (struct due_heap){ 0 };
}
