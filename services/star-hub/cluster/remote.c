#include "cluster/remote.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/mem.h"

TAILQ_HEAD(remote_list, remote);

struct remotes {
	struct map *by_key;
	struct remote_list list; /* the oldest first */
	size_t bytes;            /* that wait */
};

/* ---- messages ---- */

struct outgoing *
outgoing_new(
    struct client *from, uint64_t seq, struct str message_id, struct str to)
{
	struct outgoing *o = mem_zalloc(sizeof(*o) + message_id.n + to.n);
	char *text = (char *)(o + 1);

	o->from = from;
	o->seq = seq;
	if (message_id.p != NULL) {
		memcpy(text, message_id.p, message_id.n);
		o->message_id = (struct str){ text, message_id.n };
	}
	if (to.p != NULL) {
		memcpy(text + message_id.n, to.p, to.n);
		o->to = (struct str){ text + message_id.n, to.n };
	}
	return o;
}

void
outgoing_free(struct outgoing *o)
{
	free(o->span);
	free(o->bytes);
	free(o);
}

void
outgoing_set_bytes(struct outgoing *o, struct str bytes)
{
	free(o->bytes);
	o->bytes = mem_alloc(bytes.n + 1);
	memcpy(o->bytes, bytes.p, bytes.n);
	o->n = bytes.n;
}

/* ---- identities ---- */

struct remotes *
remotes_new(void)
{
	struct remotes *r = mem_zalloc(sizeof(*r));

	r->by_key = map_new();
	TAILQ_INIT(&r->list);
	return r;
}

static void
remote_free(struct remotes *r, struct remote *e)
{
	map_del(r->by_key, str_of(e->key));
	TAILQ_REMOVE(&r->list, e, link);
	free(e->key);
	free(e);
}

void
remotes_free(struct remotes *r)
{
	struct remote *e;

	if (r == NULL)
		return;
	while ((e = TAILQ_FIRST(&r->list)) != NULL)
		remote_free(r, e);
	map_free(r->by_key);
	free(r);
}

struct remote *
remotes_find(const struct remotes *r, struct str key)
{
	return map_get(r->by_key, key);
}

bool
remotes_is_idle(const struct remote *e)
{
	return !e->finding && e->nwaiting == 0 && e->after == NULL;
}

/* The oldest few may be in use. */
static void
remotes_forget_oldest(struct remotes *r)
{
	struct remote *e;

	TAILQ_FOREACH (e, &r->list, link)
		if (remotes_is_idle(e)) {
			remote_free(r, e);
			return;
		}
}

struct remote *
remotes_get(struct remotes *r, struct str key)
{
	struct remote *e = map_get(r->by_key, key);

	if (e != NULL)
		return e;
	if (map_len(r->by_key) >= REMOTES_MAX)
		remotes_forget_oldest(r);
	e = mem_zalloc(sizeof(*e));
	e->key = str_dup(key);
	TAILQ_INIT(&e->waiting);
	TAILQ_INSERT_TAIL(&r->list, e, link);
	map_put(r->by_key, key, e);
	return e;
}

void
remotes_forget(struct remotes *r, struct remote *e)
{
	if (remotes_is_idle(e))
		remote_free(r, e);
}

struct remote *
remotes_next(const struct remotes *r, const struct remote *e)
{
	return e == NULL ? TAILQ_FIRST(&r->list) : TAILQ_NEXT(e, link);
}

/* ---- waiting ---- */

bool
remote_wait(struct remotes *r, struct remote *e, struct outgoing *o)
{
	struct outgoing *next;

	if (e->nwaiting == REMOTE_WAIT_MAX ||
	    e->bytes + o->n > REMOTE_WAIT_BYTES ||
	    r->bytes + o->n > REMOTE_WAITING_MAX)
		return false;
	TAILQ_FOREACH (next, &e->waiting, link)
		if (o->returned && !next->returned)
			break;
	if (next != NULL)
		TAILQ_INSERT_BEFORE(next, o, link);
	else
		TAILQ_INSERT_TAIL(&e->waiting, o, link);
	e->nwaiting++;
	e->bytes += o->n;
	r->bytes += o->n;
	return true;
}

struct outgoing *
remote_take(struct remotes *r, struct remote *e)
{
	struct outgoing *o = TAILQ_FIRST(&e->waiting);

	if (o == NULL)
		return NULL;
	TAILQ_REMOVE(&e->waiting, o, link);
	e->nwaiting--;
	e->bytes -= o->n;
	r->bytes -= o->n;
	return o;
}
