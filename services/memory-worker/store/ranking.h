/*
 * ranking: an in-memory index of one scope's memories that ranks them for a
 * query, and the vectors it compares.  Pure: time and seed are arguments.
 *
 * BM25 over tokens (tokenizer.h) scores words, the cosine of vectors scores
 * meaning, or without an embedding model spelling; among equals the recent come
 * first.  There is no threshold: the best k are returned, so that a query in
 * other words finds something too.
 */
#ifndef MEMORY_WORKER_RANKING_H
#define MEMORY_WORKER_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/str.h"
#include "wire/msgs.h"

struct rank;

/* Origin and validity of a memory, for lists; what is unknown is absent. */
struct rank_detail {
	struct str session_id, terminal_id, trigger_source;
	struct str *tags;
	size_t n_tags;
	struct wall valid_until;  /* 0: still valid */
	struct str superseded_by; /* id of the memory */
};

struct rank_memory {
	struct str id, text;
	enum wire_memory_type type;
	struct wall created;
	const struct rank_detail *detail; /* of lists; NULL: not known */
	double near;                      /* similarity given by a store */
	bool has_near;
};

/* rank_new(seed): An empty index; seed should be unpredictable. */
struct rank *rank_new(uint64_t seed);

/* rank_free(r): NULL is allowed. */
void rank_free(struct rank *r);

/* rank_add(r, m): Add a copy of m; false if its id exists already. */
bool rank_add(struct rank *r, const struct rank_memory *m);

/* rank_del(r, id): Remove it; false if there is none. */
bool rank_del(struct rank *r, struct str id);

/*
 * rank_vector(r, id, x): Set a memory's vector, one byte a coordinate (empty:
 * none); no-op if there is no such memory.
 * rank_missing_vectors(r, n, out, max): How many have no vector of n
 * coordinates (0: of any); the first max of them in out, valid until r is
 * changed.
 */
void rank_vector(struct rank *r, struct str id, struct str x);
size_t rank_missing_vectors(
    const struct rank *r, size_t n, const struct rank_memory **out, size_t max);

/*
 * To make an index match a list: rank_unmark_all(r); rank_mark(r, id) for each
 * of the list, which returns whether it exists; rank_add() for the others; then
 * rank_sweep(r), which removes those neither marked nor added.
 */
void rank_unmark_all(struct rank *r);
bool rank_mark(struct rank *r, struct str id);
void rank_sweep(struct rank *r);

/* rank_len(r), rank_bytes(r): Memories; approximate bytes in use. */
size_t rank_len(const struct rank *r);
size_t rank_bytes(const struct rank *r);

struct rank_query {
	struct str text;
	struct wall now;
	size_t k;          /* at most so many results */
	struct str vector; /* of the query; empty: compare spelling */
};

struct rank_hit {
	const struct rank_memory *memory; /* valid until r is changed */
	double score; /* 0 to 1, comparable within one result only */
	double match; /* of its words alone, 0 if they have none in common */
};

/*
 * rank_find(r, q, hits):
 * The best memories, best first, into hits, which has room for q->k; how many.
 * Equal scores are ordered by age, then by id.
 */
size_t rank_find(
    struct rank *r, const struct rank_query *q, struct rank_hit *hits);

/* ---- vectors: small integers, of which only the direction counts ---- */

/* Coordinates of vectors of spelling, and the name of that model. */
#define VECTOR_GRAMS_N     512
#define VECTOR_GRAMS_MODEL "grams-1"
/* Most coordinates of a stored vector. */
#define VECTOR_MAX 8192

/*
 * vector_grams(text, v):
 * A vector of spelling: hashed n-grams, pairs of characters in scripts without
 * blanks and triples within words, so that other endings and typing errors
 * still match.  Of length 1, or all 0 if there are no n-grams.
 */
void vector_grams(struct str text, float v[VECTOR_GRAMS_N]);

/* vector_quantize(v, n, x): The direction of v, to about one per cent. */
void vector_quantize(const float *v, size_t n, int8_t *x);

/*
 * vector_norm(x, n): The length of x.
 * vector_cosine(x, nx, y, ny, n): Similarity, -1 to 1; nx and ny are the
 * lengths of x and y; 0 if one of them is 0.
 */
double vector_norm(const int8_t *x, size_t n);
double vector_cosine(
    const int8_t *x, double nx, const int8_t *y, double ny, size_t n);

/*
 * vector_write(model, x, n, out): Append a vector and its model, for storage.
 * vector_read(bytes, model): The coordinates in such bytes, borrowed; absent if
 * they are of another model or none at all.
 */
void vector_write(struct str model, const int8_t *x, size_t n, struct buf *out);
struct str vector_read(struct str bytes, struct str model);

#endif /* !MEMORY_WORKER_RANKING_H */
