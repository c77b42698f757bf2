/*
 * Compiled catalogs by key, least recently used first out.
 */
#include "catalog/catalog_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"

/*
 * Texts are also found by their first bytes, of as many as there are slots:
 * comparing a text takes a tenth of finding its end and its digest.
 */
#define START_BYTES 256
#define STARTS_MAX  256 /* a power of 2 */

struct catalog_cache_entry {
	TAILQ_ENTRY(catalog_cache_entry) link;
	struct catalog_key key;             /* its text is owned */
	struct wire_slice_extent extent;    /* of a text */
	struct catalog_cache_entry **start; /* its slot; NULL: it has none */
	size_t bytes;
	_Atomic size_t refs; /* of the cache, and of each that has borrowed */
	struct catalog *catalog;
};

struct catalog_cache {
	struct digest_seed seed;
	pthread_mutex_t lock; /* guards what follows */
	TAILQ_HEAD(entry_list, catalog_cache_entry)
	used; /* most recent first */
	struct map *by_digest;
	struct catalog_cache_entry *starts[STARTS_MAX];
	size_t bytes, max_bytes;
	uint64_t last_number;
	struct metric *hits, *misses, *size;
};

/* ---- keys ---- */

struct digest
catalog_cache_digest(const struct catalog_cache *c, struct catalog_key key)
{
	return digest_of(&c->seed, key.text, key.kind == CATALOG_BY_HASH);
}

struct catalog_key
catalog_key_dup(struct catalog_key key)
{
	key.text.p = str_dup(key.text);
	return key;
}

void
catalog_key_free(struct catalog_key key)
{
	free((char *)(uintptr_t)key.text.p);
}

bool
catalog_key_eq(struct catalog_key a, struct catalog_key b)
{
	return a.kind == b.kind && str_eq(a.text, b.text);
}

/* ---- entries ---- */

struct catalog_cache *
catalog_cache_new(size_t max_bytes, struct metric_set *set)
{
	struct catalog_cache *c = mem_zalloc(sizeof(*c));

	(void)pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->used);
	c->by_digest = map_new();
	digest_seed_init(&c->seed);
	c->max_bytes = max_bytes;
	c->hits = metric_counter(set, "soul_intent_catalog_hits_total",
	    "Requests whose catalog was in the cache.", NULL);
	c->misses = metric_counter(set, "soul_intent_catalog_misses_total",
	    "Requests whose catalog was not in the cache.", NULL);
	c->size = metric_gauge(set, "soul_intent_catalog_cache_bytes",
	    "Memory of the cached catalogs.", NULL);
	return c;
}

static void
catalog_cache_unref(struct catalog_cache_entry *e)
{
	if (atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) > 1)
		return;
	catalog_free(e->catalog);
	catalog_key_free(e->key);
	free(e);
}

static void
catalog_cache_remove(struct catalog_cache *c, struct catalog_cache_entry *e)
{
	TAILQ_REMOVE(&c->used, e, link);
	c->bytes -= e->bytes;
	if (e->start != NULL && *e->start == e)
		*e->start = NULL;
	catalog_cache_unref(e);
}

static void
catalog_cache_evict(struct catalog_cache *c, struct catalog_cache_entry *e)
{
	struct digest d = catalog_cache_digest(c, e->key);

	(void)map_del(c->by_digest, digest_str(&d));
	catalog_cache_remove(c, e);
}

void
catalog_cache_free(struct catalog_cache *c)
{
	struct catalog_cache_entry *e;

	if (c == NULL)
		return;
	while ((e = TAILQ_FIRST(&c->used)) != NULL)
		catalog_cache_remove(c, e);
	map_free(c->by_digest);
	(void)pthread_mutex_destroy(&c->lock);
	free(c);
}

/* The slot of a text that begins with the bytes at rest; NULL: none. */
static struct catalog_cache_entry **
catalog_cache_start(struct catalog_cache *c, struct str rest)
{
	struct digest d;

	if (rest.n < START_BYTES)
		return NULL;
	d = digest_of(&c->seed, (struct str){ rest.p, START_BYTES }, 0);
	return &c->starts[d.hash % STARTS_MAX];
}

/* The lock is held. */
static void
catalog_cache_use(struct catalog_cache *c, struct catalog_cache_entry *e)
{
	(void)atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
	if (e->start != NULL)
		*e->start = e;
	if (TAILQ_FIRST(&c->used) != e) {
		TAILQ_REMOVE(&c->used, e, link);
		TAILQ_INSERT_HEAD(&c->used, e, link);
	}
}

