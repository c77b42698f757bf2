/*
 * All are remembered for the same time, so the first in the list is the oldest.
 */
#include "auth/memory.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"

struct entry {
	TAILQ_ENTRY(entry) link;
	struct auth_digest digest;
	struct auth_identity *who;
	struct mono until;
};

struct auth_memory {
	struct map *by_place;
	TAILQ_HEAD(, entry) entries;
};

struct auth_memory *
auth_memory_new(void)
{
	struct auth_memory *m = mem_zalloc(sizeof(*m));

	m->by_place = map_new();
	TAILQ_INIT(&m->entries);
	return m;
}

static void
forget(struct auth_memory *m, struct entry *e)
{
	map_del(m->by_place, auth_digest_place(&e->digest));
	TAILQ_REMOVE(&m->entries, e, link);
	free(e->who);
	free(e);
}

void
auth_memory_clear(struct auth_memory *m)
{
	struct entry *e;

	while ((e = TAILQ_FIRST(&m->entries)) != NULL)
		forget(m, e);
}

void
auth_memory_free(struct auth_memory *m)
{
	if (m == NULL)
		return;
	auth_memory_clear(m);
	map_free(m->by_place);
	free(m);
}

void
auth_memory_put(struct auth_memory *m, const struct auth_digest *d,
    struct auth_identity *who, struct mono now)
{
	struct entry *e = map_get(m->by_place, auth_digest_place(d));

	if (e != NULL)
		forget(m, e);
	if (map_len(m->by_place) >= AUTH_REMEMBER_MAX)
		forget(m, TAILQ_FIRST(&m->entries));
	e = mem_zalloc(sizeof(*e));
	e->digest = *d;
	e->who = who;
	e->until = mono_add_ms(now, AUTH_REMEMBER_S * 1000L);
	map_put(m->by_place, auth_digest_place(&e->digest), e);
	TAILQ_INSERT_TAIL(&m->entries, e, link);
}

const struct auth_caller *
auth_memory_find(struct auth_memory *m, const struct auth_digest *d,
    struct mono now, struct wall wall)
{
	struct entry *e = map_get(m->by_place, auth_digest_place(d));
	const struct auth_caller *c;

	if (e == NULL || !auth_digest_is(&e->digest, d))
		return NULL;
	c = &e->who->caller;
	if (mono_diff_ns(now, e->until) < 0 &&
	    (c->until.ms == 0 || wall.ms < c->until.ms))
		return c;
	forget(m, e);
	return NULL;
}
