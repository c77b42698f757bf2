/*
 * Trying factors.
 */
#include "calibrate.h"

#include <stdlib.h>

#include "core/mem.h"

struct dev_case {
	double z[EMOTION_N];
	enum wire_emotion label;
};

static size_t
read_cases(const struct model *m, const struct rows *r, struct dev_case *v)
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
brier(const struct dev_case *v, size_t n, double factor)
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

double
calibrate(const struct model *m, const struct rows *r)
{
	struct dev_case *v = mem_calloc(r->n + 1, sizeof(v[0]));
	size_t n = read_cases(m, r, v);
	double best = 1, least = brier(v, n, 1), b;
	int i;

	for (i = 21; i <= 80; i++) {
		b = brier(v, n, i / 20.);
		if (b < least) {
			least = b;
			best = i / 20.;
		}
	}
	free(v);
	return best;
}
