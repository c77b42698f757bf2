/*
 * event: envelopes of events, and publishing them until the stream has them.
 *
 * Events are collected for a moment and leave in one write, which costs the
 * stream a quarter of what it costs if they come alone.  An event stays here
 * until the stream has acknowledged it.  It is published again with the same
 * message id after each failure, so that it is stored once.
 *
 * A stream that fails, e.g. because its cluster elects a leader, gets one event
 * at a time, after a while each, until it acknowledges one.  The others wait:
 * some seconds of a busy service.
 */
#include "svc/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/jetstream.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "svc/svc_internal.h"
#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define STREAM       "SOUL_EVENTS"
#define MAX_AGE_S    (7L * 24 * 3600)
#define MAX_BYTES    (1024L * 1024 * 1024)
#define DUPLICATES_S 120

/* Events that are not acknowledged, their bytes, and those that are sent. */
#define PENDING_MAX   32768
#define PENDING_BYTES (32UL * 1024 * 1024)
#define SENT_MAX      1024
#define ACK_MS        5000
#define GIVE_UP_MS    60000
#define COLLECT_MS    10
/* How long a fiber waits for an acknowledgement. */
#define STORE_MS 5000
/* A stream that fails: for how long its acknowledgement is waited for, at
 * first, and between two events. */
#define PROBE_MS     500
#define RETRY_MIN_MS 20
#define RETRY_MAX_MS 500
/* How long a drain waits for acknowledgements. */
#define DRAIN_MS    2000
#define TYPE_MAX    64
#define LOG_EVERY_S 10

struct event_name {
	char subject[TYPE_MAX + ID_TOKEN_MAX + 16];
	char msg_id[TYPE_MAX + ID_TOKEN_MAX + 2];
};

/* A fiber that waits for the end of an event. */
struct event_wait {
	struct fiber *fiber;
	struct pending_event *p;
	struct loop_timer timer;
	enum rc rc;
};

struct pending_event {
	TAILQ_ENTRY(pending_event) link; /* in waiting or sent */
	struct svc *s;
	struct event_wait *wait; /* NULL: nobody */
	struct buf data;
	struct trace trace;
	struct mono until;
	const char *msg_id; /* in text, after the subject */
	char text[];
};

TAILQ_HEAD(pending_events, pending_event);

struct svc_events {
	struct bus *bus;
	/* To be published; published and not acknowledged. */
	struct pending_events waiting, sent;
	size_t n, n_sent, bytes;
	bool failing;
	struct pending_event *probe; /* sent while failing; NULL: none */
	int64_t probe_ms;
	struct backoff backoff;
	bool stopped;
	struct loop_timer publish; /* of what waits */
	struct mono drain_by;
	struct log_rate log_lost;
	struct metric *m_stored;
	struct metric *m_lost;
};

static void events_publish(void *arg);

/* ---- the end of an event ---- */

static void
event_free(struct pending_event *p)
{
	struct svc_events *ev = p->s->events;

	ev->n--;
	ev->bytes -= p->data.n;
	buf_free(&p->data);
	free(p);
}

static void
event_wake(struct event_wait *w, enum rc rc)
{
	loop_timer_cancel(w->p->s->loop, &w->timer);
	w->p->wait = NULL;
	w->rc = rc;
}

/* p is in neither list.  The fiber goes on last, as it may send others. */
static void
event_end(struct pending_event *p, enum rc rc)
{
	struct event_wait *w = p->wait;

	if (w != NULL)
		event_wake(w, rc);
	event_free(p);
	if (w != NULL)
		fiber_resume(w->fiber);
}

static void
events_count_lost(struct svc_events *ev, const char *what, enum rc rc)
{
	int64_t missed;

	metric_add(ev->m_lost, 1);
	if (log_every(&ev->log_lost, LOG_EVERY_S, &missed))
		log_error("svc.event_lost", LOG_S("event", what), LOG_RC(rc),
		    LOG_I("missed", missed));
}

