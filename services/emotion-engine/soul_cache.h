/*
 * soul_cache: the souls that this process has changed last.
 *
 * A copy may be stale: it is only good for a compare-and-set, which returns
 * what is stored if it loses.
 */
#ifndef EMOTION_ENGINE_SOUL_CACHE_H
#define EMOTION_ENGINE_SOUL_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/metric.h"
#include "soul_record.h"

struct soul_cache;

/* soul_cache_new(max, m): For at most max souls; the least recently used go. */
struct soul_cache *soul_cache_new(size_t max, struct metric_set *m);

/* soul_cache_free(c): NULL is allowed. */
void soul_cache_free(struct soul_cache *c);

/*
 * soul_cache_get(c, soul):
 * Record and version of that soul, with rc RC_OK; false if there is no copy.
 */
bool soul_cache_get(struct soul_cache *c, struct stored_soul *soul);

/* soul_cache_was_stale(c): A compare-and-set has lost; for the metrics. */
void soul_cache_was_stale(struct soul_cache *c);

/*
 * soul_cache_put(c, soul):     A soul that was saved.
 * soul_cache_update(c, soul):  The same, if there is a copy of it.
 * soul_cache_drop(c, soul):    Its state is not known.
 * An older version than that of the copy is ignored.
 */
void soul_cache_put(struct soul_cache *c, const struct stored_soul *soul);
void soul_cache_update(struct soul_cache *c, const struct stored_soul *soul);
void soul_cache_drop(struct soul_cache *c, const struct stored_soul *soul);

#endif /* !EMOTION_ENGINE_SOUL_CACHE_H */
