/*
 * catalog_loader: the catalogs of requests: from the cache, or compiled in a
 * worker, which shares the work among concurrent requests for one catalog.
 *
 * Loop thread only, but for what says otherwise.
 */
#ifndef INTENT_FILTER_CATALOG_CATALOG_LOADER_H
#define INTENT_FILTER_CATALOG_CATALOG_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "catalog/catalog.h"
#include "catalog/catalog_request.h"
#include "core/clock.h"
#include "core/rc.h"

struct catalog_loader;
struct state_conf;
struct svc;
struct svc_call;

/* A request, when it was received, and what is known of its catalog. */
struct catalog_request {
	struct svc_call *call;
	struct mono start;
	const struct catalog_source *source; /* NULL: nothing */
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
 * catalog_loader_finder(l, c):
 * How the cached catalogs are found, and given back, for c: on the loop, or on
 * a worker.
 */
struct catalog_finder catalog_loader_finder(
    struct catalog_loader *l, const struct svc_call *c);

/*
 * catalog_loader_decode(l, c, src, msg):
 * As svc_def.decode(): decode a request whose catalog is in the cache without
 * decoding the catalog; the one intent in msg then stands for all.  False also
 * if the rest is large, or anything is wrong.  *src is what has been found by
 * catalog_loader_finder(), or empty: then it is searched, and set.  Also on a
 * worker: then catalog_loader_borrow() must follow if it was true; if not,
 * nothing is to be given back.
 */
bool catalog_loader_decode(struct catalog_loader *l, struct svc_call *c,
    struct catalog_source *src, struct wire_intent_filter_request *msg);

/*
 * catalog_loader_borrow(l, request), catalog_loader_return(l, cat):
 * On a worker, for a decoded request: its catalog if it is cached, to be
 * returned; NULL: the loop must get it.
 */
const struct catalog *catalog_loader_borrow(
    struct catalog_loader *l, const struct catalog_request *request);
void catalog_loader_return(struct catalog_loader *l, const struct catalog *cat);

/*
 * catalog_loader_get(l, request, fn, arg):
 * Call fn with the request's catalog, now or later; or fail the call.  Pending
 * requests for one catalog share one read and one compilation.
 */
void catalog_loader_get(struct catalog_loader *l,
    struct catalog_request request, catalog_fn fn, void *arg);

#endif /* !INTENT_FILTER_CATALOG_CATALOG_LOADER_H */