static void
event_lose(struct pending_event *p, enum rc rc)
{
	events_count_lost(p->s->events, p->text, rc);
	event_end(p, rc);
}

/* Of those that wait, lose what is too old. */
static void
events_expire(struct svc_events *ev)
{
	struct pending_events old = TAILQ_HEAD_INITIALIZER(old);
	struct mono now = clock_mono();
	struct pending_event *p, *next;

	for (p = TAILQ_FIRST(&ev->waiting); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (mono_diff_ms(now, p->until) < 0)
			continue;
		TAILQ_REMOVE(&ev->waiting, p, link);
		TAILQ_INSERT_TAIL(&old, p, link);
	}
	/* Who waits for one may send another. */
	while ((p = TAILQ_FIRST(&old)) != NULL) {
		TAILQ_REMOVE(&old, p, link);
		event_lose(p, RC_TIMEOUT);
	}
}

/* ---- publishing ---- */

static void
events_schedule(struct svc *s, int64_t ms)
{
	struct svc_events *ev = s->events;

	if (ev->publish.pos == 0)
		loop_timer_set(s->loop, &ev->publish,
		    mono_add_ms(clock_mono(), ms), events_publish, s);
}

/* Publish now, for a fiber that waits. */
static void
events_publish_soon(struct svc *s)
{
	struct svc_events *ev = s->events;

	if (!ev->failing)
		loop_timer_set(
		    s->loop, &ev->publish, clock_mono(), events_publish, s);
}

static void
events_on_stored(struct svc *s)
{
	struct svc_events *ev = s->events;

	metric_add(ev->m_stored, 1);
	ev->probe_ms = PROBE_MS;
	backoff_reset(&ev->backoff);
	if (ev->failing)
		loop_timer_cancel(s->loop, &ev->publish);
	ev->failing = false;
	if (!TAILQ_EMPTY(&ev->waiting))
		events_schedule(s, 0);
}

static void
events_on_failure(struct svc *s)
{
	struct svc_events *ev = s->events;

	ev->failing = true;
	events_schedule(s, backoff_next_ms(&ev->backoff));
}

/* p has been sent, or could not be. */
static void
event_on_result(struct pending_event *p, enum rc rc)
{
	struct svc *s = p->s;
	struct svc_events *ev = s->events;

	TAILQ_REMOVE(&ev->sent, p, link);
	ev->n_sent--;
	if (ev->probe == p) {
		ev->probe = NULL;
		ev->probe_ms =
		    2 * ev->probe_ms < ACK_MS ? 2 * ev->probe_ms : ACK_MS;
	}
	if (rc == RC_OK) {
		events_on_stored(s);
		event_end(p, RC_OK);
	} else if (ev->stopped || rc == RC_TOOBIG || rc == RC_INVALID) {
		event_lose(p, rc);
	} else {
		/* The next one is another, as it may be at fault. */
		TAILQ_INSERT_TAIL(&ev->waiting, p, link);
		events_on_failure(s);
	}
}

static void
event_on_ack(void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct pending_event *p = arg;
	struct svc *s = p->s;

	(void)stored;
	event_on_result(p, rc);
	if (!s->events->stopped)
		svc_drain_step(s);
}

static void
event_publish(struct pending_event *p, int64_t ack_ms)
{
	struct svc_events *ev = p->s->events;
	const struct bus_meta meta = {
		.deadline = { clock_wall().ms + ack_ms },
		.trace = &p->trace,
		.msg_id = p->msg_id,
	};
	struct bus_pub_ack_handler handler = { event_on_ack, p };
	enum rc rc;

	TAILQ_REMOVE(&ev->waiting, p, link);
	TAILQ_INSERT_TAIL(&ev->sent, p, link);
	ev->n_sent++;
	rc = bus_stream_publish(
	    ev->bus, p->text, buf_str(&p->data), &meta, handler);
	if (rc != RC_OK)
		event_on_result(p, rc);
}

