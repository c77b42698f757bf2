/*
 * Multinomial logistic regression: rows become lists of key numbers, weights
 * a matrix, the matrix a file.
 */
#include "trainer/trainer.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "recognition/feature.h"
#include "recognition/model.h"

#define WEIGHTS_SIZE_MAX (64 * 1024 * 1024)

struct pack_weights {
	const uint64_t *keys; /* ascending, unique */
	const double *w;      /* MODEL_ROW of each */
	size_t n;
	double gain;
};

struct pack_entry {
	uint32_t mark;
	const double *w;
};

static int
pack_by_mark(const void *a, const void *b)
{
	const struct pack_entry *x = a, *y = b;

	return (x->mark > y->mark) - (x->mark < y->mark);
}

static bool
pack_collides(const struct pack_entry *e, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (e[i].mark == e[i - 1].mark)
			return true;
	}
	return false;
}

static double
pack_max_weight(const double *w)
{
	double most = 0;
	int k;

	for (k = 0; k < EMOTION_N; k++)
		most = fabs(w[k]) > most ? fabs(w[k]) : most;
	return most;
}

static int
pack_by_weight(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/*
 * Keys below this weight are left out: all of their weights round to 0, or they
 * are not among the MODEL_KEYS_MAX largest.
 */
static double
pack_threshold(const struct pack_weights *p, double *scale)
{
	double *most = mem_calloc(p->n + 1, sizeof(most[0])), least;
	size_t i;

	for (i = 0; i < p->n; i++)
		most[i] = pack_max_weight(p->w + i * MODEL_ROW);
	qsort(most, p->n, sizeof(most[0]), pack_by_weight);
	*scale = most[0] > 0 ? most[0] / 127 : 1. / 127;
	least = p->n > MODEL_KEYS_MAX ? most[MODEL_KEYS_MAX] : 0;
	free(most);
	return least > *scale / 2 ? least : *scale / 2;
}

static void
pack_put_rows(
    const struct pack_entry *e, size_t n, double scale, struct buf *out)
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
pack_put_marks(const struct pack_entry *e, size_t n, int bits, struct buf *out)
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

static void
pack_model(const struct pack_weights *p, struct buf *out)
{
	struct model_head h = { .magic = MODEL_MAGIC,
		.version = MODEL_VERSION,
		.gain = (float)p->gain };
	struct pack_entry *e = mem_calloc(p->n + 1, sizeof(e[0]));
	size_t i, n = 0;
	double scale, least = pack_threshold(p, &scale);
	int bits = 4;

	h.scale = (float)scale;
	do {
		n = 0;
		h.salt++;
		for (i = 0; i < p->n; i++) {
			const double *w = p->w + i * MODEL_ROW;

			if (pack_max_weight(w) > least)
				e[n++] = (struct pack_entry){
					model_mark(p->keys[i], h.salt), w
				};
		}
		qsort(e, n, sizeof(e[0]), pack_by_mark);
	} while (pack_collides(e, n));
	while (bits < 16 && (size_t)2 << bits < n)
		bits++;
	h.keys = (uint32_t)n;
	h.index_bits = (uint32_t)bits;
	buf_put(out, &h, sizeof(h));
	pack_put_marks(e, n, bits, out);
	pack_put_rows(e, n, (double)h.scale, out);
	h.checksum = model_checksum(out->p + sizeof(h), out->n - sizeof(h));
	memcpy(out->p, &h, sizeof(h));
	free(e);
}

struct dev_case {
	double z[EMOTION_N];
	enum wire_emotion label;
};

static size_t
calibrate_read(const struct model *m, const struct rows *r, struct dev_case *v)
{
	struct features *f = features_new();
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		if (!r->v[i].dev || !r->v[i].own)
			continue;
		features_read(f, r->v[i].text);
		model_logits(m, f, v[n].z);
		v[n++].label = r->v[i].label;
	}
	features_free(f);
	return n;
}

static double
calibrate_brier(const struct dev_case *v, size_t n, double factor)
{
	double z[EMOTION_N], p[EMOTION_N], sum = 0, d;
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < EMOTION_N; k++)
			z[k] = v[i].z[k] * factor;
		model_softmax(z, p);
		for (k = 0; k < EMOTION_N; k++) {
			d = p[k] - (k == (size_t)v[i].label ? 1 : 0);
			sum += d * d;
		}
	}
	return sum;
}