/* The lock is held meanwhile only to find the entry, not to compare its text.
 */
static struct catalog_cache_entry *
catalog_cache_take(struct catalog_cache *c, struct catalog_key key)
{
	struct digest d = catalog_cache_digest(c, key);
	struct catalog_cache_entry *e;

	(void)pthread_mutex_lock(&c->lock);
	e = map_get(c->by_digest, digest_str(&d));
	if (e != NULL)
		catalog_cache_use(c, e);
	(void)pthread_mutex_unlock(&c->lock);
	return e;
}

static struct catalog_cache_entry *
catalog_cache_take_start(struct catalog_cache *c, struct str rest)
{
	struct catalog_cache_entry **start = catalog_cache_start(c, rest), *e;

	if (start == NULL)
		return NULL;
	(void)pthread_mutex_lock(&c->lock);
	e = *start;
	if (e != NULL)
		catalog_cache_use(c, e);
	(void)pthread_mutex_unlock(&c->lock);
	return e;
}

const struct catalog *
catalog_cache_borrow(struct catalog_cache *c, struct catalog_key key)
{
	struct catalog_cache_entry *e = catalog_cache_take(c, key);

	if (e == NULL)
		return NULL;
	if (!catalog_key_eq(e->key, key)) {
		catalog_cache_unref(e);
		return NULL;
	}
	metric_add(c->hits, 1);
	return e->catalog;
}

void
catalog_cache_return(struct catalog_cache *c, const struct catalog *cat)
{
	(void)c;
	catalog_cache_unref(cat->cache_entry);
}

const struct catalog *
catalog_cache_borrow_start(
    struct catalog_cache *c, struct str rest, struct wire_slice_extent *x)
{
	struct catalog_cache_entry *e = catalog_cache_take_start(c, rest);

	if (e == NULL)
		return NULL;
	if (e->key.text.n > rest.n ||
	    memcmp(e->key.text.p, rest.p, e->key.text.n) != 0) {
		catalog_cache_unref(e);
		return NULL;
	}
	metric_add(c->hits, 1);
	*x = e->extent;
	return e->catalog;
}

const struct catalog *
catalog_cache_find_start(
    struct catalog_cache *c, struct str rest, struct wire_slice_extent *x)
{
	const struct catalog *cat = catalog_cache_borrow_start(c, rest, x);

	if (cat != NULL)
		catalog_cache_return(c, cat);
	return cat;
}

const struct catalog *
catalog_cache_find(struct catalog_cache *c, struct catalog_key key)
{
	const struct catalog *cat = catalog_cache_borrow(c, key);

	if (cat != NULL)
		catalog_cache_return(c, cat);
	return cat;
}

void
catalog_cache_missed(struct catalog_cache *c)
{
	metric_add(c->misses, 1);
}

void
catalog_cache_put(
    struct catalog_cache *c, struct catalog_key key, struct catalog *cat)
{
	struct catalog_cache_entry *e = mem_zalloc(sizeof(*e)), *older;
	struct digest d = catalog_cache_digest(c, key);

	cat->cache_entry = e;
	e->catalog = cat;
	e->key = catalog_key_dup(key);
	e->bytes = cat->bytes + key.text.n;
	e->refs = 1;
	/* A text that is no array, as a whole request, has no slot. */
	if (key.kind == CATALOG_BY_TEXT && key.text.n > 0 &&
	    key.text.p[0] == '[' &&
	    wire_slice_extent(key.text, &e->extent) == RC_OK &&
	    e->extent.n == key.text.n)
		e->start = catalog_cache_start(c, key.text);
	(void)pthread_mutex_lock(&c->lock);
	cat->number = ++c->last_number;
	/* Another text that has this digest, by chance. */
	older = map_put(c->by_digest, digest_str(&d), e);
	if (older != NULL)
		catalog_cache_remove(c, older);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	if (e->start != NULL)
		*e->start = e;
	c->bytes += e->bytes;
	while (c->bytes > c->max_bytes && TAILQ_NEXT(e, link) != NULL)
		catalog_cache_evict(c, TAILQ_LAST(&c->used, entry_list));
	metric_set(c->size, (int64_t)c->bytes);
	(void)pthread_mutex_unlock(&c->lock);
}
