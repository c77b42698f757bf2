/*
 * soul_cache: a map of copies, and a list in the order of their last use.
 */
#include "soul_cache.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"

struct soul_copy {
	TAILQ_ENTRY(soul_copy) link;
	char *id;
	int64_t version;
	struct record record;
};

TAILQ_HEAD(soul_copies, soul_copy);

struct soul_cache {
	struct map *by_id;
	struct soul_copies used; /* the last used first */
	size_t max;
	struct metric *hits, *misses, *stale;
};

struct soul_cache *
soul_cache_new(size_t max, struct metric_set *m)
{
	struct soul_cache *c = mem_zalloc(sizeof(*c));

	c->by_id = map_new();
	c->max = max;
	TAILQ_INIT(&c->used);
	c->hits = metric_counter(m, "soul_emotion_cache_hits_total",
	    "Changes of souls that were not read before.", NULL);
	c->misses = metric_counter(m, "soul_emotion_cache_misses_total",
	    "Changes of souls that had to be read before.", NULL);
	c->stale = metric_counter(m, "soul_emotion_cache_stale_total",
	    "Changes that were repeated, because the copy was stale.", NULL);
	return c;
}

static void
soul_copy_free(struct soul_cache *c, struct soul_copy *s)
{
	TAILQ_REMOVE(&c->used, s, link);
	(void)map_del(c->by_id, str_of(s->id));
	free(s->id);
	free(s);
}

void
soul_cache_free(struct soul_cache *c)
{
	struct soul_copy *s;

	if (c == NULL)
		return;
	while ((s = TAILQ_FIRST(&c->used)) != NULL)
		soul_copy_free(c, s);
	map_free(c->by_id);
	free(c);
}

bool
soul_cache_get(struct soul_cache *c, struct stored_soul *soul)
{
	struct soul_copy *s = map_get(c->by_id, soul->id);

	metric_add(s != NULL ? c->hits : c->misses, 1);
	if (s == NULL)
		return false;
	TAILQ_REMOVE(&c->used, s, link);
	TAILQ_INSERT_HEAD(&c->used, s, link);
	soul->version = s->version;
	soul->record = s->record;
	soul->rc = RC_OK;
	return true;
}

static void
soul_copy_set(struct soul_copy *s, const struct stored_soul *soul)
{
	if (soul->version <= s->version)
		return;
	s->version = soul->version;
	s->record = soul->record;
}

void
soul_cache_was_stale(struct soul_cache *c)
{
	metric_add(c->stale, 1);
}

void
soul_cache_update(struct soul_cache *c, const struct stored_soul *soul)
{
	struct soul_copy *s = map_get(c->by_id, soul->id);

	if (s != NULL)
		soul_copy_set(s, soul);
}

void
soul_cache_put(struct soul_cache *c, const struct stored_soul *soul)
{
	struct soul_copy *s = map_get(c->by_id, soul->id);

	if (s == NULL) {
		if (map_len(c->by_id) == c->max)
			soul_copy_free(c, TAILQ_LAST(&c->used, soul_copies));
		s = mem_zalloc(sizeof(*s));
		s->id = str_dup(soul->id);
		(void)map_put(c->by_id, str_of(s->id), s);
		TAILQ_INSERT_HEAD(&c->used, s, link);
	}
	soul_copy_set(s, soul);
}

void
soul_cache_drop(struct soul_cache *c, struct str id)
{
	struct soul_copy *s = map_get(c->by_id, id);

	if (s != NULL)
		soul_copy_free(c, s);
}