static double
calibrate_scale(const struct model *m, const struct rows *r)
{
	struct dev_case *v = mem_calloc(r->n + 1, sizeof(v[0]));
	size_t n = calibrate_read(m, r, v);
	double best = 1, least = calibrate_brier(v, n, 1), b;
	int i;

	for (i = 21; i <= 80; i++) {
		b = calibrate_brier(v, n, i / 20.);
		if (b < least) {
			least = b;
			best = i / 20.;
		}
	}
	free(v);
	return best;
}

/* The emotion and factor that a negated cue counts for. */
static const struct {
	enum wire_emotion emotion;
	double factor;
} denied_priors[EMOTION_N] = {
	[WIRE_EMOTION_NEUTRAL] = { WIRE_EMOTION_NEUTRAL, 0 },
	[WIRE_EMOTION_JOY] = { WIRE_EMOTION_SADNESS, 1 },
	[WIRE_EMOTION_SURPRISE] = { WIRE_EMOTION_NEUTRAL, .7 },
	[WIRE_EMOTION_SADNESS] = { WIRE_EMOTION_CALM, .8 },
	[WIRE_EMOTION_FEAR] = { WIRE_EMOTION_CALM, .8 },
	[WIRE_EMOTION_ANGER] = { WIRE_EMOTION_CALM, .8 },
	[WIRE_EMOTION_DISGUST] = { WIRE_EMOTION_NEUTRAL, .7 },
	[WIRE_EMOTION_CALM] = { WIRE_EMOTION_ANXIETY, 1 },
	[WIRE_EMOTION_RELIEF] = { WIRE_EMOTION_ANXIETY, 1 },
	[WIRE_EMOTION_GRATITUDE] = { WIRE_EMOTION_NEUTRAL, .7 },
	[WIRE_EMOTION_EXCITEMENT] = { WIRE_EMOTION_CALM, .6 },
	[WIRE_EMOTION_ANXIETY] = { WIRE_EMOTION_CALM, 1 },
	[WIRE_EMOTION_FRUSTRATION] = { WIRE_EMOTION_CALM, .8 },
	[WIRE_EMOTION_DISAPPOINTMENT] = { WIRE_EMOTION_RELIEF, .7 },
	[WIRE_EMOTION_BOREDOM] = { WIRE_EMOTION_JOY, .7 },
};

static void
prior_cue(const struct features_sign *s, double w[EMOTION_N])
{
	enum wire_emotion e = s->row->emotion;
	double x = 3 * s->row->strength;

	switch (s->state) {
	case FEATURES_PLAIN:
		w[e] = x;
		break;
	case FEATURES_DENIED:
		w[denied_priors[e].emotion] = x * denied_priors[e].factor;
		break;
	case FEATURES_CONCEDED:
	case FEATURES_THEIRS:
	case FEATURES_DISTANT:
		w[e] = x / 3;
		break;
	case FEATURES_MOCKED:
		w[WIRE_EMOTION_FRUSTRATION] = x / 2;
		w[WIRE_EMOTION_ANGER] = x / 2;
		break;
	default:
		w[WIRE_EMOTION_NEUTRAL] = x;
	}
}

static void
prior_of(const struct features_sign *s, double w[EMOTION_N])
{
	memset(w, 0, EMOTION_N * sizeof(w[0]));
	switch (s->row->kind) {
	case LEXICON_CUE:
		prior_cue(s, w);
		break;
	case LEXICON_ORDER:
	case LEXICON_FACT:
		w[WIRE_EMOTION_NEUTRAL] = 1.5;
		break;
	case LEXICON_META:
	case LEXICON_ACK:
		w[WIRE_EMOTION_NEUTRAL] = 3;
		break;
	case LEXICON_MOCK:
		w[WIRE_EMOTION_ANGER] = 1.5;
		w[WIRE_EMOTION_FRUSTRATION] = 1.5;
		break;
	default:
		break;
	}
}

const struct learn_opts learn_defaults = { .epochs = 20,
	.averaged = 12,
	.rate = .025,
	.sign_rate = .02,
	.decay = 1e-4,
	.smooth = .05,
	.drop = .3,
	.own_weight = 40,
	.framed_weight = 8,
	.class_cap = 8,
	.class_power = .5,
	.gain = 6,
	.min_count = 3,
	.own_count = 2,
	.seed = 1,
	.runs = 6 };

/* A row in training. */
struct sample {
	const struct row *row;
	size_t from, signs_from, end; /* in uses: its keys, its signs */
	double weight;
};

struct learner {
	const struct learn_opts *o;
	struct sample *samples;
	size_t n;
	uint64_t *uses; /* keys of all samples, then their indices */
	size_t n_uses, cap_uses;
	uint64_t *keys; /* ascending */
	size_t n_keys;
	double *w, *start, *g2; /* MODEL_ROW of each key */
	uint64_t random;
};

