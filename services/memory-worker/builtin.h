/*
 * builtin: the built-in store of memories, in Redis.
 *
 * With an embedding model each memory's vector is kept beside it, with the name
 * of the model.  While a memory of a scope has no vector of this model and
 * length (the provider was away, the model is another now) none of the scope's
 * is used: the search goes by words and spelling and says that it is degraded,
 * and the vectors are made in the background.
 */
#ifndef MEMORY_WORKER_BUILTIN_H
#define MEMORY_WORKER_BUILTIN_H

#include <stddef.h>

#include "core/metric.h"
#include "store.h"

struct embed;

struct builtin_opts {
	struct state *state;
	size_t max_bytes;           /* of indexes that are kept */
	struct embed *embed;        /* NULL: there is no embedding model */
	int64_t embed_ms;           /* longest wait for it */
	struct metric_set *metrics; /* may be NULL */
};

/*
 * builtin_new(o):
 * The store; freed by store_free(), after o->embed, before o->state.
 */
struct store *builtin_new(const struct builtin_opts *o);

#endif /* !MEMORY_WORKER_BUILTIN_H */
