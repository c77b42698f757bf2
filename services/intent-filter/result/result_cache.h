/*
 * result_cache: the replies to earlier commands, by all that they depend on
 * (result_key), so that a repeated command is not matched a second time.
 *
 * Keys are compared as a whole.  Any thread.
 */
#ifndef INTENT_FILTER_RESULT_RESULT_CACHE_H
#define INTENT_FILTER_RESULT_RESULT_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/metric.h"
#include "core/str.h"
#include "result/reply_template.h"
#include "result/result_key.h"

/* A larger reply is not stored. */
#define RESULT_MAX ((size_t)16 * 1024)

struct result_cache;

struct result {
	struct reply_template reply;
	struct str zone; /* the name of the time zone of its now */
};

/*
 * result_cache_new(max_bytes, set):
 * At most max_bytes of results with their keys, the least recently used of
 * which are dropped; set may be NULL.
 */
struct result_cache *result_cache_new(size_t max_bytes, struct metric_set *set);

/* result_cache_free(c): No other thread uses it.  NULL is allowed. */
void result_cache_free(struct result_cache *c);

/*
 * result_cache_get(c, key, a, out):
 * A copy, in memory of a, of the result that was stored for key->text, or else
 * for key->text_and_now.  False: there is none, or a is full.
 */
bool result_cache_get(struct result_cache *c, const struct result_key *key,
    struct arena *a, struct result *out);

/*
 * result_cache_admit(c, key):
 * Whether a result with that key is worth storing: it is among the last
 * thousands of keys that this was called for.  Other keys cost no more than
 * this.
 */
bool result_cache_admit(struct result_cache *c, struct str key);

/*
 * result_cache_put(c, key, r):
 * Store a copy of r, which must be the result of every request with that key:
 * the text or the text_and_now of a result_key.  No effect if the key has a
 * result, or if both are too large.
 */
void result_cache_put(
    struct result_cache *c, struct str key, const struct result *r);

/* result_cache_bytes(c): The memory of what is stored. */
size_t result_cache_bytes(struct result_cache *c);

#endif /* !INTENT_FILTER_RESULT_RESULT_CACHE_H */
