/*
 * cache: compiled catalogs, found again by content or by name.
 *
 * A body's catalog comes, or is named, with every command it is matched
 * against; only the first time is it compiled.  Least recently used ones make
 * room.
 *
 * A key is all of the content, so that no device can make a catalog that passes
 * for another's, or the hash that stands in a body's record beside the content
 * (the bridge made it, by SHA-256).
 */
#ifndef INTENT_FILTER_CACHE_H
#define INTENT_FILTER_CACHE_H

#include <stddef.h>

#include "catalog.h"
#include "core/metric.h"

struct cache;

/*
 * cache_new(max_bytes, set):
 * At most max_bytes of catalogs, but always the newest; set may be NULL.
 */
struct cache *cache_new(size_t max_bytes, struct metric_set *set);

/* cache_free(c): With all catalogs.  NULL is allowed. */
void cache_free(struct cache *c);

/*
 * cache_key(c, intents, n, out):    The key of a catalog by its content.
 * cache_key_named(c, hash):         The key by its name.
 * Valid until the next key is made.  RC_TOOBIG over WIRE_ARENA_MAX.
 */
enum rc cache_key(struct cache *c, const struct wire_intent *intents, size_t n,
    struct str *out) RC_CHECK;
struct str cache_key_named(struct cache *c, struct str hash);

/* cache_find(c, key): The catalog, valid until the next is put; or NULL. */
const struct catalog *cache_find(struct cache *c, struct str key);

/* cache_put(c, key, cat): Keep a catalog that was not found; it is c's now. */
void cache_put(struct cache *c, struct str key, struct catalog *cat);

/*
 * cache_compile(intents, n, out, err):
 * Compile a catalog as it came in a request.  Any thread.  As catalog_new().
 */
enum rc cache_compile(const struct wire_intent *intents, size_t n,
    struct catalog **out, struct wire_err *err) RC_CHECK;

#endif /* !INTENT_FILTER_CACHE_H */
