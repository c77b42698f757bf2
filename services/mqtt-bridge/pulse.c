/*
 * A list in the order of the last signs of life, and an index of it.
 */
#include "pulse.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"

struct entry {
	TAILQ_ENTRY(entry) link;
	struct mono seen;
	size_t n;
	char id[];
};

TAILQ_HEAD(entries, entry);

struct pulse {
	struct map *by_id;
	struct entries list; /* longest silence first */
};

struct pulse *
pulse_new(void)
{
	struct pulse *p = mem_zalloc(sizeof(*p));

	p->by_id = map_new();
	TAILQ_INIT(&p->list);
	return p;
}

static void
drop(struct pulse *p, struct entry *e)
{
	TAILQ_REMOVE(&p->list, e, link);
	(void)map_del(p->by_id, (struct str){ e->id, e->n });
	free(e);
}

void
pulse_clear(struct pulse *p)
{
	struct entry *e;

	while ((e = TAILQ_FIRST(&p->list)) != NULL) {
		TAILQ_REMOVE(&p->list, e, link);
		free(e);
	}
	map_free(p->by_id);
	p->by_id = map_new();
}

void
pulse_free(struct pulse *p)
{
	if (p == NULL)
		return;
	pulse_clear(p);
	map_free(p->by_id);
	free(p);
}

void
pulse_seen(struct pulse *p, struct str id, struct mono now)
{
	struct entry *e = map_get(p->by_id, id);

	if (e == NULL) {
		if (map_len(p->by_id) >= PULSE_MAX || id.n > ID_MAX)
			return;
		e = mem_alloc(sizeof(*e) + id.n + 1);
		e->n = id.n;
		str_copy(id, e->id, id.n + 1);
		(void)map_put(p->by_id, id, e);
	} else {
		TAILQ_REMOVE(&p->list, e, link);
	}
	e->seen = now;
	TAILQ_INSERT_TAIL(&p->list, e, link);
}

void
pulse_gone(struct pulse *p, struct str id)
{
	struct entry *e = map_get(p->by_id, id);

	if (e != NULL)
		drop(p, e);
}

bool
pulse_silent(struct pulse *p, struct mono before, char id[ID_MAX + 1])
{
	struct entry *e = TAILQ_FIRST(&p->list);

	if (e == NULL || mono_diff_ns(e->seen, before) >= 0)
		return false;
	str_copy((struct str){ e->id, e->n }, id, ID_MAX + 1);
	drop(p, e);
	return true;
}

size_t
pulse_len(const struct pulse *p)
{
	return map_len(p->by_id);
}
