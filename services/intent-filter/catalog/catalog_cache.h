/*
 * catalog_cache: compiled catalogs by content or by hash, so that a catalog is
 * compiled on its first request only; and the loader, which compiles missing
 * ones in a worker.
 *
 * A key is the whole content, so that no terminal can make a catalog that
 * matches another's key, or the hash from a terminal's record, which
 * mqtt-bridge computed over the content (SHA-256).
 */
#ifndef INTENT_FILTER_CATALOG_CATALOG_CACHE_H
#define INTENT_FILTER_CATALOG_CATALOG_CACHE_H

#include <stddef.h>

#include "catalog/catalog.h"
#include "core/clock.h"
#include "core/metric.h"

struct catalog_cache;

/*
 * catalog_cache_new(max_bytes, set):
 * At most max_bytes of catalogs, but always the newest; set may be NULL.
 */
struct catalog_cache *catalog_cache_new(
    size_t max_bytes, struct metric_set *set);

/* catalog_cache_free(c): With all catalogs.  NULL is allowed. */
void catalog_cache_free(struct catalog_cache *c);

/*
 * catalog_cache_key(c, intents, n, out):  The key of a catalog by its content.
 * catalog_cache_key_of_hash(c, hash):     The key by its hash.
 * Valid until the next key is made.  RC_TOOBIG over WIRE_ARENA_MAX.
 */
enum rc catalog_cache_key(struct catalog_cache *c,
    const struct wire_intent *intents, size_t n, struct str *out) RC_CHECK;
struct str catalog_cache_key_of_hash(struct catalog_cache *c, struct str hash);

/* catalog_cache_find(c, key): Valid until the next put; NULL: not found. */
const struct catalog *catalog_cache_find(
    struct catalog_cache *c, struct str key);

/* catalog_cache_put(c, key, cat): Add a catalog that was not found; takes
 * ownership. */
void catalog_cache_put(
    struct catalog_cache *c, struct str key, struct catalog *cat);

/* ---- the loader; loop thread only ---- */

struct catalog_loader;
struct svc;
struct svc_call;

/* A request, and when it was received. */
struct catalog_request {
	struct svc_call *call;
	struct mono start;
};

/* Called with the catalog, valid until it returns; ends the call. */
typedef void (*catalog_fn)(
    void *arg, struct catalog_request request, const struct catalog *cat);

struct catalog_redis {
	const char *url; /* "": catalogs cannot be referenced by hash */
	const struct state_conf *conf;
	int timeout_ms;
};

/*
 * catalog_loader_new(s, cache_bytes, redis, out):
 * RC_INVALID if the URL is not one of Redis (logged).
 */
enum rc catalog_loader_new(struct svc *s, size_t cache_bytes,
    const struct catalog_redis *redis, struct catalog_loader **out) RC_CHECK;

/* catalog_loader_free(l): No request is pending any more.  NULL is allowed. */
void catalog_loader_free(struct catalog_loader *l);

/*
 * catalog_loader_get(l, request, fn, arg):
 * Call fn with the request's catalog, now or later; or fail the call.  Pending
 * requests for one catalog share one read and one compilation.
 */
void catalog_loader_get(struct catalog_loader *l,
    struct catalog_request request, catalog_fn fn, void *arg);

#endif /* !INTENT_FILTER_CATALOG_CATALOG_CACHE_H */