static void
events_publish(void *arg)
{
	struct svc *s = arg;
	struct svc_events *ev = s->events;
	struct pending_event *p;

	if (ev->failing) {
		events_expire(ev);
		p = TAILQ_FIRST(&ev->waiting);
		if (p == NULL || ev->probe != NULL)
			return;
		ev->probe = p;
		event_publish(p, ev->probe_ms);
		return;
	}
	while (!ev->failing && ev->n_sent < SENT_MAX &&
	    (p = TAILQ_FIRST(&ev->waiting)) != NULL)
		event_publish(p, ACK_MS);
}

/* ---- new events ---- */

/* The stream is created with the first event. */
static struct svc_events *
svc_events_of(struct svc *s)
{
	static const char *const subjects[] = { WIRE_SUBJECT_ALL_EVENT };
	const struct bus_stream stream = {
		.name = STREAM,
		.subjects = subjects,
		.n_subjects = NELEM(subjects),
		.max_age_s = MAX_AGE_S,
		.max_bytes = MAX_BYTES,
		.duplicates_s = DUPLICATES_S,
		.no_update =
		    strcmp(s->def->name, WIRE_MANAGER_SOUL_EVENTS) != 0,
	};

	if (s->events != NULL)
		return s->events;
	s->events = mem_zalloc(sizeof(*s->events));
	s->events->bus = s->bus;
	if (bus_stream_ensure(s->events->bus, &stream) != RC_OK)
		abort(); /* it is a constant */
	TAILQ_INIT(&s->events->waiting);
	TAILQ_INIT(&s->events->sent);
	s->events->probe_ms = PROBE_MS;
	s->events->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	s->events->m_stored =
	    metric_counter(s->metrics, "svc_events_stored_total",
		"Events that the stream has stored.", NULL);
	s->events->m_lost = metric_counter(s->metrics, "svc_events_lost_total",
	    "Events that could not be stored.", NULL);
	return s->events;
}

void
svc_events_ensure_stream(struct svc *s)
{
	(void)svc_events_of(s);
}

static enum rc
event_name(struct event_name *name, const struct svc_event *e)
{
	char token[ID_TOKEN_MAX], uuid[ID_UUID_MAX];

	if (id_token(e->key, token) != RC_OK)
		return RC_INVALID;
	snprintf(name->subject, sizeof(name->subject), WIRE_SUBJECT_FMT_EVENT,
	    e->type, token);
	if (e->id.p == NULL) {
		id_uuid(uuid);
		snprintf(name->msg_id, sizeof(name->msg_id), "%s", uuid);
		return RC_OK;
	}
	if (id_token(e->id, token) != RC_OK)
		return RC_INVALID;
	/* One stream has all types; a request may have an event of several. */
	snprintf(name->msg_id, sizeof(name->msg_id), "%s.%s", e->type, token);
	return RC_OK;
}

static void
event_log_invalid(const char *type, const struct wire_err *err)
{
	char text[WIRE_ERR_TEXT_MAX];

	wire_err_text(err, text, sizeof(text));
	log_error("svc.event_invalid", LOG_S("type", type), LOG_S("why", text));
}

static enum rc
event_wrap(struct pending_event *p, const struct svc_event *e)
{
	const struct wire_inner payload = { STR("payload"), e->desc,
		e->payload };
	struct wire_event_envelope env = { 0 };
	struct wire_err err = { 0 };
	char uuid[ID_UUID_MAX];
	enum rc rc;

	trace_uuid(&p->trace, uuid);
	env.trace_id = str_of(uuid);
	env.type = str_of(e->type);
	env.source = str_of(e->source != NULL ? e->source : p->s->def->name);
	env.meta.timestamp = (double)clock_wall().ms / 1000.0;
	env.meta.psyche_state = e->psyche_state;
	rc = wire_encode_around(
	    &wire_event_envelope_desc, &env, &payload, &p->data, &err);
	if (rc == RC_INVALID)
		event_log_invalid(e->type, &err);
	return rc;
}

