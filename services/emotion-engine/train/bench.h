/*
 * bench: the recogniser measured on rows it has not learnt from, beside
 * fastText trained on the rows it has.
 */
#ifndef EMOTION_ENGINE_TRAIN_BENCH_H
#define EMOTION_ENGINE_TRAIN_BENCH_H

#include "rows.h"

/*
 * bench_print(r, weights):
 * Print it.  weights is a file, or empty for the weights in the program.
 * Nonzero if they cannot be read.
 */
int bench_print(const struct rows *r, const char *weights);

#endif /* !EMOTION_ENGINE_TRAIN_BENCH_H */
