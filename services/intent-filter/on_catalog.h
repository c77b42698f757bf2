/*
 * on_catalog: the catalog that a request brings or names: from the cache, or
 * compiled by a worker, after it was read from the body's record if need be.
 *
 * However many ask for one catalog at a time, it is read and compiled once, and
 * while that goes on, other requests are answered.
 */
#ifndef INTENT_FILTER_ON_CATALOG_H
#define INTENT_FILTER_ON_CATALOG_H

#include "catalog.h"
#include "core/clock.h"
#include "core/rc.h"

struct catalogs;
struct filter_conf;
struct svc;
struct svc_call;

/* A request, and when it came. */
struct catalog_ask {
	struct svc_call *call;
	struct mono start;
};

/* Called with the catalog, valid until it returns; ends the call. */
typedef void (*catalog_fn)(
    void *arg, struct catalog_ask ask, const struct catalog *cat);

/*
 * catalogs_new(s, conf, out):
 * RC_INVALID if the URL of Redis is not one (the log says why).  conf must live
 * as long.
 */
enum rc catalogs_new(struct svc *s, const struct filter_conf *conf,
    struct catalogs **out) RC_CHECK;

/* catalogs_free(cs): No request waits any more.  NULL is allowed. */
void catalogs_free(struct catalogs *cs);

/*
 * catalogs_get(cs, ask, fn, arg):
 * Call fn, now or later; or fail the call, with what is wrong.
 */
void catalogs_get(
    struct catalogs *cs, struct catalog_ask ask, catalog_fn fn, void *arg);

#endif /* !INTENT_FILTER_ON_CATALOG_H */
