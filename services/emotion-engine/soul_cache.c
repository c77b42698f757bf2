/*
 * soul_cache: a map of copies, and a list in the order of their last use.
 */
#include "soul_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"

struct soul_copy {
	TAILQ_ENTRY(soul_copy) link;
	char *key;
	int64_t version;
	struct record record;
};

TAILQ_HEAD(soul_copies, soul_copy);

struct soul_cache {
	struct map *by_key;
	struct soul_copies used; /* the last used first */
	size_t max;
	struct metric *hits, *misses, *stale;
};

struct soul_cache *
soul_cache_new(size_t max, struct metric_set *m)
{
	struct soul_cache *c = mem_zalloc(sizeof(*c));

	c->by_key = map_new();
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

#define COPY_KEY_MAX (2 * ID_MAX + 2)

/* Neither id has a control character. */
static struct str
soul_copy_key(const struct stored_soul *soul, char dst[COPY_KEY_MAX])
{
	int n = snprintf(dst, COPY_KEY_MAX, "%.*s\n%.*s",
	    STR_ARG(soul->user_id), STR_ARG(soul->id));

	return (
	    struct str){ dst, n < COPY_KEY_MAX ? (size_t)n : COPY_KEY_MAX - 1 };
}

static void
soul_copy_free(struct soul_cache *c, struct soul_copy *s)
{
	TAILQ_REMOVE(&c->used, s, link);
	(void)map_del(c->by_key, str_of(s->key));
	free(s->key);
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
	map_free(c->by_key);
	free(c);
}

bool
soul_cache_get(struct soul_cache *c, struct stored_soul *soul)
{
	char key[COPY_KEY_MAX];
	struct soul_copy *s = map_get(c->by_key, soul_copy_key(soul, key));

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
	char key[COPY_KEY_MAX];
	struct soul_copy *s = map_get(c->by_key, soul_copy_key(soul, key));

	if (s != NULL)
		soul_copy_set(s, soul);
}

void
soul_cache_put(struct soul_cache *c, const struct stored_soul *soul)
{
	char key[COPY_KEY_MAX];
	struct soul_copy *s = map_get(c->by_key, soul_copy_key(soul, key));

	if (s == NULL) {
		if (map_len(c->by_key) == c->max)
			soul_copy_free(c, TAILQ_LAST(&c->used, soul_copies));
		s = mem_zalloc(sizeof(*s));
		s->key = str_dup(soul_copy_key(soul, key));
		(void)map_put(c->by_key, str_of(s->key), s);
		TAILQ_INSERT_HEAD(&c->used, s, link);
	}
	soul_copy_set(s, soul);
}

void
soul_cache_drop(struct soul_cache *c, const struct stored_soul *soul)
{
	char key[COPY_KEY_MAX];
	struct soul_copy *s = map_get(c->by_key, soul_copy_key(soul, key));

	if (s != NULL)
		soul_copy_free(c, s);
}
