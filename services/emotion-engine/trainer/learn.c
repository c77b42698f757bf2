/*
 * Rows become lists of key numbers, weights a matrix, the matrix a file.
 */
#include "learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"
#include "core/mem.h"
#include "feature.h"
#include "model.h"
#include "pack.h"
#include "prior.h"

const struct learn_opts learn_defaults = { .epochs = 16,
	.rate = .025,
	.sign_rate = .02,
	.decay = 1e-4,
	.smooth = .05,
	.drop = .2,
	.own_weight = 40,
	.class_cap = 8,
	.class_power = .5,
	.gain = 6,
	.min_count = 3,
	.own_count = 2,
	.seed = 1 };

/* A row as the learner sees it. */
struct sample {
	const struct row *row;
	size_t from, signs_from, end; /* of uses: its keys, its signs */
	double weight;
};

struct learner {
	const struct learn_opts *o;
	struct sample *samples;
	size_t n;
	uint64_t *uses; /* keys of all samples; later their numbers */
	size_t n_uses, cap_uses;
	uint64_t *keys; /* ascending */
	size_t n_keys;
	double *w, *start, *g2; /* MODEL_ROW of each key */
	uint64_t random;
};

static uint64_t
random_next(struct learner *l)
{
	uint64_t x = l->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void
use(struct learner *l, uint64_t key)
{
	if (l->n_uses == l->cap_uses) {
		l->cap_uses = l->cap_uses == 0 ? 1 << 16 : 2 * l->cap_uses;
		l->uses =
		    mem_realloc(l->uses, l->cap_uses * sizeof(l->uses[0]));
	}
	l->uses[l->n_uses++] = key;
}

/* Signs are kept whatever their count, and begin with what is said by hand. */
struct hand {
	uint64_t key;
	double w[EMOTION_N];
};

struct hands {
	struct hand *v;
	size_t n, cap;
};

static void
hand_add(struct hands *h, const struct features *f, size_t i)
{
	uint64_t key = features_sign_key(f, i);
	size_t j;

	for (j = 0; j < h->n; j++) {
		if (h->v[j].key == key)
			return;
	}
	if (h->n == h->cap) {
		h->cap = h->cap == 0 ? 64 : 2 * h->cap;
		h->v = mem_realloc(h->v, h->cap * sizeof(h->v[0]));
	}
	h->v[h->n].key = key;
	prior_of(&f->signs[i], h->v[h->n].w);
	h->n++;
}

static void
read_rows(struct learner *l, const struct rows *r, struct hands *h)
{
	struct features *f = features_new();
	size_t i, k;

	l->samples = mem_calloc(r->n + 1, sizeof(l->samples[0]));
	for (i = 0; i < r->n; i++) {
		struct sample *s = &l->samples[l->n];

		if (r->v[i].dev)
			continue;
		features_read(f, r->v[i].text);
		s->row = &r->v[i];
		s->from = l->n_uses;
		for (k = 0; k < f->n_keys; k++)
			use(l, f->keys[k].key);
		s->signs_from = l->n_uses;
		for (k = 0; k < f->n_signs; k++) {
			use(l, features_sign_key(f, k));
			hand_add(h, f, k);
		}
		s->end = l->n_uses;
		l->n++;
	}
	features_free(f);
}

/* Rare labels count more, in each language by itself. */
static void
weigh(struct learner *l)
{
	double n[2][EMOTION_N] = { { 0 } }, all[2] = { 0 };
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct row *r = l->samples[i].row;

		l->samples[i].weight = r->own ? l->o->own_weight : 1;
		n[r->chinese][r->label] += l->samples[i].weight;
		all[r->chinese] += l->samples[i].weight;
	}
	for (i = 0; i < l->n; i++) {
		const struct row *r = l->samples[i].row;
		double x =
		    all[r->chinese] / EMOTION_N / n[r->chinese][r->label];

		if (l->o->class_power < 1)
			x = sqrt(x);
		l->samples[i].weight *=
		    x < l->o->class_cap ? x : l->o->class_cap;
	}
}

static int
by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int
by_hand(const void *a, const void *b)
{
	return by_key(
	    &((const struct hand *)a)->key, &((const struct hand *)b)->key);
}

/* Keys that enough rows have, and all signs, ascending. */
static void
choose_keys(struct learner *l, const struct hands *h)
{
	uint64_t *all =
	    mem_calloc(l->n_uses * (size_t)l->o->own_count + 1, sizeof(all[0]));
	size_t i, k, n = 0;
	int t;

	for (i = 0; i < l->n; i++) {
		const struct sample *s = &l->samples[i];
		int times = s->row->own ? l->o->own_count : 1;

		for (k = s->from; k < s->signs_from; k++) {
			for (t = 0; t < times; t++)
				all[n++] = l->uses[k];
		}
	}
	qsort(all, n, sizeof(all[0]), by_key);
	l->keys = mem_calloc(n + h->n + 1, sizeof(l->keys[0]));
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && all[k] == all[i];)
			k++;
		if (k - i >= (size_t)l->o->min_count)
			l->keys[l->n_keys++] = all[i];
	}
	for (i = 0; i < h->n; i++)
		l->keys[l->n_keys++] = h->v[i].key;
	qsort(l->keys, l->n_keys, sizeof(l->keys[0]), by_key);
	free(all);
}

