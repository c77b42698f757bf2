/*
 * Counting.
 */
#include "score.h"

#include <stdlib.h>

#include "core/mem.h"

#define RESAMPLES 500

struct score
score_of(const struct score_pair *v, size_t n)
{
	double hit[EMOTION_N] = { 0 }, got[EMOTION_N] = { 0 };
	size_t i, labels = 0, right = 0;
	struct score s = { 0 };

	for (i = 0; i < n; i++) {
		s.rows[v[i].want]++;
		got[v[i].got]++;
		if (v[i].want == v[i].got)
			hit[v[i].want]++;
		right += emotion_valence((enum wire_emotion)v[i].want) ==
		    emotion_valence((enum wire_emotion)v[i].got);
	}
	for (i = 0; i < EMOTION_N; i++) {
		if (s.rows[i] == 0)
			continue;
		labels++;
		s.f1[i] = 2 * hit[i] / ((double)s.rows[i] + got[i]);
		s.macro_f1 += s.f1[i];
	}
	s.macro_f1 = labels > 0 ? s.macro_f1 / (double)labels : 0;
	s.polarity = n > 0 ? (double)right / (double)n : 0;
	return s;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct score_span
span_of(double mid, double v[RESAMPLES])
{
	qsort(v, RESAMPLES, sizeof(v[0]), by_value);
	return (struct score_span){ mid, v[RESAMPLES / 40],
		v[RESAMPLES - 1 - RESAMPLES / 40] };
}

void
score_spans(const struct score_pair *v, size_t n, struct score_span *f1,
    struct score_span *polarity)
{
	struct score_pair *draw = mem_calloc(n + 1, sizeof(draw[0]));
	double f1s[RESAMPLES], polarities[RESAMPLES];
	struct score s;
	uint64_t x = 1;
	size_t i, k;

	for (k = 0; k < RESAMPLES; k++) {
		for (i = 0; i < n; i++) {
			x = x * UINT64_C(6364136223846793005) + 1;
			draw[i] = v[(x >> 33) % n];
		}
		s = score_of(draw, n);
		f1s[k] = s.macro_f1;
		polarities[k] = s.polarity;
	}
	s = score_of(v, n);
	*f1 = span_of(s.macro_f1, f1s);
	*polarity = span_of(s.polarity, polarities);
	free(draw);
}
