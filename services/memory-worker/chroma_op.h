/*
 * chroma_op: one call of the store on its way: the vector, the collection, the
 * pages.  Private to chroma.
 */
#ifndef MEMORY_WORKER_CHROMA_OP_H
#define MEMORY_WORKER_CHROMA_OP_H

#include "chroma.h"
#include "chroma_wire.h"
#include "core/arena.h"

#define OP_ARENA_MAX (512UL * 1024 * 1024)

struct op;

/* A step that has ended; rc says how. */
typedef void (*op_fn)(struct op *op, enum rc rc);

struct chroma {
	struct chroma_opts o;
	struct rest *rest;
	char *path;                     /* of the collections */
	struct str model;               /* of the vectors */
	char id[CHROMA_COLLECTION_MAX]; /* "": not known */
};

struct op {
	struct chroma *c;
	struct store_ask ask;
	struct store_put put;
	struct rank_query query;
	char row[CHROMA_ROW_MAX];
	struct rank_memory gone; /* of a forget: its id */
	double *vector;
	size_t n_vector;
	char id[CHROMA_COLLECTION_MAX]; /* of the collection */
	bool renewed; /* the collection was gone once already */
	bool degraded;

	op_fn next;       /* what follows the step that is under way */
	const char *verb; /* of it: "add" */
	struct buf body;  /* of it */
	op_fn paged;      /* what follows the last page */

	struct arena *a;
	struct rank_memory *rows;
	size_t n, cap;
	bool texts;
	size_t limit, offset, said, max; /* of pages */
};

/* op_new(c, ask): A call.  op_end(op, rc, a): Answer (a may be NULL), free. */
struct op *op_new(struct chroma *c, const struct store_ask *ask);
void op_end(struct op *op, enum rc rc, const struct store_answer *a);

/*
 * Steps; next is called at their end, perhaps at once:
 * op_embed(op, text, next):  op->vector.
 * op_open(op, next):         op->id; RC_DENIED, with the id, if it is of
 *                            another model.
 * op_post(op, verb, next):   Say op->body; an answer with rows adds to
 * op->rows. A collection that is gone is made anew, once. op_pages(op, texts,
 * max, next): All rows of the scope, max at most.
 */
void op_embed(struct op *op, struct str text, op_fn next);
void op_open(struct op *op, op_fn next);
void op_post(struct op *op, const char *verb, op_fn next);
void op_pages(struct op *op, bool texts, size_t max, op_fn next);

#endif /* !MEMORY_WORKER_CHROMA_OP_H */
