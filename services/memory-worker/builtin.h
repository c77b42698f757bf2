/*
 * builtin: the built-in store of memories: Redis, and of those who were asked
 * about lately an index in this process.
 *
 * Each search asks Redis whether the index is still what is stored, so replicas
 * need not know of each other.  A scope is a user and a soul; there is no way
 * to read across.  A call blocks as those of state/memory.h, and ends as they
 * do.
 */
#ifndef MEMORY_WORKER_BUILTIN_H
#define MEMORY_WORKER_BUILTIN_H

#include <stddef.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "rank.h"
#include "state/memory.h"
#include "wire/msgs.h"

/* How the store is called in answers. */
#define BUILTIN_NAME "builtin"

struct builtin;

/*
 * builtin_new(s, max_bytes, set):
 * max_bytes of indexes are kept, and the last one whatever its size; set may
 * be NULL.
 */
struct builtin *builtin_new(
    struct state *s, size_t max_bytes, struct metric_set *set);

/* builtin_free(b): Before its state.  NULL is allowed. */
void builtin_free(struct builtin *b);

/*
 * builtin_put(b, job, made):
 * Store the memory that a job makes.  RC_CONFLICT: it was forgotten since.
 */
enum rc builtin_put(struct builtin *b, const struct wire_memory_job *job,
    struct wall made) RC_CHECK;

/* Hits of a search; valid until the next call. */
struct builtin_hits {
	struct rank_hit *hit;
	size_t n;
};

/* builtin_search(b, scope, q, a, out): The best q->k of the scope. */
enum rc builtin_search(struct builtin *b, const struct memory_scope *scope,
    const struct rank_query *q, struct arena *a,
    struct builtin_hits *out) RC_CHECK;

/* builtin_forget(b, scope, id): RC_NOENT if there is none. */
enum rc builtin_forget(struct builtin *b, const struct memory_scope *scope,
    struct str id) RC_CHECK;

/* What was forgotten: the first ids of many. */
struct builtin_gone {
	struct str *id; /* from a, room for max */
	size_t n, max;
	size_t total;
};

/* builtin_clear(b, scope, a, gone): Forget all of the scope; added to gone. */
enum rc builtin_clear(struct builtin *b, const struct memory_scope *scope,
    struct arena *a, struct builtin_gone *gone) RC_CHECK;

/*
 * builtin_probe(b, id, now):
 * Store a memory of that id as a user of its own, search and find it, and
 * delete it.  RC_BUG if it was not found.
 */
enum rc builtin_probe(
    struct builtin *b, struct str id, struct wall now) RC_CHECK;

#endif /* !MEMORY_WORKER_BUILTIN_H */
