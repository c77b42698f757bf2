/*
 * mem0_wire: what is said to a Mem0 server, and what it answers.  Pure.
 *
 * Users and souls are named by their tokens (core/id.h): Mem0 trims ids and
 * refuses blanks within them.
 */
#ifndef MEMORY_WORKER_MEM0_WIRE_H
#define MEMORY_WORKER_MEM0_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"
#include "rank.h"
#include "state/memory.h"
#include "wire/msgs.h"

/* Memories of one answer that are read. */
#define MEM0_ITEMS_MAX 1000

struct mem0_scope {
	char user[ID_TOKEN_MAX], agent[ID_TOKEN_MAX];
};

/* mem0_scope_of(scope, out): RC_INVALID unless both are ids. */
enum rc mem0_scope_of(
    const struct memory_scope *scope, struct mem0_scope *out) RC_CHECK;

/*
 * Bodies of POST /memories and POST /search, paths of GET and DELETE /memories:
 * appended to out; what does not fit is known from it.
 */
void mem0_write_put(const struct mem0_scope *s,
    const struct wire_memory_job *job, struct buf *out);
void mem0_write_search(
    const struct mem0_scope *s, struct str query, size_t k, struct buf *out);
void mem0_write_list(const struct mem0_scope *s, size_t k, struct buf *out);
void mem0_write_clear(const struct mem0_scope *s, struct buf *out);

/* mem0_write_one(id, out): The path of one; RC_INVALID if id cannot be one. */
enum rc mem0_write_one(struct str id, struct buf *out) RC_CHECK;

struct mem0_item {
	struct rank_memory memory; /* its id is Mem0's */
	struct str job_id;         /* absent: not one of ours */
	double score;              /* the better the higher */
};

struct mem0_items {
	struct mem0_item *item;
	size_t n;
};

/*
 * mem0_read(body, s, a, out):
 * The memories of an answer, in any of the forms that are in use, but for those
 * that say they are another's.  RC_INVALID if it is no such answer, RC_TOOBIG
 * if it passes a ceiling.  Texts live in a.
 *
 * mem0_read_one(body, s, a, out):
 * The same of GET /memories/{id}: RC_NOENT if there is none, or it does not say
 * that it is of this scope.
 */
enum rc mem0_read(struct str body, const struct mem0_scope *s, struct arena *a,
    struct mem0_items *out) RC_CHECK;
enum rc mem0_read_one(struct str body, const struct mem0_scope *s,
    struct arena *a, struct mem0_item *out) RC_CHECK;

/* mem0_stored(body): Whether the answer to a put says that it stored. */
bool mem0_stored(struct str body);

/* mem0_is_bad(body): Whether a 502 is the request's own fault. */
bool mem0_is_bad(struct str body);

#endif /* !MEMORY_WORKER_MEM0_WIRE_H */
