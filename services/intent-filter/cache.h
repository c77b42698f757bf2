/*
 * cache: compiled catalogs, found again by content.
 *
 * A body's catalog comes with every command it is matched against; only the
 * first time is it compiled.  Least recently used ones make room.
 */
#ifndef INTENT_FILTER_CACHE_H
#define INTENT_FILTER_CACHE_H

#include <stddef.h>

#include "catalog.h"
#include "core/metric.h"

struct cache;

/* cache_new(max_bytes, set): At most max_bytes of catalogs; set may be NULL. */
struct cache *cache_new(size_t max_bytes, struct metric_set *set);

/* cache_free(c): With all catalogs.  NULL is allowed. */
void cache_free(struct cache *c);

/*
 * cache_get(c, intents, n, out, err):
 * The compiled catalog of these intents, valid until the next call.  Fails as
 * catalog_new(); what fails is not kept.
 */
enum rc cache_get(struct cache *c, struct wire_intent *intents, size_t n,
    const struct catalog **out, struct wire_err *err) RC_CHECK;

#endif /* !INTENT_FILTER_CACHE_H */