static uint64_t
learner_random(struct learner *l)
{
	uint64_t x = l->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void
learner_use(struct learner *l, uint64_t key)
{
	if (l->n_uses == l->cap_uses) {
		l->cap_uses = l->cap_uses == 0 ? 1 << 16 : 2 * l->cap_uses;
		l->uses =
		    mem_realloc(l->uses, l->cap_uses * sizeof(l->uses[0]));
	}
	l->uses[l->n_uses++] = key;
}

/* Initial weights of the signs, which are all used, however rare. */
struct prior_weights {
	uint64_t key;
	double w[EMOTION_N];
};

struct priors {
	struct prior_weights *v;
	size_t n, cap;
};

static void
priors_add(struct priors *h, const struct features *f, size_t i)
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
learner_read(struct learner *l, const struct rows *r, struct priors *h)
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
			learner_use(l, f->keys[k].key);
		s->signs_from = l->n_uses;
		for (k = 0; k < f->n_signs; k++) {
			learner_use(l, features_sign_key(f, k));
			priors_add(h, f, k);
		}
		s->end = l->n_uses;
		l->n++;
	}
	features_free(f);
}

/* Rare labels get larger weights, per language. */
static void
learner_weigh(struct learner *l)
{
	double n[2][EMOTION_N] = { { 0 } }, all[2] = { 0 };
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct row *r = l->samples[i].row;

		l->samples[i].weight = r->framed ? l->o->framed_weight
		    : r->own                     ? l->o->own_weight
						 : 1;
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
learner_by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int
priors_by_key(const void *a, const void *b)
{
	return learner_by_key(&((const struct prior_weights *)a)->key,
	    &((const struct prior_weights *)b)->key);
}

/* Keys that occur in enough rows, and all signs, ascending. */
static void
learner_choose_keys(struct learner *l, const struct priors *h)
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
	qsort(all, n, sizeof(all[0]), learner_by_key);
	l->keys = mem_calloc(n + h->n + 1, sizeof(l->keys[0]));
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && all[k] == all[i];)
			k++;
		if (k - i >= (size_t)l->o->min_count)
			l->keys[l->n_keys++] = all[i];
	}
	for (i = 0; i < h->n; i++)
		l->keys[l->n_keys++] = h->v[i].key;
	qsort(l->keys, l->n_keys, sizeof(l->keys[0]), learner_by_key);
	free(all);
}

static size_t
learner_key_index(const struct learner *l, uint64_t key)
{
	const uint64_t *p = bsearch(
	    &key, l->keys, l->n_keys, sizeof(l->keys[0]), learner_by_key);

	return p == NULL ? SIZE_MAX : (size_t)(p - l->keys);
}

static void
learner_index_uses(struct learner *l)
{
	size_t i;

	for (i = 0; i < l->n_uses; i++)
		l->uses[i] = learner_key_index(l, l->uses[i]);
}

static void
learner_init_weights(struct learner *l, const struct priors *h)
{
	size_t i, k, at, n = l->n_keys * MODEL_ROW;

	l->w = mem_calloc(n + 1, sizeof(l->w[0]));
	l->start = mem_calloc(n + 1, sizeof(l->w[0]));
	l->g2 = mem_calloc(n + 1, sizeof(l->w[0]));
	for (i = 0; i < h->n; i++) {
		at = learner_key_index(l, h->v[i].key) * MODEL_ROW;
		for (k = 0; k < EMOTION_N; k++)
			l->w[at + k] = l->start[at + k] = h->v[i].w[k];
	}
}

static void
learner_update(struct learner *l, size_t key, const double err[EMOTION_N],
    double x, double rate)
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

/* Train on one row; returns its loss. */
static double
learner_step(struct learner *l, const struct sample *s, size_t *used)
{
	double z[EMOTION_N] = { 0 }, p[EMOTION_N], err[EMOTION_N], x, loss;
	size_t i, k, n = 0;

	x = l->o->gain / sqrt((double)(s->signs_from - s->from)) /
	    (1 - l->o->drop);
	for (i = s->from; i < s->end; i++) {
		if (l->uses[i] == SIZE_MAX ||
		    (double)(learner_random(l) >> 11) * 0x1p-53 <
			(i < s->signs_from ? l->o->drop : l->o->drop / 2))
			continue;
		used[n++] = i;
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
		bool sign = used[i] >= s->signs_from;

		learner_update(l, l->uses[used[i]], err, sign ? 1 : x,
		    sign ? l->o->sign_rate : l->o->rate);
	}
	loss = 1 - p[s->row->label];
	return loss;
}

