/*
 * repair: vectors of an embedding model for what is stored without, in the
 * background, one scope at a time.
 */
#ifndef MEMORY_WORKER_REPAIR_H
#define MEMORY_WORKER_REPAIR_H

#include <stddef.h>

#include "builtin.h"
#include "core/buf.h"
#include "index.h"

struct repair;

/* repair_new(o, index): Both must outlive it. */
struct repair *repair_new(const struct builtin_opts *o, struct index *index);

/* repair_free(r): After o->embed, so that nothing is under way.  NULL allowed.
 */
void repair_free(struct repair *r);

/*
 * repair_start(r, scope, n):
 * Give those of the scope that have no vector of n coordinates one; no-op while
 * another scope is at it.
 */
void repair_start(struct repair *r, const struct memory_scope *scope, size_t n);

/*
 * repair_shrink(v, n, x): The model's vector as rank takes it.
 * repair_write(r, v, n, out): The same as it is kept; nothing if it is too
 * long.
 */
void repair_shrink(const double *v, size_t n, int8_t *x);
void repair_write(
    const struct repair *r, const double *v, size_t n, struct buf *out);

#endif /* !MEMORY_WORKER_REPAIR_H */
