/*
 * Results by key, least recently used first out.
 */
#include "result/result_cache.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"
#include "text/digest.h"

/* Beside the texts: the entry, its digest, and its place in the map. */
#define ENTRY_BYTES (sizeof(struct result_cache_entry) + 64)

/* Keys that are remembered by their digests; a power of 2. */
#define RECENT_MAX 4096

struct result_cache_entry {
	TAILQ_ENTRY(result_cache_entry) link;
	struct result result; /* its texts are in text */
	struct str key;
	struct digest digest; /* of key */
	size_t bytes;
	char text[];
};

struct result_cache {
	/* Guards all of it; a result is copied meanwhile, at most 16 KiB. */
	pthread_mutex_t lock;
	TAILQ_HEAD(result_cache_list, result_cache_entry)
	used; /* most recent first */
	struct map *by_digest;
	struct digest_seed seed;
	size_t bytes, max_bytes;
	struct metric *reused, *size;
	uint64_t recent[RECENT_MAX]; /* by their lowest bits; 0: none */
};

struct result_cache *
result_cache_new(size_t max_bytes, struct metric_set *set)
{
	struct result_cache *c = mem_zalloc(sizeof(*c));

	(void)pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->used);
	c->by_digest = map_new();
	digest_seed_init(&c->seed);
	c->max_bytes = max_bytes;
	c->reused = metric_counter(set, "soul_intent_results_reused_total",
	    "Requests whose result was in memory.", NULL);
	c->size = metric_gauge(set, "soul_intent_results_bytes",
	    "Memory of the results of earlier requests.", NULL);
	return c;
}

static void
result_cache_drop(struct result_cache *c, struct result_cache_entry *e)
{
	TAILQ_REMOVE(&c->used, e, link);
	(void)map_del(c->by_digest, digest_str(&e->digest));
	c->bytes -= e->bytes;
	free(e);
}

void
result_cache_free(struct result_cache *c)
{
	struct result_cache_entry *e;

	if (c == NULL)
		return;
	while ((e = TAILQ_FIRST(&c->used)) != NULL)
		result_cache_drop(c, e);
	map_free(c->by_digest);
	(void)pthread_mutex_destroy(&c->lock);
	free(c);
}

size_t
result_cache_bytes(struct result_cache *c)
{
	size_t bytes;

	(void)pthread_mutex_lock(&c->lock);
	bytes = c->bytes;
	(void)pthread_mutex_unlock(&c->lock);
	return bytes;
}

static bool
result_copy(const struct result *r, struct arena *a, struct result *out)
{
	out->reply = r->reply;
	out->reply.text = arena_str(a, r->reply.text);
	out->zone = arena_str(a, r->zone);
	return out->reply.text.p != NULL && out->zone.p != NULL;
}

/* The lock is held. */
static struct result_cache_entry *
result_cache_find(struct result_cache *c, struct str key, struct digest digest)
{
	struct result_cache_entry *e =
	    map_get(c->by_digest, digest_str(&digest));

	return e != NULL && str_eq(e->key, key) ? e : NULL;
}

bool
result_cache_get(struct result_cache *c, const struct result_key *key,
    struct arena *a, struct result *out)
{
	struct digest digest = digest_of(&c->seed, key->text, 0), with_now;
	bool has_now = key->text_and_now.p != NULL;
	struct result_cache_entry *e;
	bool is;

	if (has_now)
		with_now = digest_of(&c->seed, key->text_and_now, 0);
	(void)pthread_mutex_lock(&c->lock);
	e = result_cache_find(c, key->text, digest);
	if (e == NULL && has_now)
		e = result_cache_find(c, key->text_and_now, with_now);
	is = e != NULL && result_copy(&e->result, a, out);
	if (is && TAILQ_FIRST(&c->used) != e) {
		TAILQ_REMOVE(&c->used, e, link);
		TAILQ_INSERT_HEAD(&c->used, e, link);
	}
	(void)pthread_mutex_unlock(&c->lock);
	if (is)
		metric_add(c->reused, 1);
	return is;
}

bool
result_cache_admit(struct result_cache *c, struct str key)
{
	struct digest digest = digest_of(&c->seed, key, 0);
	uint64_t *recent = &c->recent[digest.hash % RECENT_MAX];
	bool before;

	(void)pthread_mutex_lock(&c->lock);
	before = *recent == digest.hash;
	*recent = digest.hash;
	(void)pthread_mutex_unlock(&c->lock);
	return before;
}

static struct str
result_cache_append(struct result_cache_entry *e, size_t *n, struct str s)
{
	char *at = e->text + *n;

	memcpy(at, s.p, s.n);
	*n += s.n;
	return (struct str){ at, s.n };
}

static struct result_cache_entry *
result_cache_make(struct str key, const struct result *r)
{
	size_t n = key.n + r->reply.text.n + r->zone.n;
	struct result_cache_entry *e = mem_zalloc(sizeof(*e) + n);

	e->bytes = ENTRY_BYTES + n;
	e->result = *r;
	n = 0;
	e->key = result_cache_append(e, &n, key);
	e->result.reply.text = result_cache_append(e, &n, r->reply.text);
	e->result.zone = result_cache_append(e, &n, r->zone);
	return e;
}

void
result_cache_put(struct result_cache *c, struct str key, const struct result *r)
{
	struct result_cache_entry *e, *older;

	if (r->reply.text.n > RESULT_MAX)
		return;
	e = result_cache_make(key, r);
	e->digest = digest_of(&c->seed, key, 0);
	(void)pthread_mutex_lock(&c->lock);
	/* Another thread may have been as fast. */
	if (e->bytes <= c->max_bytes &&
	    result_cache_find(c, key, e->digest) == NULL) {
		/* Another key that has this digest, by chance. */
		older = map_get(c->by_digest, digest_str(&e->digest));
		if (older != NULL)
			result_cache_drop(c, older);
		(void)map_put(c->by_digest, digest_str(&e->digest), e);
		TAILQ_INSERT_HEAD(&c->used, e, link);
		c->bytes += e->bytes;
		while (c->bytes > c->max_bytes)
			result_cache_drop(
			    c, TAILQ_LAST(&c->used, result_cache_list));
		metric_set(c->size, (int64_t)c->bytes);
		e = NULL;
	}
	(void)pthread_mutex_unlock(&c->lock);
	free(e);
}
