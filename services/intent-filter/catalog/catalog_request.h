/*
 * catalog_request: the catalog in the text of a request, and requests decoded
 * without it.
 */
#ifndef INTENT_FILTER_CATALOG_CATALOG_REQUEST_H
#define INTENT_FILTER_CATALOG_CATALOG_REQUEST_H

#include <stdbool.h>

#include "catalog/catalog_cache.h"
#include "core/arena.h"
#include "core/str.h"
#include "wire/msgs.h"

/* A request with more beside its catalog takes the loop too long to decode. */
#define CATALOG_REST_MAX ((size_t)16 * 1024)

/* What is known of a request's catalog before the request is decoded. */
struct catalog_source {
	struct str json;               /* of the request; absent: not found */
	size_t containers;             /* objects and arrays in json */
	const struct catalog *catalog; /* cached; NULL: not */
};

/* How catalogs are found. */
struct catalog_finder {
	struct catalog_cache *cache;
	const struct catalog *(*find)(
	    struct catalog_cache *c, struct catalog_key key);
	void (*give_back)(/* NULL: what is found needs not */
	    struct catalog_cache *c, const struct catalog *cat);
	/* By what the rest of a text begins with; NULL: not in that way. */
	const struct catalog *(*find_start)(struct catalog_cache *c,
	    struct str rest, struct wire_slice_extent *x);
};

/*
 * catalog_request_decode(c, request, a, msg, src):
 * Decode a request whose catalog is in c as wire_decode() does, but for the
 * catalog: the one intent in msg stands for all of *src.  False, with a as
 * before: it is not in c, the rest is over CATALOG_REST_MAX, or anything is
 * wrong.  src->json then is the catalog's text if the request is valid, or
 * absent.
 */
bool catalog_request_decode(struct catalog_cache *c, struct str request,
    struct arena *a, struct wire_intent_filter_request *msg,
    struct catalog_source *src);

/*
 * catalog_request_borrow(c, request, a, msg, src):
 * The same on any thread: src->catalog is borrowed.
 */
bool catalog_request_borrow(struct catalog_cache *c, struct str request,
    struct arena *a, struct wire_intent_filter_request *msg,
    struct catalog_source *src);

/*
 * catalog_request_decode_found(request, a, msg, src):
 * The same where *src has been found: a catalog's text and all else, or the
 * catalog that the request references.  False: anything is wrong.
 */
bool catalog_request_decode_found(struct str request, struct arena *a,
    struct wire_intent_filter_request *msg, const struct catalog_source *src);

/*
 * catalog_request_find(request):
 * The text of the catalog in a request that is valid; the whole request where
 * escapes in the member's name hide it.
 */
struct str catalog_request_find(struct str request);

#endif /* !INTENT_FILTER_CATALOG_CATALOG_REQUEST_H */
