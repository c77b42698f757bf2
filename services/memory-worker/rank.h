/*
 * rank: which memories fit a question best: an index of one user's and soul's.
 *
 * BM25 over tokens (tokens.h) says how well a memory's words fit, the cosine of
 * vectors (vector.h) how near its meaning is, or without an embedding model its
 * spelling; what is recent is preferred among those that fit alike.  Nothing is
 * left out for fitting badly: the best k come back, so that a question in other
 * words finds something too.  Pure: the moment and the seed are handed in.
 */
#ifndef MEMORY_WORKER_RANK_H
#define MEMORY_WORKER_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/str.h"
#include "wire/msgs.h"

struct rank;

/*
 * What a list tells beside: where a memory comes from, and whether it still
 * holds.  What is not known is absent.
 */
struct rank_detail {
	struct str session_id, terminal_id, trigger_source;
	struct str *tags;
	size_t n_tags;
	struct wall valid_until;  /* 0: for ever */
	struct str superseded_by; /* id of the memory */
};

struct rank_memory {
	struct str id, text;
	enum wire_memory_type type;
	struct wall created;
	const struct rank_detail *detail; /* of lists; NULL: not known */
	/* How near it is to the question, where a store has said so. */
	double near;
	bool has_near;
};

/* rank_new(seed): An empty index; seed is what nobody else can know. */
struct rank *rank_new(uint64_t seed);

/* rank_free(r): NULL is allowed. */
void rank_free(struct rank *r);

/* rank_add(r, m): Add a copy of m; false if its id is there already. */
bool rank_add(struct rank *r, const struct rank_memory *m);

/* rank_del(r, id): Remove it; false if there is none. */
bool rank_del(struct rank *r, struct str id);

/*
 * rank_vector(r, id, x): Set its vector: coordinates, one byte each (empty:
 * none); no-op if there is no such memory.
 * rank_lacking(r, n, out, max): How many have no vector of n coordinates (0: of
 * any); the first max of them into out, valid until r is changed.
 */
void rank_vector(struct rank *r, struct str id, struct str x);
size_t rank_lacking(
    const struct rank *r, size_t n, const struct rank_memory **out, size_t max);

/*
 * To make an index what a list says: rank_start(r), rank_keep(r, id) for each
 * of the list, which says whether it is there, rank_add() for those that are
 * not, and at the end rank_sweep(r), which removes those that were neither kept
 * nor added since the start.
 */
void rank_start(struct rank *r);
bool rank_keep(struct rank *r, struct str id);
void rank_sweep(struct rank *r);

/* rank_len(r), rank_bytes(r): Memories; about how many bytes r takes. */
size_t rank_len(const struct rank *r);
size_t rank_bytes(const struct rank *r);

struct rank_query {
	struct str text;
	struct wall now;
	size_t k; /* at most so many */
	/* The question's, compared with the memories'; empty: spelling. */
	struct str vector;
};

struct rank_hit {
	const struct rank_memory *memory; /* valid until r is changed */
	double score; /* 0 to 1, comparable within one answer only */
	double match; /* of its words alone, 0 if they have none in common */
};

/*
 * rank_find(r, q, hits):
 * The best of them, the best first, into hits, which has room for q->k; how
 * many.  What fits alike and is of the same moment comes in the order of ids.
 */
size_t rank_find(
    struct rank *r, const struct rank_query *q, struct rank_hit *hits);

#endif /* !MEMORY_WORKER_RANK_H */
