/*
 * score: how well emotions were recognised.
 */
#ifndef EMOTION_ENGINE_TRAIN_SCORE_H
#define EMOTION_ENGINE_TRAIN_SCORE_H

#include <stddef.h>
#include <stdint.h>

#include "emotion.h"

/* A row's true emotion and the one that was recognised. */
struct score_pair {
	uint8_t want, got;
};

struct score {
	double macro_f1; /* mean over the emotions that are wanted at all */
	double polarity; /* share with the right valence */
	double f1[EMOTION_N];
	size_t rows[EMOTION_N]; /* wanted */
};

/* A mean with the bounds of its 95 % bootstrap interval. */
struct score_span {
	double mid, low, high;
};

/* score_of(v, n): Of n pairs. */
struct score score_of(const struct score_pair *v, size_t n);

/*
 * score_spans(v, n, f1, polarity):
 * Both with intervals from 500 resamples; the same for the same pairs.
 */
void score_spans(const struct score_pair *v, size_t n, struct score_span *f1,
    struct score_span *polarity);

#endif /* !EMOTION_ENGINE_TRAIN_SCORE_H */
