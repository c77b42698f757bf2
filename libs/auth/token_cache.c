/*
 * Entries expire after the same time, so the first of the list is the oldest.
 */
#include "auth/auth_internal.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"

struct cache_entry {
	TAILQ_ENTRY(cache_entry) link;
	struct auth_digest digest;
	struct auth_identity *identity;
	struct mono until;
};

struct auth_cache {
	struct map *by_digest;
	TAILQ_HEAD(, cache_entry) entries;
};

struct auth_cache *
auth_cache_new(void)
{
	struct auth_cache *m = mem_zalloc(sizeof(*m));

	m->by_digest = map_new();
	TAILQ_INIT(&m->entries);
	return m;
}

static void
cache_remove(struct auth_cache *m, struct cache_entry *e)
{
	map_del(m->by_digest, auth_digest_map_key(&e->digest));
	TAILQ_REMOVE(&m->entries, e, link);
	free(e->identity);
	free(e);
}

void
auth_cache_clear(struct auth_cache *m)
{
	struct cache_entry *e;

	while ((e = TAILQ_FIRST(&m->entries)) != NULL)
		cache_remove(m, e);
}

void
auth_cache_free(struct auth_cache *m)
{
	if (m == NULL)
		return;
	auth_cache_clear(m);
	map_free(m->by_digest);
	free(m);
}

void
auth_cache_put(struct auth_cache *m, const struct auth_digest *d,
    struct auth_identity *identity, struct mono now)
{
	struct cache_entry *e = map_get(m->by_digest, auth_digest_map_key(d));

	if (e != NULL)
		cache_remove(m, e);
	if (map_len(m->by_digest) >= AUTH_REMEMBER_MAX)
		cache_remove(m, TAILQ_FIRST(&m->entries));
	e = mem_zalloc(sizeof(*e));
	e->digest = *d;
	e->identity = identity;
	e->until = mono_add_ms(now, AUTH_REMEMBER_S * 1000L);
	map_put(m->by_digest, auth_digest_map_key(&e->digest), e);
	TAILQ_INSERT_TAIL(&m->entries, e, link);
}

const struct auth_caller *
auth_cache_find(struct auth_cache *m, const struct auth_digest *d,
    struct mono now, struct wall wall)
{
	struct cache_entry *e = map_get(m->by_digest, auth_digest_map_key(d));
	const struct auth_caller *c;

	if (e == NULL || !auth_digest_is(&e->digest, d))
		return NULL;
	c = &e->identity->caller;
	if (mono_diff_ns(now, e->until) < 0 &&
	    (c->until.ms == 0 || wall.ms < c->until.ms))
		return c;
	cache_remove(m, e);
	return NULL;
}
