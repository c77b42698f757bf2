/*
 * index: of the scopes that were asked about lately, what the built-in store
 * has of them.
 *
 * Each look asks Redis whether the index is still what is stored, so replicas
 * need not know of each other.  A scope is a user and a soul; there is no way
 * to read across.  A call blocks as those of state/memory.h, and ends as they
 * do.
 */
#ifndef MEMORY_WORKER_INDEX_H
#define MEMORY_WORKER_INDEX_H

#include <stddef.h>

#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "rank.h"
#include "state/memory.h"

struct index;

/*
 * index_new(s, model, max_bytes, set):
 * max_bytes of indexes are kept, and the last one whatever its size; vectors
 * count that are of the model (borrowed; empty: none do); set may be NULL.
 */
struct index *index_new(struct state *s, struct str model, size_t max_bytes,
    struct metric_set *set);

/* index_free(ix): Before its state.  NULL is allowed. */
void index_free(struct index *ix);

/*
 * index_open(ix, scope, out):
 * What is stored now; *out is valid until the next call.
 */
enum rc index_open(struct index *ix, const struct memory_scope *scope,
    struct rank **out) RC_CHECK;

#endif /* !MEMORY_WORKER_INDEX_H */
