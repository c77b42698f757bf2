/*
 * Eight bits a weight; marks sorted and tried for collisions.
 */
#include "pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "model.h"

struct entry {
	uint32_t mark;
	const double *w;
};

static int
by_mark(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->mark > y->mark) - (x->mark < y->mark);
}

static bool
collide(const struct entry *e, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (e[i].mark == e[i - 1].mark)
			return true;
	}
	return false;
}

static double
heaviest(const double *w)
{
	double most = 0;
	int k;

	for (k = 0; k < EMOTION_N; k++)
		most = fabs(w[k]) > most ? fabs(w[k]) : most;
	return most;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/*
 * The weight below which a key is left out: nothing that eight bits hold, or
 * not among the MODEL_KEYS_MAX heaviest.
 */
static double
floor_of(const struct pack_weights *p, double *scale)
{
	double *most = mem_calloc(p->n + 1, sizeof(most[0])), least;
	size_t i;

	for (i = 0; i < p->n; i++)
		most[i] = heaviest(p->w + i * MODEL_ROW);
	qsort(most, p->n, sizeof(most[0]), by_value);
	*scale = most[0] > 0 ? most[0] / 127 : 1. / 127;
	least = p->n > MODEL_KEYS_MAX ? most[MODEL_KEYS_MAX] : 0;
	free(most);
	return least > *scale / 2 ? least : *scale / 2;
}

static void
put_rows(const struct entry *e, size_t n, double scale, struct buf *out)
{
	size_t i;
	int k;

	for (i = 0; i < n; i++) {
		int8_t row[MODEL_ROW] = { 0 };

		for (k = 0; k < EMOTION_N; k++)
			row[k] = (int8_t)floor(e[i].w[k] / scale + .5);
		buf_put(out, row, sizeof(row));
	}
}

static void
put_marks(const struct entry *e, size_t n, int bits, struct buf *out)
{
	uint32_t b, at = 0;
	size_t i;

	for (b = 0; b < (uint32_t)1 << bits; b++) {
		buf_put(out, &at, sizeof(at));
		while (at < n && e[at].mark >> (32 - bits) == b)
			at++;
	}
	buf_put(out, &at, sizeof(at));
	for (i = 0; i < n; i++)
		buf_put(out, &e[i].mark, sizeof(e[i].mark));
}

void
pack_model(const struct pack_weights *p, struct buf *out)
{
	struct model_head h = { .magic = MODEL_MAGIC,
		.version = MODEL_VERSION,
		.gain = (float)p->gain };
	struct entry *e = mem_calloc(p->n + 1, sizeof(e[0]));
	size_t i, n = 0;
	double scale, least = floor_of(p, &scale);
	int bits = 4;

	h.scale = (float)scale;
	do {
		n = 0;
		h.salt++;
		for (i = 0; i < p->n; i++) {
			const double *w = p->w + i * MODEL_ROW;

			if (heaviest(w) > least)
				e[n++] = (struct entry){
					model_mark(p->keys[i], h.salt), w
				};
		}
		qsort(e, n, sizeof(e[0]), by_mark);
	} while (collide(e, n));
	while (bits < 16 && (size_t)2 << bits < n)
		bits++;
	h.keys = (uint32_t)n;
	h.index_bits = (uint32_t)bits;
	buf_put(out, &h, sizeof(h));
	put_marks(e, n, bits, out);
	put_rows(e, n, (double)h.scale, out);
	h.checksum = model_checksum(out->p + sizeof(h), out->n - sizeof(h));
	memcpy(out->p, &h, sizeof(h));
	free(e);
}
