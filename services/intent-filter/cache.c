/*
 * Catalogs by content, least recently used first out.
 */
#include "cache.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"

struct entry {
	TAILQ_ENTRY(entry) link;
	char *json; /* the catalog: equal content, equal text */
	size_t n;
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
	buf_init(&c->key, WIRE_MESSAGE_MAX);
	c->max_bytes = max_bytes;
	c->hits = metric_counter(set, "soul_intent_catalog_hits_total",
	    "Catalogs found compiled.", NULL);
	c->misses = metric_counter(set, "soul_intent_catalog_misses_total",
	    "Catalogs that had to be compiled.", NULL);
	c->size = metric_gauge(set, "soul_intent_catalog_cache_bytes",
	    "Memory of the compiled catalogs.", NULL);
	return c;
}

static void
entry_drop(struct cache *c, struct entry *e)
{
	TAILQ_REMOVE(&c->used, e, link);
	map_del(c->by_key, (struct str){ e->json, e->n });
	c->bytes -= e->catalog->bytes;
	catalog_free(e->catalog);
	free(e->json);
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
cache_get(struct cache *c, struct wire_intent *intents, size_t n,
    const struct catalog **out, struct wire_err *err)
{
	struct wire_intent_catalog_report msg = { .intent_catalog = intents,
		.n_intent_catalog = n };
	struct catalog *catalog;
	struct entry *e;
	enum rc rc;

	buf_reset(&c->key);
	rc = wire_encode(&wire_intent_catalog_report_desc, &msg, &c->key, err);
	if (rc != RC_OK)
		return rc;
	e = map_get(c->by_key, buf_str(&c->key));
	if (e != NULL) {
		TAILQ_REMOVE(&c->used, e, link);
		TAILQ_INSERT_HEAD(&c->used, e, link);
		metric_add(c->hits, 1);
		*out = e->catalog;
		return RC_OK;
	}
	metric_add(c->misses, 1);
	rc = catalog_new(buf_str(&c->key), &catalog, err);
	if (rc != RC_OK)
		return rc;
	e = mem_zalloc(sizeof(*e));
	e->catalog = catalog;
	e->n = c->key.n;
	e->json = str_dup(buf_str(&c->key));
	map_put(c->by_key, (struct str){ e->json, e->n }, e);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	c->bytes += catalog->bytes;
	while (c->bytes > c->max_bytes && TAILQ_NEXT(e, link) != NULL)
		entry_drop(c, TAILQ_LAST(&c->used, entry_list));
	metric_set(c->size, (int64_t)c->bytes);
	*out = catalog;
	return RC_OK;
}
