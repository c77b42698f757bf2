/*
 * Catalogs by key, least recently used first out.
 */
#include "cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"

/* First byte of a key. */
#define BY_CONTENT 'c'
#define BY_NAME    'n'

struct entry {
	TAILQ_ENTRY(entry) link;
	struct str key;
	size_t bytes;
	struct catalog *catalog;
};

struct cache {
	TAILQ_HEAD(entry_list, entry) used; /* most recent first */
	struct map *by_key;
	struct buf key; /* scratch */
	size_t bytes, max_bytes;
	struct metric *hits, *misses, *size;
};

struct cache *
cache_new(size_t max_bytes, struct metric_set *set)
{
	struct cache *c = mem_zalloc(sizeof(*c));

	TAILQ_INIT(&c->used);
	c->by_key = map_new();
	buf_init(&c->key, WIRE_ARENA_MAX);
	c->max_bytes = max_bytes;
	c->hits = metric_counter(set, "soul_intent_catalog_hits_total",
	    "Catalogs found compiled.", NULL);
	c->misses = metric_counter(set, "soul_intent_catalog_misses_total",
	    "Catalogs not found compiled.", NULL);
	c->size = metric_gauge(set, "soul_intent_catalog_cache_bytes",
	    "Memory of the compiled catalogs.", NULL);
	return c;
}

static void
entry_drop(struct cache *c, struct entry *e)
{
	TAILQ_REMOVE(&c->used, e, link);
	map_del(c->by_key, e->key);
	c->bytes -= e->bytes;
	catalog_free(e->catalog);
	free((char *)(uintptr_t)e->key.p);
	free(e);
}

void
cache_free(struct cache *c)
{
	struct entry *e;

	if (c == NULL)
		return;
	while ((e = TAILQ_FIRST(&c->used)) != NULL)
		entry_drop(c, e);
	map_free(c->by_key);
	buf_free(&c->key);
	free(c);
}

enum rc
cache_key(struct cache *c, const struct wire_intent *intents, size_t n,
    struct str *out)
{
	struct wire_intent_catalog_report msg = { /* Only read. */
		.intent_catalog = (struct wire_intent *)(uintptr_t)intents,
		.n_intent_catalog = n
	};
	enum rc rc;

	buf_reset(&c->key);
	buf_putc(&c->key, BY_CONTENT);
	rc = wire_pack(&wire_intent_catalog_report_desc, &msg, &c->key);
	*out = buf_str(&c->key);
	return rc;
}

struct str
cache_key_named(struct cache *c, struct str hash)
{
	buf_reset(&c->key);
	buf_putc(&c->key, BY_NAME);
	buf_put_str(&c->key, hash);
	return buf_str(&c->key);
}

const struct catalog *
cache_find(struct cache *c, struct str key)
{
	struct entry *e = map_get(c->by_key, key);

	if (e == NULL) {
		metric_add(c->misses, 1);
		return NULL;
	}
	TAILQ_REMOVE(&c->used, e, link);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	metric_add(c->hits, 1);
	return e->catalog;
}

void
cache_put(struct cache *c, struct str key, struct catalog *cat)
{
	struct entry *e = mem_zalloc(sizeof(*e));

	e->catalog = cat;
	e->key = (struct str){ str_dup(key), key.n };
	/* The map has a copy of the key too. */
	e->bytes = cat->bytes + 2 * key.n;
	map_put(c->by_key, e->key, e);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	c->bytes += e->bytes;
	while (c->bytes > c->max_bytes && TAILQ_NEXT(e, link) != NULL)
		entry_drop(c, TAILQ_LAST(&c->used, entry_list));
	metric_set(c->size, (int64_t)c->bytes);
}

enum rc
cache_compile(const struct wire_intent *intents, size_t n, struct catalog **out,
    struct wire_err *err)
{
	struct wire_intent_catalog_report msg = {
		.intent_catalog = (struct wire_intent *)(uintptr_t)intents,
		.n_intent_catalog = n
	};
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	rc = wire_encode(&wire_intent_catalog_report_desc, &msg, &json, err);
	if (rc == RC_OK)
		rc = catalog_new(buf_str(&json), out, err);
	buf_free(&json);
	return rc;
}