/* Not counted yet, and in neither list. */
static struct pending_event *
event_new(struct svc *s, const struct event_name *name)
{
	size_t n = strlen(name->subject) + 1, m = strlen(name->msg_id) + 1;
	struct pending_event *p = mem_zalloc(sizeof(*p) + n + m);

	p->s = s;
	p->until = mono_add_ms(clock_mono(), GIVE_UP_MS);
	buf_init(&p->data, BUS_PAYLOAD_MAX);
	memcpy(p->text, name->subject, n);
	memcpy(p->text + n, name->msg_id, m);
	p->msg_id = p->text + n;
	return p;
}

static enum rc
event_add(struct svc *s, const struct svc_event *e, struct pending_event **out)
{
	const struct wire_event *row = wire_event_find(str_of(e->type));
	struct svc_events *ev = svc_events_of(s);
	struct event_name name;
	struct pending_event *p;
	enum rc rc;

	if (row == NULL || row->payload != e->desc) {
		log_error("svc.event_unknown", LOG_S("type", e->type));
		return RC_BUG;
	}
	if (ev->n >= PENDING_MAX || ev->bytes >= PENDING_BYTES) {
		events_count_lost(ev, e->type, RC_RETRY);
		return RC_RETRY;
	}
	rc = event_name(&name, e);
	if (rc != RC_OK)
		return rc;
	p = event_new(s, &name);
	if (e->trace != NULL)
		p->trace = *e->trace;
	else
		trace_new(&p->trace);
	rc = event_wrap(p, e);
	ev->n++;
	ev->bytes += p->data.n;
	if (rc != RC_OK) {
		event_free(p);
		return rc;
	}
	TAILQ_INSERT_TAIL(&ev->waiting, p, link);
	events_schedule(s, COLLECT_MS);
	*out = p;
	return RC_OK;
}

enum rc
svc_event_send(struct svc *s, const struct svc_event *e)
{
	struct pending_event *p;

	return event_add(s, e, &p);
}

static void
event_on_timeout(void *arg)
{
	struct event_wait *w = arg;

	event_wake(w, RC_TIMEOUT);
	fiber_resume(w->fiber);
}

enum rc
svc_event_store(struct svc *s, const struct svc_event *e)
{
	struct event_wait w = { .fiber = fiber_self() };
	enum rc rc = event_add(s, e, &w.p);

	if (rc != RC_OK)
		return rc;
	w.p->wait = &w;
	events_publish_soon(s);
	loop_timer_set(s->loop, &w.timer, mono_add_ms(clock_mono(), STORE_MS),
	    event_on_timeout, &w);
	fiber_suspend();
	return w.rc;
}

void
svc_event(struct svc *s, const char *type, struct str key,
    const struct wire_desc *desc, const void *payload,
    const struct trace *trace)
{
	const struct svc_event e = {
		.type = type,
		.key = key,
		.desc = desc,
		.payload = payload,
		.trace = trace,
	};
	enum rc rc = svc_event_send(s, &e);

	if (rc != RC_OK && rc != RC_RETRY)
		events_count_lost(s->events, type, rc);
}

bool
svc_events_hold(struct svc *s)
{
	struct svc_events *ev = s->events;

	if (ev == NULL || ev->n == 0)
		return false;
	if (ev->drain_by.ns == 0)
		ev->drain_by = mono_add_ms(clock_mono(), DRAIN_MS);
	/* One that fails has its own time. */
	if (!ev->failing)
		events_publish(s);
	return mono_diff_ms(clock_mono(), ev->drain_by) < 0;
}

void
svc_events_stop(struct svc *s)
{
	struct pending_event *p;

	if (s->events == NULL)
		return;
	s->events->stopped = true;
	loop_timer_cancel(s->loop, &s->events->publish);
	while ((p = TAILQ_FIRST(&s->events->waiting)) != NULL) {
		TAILQ_REMOVE(&s->events->waiting, p, link);
		/* What waits for it has ended by now. */
		p->wait = NULL;
		event_lose(p, RC_DOWN);
	}
	TAILQ_FOREACH (p, &s->events->sent, link)
		p->wait = NULL;
}

void
svc_events_free(struct svc *s)
{
	free(s->events);
	s->events = NULL;
}
