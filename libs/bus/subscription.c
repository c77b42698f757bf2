/*
 * Subscriptions: restored after a reconnect, delivery to handlers, draining.
 */
#include <assert.h>
#include <stdlib.h>

#include "bus/bus_internal.h"
#include "bus/jetstream.h"
#include "core/log.h"
#include "core/mem.h"

struct bus_sub *
bus_sub_new(
    struct bus *b, enum sub_kind kind, const char *subject, const char *queue)
{
	struct bus_sub *s = mem_zalloc(sizeof(*s));

	s->bus = b;
	s->kind = kind;
	s->subject = mem_strdup(subject);
	s->queue = str_dup(str_of(queue));
	TAILQ_INSERT_TAIL(&b->subs, s, link);
	return s;
}

enum rc
bus_sub_attach(struct bus_sub *s)
{
	return bus_conn_subscribe(
	    s->bus->conn, s->subject, s->queue, s, &s->on);
}

void
bus_sub_begin(struct bus_sub *s)
{
	enum rc rc = RC_DOWN;

	if (s->bus->conn != NULL)
		rc = bus_sub_attach(s);
	/* RC_DOWN: with the next connection; of this one the rest is read. */
	if (rc != RC_OK && rc != RC_DOWN)
		bus_conn_break(s->bus->conn);
}

static void
sub_detach(struct bus_sub *s)
{
	bus_conn_sub_end(s->on);
	s->on = NULL;
}

static void
sub_free(struct bus_sub *s)
{
	sub_detach(s);
	free(s->subject);
	free(s->queue);
	free(s);
}

void
bus_subs_detach(struct bus *b)
{
	struct bus_sub *s;

	sub_detach(&b->inbox);
	TAILQ_FOREACH (s, &b->subs, link)
		sub_detach(s);
}

void
bus_subs_free(struct bus *b)
{
	struct bus_sub *s;

	while ((s = TAILQ_FIRST(&b->subs)) != NULL) {
		TAILQ_REMOVE(&b->subs, s, link);
		sub_free(s);
	}
	free(b->inbox.subject);
}

/* ---- delivery ---- */

static struct wall
sub_msg_deadline(const struct bus_msg *m)
{
	struct str text = bus_headers_find(m->headers, HEADER_DEADLINE);
	struct wall t = { 0 };

	/* An unreadable deadline counts as none. */
	if (text.p != NULL && str_to_i64(text, 1, INT64_MAX, &t.ms) != RC_OK)
		t.ms = 0;
	return t;
}

void
bus_sub_deliver(struct bus_sub *s, struct bus_msg *m)
{
	struct bus *b = s->bus;
	struct bus_delivery d;

	m->stored = s->kind == SUB_STREAM;
	/* A stored message has no deadline: it outlives its publisher. */
	if (!m->stored)
		m->deadline = sub_msg_deadline(m);
	if (m->deadline.ms != 0 && clock_wall().ms > m->deadline.ms) {
		metric_add(b->metric.stale, 1);
		bus_msg_reject(m, RC_TIMEOUT);
		return;
	}
	if (m->stored && !bus_msg_delivery(m, &d)) {
		log_warn("bus.not_from_stream", LOG_S("subject", s->subject));
		bus_msg_free(m);
		return;
	}
	s->fn(s->arg, m);
}

/* ---- subscribing ---- */

enum rc
bus_subscribe(struct bus *b, const char *subject, const char *queue,
    bus_msg_fn fn, void *arg, struct bus_sub **out)
{
	struct bus_sub *s;

	if (!bus_subject_valid(subject, true) ||
	    (queue != NULL && !bus_queue_valid(queue)))
		return RC_INVALID;
	if (b->draining)
		return RC_DOWN;
	s = bus_sub_new(b, SUB_PLAIN, subject, queue);
	s->fn = fn;
	s->arg = arg;
	bus_sub_begin(s);
	if (out != NULL)
		*out = s;
	return RC_OK;
}

void
bus_unsubscribe(struct bus_sub *s)
{
	if (s == NULL)
		return;
	TAILQ_REMOVE(&s->bus->subs, s, link);
	sub_free(s);
}

/* ---- draining ---- */

static void
sub_drained(void *arg)
{
	struct bus *b = arg;
	loop_fn fn = b->drained;

	b->drained = NULL;
	fn(b->drained_arg);
}

void
bus_drain_check(struct bus *b)
{
	if (b->drained != NULL && b->pongs >= b->drain_ping)
		loop_timer_set(
		    b->loop, &b->drain_timer, clock_mono(), sub_drained, b);
}

void
bus_drain(struct bus *b, loop_fn fn, void *arg)
{
	struct bus_sub *s;

	assert(!b->draining);
	b->draining = true;
	b->drained = fn;
	b->drained_arg = arg;
	TAILQ_FOREACH (s, &b->subs, link)
		if (s->on != NULL)
			bus_conn_sub_drain(s->on);
	/* What the server sent before it saw the end of the subscriptions
	 * comes before this. */
	if (b->conn != NULL)
		b->drain_ping =
		    bus_conn_ping(b->conn) == RC_OK ? ++b->pings : UINT64_MAX;
	bus_drain_check(b);
}
