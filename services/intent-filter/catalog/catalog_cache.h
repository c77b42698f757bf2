/*
 * catalog_cache: compiled catalogs by their JSON text or by hash, so that a
 * catalog is decoded and compiled on its first request only.
 *
 * A key is the whole text, so that no terminal can make a catalog that matches
 * another's key, or the hash from a terminal's record, which mqtt-bridge
 * computed over the content (SHA-256).  One thread, the owner, adds catalogs
 * and may use what it has found until it adds the next; all others borrow them.
 */
#ifndef INTENT_FILTER_CATALOG_CATALOG_CACHE_H
#define INTENT_FILTER_CATALOG_CATALOG_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "catalog/catalog.h"
#include "core/metric.h"
#include "core/str.h"
#include "text/digest.h"
#include "wire/slice.h"

struct catalog_cache;

/*
 * catalog_cache_new(max_bytes, set):
 * At most max_bytes of catalogs, but always the newest; set may be NULL.
 */
struct catalog_cache *catalog_cache_new(
    size_t max_bytes, struct metric_set *set);

/* catalog_cache_free(c): With all catalogs.  NULL is allowed. */
void catalog_cache_free(struct catalog_cache *c);

enum catalog_key_kind {
	CATALOG_BY_TEXT, /* the bytes of a JSON array, as received */
	CATALOG_BY_HASH
};

struct catalog_key {
	enum catalog_key_kind kind;
	struct str text;
};

/*
 * catalog_cache_find(c, key):
 * The owner: valid until the next put; NULL: not found.
 */
const struct catalog *catalog_cache_find(
    struct catalog_cache *c, struct catalog_key key);

/*
 * catalog_cache_borrow(c, key), catalog_cache_return(c, cat):
 * Any thread: as find, but valid until it is returned, once for each time that
 * it was borrowed, before c is freed.
 */
const struct catalog *catalog_cache_borrow(
    struct catalog_cache *c, struct catalog_key key);
void catalog_cache_return(struct catalog_cache *c, const struct catalog *cat);

/*
 * catalog_cache_find_start(c, rest, x), catalog_cache_borrow_start(c, rest, x):
 * The same for the catalog by text that rest begins with, without looking for
 * its end: *x is its extent.  NULL: there is none, or another one with the same
 * first bytes was used last; or it is short.
 */
const struct catalog *catalog_cache_find_start(
    struct catalog_cache *c, struct str rest, struct wire_slice_extent *x);
const struct catalog *catalog_cache_borrow_start(
    struct catalog_cache *c, struct str rest, struct wire_slice_extent *x);

/* catalog_cache_missed(c): Count a request whose catalog was not found. */
void catalog_cache_missed(struct catalog_cache *c);

/*
 * catalog_cache_digest(c, key):
 * What stands for key in a map.
 */
struct digest catalog_cache_digest(
    const struct catalog_cache *c, struct catalog_key key);

/* catalog_key_eq(a, b): Whether both are the same. */
bool catalog_key_eq(struct catalog_key a, struct catalog_key b);

/*
 * catalog_key_dup(key), catalog_key_free(key): A copy on the heap.
 */
struct catalog_key catalog_key_dup(struct catalog_key key);
void catalog_key_free(struct catalog_key key);

/*
 * catalog_cache_put(c, key, cat):
 * Add a catalog that was not found; takes ownership of cat, and copies key.
 */
void catalog_cache_put(
    struct catalog_cache *c, struct catalog_key key, struct catalog *cat);

#endif /* !INTENT_FILTER_CATALOG_CATALOG_CACHE_H */
