/*
 * bench: the recogniser measured on rows it has not learnt from, beside
 * fastText trained on the rows it has.
 */
#ifndef EMOTION_ENGINE_TRAIN_BENCH_H
#define EMOTION_ENGINE_TRAIN_BENCH_H

#include "rows.h"

/*
 * bench_print(r):
 * Print it, for the weights in the program.  Nonzero if there are none.
 */
int bench_print(const struct rows *r);

#endif /* !EMOTION_ENGINE_TRAIN_BENCH_H */
