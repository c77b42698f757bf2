#include "presence/liveness.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"

/* ---- heartbeat batch ---- */

struct heartbeat_batch {
	struct map *ids;
	struct mono since;
};

struct heartbeat_batch *
heartbeat_batch_new(void)
{
	struct heartbeat_batch *b = mem_zalloc(sizeof(*b));

	b->ids = map_new();
	return b;
}

void
heartbeat_batch_free(struct heartbeat_batch *b)
{
	if (b == NULL)
		return;
	map_free(b->ids);
	free(b);
}

bool
heartbeat_batch_add(struct heartbeat_batch *b, struct str id, struct mono now)
{
	if (map_len(b->ids) >= HEARTBEAT_BATCH_MAX &&
	    map_get(b->ids, id) == NULL)
		return false;
	if (map_len(b->ids) == 0)
		b->since = now;
	(void)map_put(b->ids, id, b);
	return true;
}

void
heartbeat_batch_remove(struct heartbeat_batch *b, struct str id)
{
	(void)map_del(b->ids, id);
}

struct mono
heartbeat_batch_due(const struct heartbeat_batch *b)
{
	size_t n = map_len(b->ids);

	if (n == 0)
		return (struct mono){ 0 };
	return n >= HEARTBEAT_BATCH_FULL
	    ? b->since
	    : mono_add_ms(b->since, HEARTBEAT_BATCH_MS);
}

size_t
heartbeat_batch_len(const struct heartbeat_batch *b)
{
	return map_len(b->ids);
}

size_t
heartbeat_batch_list(
    const struct heartbeat_batch *b, struct str *ids, size_t max)
{
	size_t n = 0, pos = 0;

	while (n < max && map_next(b->ids, &pos, &ids[n]) != NULL)
		n++;
	return n;
}

void
heartbeat_batch_clear(struct heartbeat_batch *b)
{
	map_free(b->ids);
	b->ids = map_new();
}

/* ---- offline marks ---- */

struct offline_marks {
	struct map *seqs; /* one more than the number, stored as the pointer */
	bool full;
};

struct offline_marks *
offline_marks_new(void)
{
	struct offline_marks *m = mem_zalloc(sizeof(*m));

	m->seqs = map_new();
	return m;
}

void
offline_marks_free(struct offline_marks *m)
{
	if (m == NULL)
		return;
	map_free(m->seqs);
	free(m);
}

void
offline_marks_add(struct offline_marks *m, struct str id, uint64_t seq)
{
	if (map_len(m->seqs) >= OFFLINE_MARKS_MAX &&
	    map_get(m->seqs, id) == NULL)
		m->full = true;
	else
		(void)map_put(m->seqs, id, (void *)(uintptr_t)(seq + 1));
}

bool
offline_marks_after(const struct offline_marks *m, struct str id, uint64_t seq)
{
	return m->full || (uintptr_t)map_get(m->seqs, id) > seq;
}

void
offline_marks_clear(struct offline_marks *m)
{
	if (map_len(m->seqs) == 0)
		return;
	map_free(m->seqs);
	m->seqs = map_new();
	m->full = false;
}

/* ---- presence timeout ---- */

struct presence {
	TAILQ_ENTRY(presence) link;
	struct mono seen;
	struct mono here; /* seen at this broker; {0}: never */
	size_t n;
	char id[];
};

TAILQ_HEAD(presences, presence);

struct presence_timeout {
	struct map *by_id;
	struct presences list; /* least recently seen first */
};

struct presence_timeout *
presence_timeout_new(void)
{
	struct presence_timeout *p = mem_zalloc(sizeof(*p));

	p->by_id = map_new();
	TAILQ_INIT(&p->list);
	return p;
}

static void
presence_timeout_drop(struct presence_timeout *p, struct presence *e)
{
	TAILQ_REMOVE(&p->list, e, link);
	(void)map_del(p->by_id, (struct str){ e->id, e->n });
	free(e);
}

void
presence_timeout_clear(struct presence_timeout *p)
{
	struct presence *e;

	while ((e = TAILQ_FIRST(&p->list)) != NULL) {
		TAILQ_REMOVE(&p->list, e, link);
		free(e);
	}
	map_free(p->by_id);
	p->by_id = map_new();
}

void
presence_timeout_free(struct presence_timeout *p)
{
	if (p == NULL)
		return;
	presence_timeout_clear(p);
	map_free(p->by_id);
	free(p);
}

void
presence_timeout_seen(
    struct presence_timeout *p, struct str id, struct mono now, bool here)
{
	struct presence *e = map_get(p->by_id, id);

	if (e == NULL) {
		if (map_len(p->by_id) >= PRESENCE_TIMEOUT_MAX || id.n > ID_MAX)
			return;
		e = mem_alloc(sizeof(*e) + id.n + 1);
		e->n = id.n;
		e->here = (struct mono){ 0 };
		str_copy(id, e->id, id.n + 1);
		(void)map_put(p->by_id, id, e);
	} else {
		TAILQ_REMOVE(&p->list, e, link);
	}
	e->seen = now;
	if (here)
		e->here = now;
	TAILQ_INSERT_TAIL(&p->list, e, link);
}

void
presence_timeout_remove(struct presence_timeout *p, struct str id)
{
	struct presence *e = map_get(p->by_id, id);

	if (e != NULL)
		presence_timeout_drop(p, e);
}

bool
presence_timeout_is_seen(
    const struct presence_timeout *p, struct str id, struct mono since)
{
	const struct presence *e = map_get(p->by_id, id);

	return e != NULL && e->here.ns != 0 &&
	    mono_diff_ns(e->here, since) >= 0;
}

bool
presence_timeout_expired(
    struct presence_timeout *p, struct mono before, char id[ID_MAX + 1])
{
	struct presence *e = TAILQ_FIRST(&p->list);

	if (e == NULL || mono_diff_ns(e->seen, before) >= 0)
		return false;
	str_copy((struct str){ e->id, e->n }, id, ID_MAX + 1);
	presence_timeout_drop(p, e);
	return true;
}
