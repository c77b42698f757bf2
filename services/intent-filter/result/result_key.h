/*
 * result_key: what the result of a request depends on, as bytes: requests with
 * equal keys have equal results.
 *
 * It is the request's own text, without its request_id and now, and with the
 * number of the compiled catalog in place of the catalog's text.  So nothing of
 * the request needs to be decoded, and none is missing in the key.  Another
 * spelling of a request has another key.  Any thread.
 */
#ifndef INTENT_FILTER_RESULT_RESULT_KEY_H
#define INTENT_FILTER_RESULT_RESULT_KEY_H

#include "catalog/catalog_request.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

struct result_key {
	struct str text;
	struct str text_and_now; /* absent: the request has no now */
	struct str request_id;   /* absent: the request has none */
	struct wall now;         /* where text_and_now is not absent */
};

/*
 * result_key_read(request, finder, a, src, key):
 * The key of a request that is valid if one with an equal text_and_now, or with
 * an equal text, was; request_id and now have been validated.  *src has the
 * request's catalog, to be given back.  Memory from a; the slices in key point
 * there and into request.
 *
 * Otherwise nothing is to be given back, and the request may still be valid.
 * RC_CONFLICT: its catalog, src->json, is not in memory; RC_NOENT: anything
 * else is unusual, large or wrong, and src is empty.
 */
enum rc result_key_read(struct str request, const struct catalog_finder *finder,
    struct arena *a, struct catalog_source *src,
    struct result_key *key) RC_CHECK;

#endif /* !INTENT_FILTER_RESULT_RESULT_KEY_H */