/* Add the weights after an epoch to their sum; at the end take the mean. */
static void
learner_average(struct learner *l, double *sum, int left)
{
	size_t i, n = l->n_keys * MODEL_ROW;
	int last =
	    l->o->averaged < l->o->epochs ? l->o->averaged : l->o->epochs;

	if (left >= last)
		return;
	for (i = 0; i < n; i++) {
		sum[i] += l->w[i];
		if (left == 0)
			l->w[i] = sum[i] / last;
	}
}

static void
learner_run(struct learner *l, learn_progress_fn *progress)
{
	double *sum = mem_calloc(l->n_keys * MODEL_ROW + 1, sizeof(sum[0]));
	size_t *order = mem_calloc(l->n + 1, sizeof(order[0]));
	size_t *used =
	    mem_calloc(FEATURES_KEYS_MAX + FEATURES_SIGNS_MAX, sizeof(used[0]));
	size_t i, j, t;
	int e;

	for (i = 0; i < l->n; i++)
		order[i] = i;
	for (e = 0; e < l->o->epochs; e++) {
		double loss = 0;

		for (i = l->n; i > 1; i--) {
			j = (size_t)(learner_random(l) % i);
			t = order[i - 1];
			order[i - 1] = order[j];
			order[j] = t;
		}
		for (i = 0; i < l->n; i++)
			loss += learner_step(l, &l->samples[order[i]], used);
		learner_average(l, sum, l->o->epochs - 1 - e);
		if (progress != NULL)
			progress(e + 1, l->o->epochs,
			    l->n > 0 ? loss / (double)l->n : 0);
	}
	free(sum);
	free(order);
	free(used);
}

/* The mean of several runs varies less than each of them. */
static void
learner_run_all(struct learner *l, learn_progress_fn *progress)
{
	size_t i, n = l->n_keys * MODEL_ROW;
	double *sum = mem_calloc(n + 1, sizeof(sum[0]));
	int run, runs = l->o->runs > 1 ? l->o->runs : 1;

	for (run = 0; run < runs; run++) {
		l->random = l->o->seed + (uint64_t)run;
		memcpy(l->w, l->start, n * sizeof(l->w[0]));
		memset(l->g2, 0, n * sizeof(l->g2[0]));
		learner_run(l, progress);
		for (i = 0; i < n; i++)
			sum[i] += l->w[i];
	}
	for (i = 0; i < n; i++)
		l->w[i] = sum[i] / runs;
	free(sum);
}

/* The head is not covered by the checksum. */
static void
learner_calibrate(const struct rows *r, struct buf *out)
{
	struct model_head head;
	struct model m;
	char why[128];

	if (model_of(buf_str(out), &m, why, sizeof(why)) != RC_OK)
		return;
	memcpy(&head, out->p, sizeof(head));
	head.scale = (float)((double)head.scale * calibrate_scale(&m, r));
	memcpy(out->p, &head, sizeof(head));
}

void
learn(const struct rows *r, const struct learn_opts *o,
    learn_progress_fn *progress, struct buf *out)
{
	struct learner l = { .o = o, .random = o->seed };
	struct priors h = { 0 };

	learner_read(&l, r, &h);
	if (h.n > 0)
		qsort(h.v, h.n, sizeof(h.v[0]), priors_by_key);
	learner_weigh(&l);
	learner_choose_keys(&l, &h);
	learner_index_uses(&l);
	learner_init_weights(&l, &h);
	learner_run_all(&l, progress);
	pack_model(
	    &(struct pack_weights){ l.keys, l.w, l.n_keys, o->gain }, out);
	learner_calibrate(r, out);
	free(h.v);
	free(l.samples);
	free(l.uses);
	free(l.keys);
	free(l.w);
	free(l.start);
	free(l.g2);
}

static void
learn_print_epoch(int epoch, int epochs, double loss)
{
	printf("epoch %d of %d: loss %.4f\n", epoch, epochs, loss);
	(void)fflush(stdout);
}

int
learn_to_file(const struct rows *r, const char *path)
{
	struct buf b = BUF_INIT(WEIGHTS_SIZE_MAX);
	FILE *f = fopen(path, "we");
	int failed;

	if (f == NULL) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	learn(r, &learn_defaults, learn_print_epoch, &b);
	failed = fwrite(b.p, 1, b.n, f) != b.n;
	failed = fclose(f) != 0 || failed;
	if (failed)
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
	else
		printf("%s: %zu bytes\n", path, b.n);
	buf_free(&b);
	return failed;
}
