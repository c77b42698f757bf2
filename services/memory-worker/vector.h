/*
 * vector: texts as points, near each other if they say alike: as small
 * integers, of which only the direction counts.  Pure.
 */
#ifndef MEMORY_WORKER_VECTOR_H
#define MEMORY_WORKER_VECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"

/* Coordinates of the vectors that are made here, and the name of how. */
#define VECTOR_GRAMS_N     512
#define VECTOR_GRAMS_MODEL "grams-1"
/* Most coordinates of a vector that is kept. */
#define VECTOR_MAX 8192

/*
 * vector_grams(text, v):
 * The text by its characters' n-grams, hashed: pairs of characters of scripts
 * without blanks, triples within words, so that other endings and slips of the
 * pen still meet.  Of length 1, or all 0 if it has none.
 */
void vector_grams(struct str text, float v[VECTOR_GRAMS_N]);

/* vector_shrink(v, n, x): The direction of v, to a percent or so. */
void vector_shrink(const float *v, size_t n, int8_t *x);

/* vector_norm(x, n), vector_cosine(x, nx, y, ny, n): Length; likeness, -1 to 1,
 * 0 if one of them is of length 0.  nx and ny are the lengths of x and y. */
double vector_norm(const int8_t *x, size_t n);
double vector_cosine(
    const int8_t *x, double nx, const int8_t *y, double ny, size_t n);

/*
 * vector_write(model, x, n, out), vector_read(bytes, model):
 * A vector and the model it is of, as bytes to be kept; and the coordinates in
 * such bytes, borrowed, absent if they are of another model or none at all.
 */
void vector_write(struct str model, const int8_t *x, size_t n, struct buf *out);
struct str vector_read(struct str bytes, struct str model);

#endif /* !MEMORY_WORKER_VECTOR_H */
