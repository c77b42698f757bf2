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
	enum rc rc;

	rc = bus_conn_subscribe(s->bus->conn, s->subject, s->queue, s, &s->on);
	if (rc == RC_OK)
		s->live++;
	return rc;
}

/* The library no longer uses s's subscription on the connection. */
static void
sub_detach(struct bus_sub *s)
{
	bus_conn_sub_free(s->on);
	s->on = NULL;
	s->draining = false;
}

static void
sub_free(struct bus_sub *s)
{
	bus_conn_sub_free(s->on);
	free(s->subject);
	free(s->queue);
	free(s);
}

/* Free s if it is dead and no further event refers to it. */
static void
sub_reap(struct bus_sub *s)
{
	if (!s->dead || s->live > 0 || s->on != NULL)
		return;
	TAILQ_REMOVE(&s->bus->ended, s, link);
	sub_free(s);
}

void
bus_sub_on_end(struct bus_sub *s, uint64_t gen)
{
	struct bus *b = s->bus;

	s->live--;
	if (s->draining && gen == b->gen) {
		sub_detach(s);
		bus_drain_check(b);
	}
	sub_reap(s);
}

void
bus_subs_detach(struct bus *b)
{
	struct bus_sub *s, *next;

	sub_detach(&b->inbox);
	TAILQ_FOREACH (s, &b->subs, link)
		sub_detach(s);
	for (s = TAILQ_FIRST(&b->ended); s != NULL; s = next) {
		next = TAILQ_NEXT(s, link);
		sub_detach(s);
		sub_reap(s);
	}
}

void
bus_sub_unsubscribed(struct bus *b)
{
	struct bus_sub *s;

	/* Pings come back in the order in which they were sent. */
	TAILQ_FOREACH (s, &b->ended, link)
		if (s->on != NULL) {
			sub_detach(s);
			sub_reap(s);
			return;
		}
}

void
bus_subs_free(struct bus *b)
{
	struct bus_sub *s;

	TAILQ_CONCAT(&b->subs, &b->ended, link);
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
	struct str text = bus_conn_msg_header(m, HEADER_DEADLINE);
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

	if (s->dead) {
		bus_msg_free(m);
		return;
	}
	/* m may outlive s. */
	m->sub = NULL;
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
	/* If this fails, s is attached to the next connection. */
	if (b->conn != NULL && bus_sub_attach(s) != RC_OK)
		bus_conn_break(b->conn);
	if (out != NULL)
		*out = s;
	return RC_OK;
}

void
bus_unsubscribe(struct bus_sub *s)
{
	struct bus *b;

	if (s == NULL)
		return;
	b = s->bus;
	TAILQ_REMOVE(&b->subs, s, link);
	TAILQ_INSERT_TAIL(&b->ended, s, link);
	s->dead = true;
	s->draining = false;
	if (s->on != NULL) {
		bus_conn_sub_unsubscribe(s->on);
		if (bus_send_ping(b) != RC_OK)
			bus_conn_break(b->conn);
	}
	/* Events of s may be in the inbox until its BUS_EVENT_SUB_END. */
	sub_reap(s);
	bus_drain_check(b);
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
	struct bus_sub *s;

	if (b->drained == NULL)
		return;
	TAILQ_FOREACH (s, &b->subs, link)
		if (s->draining)
			return;
	loop_timer_set(b->loop, &b->drain_timer, clock_mono(), sub_drained, b);
}

void
bus_drain(struct bus *b, loop_fn fn, void *arg)
{
	struct bus_sub *s;

	assert(!b->draining);
	b->draining = true;
	TAILQ_FOREACH (s, &b->subs, link) {
		if (s->on == NULL)
			continue;
		/* Fails if the connection has ended; its event follows. */
		s->draining = bus_conn_sub_drain(s->on) == RC_OK;
	}
	b->drained = fn;
	b->drained_arg = arg;
	bus_drain_check(b);
}
