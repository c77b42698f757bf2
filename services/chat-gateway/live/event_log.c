/*
 * Batches of the stream of events.
 *
 * The stream's numbers have no gaps but for its oldest events, so a batch is
 * requested by number, all of it in one write.
 */
#include "live/event_log.h"

#include <stdlib.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "state/terminal.h"
#include "svc/svc.h"

#define STREAM   "SOUL_EVENTS"
#define REPLY_MS 2000

struct event_log {
	struct svc *svc;
	struct state *state;
	struct fiber_lock lock; /* of the fiber that reads a batch */
};

/* One request, and the fiber that waits for it and others. */
struct log_query {
	struct log_queries *all;
	enum rc rc;
	struct bus_stream_result result; /* without its texts */
	struct event_view *e;            /* to be filled; NULL: none */
};

struct log_queries {
	struct fiber *waits; /* NULL: it does not yet */
	size_t pending;
	struct arena *a;
	struct log_query q[EVENT_BATCH_MAX];
};

struct event_log *
event_log_new(struct svc *s, struct state *state)
{
	struct event_log *l = mem_zalloc(sizeof(*l));

	l->svc = s;
	l->state = state;
	return l;
}

void
event_log_free(struct event_log *l)
{
	free(l);
}

static void
log_query_take(struct log_query *q, const struct bus_stream_msg *m)
{
	q->rc = event_view_read(m->data, q->all->a, q->e);
	q->e->seq = m->seq;
	q->e->stored = m->stored;
	if (q->rc == RC_OK)
		return;
	log_warn("gateway.stored_event", LOG_I("seq", m->seq), LOG_RC(q->rc));
	q->rc = RC_NOENT;
}

static void
log_query_on_result(void *arg, enum rc rc, const struct bus_stream_result *r)
{
	struct log_query *q = arg;

	q->rc = rc;
	if (rc == RC_OK)
		q->result = *r;
	if (rc == RC_OK && q->e != NULL)
		log_query_take(q, &r->m);
	if (--q->all->pending == 0 && q->all->waits != NULL)
		fiber_resume(q->all->waits);
}

static struct bus_stream_query
log_query_new(struct log_queries *all, size_t i, struct event_view *e)
{
	all->q[i] = (struct log_query){ .all = all, .e = e };
	all->pending++;
	return (struct bus_stream_query){ .stream = STREAM,
		.deadline = { clock_wall().ms + REPLY_MS },
		.fn = log_query_on_result,
		.arg = &all->q[i] };
}

/* A request was sent, or not. */
static void
log_query_sent(struct log_queries *all, size_t i, enum rc rc)
{
	if (rc == RC_OK)
		return;
	all->q[i].rc = rc;
	all->pending--;
}

static void
log_queries_wait(struct log_queries *all)
{
	if (all->pending == 0)
		return;
	all->waits = fiber_self();
	fiber_suspend();
}

/* First and last of the stream; {0, 0}: nobody has created it yet. */
static enum rc
event_log_range(struct event_log *l, int64_t *first, int64_t *last)
{
	struct log_queries all = { 0 };
	struct bus_stream_query q = log_query_new(&all, 0, NULL);

	*first = *last = 0;
	log_query_sent(&all, 0, bus_stream_info(svc_bus(l->svc), &q));
	log_queries_wait(&all);
	if (all.q[0].rc == RC_INVALID)
		return RC_OK;
	*first = all.q[0].result.first_seq;
	*last = all.q[0].result.last_seq;
	return all.q[0].rc;
}

enum rc
event_log_newest(struct event_log *l, int64_t *seq)
{
	int64_t first;

	return event_log_range(l, &first, seq);
}

/* The n events from a number on, but for those that are no events. */
static enum rc
event_log_get(
    struct event_log *l, int64_t from, size_t n, struct event_batch *b)
{
	struct log_queries *all = mem_zalloc(sizeof(*all));
	struct bus_stream_query q;
	enum rc rc = RC_OK;
	size_t i;

	all->a = b->a;
	for (i = 0; i < n; i++) {
		q = log_query_new(all, i, &b->e[i]);
		log_query_sent(all, i,
		    bus_stream_msg_get(svc_bus(l->svc), &q, from + (int64_t)i));
	}
	log_queries_wait(all);
	for (i = 0; i < n; i++) {
		if (all->q[i].rc == RC_OK)
			b->e[b->n++] = b->e[i];
		else if (all->q[i].rc != RC_NOENT && rc == RC_OK)
			rc = all->q[i].rc;
	}
	free(all);
	return rc;
}

static enum rc
event_log_read_locked(struct event_log *l, int64_t after, struct event_batch *b)
{
	int64_t first, n;
	enum rc rc;

	rc = event_log_range(l, &first, &b->newest);
	if (rc != RC_OK)
		return rc;
	b->after = after;
	if (after > b->newest)
		b->after = b->newest;
	else if (after + 1 < first)
		b->after = first - 1;
	b->expired = b->after != after;
	n = b->newest - b->after;
	if (n > EVENT_BATCH_MAX)
		n = EVENT_BATCH_MAX;
	b->cursor = b->after + n;
	return event_log_get(l, b->after + 1, (size_t)n, b);
}

enum rc
event_log_read(struct event_log *l, int64_t after, struct event_batch *b)
{
	enum rc rc;

	b->n = 0;
	arena_reset(b->a);
	fiber_lock(&l->lock);
	rc = event_log_read_locked(l, after, b);
	fiber_unlock(&l->lock);
	return rc;
}

enum rc
event_log_find(struct event_log *l, int64_t seq, struct event_batch *b)
{
	enum rc rc;

	b->n = 0;
	fiber_lock(&l->lock);
	rc = event_log_get(l, seq, 1, b);
	fiber_unlock(&l->lock);
	return rc == RC_OK && b->n == 0 ? RC_NOENT : rc;
}

enum rc
event_log_owner(struct event_log *l, const struct event_view *e,
    struct arena *a, struct event_owner *out)
{
	struct terminal_owner owner;
	struct credential cr;
	enum rc rc;

	*out = (struct event_owner){ .since = { 0 } };
	rc = terminal_read_owner(l->state, e->terminal_id, &owner);
	if (rc != RC_OK)
		return rc;
	if (owner.user_id[0] != '\0') {
		out->user_id = arena_str(a, str_of(owner.user_id));
		out->since = owner.since;
	}
	rc = credential_read(l->state, e->terminal_id, a, &cr);
	if (rc == RC_OK)
		out->tenant = cr.tenant;
	return rc == RC_NOENT ? RC_OK : rc;
}
