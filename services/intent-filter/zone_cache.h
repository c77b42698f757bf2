/*
 * zone_cache: time zones by name, each loaded one time.  Not thread-safe.
 */
#ifndef INTENT_FILTER_ZONE_CACHE_H
#define INTENT_FILTER_ZONE_CACHE_H

#include "core/rc.h"
#include "core/str.h"
#include "core/zone.h"

struct zone_cache;

/*
 * zone_cache_new(): Empty; at most 64 zones, then all are dropped.
 * zone_cache_free(z): With its zones.  NULL is allowed.
 */
struct zone_cache *zone_cache_new(void);
void zone_cache_free(struct zone_cache *z);

/*
 * zone_cache_get(z, name, out):
 * The zone, valid until the next call; errors as zone_load().
 */
enum rc zone_cache_get(
    struct zone_cache *z, struct str name, const struct zone **out) RC_CHECK;

#endif /* !INTENT_FILTER_ZONE_CACHE_H */