static size_t
number_of(const struct learner *l, uint64_t key)
{
	const uint64_t *p =
	    bsearch(&key, l->keys, l->n_keys, sizeof(l->keys[0]), by_key);

	return p == NULL ? SIZE_MAX : (size_t)(p - l->keys);
}

static void
number_uses(struct learner *l)
{
	size_t i;

	for (i = 0; i < l->n_uses; i++)
		l->uses[i] = number_of(l, l->uses[i]);
}

static void
begin_weights(struct learner *l, const struct hands *h)
{
	size_t i, k, at, n = l->n_keys * MODEL_ROW;

	l->w = mem_calloc(n + 1, sizeof(l->w[0]));
	l->start = mem_calloc(n + 1, sizeof(l->w[0]));
	l->g2 = mem_calloc(n + 1, sizeof(l->w[0]));
	for (i = 0; i < h->n; i++) {
		at = number_of(l, h->v[i].key) * MODEL_ROW;
		for (k = 0; k < EMOTION_N; k++)
			l->w[at + k] = l->start[at + k] = h->v[i].w[k];
	}
}

static void
nudge(struct learner *l, size_t key, const double err[EMOTION_N], double x,
    double rate)
{
	double *w = l->w + key * MODEL_ROW, *g2 = l->g2 + key * MODEL_ROW;
	const double *start = l->start + key * MODEL_ROW;
	int k;

	for (k = 0; k < EMOTION_N; k++) {
		double g = err[k] * x + l->o->decay * (w[k] - start[k]);

		g2[k] += g * g;
		w[k] -= rate * g / (sqrt(g2[k]) + 1e-6);
	}
}

/* One row; returns its loss. */
static double
step(struct learner *l, const struct sample *s, size_t *kept)
{
	double z[EMOTION_N] = { 0 }, p[EMOTION_N], err[EMOTION_N], x, loss;
	size_t i, k, n = 0;

	x = l->o->gain / sqrt((double)(s->signs_from - s->from)) /
	    (1 - l->o->drop);
	for (i = s->from; i < s->end; i++) {
		if (l->uses[i] == SIZE_MAX ||
		    (double)(random_next(l) >> 11) * 0x1p-53 <
			(i < s->signs_from ? l->o->drop : l->o->drop / 2))
			continue;
		kept[n++] = i;
		for (k = 0; k < EMOTION_N; k++)
			z[k] += l->w[l->uses[i] * MODEL_ROW + k] *
			    (i < s->signs_from ? x : 1);
	}
	model_softmax(z, p);
	for (k = 0; k < EMOTION_N; k++) {
		double want = l->o->smooth / EMOTION_N;

		if (k == (size_t)s->row->label)
			want += 1 - l->o->smooth;
		err[k] = (p[k] - want) * s->weight;
	}
	for (i = 0; i < n; i++) {
		bool sign = kept[i] >= s->signs_from;

		nudge(l, l->uses[kept[i]], err, sign ? 1 : x,
		    sign ? l->o->sign_rate : l->o->rate);
	}
	loss = 1 - p[s->row->label];
	return loss;
}

static void
run_epochs(struct learner *l, learn_said_fn *said)
{
	size_t *order = mem_calloc(l->n + 1, sizeof(order[0]));
	size_t *kept =
	    mem_calloc(FEATURES_KEYS_MAX + FEATURES_SIGNS_MAX, sizeof(kept[0]));
	size_t i, j, t;
	int e;

	for (i = 0; i < l->n; i++)
		order[i] = i;
	for (e = 0; e < l->o->epochs; e++) {
		double loss = 0;

		for (i = l->n; i > 1; i--) {
			j = (size_t)(random_next(l) % i);
			t = order[i - 1];
			order[i - 1] = order[j];
			order[j] = t;
		}
		for (i = 0; i < l->n; i++)
			loss += step(l, &l->samples[order[i]], kept);
		if (said != NULL)
			said(e + 1, l->o->epochs,
			    l->n > 0 ? loss / (double)l->n : 0);
	}
	free(order);
	free(kept);
}

/* The head is not in the checksum. */
static void
scale(const struct rows *r, struct buf *out)
{
	struct model_head head;
	struct model m;
	char why[128];

	if (model_of(buf_str(out), &m, why, sizeof(why)) != RC_OK)
		return;
	memcpy(&head, out->p, sizeof(head));
	head.scale = (float)((double)head.scale * calibrate(&m, r));
	memcpy(out->p, &head, sizeof(head));
}

void
learn(const struct rows *r, const struct learn_opts *o, learn_said_fn *said,
    struct buf *out)
{
	struct learner l = { .o = o, .random = o->seed };
	struct hands h = { 0 };

	read_rows(&l, r, &h);
	if (h.n > 0)
		qsort(h.v, h.n, sizeof(h.v[0]), by_hand);
	weigh(&l);
	choose_keys(&l, &h);
	number_uses(&l);
	begin_weights(&l, &h);
	run_epochs(&l, said);
	pack_model(
	    &(struct pack_weights){ l.keys, l.w, l.n_keys, o->gain }, out);
	scale(r, out);
	free(h.v);
	free(l.samples);
	free(l.uses);
	free(l.keys);
	free(l.w);
	free(l.start);
	free(l.g2);
}
