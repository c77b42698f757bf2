/*
 * event: envelopes of events, and publishing them until the stream has them.
 *
 * Events are collected for a moment and leave in one write, which costs the
 * stream a quarter of what it costs if they come alone.  An event stays here
 * until the stream has acknowledged it.  It is published again with the same
 * message id after each failure, so that it is stored once.
 */
#include "svc/event.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/jetstream.h"
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

/* Events that wait for their acknowledgement, and their bytes. */
#define PENDING_MAX   1024
#define PENDING_BYTES (16UL * 1024 * 1024)
#define ACK_MS        5000
#define GIVE_UP_MS    60000
#define COLLECT_MS    10
#define RETRY_MIN_MS  20
#define RETRY_MAX_MS  2000
/* How long a drain waits for acknowledgements. */
#define DRAIN_MS    2000
#define TYPE_MAX    64
#define LOG_EVERY_S 10

struct pending_event {
	TAILQ_ENTRY(pending_event) link;
	struct svc *s;
	struct buf data;
	struct trace trace;
	struct mono until;
	struct backoff backoff;
	struct loop_timer timer;
	bool published; /* at least once */
	bool acking;    /* its acknowledgement is pending */
	char subject[TYPE_MAX + ID_TOKEN_MAX + 16];
	char msg_id[TYPE_MAX + ID_TOKEN_MAX + 2];
};

TAILQ_HEAD(pending_events, pending_event);

struct svc_events {
	struct bus *bus;
	struct pending_events list;
	size_t n, bytes;
	bool stopped;
	struct loop_timer publish; /* of what has been collected */
	struct mono drain_by;
	struct log_rate log_lost;
	struct metric *m_stored;
	struct metric *m_lost;
};

static void event_publish(void *arg);

static void
event_free(struct pending_event *p)
{
	struct svc_events *ev = p->s->events;

	loop_timer_cancel(p->s->loop, &p->timer);
	TAILQ_REMOVE(&ev->list, p, link);
	ev->n--;
	ev->bytes -= p->data.n;
	buf_free(&p->data);
	free(p);
}

static void
event_lose(struct pending_event *p, enum rc rc)
{
	struct svc_events *ev = p->s->events;
	int64_t missed;

	metric_add(ev->m_lost, 1);
	if (log_every(&ev->log_lost, LOG_EVERY_S, &missed))
		log_error("svc.event_lost", LOG_S("subject", p->subject),
		    LOG_RC(rc), LOG_I("missed", missed));
	event_free(p);
}

static void
event_on_result(struct pending_event *p, enum rc rc)
{
	struct svc_events *ev = p->s->events;

	if (rc == RC_OK) {
		metric_add(ev->m_stored, 1);
		event_free(p);
	} else if (ev->stopped || rc == RC_TOOBIG || rc == RC_INVALID ||
	    mono_diff_ms(clock_mono(), p->until) >= 0) {
		event_lose(p, rc);
	} else {
		loop_timer_set(p->s->loop, &p->timer,
		    mono_add_ms(clock_mono(), backoff_next_ms(&p->backoff)),
		    event_publish, p);
	}
}

static void
event_on_ack(void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct pending_event *p = arg;
	struct svc *s = p->s;

	(void)stored;
	p->acking = false;
	event_on_result(p, rc);
	if (!s->events->stopped)
		svc_drain_step(s);
}

static void
event_publish(void *arg)
{
	struct pending_event *p = arg;
	const struct bus_meta meta = {
		.deadline = { clock_wall().ms + ACK_MS },
		.trace = &p->trace,
		.msg_id = p->msg_id,
	};
	struct bus_pub_ack_handler handler = { event_on_ack, p };
	enum rc rc;

	p->published = true;
	rc = bus_stream_publish(
	    p->s->events->bus, p->subject, buf_str(&p->data), &meta, handler);

	p->acking = rc == RC_OK;
	if (!p->acking)
		event_on_result(p, rc);
}

static void
events_publish(void *arg)
{
	struct svc_events *ev = arg;
	struct pending_event *p, *next;

	for (p = TAILQ_FIRST(&ev->list); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (!p->published)
			event_publish(p);
	}
}

static void
events_schedule(struct svc *s)
{
	struct svc_events *ev = s->events;

	if (ev->publish.pos == 0)
		loop_timer_set(s->loop, &ev->publish,
		    mono_add_ms(clock_mono(), COLLECT_MS), events_publish, ev);
}

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
	TAILQ_INIT(&s->events->list);
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
event_name(struct pending_event *p, const struct svc_event *e)
{
	char token[ID_TOKEN_MAX], uuid[ID_UUID_MAX];

	if (id_token(e->key, token) != RC_OK)
		return RC_INVALID;
	snprintf(p->subject, sizeof(p->subject), WIRE_SUBJECT_FMT_EVENT,
	    e->type, token);
	if (e->id.p == NULL) {
		id_uuid(uuid);
		snprintf(p->msg_id, sizeof(p->msg_id), "%s", uuid);
		return RC_OK;
	}
	if (id_token(e->id, token) != RC_OK)
		return RC_INVALID;
	/* One stream has all types; a request may have an event of several. */
	snprintf(p->msg_id, sizeof(p->msg_id), "%s.%s", e->type, token);
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

enum rc
svc_event_send(struct svc *s, const struct svc_event *e)
{
	const struct wire_event *row = wire_event_find(str_of(e->type));
	struct svc_events *ev = svc_events_of(s);
	struct pending_event *p;
	enum rc rc;

	if (row == NULL || row->payload != e->desc) {
		log_error("svc.event_unknown", LOG_S("type", e->type));
		return RC_BUG;
	}
	if (ev->n >= PENDING_MAX || ev->bytes >= PENDING_BYTES)
		return RC_RETRY;
	p = mem_zalloc(sizeof(*p));
	p->s = s;
	p->until = mono_add_ms(clock_mono(), GIVE_UP_MS);
	p->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	buf_init(&p->data, BUS_PAYLOAD_MAX);
	if (e->trace != NULL)
		p->trace = *e->trace;
	else
		trace_new(&p->trace);
	rc = event_name(p, e);
	if (rc == RC_OK)
		rc = event_wrap(p, e);
	if (rc != RC_OK) {
		buf_free(&p->data);
		free(p);
		return rc;
	}
	TAILQ_INSERT_TAIL(&ev->list, p, link);
	ev->n++;
	ev->bytes += p->data.n;
	events_schedule(s);
	return RC_OK;
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
	int64_t missed;

	if (rc == RC_OK)
		return;
	metric_add(s->events->m_lost, 1);
	if (log_every(&s->events->log_lost, LOG_EVERY_S, &missed))
		log_error("svc.event_lost", LOG_S("type", type), LOG_RC(rc),
		    LOG_I("missed", missed));
}

bool
svc_events_hold(struct svc *s)
{
	struct svc_events *ev = s->events;

	if (ev == NULL || ev->n == 0)
		return false;
	if (ev->drain_by.ns == 0)
		ev->drain_by = mono_add_ms(clock_mono(), DRAIN_MS);
	events_publish(ev);
	return mono_diff_ms(clock_mono(), ev->drain_by) < 0;
}

void
svc_events_stop(struct svc *s)
{
	struct pending_event *p, *next;

	if (s->events == NULL)
		return;
	s->events->stopped = true;
	loop_timer_cancel(s->loop, &s->events->publish);
	for (p = TAILQ_FIRST(&s->events->list); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (!p->acking)
			event_lose(p, RC_DOWN);
	}
}

void
svc_events_free(struct svc *s)
{
	free(s->events);
	s->events = NULL;
}
