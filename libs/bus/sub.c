/*
 * Subscriptions, the messages they bring, and their draining.
 */
#include <assert.h>
#include <stdlib.h>

#include "bus/internal.h"
#include "core/log.h"
#include "core/mem.h"

/* ---- what bus.c needs --------------------------------------------------- */

struct bus_sub *
bus_sub_make(
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
bus_sub_put(struct bus_sub *s)
{
	enum rc rc;

	rc = conn_subscribe(s->bus->conn, s->subject, s->queue, s, &s->on);
	if (rc == RC_OK)
		s->live++;
	return rc;
}

/* Nothing uses s's subscription on the connection any more. */
static void
let_go(struct bus_sub *s)
{
	conn_sub_free(s->on);
	s->on = NULL;
	s->draining = false;
}

static void
sub_free(struct bus_sub *s)
{
	conn_sub_free(s->on);
	free(s->subject);
	free(s->queue);
	free(s);
}

/* Free s if it is dead and no event can name it any more. */
static void
bury(struct bus_sub *s)
{
	if (!s->dead || s->live > 0 || s->on != NULL)
		return;
	TAILQ_REMOVE(&s->bus->ended, s, link);
	sub_free(s);
}

void
bus_sub_end(struct bus_sub *s, uint64_t gen)
{
	struct bus *b = s->bus;

	s->live--;
	if (s->draining && gen == b->gen) {
		let_go(s);
		bus_drain_check(b);
	}
	bury(s);
}

void
bus_subs_lost(struct bus *b)
{
	struct bus_sub *s, *next;

	let_go(&b->inbox);
	TAILQ_FOREACH (s, &b->subs, link)
		let_go(s);
	for (s = TAILQ_FIRST(&b->ended); s != NULL; s = next) {
		next = TAILQ_NEXT(s, link);
		let_go(s);
		bury(s);
	}
}

void
bus_sub_passed(struct bus *b)
{
	struct bus_sub *s;

	/* They come back in the order in which they were sent. */
	TAILQ_FOREACH (s, &b->ended, link)
		if (s->on != NULL) {
			let_go(s);
			bury(s);
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

/* ---- messages ----------------------------------------------------------- */

static struct wall
deadline_of(const struct bus_msg *m)
{
	struct str text = conn_msg_header(m, HEADER_DEADLINE);
	struct wall t = { 0 };

	/* What cannot be read is no deadline: its sender asked for none that
	 * anybody could keep. */
	if (text.p != NULL && str_to_i64(text, 1, INT64_MAX, &t.ms) != RC_OK)
		t.ms = 0;
	return t;
}

void
bus_sub_deliver(struct bus_sub *s, struct bus_msg *m)
{
	struct bus *b = s->bus;
	struct bus_delivery job;

	if (s->dead) {
		bus_msg_free(m);
		return;
	}
	/* The handler may keep m for longer than s lives. */
	m->sub = NULL;
	m->stored = s->kind == SUB_STREAM;
	/* What was stored is never late: storing it was meant to outlast. */
	if (!m->stored)
		m->deadline = deadline_of(m);
	if (m->deadline.ms != 0 && clock_wall().ms > m->deadline.ms) {
		metric_add(b->metric.stale, 1);
		bus_msg_refuse(m, RC_TIMEOUT);
		return;
	}
	if (m->stored && !bus_msg_delivery(m, &job)) {
		log_warn("bus.not_from_stream", LOG_S("subject", s->subject));
		bus_msg_free(m);
		return;
	}
	s->fn(s->arg, m);
}

struct str
bus_msg_subject(const struct bus_msg *m)
{
	return conn_msg_subject(m);
}

struct str
bus_msg_data(const struct bus_msg *m)
{
	return conn_msg_data(m);
}

struct wall
bus_msg_deadline(const struct bus_msg *m)
{
	return m->deadline;
}

bool
bus_msg_wants_reply(const struct bus_msg *m)
{
	return !m->stored && conn_msg_reply(m).n > 0;
}

bool
bus_msg_trace(const struct bus_msg *m, struct trace *t)
{
	struct str text = conn_msg_header(m, HEADER_TRACE);

	return text.p != NULL && trace_parse(text, t) == RC_OK;
}

struct str
bus_msg_header(const struct bus_msg *m, const char *key)
{
	return conn_msg_header(m, key);
}

void
bus_msg_free(struct bus_msg *m)
{
	conn_event_free(m);
}

/* ---- what users call ---------------------------------------------------- */

enum rc
bus_subscribe(struct bus *b, const char *subject, const char *queue,
    bus_msg_fn fn, void *arg, struct bus_sub **out)
{
	struct bus_sub *s;

	if (!names_subject_ok(subject, true) ||
	    (queue != NULL && !names_queue_ok(queue)))
		return RC_INVALID;
	if (b->draining)
		return RC_DOWN;
	s = bus_sub_make(b, SUB_PLAIN, subject, queue);
	s->fn = fn;
	s->arg = arg;
	/* A connection that breaks here is replaced, and s put on the next. */
	if (b->conn != NULL && bus_sub_put(s) != RC_OK)
		conn_break(b->conn);
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
		conn_sub_end(s->on);
		if (bus_greet(b) != RC_OK)
			conn_break(b->conn);
	}
	/* Events that name s may be in the inbox until its CONN_SUB_END. */
	bury(s);
	bus_drain_check(b);
}

/* ---- draining ----------------------------------------------------------- */

static void
drain_told(void *arg)
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
	loop_timer_set(b->loop, &b->drain_timer, clock_mono(), drain_told, b);
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
		/* It fails if the connection has ended, which is told soon. */
		s->draining = conn_sub_drain(s->on) == RC_OK;
	}
	b->drained = fn;
	b->drained_arg = arg;
	bus_drain_check(b);
}
