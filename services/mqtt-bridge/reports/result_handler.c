/*
 * Results are published to the bus at once, and stored in Redis in batches, one
 * for each turn of the loop.
 */
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "reports/pending_result.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "terminal_event.h"
#include "terminal_limits.h"
#include "wire/device.h"

/* Results of a batch. */
#define QUEUE_MAX   512
#define QUEUE_BYTES (4UL * 1024 * 1024)
/* Batches that wait for Redis, and full ones that wait for one of those. */
#define BATCHES_MAX 4
#define FULL_MAX    4
/* Bytes of results over the limit that wait for the result of others. */
#define DEFERRED_BYTES (4UL * 1024 * 1024)
#define NOTES_BYTES    (QUEUE_MAX * (size_t)TERMINAL_NOTE_MAX * 2)
#define LOG_EVERY_S    10

struct results_batch {
	struct results *r;
	STAILQ_ENTRY(results_batch) link; /* of the spare or the full ones */
	struct arena *stored;             /* what v points to */
	struct arena *notes;              /* of contexts read back */
	struct terminal_result v[QUEUE_MAX];
	bool ours[QUEUE_MAX];     /* v[i] was published, and not counted */
	size_t counts[QUEUE_MAX]; /* size of v[i] on arrival */
	size_t n, bytes;
};

/* A result over the limit; its texts follow it. */
struct deferred_result {
	STAILQ_ENTRY(deferred_result) link;
	struct address a;
	struct str payload;
	size_t size;
};

STAILQ_HEAD(deferred_list, deferred_result);
STAILQ_HEAD(batch_list, results_batch);

struct results {
	struct bridge *b;
	struct arena *a; /* reset for each message */
	struct buf json;
	struct pending_results *pending;
	struct pending_results
	    *counted;               /* refunded already, or never counted */
	struct results_batch *open; /* takes the next result */
	struct batch_list spare;
	struct batch_list full;
	size_t n_full;
	struct results_batch *storing[BATCHES_MAX]; /* those wait for Redis */
	size_t n_storing;
	struct deferred_list deferred;
	size_t deferred_bytes;
	struct loop_timer flush;
	struct metric *received, *unexpected, *unpublished, *unstored;
};

/* ---- publishing ---- */

static void
result_publish(struct results *r, const struct terminal_result *v)
{
	static struct log_rate rate;
	char subject[sizeof(WIRE_SUBJECT_FMT_BODY_RESULT) +
	    2 * (size_t)ID_TOKEN_MAX];
	char terminal[ID_TOKEN_MAX], request[ID_TOKEN_MAX];
	int64_t missed;
	enum rc rc;

	rc = id_token(v->id, terminal);
	if (rc == RC_OK)
		rc = id_token(v->request_id, request);
	if (rc == RC_OK) {
		(void)snprintf(subject, sizeof(subject),
		    WIRE_SUBJECT_FMT_BODY_RESULT, terminal, request);
		rc = bus_publish(svc_bus(r->b->svc), subject, v->json, NULL);
	}
	if (rc == RC_OK)
		return;
	metric_add(r->unpublished, 1);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.result_not_sent", LOG_V("terminal", v->id),
		    LOG_RC(rc), LOG_I("missed", missed));
}

/* ---- storing ---- */

static void
result_emit(struct results *r, const struct terminal_result *v)
{
	struct wire_result msg;
	struct invoke_context context;

	arena_reset(r->a);
	if (wire_decode(&wire_result_desc, v->json, r->a, &msg, NULL) != RC_OK)
		return;
	terminal_event_result(r->b->events, v->id, &msg,
	    invoke_context_decode(v->note, &context) ? &context : NULL);
}

static void
result_stored(struct results *r, const struct terminal_result *v, bool sent)
{
	if (!sent)
		result_publish(r, v);
	result_emit(r, v);
}

/* All replicas receive it; the leader reports it. */
static void
result_unexpected(struct results *r, const struct terminal_result *v)
{
	metric_add(r->unexpected, 1);
	if (lease_holder_epoch(r->b->lease) != 0)
		terminal_event_denied(r->b->events, v->id,
		    wire_topics[WIRE_TOPIC_RESULT].name,
		    "no invoke of this request in the last ten minutes");
}

/* Only once per request, so that repeating a result is counted. */
static void
result_refund(struct results_batch *b, size_t i)
{
	const struct terminal_result *v = &b->v[i];
	struct results *r = b->r;

	if (!b->ours[i] &&
	    pending_results_add(r->counted, v->id, v->request_id, clock_mono()))
		flood_limiter_refund(
		    r->b->flood, WIRE_TOPIC_RESULT, v->id, b->counts[i]);
}

/* ---- results over the limit that may be expected ---- */

static bool
results_batch_counts(const struct results_batch *b, struct str terminal)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (!b->ours[i] && str_eq(b->v[i].id, terminal))
			return true;
	return false;
}

/* Whether results of the terminal were counted that may be refunded. */
static bool
results_may_refund(const struct results *r, struct str terminal)
{
	const struct results_batch *b;
	size_t i;

	if (results_batch_counts(r->open, terminal))
		return true;
	STAILQ_FOREACH(b, &r->full, link)
	if (results_batch_counts(b, terminal))
		return true;
	for (i = 0; i < r->n_storing; i++)
		if (results_batch_counts(r->storing[i], terminal))
			return true;
	return false;
}

bool
results_defer(
    struct results *r, const struct address *a, const struct mqtt_msg *m)
{
	size_t size = a->terminal.n + a->request_id.n + m->payload.n;
	struct deferred_result *d;
	char *p;

	if (r->deferred_bytes + size > DEFERRED_BYTES ||
	    !results_may_refund(r, a->terminal))
		return false;
	d = mem_alloc(sizeof(*d) + size);
	p = (char *)(d + 1);
	d->a = *a;
	d->a.terminal = (struct str){ p, a->terminal.n };
	memcpy(p, a->terminal.p, a->terminal.n);
	p += a->terminal.n;
	d->a.request_id = (struct str){ p, a->request_id.n };
	memcpy(p, a->request_id.p, a->request_id.n);
	p += a->request_id.n;
	d->payload = (struct str){ p, m->payload.n };
	memcpy(p, m->payload.p, m->payload.n);
	d->size = size;
	r->deferred_bytes += size;
	STAILQ_INSERT_TAIL(&r->deferred, d, link);
	return true;
}

/*
 * Whether the open batch need not be filled further: the others have no room
 * either.  The other half is for what arrives nevertheless.
 */
static bool
results_are_behind(const struct results *r)
{
	return r->n_storing == BATCHES_MAX &&
	    (r->n_full > 0 || r->open->n >= QUEUE_MAX / 2 ||
		r->open->bytes >= QUEUE_BYTES / 2);
}

/*
 * Receive them again, now that more is known; they may be deferred again. Those
 * that there is no room for wait for the next batch that is stored.
 */
static void
results_receive_deferred(struct results *r)
{
	struct deferred_list list = STAILQ_HEAD_INITIALIZER(list);
	struct deferred_result *d;

	STAILQ_CONCAT(&list, &r->deferred);
	while (!results_are_behind(r) && (d = STAILQ_FIRST(&list)) != NULL) {
		const struct mqtt_msg m = { .payload = d->payload };

		STAILQ_REMOVE_HEAD(&list, link);
		r->deferred_bytes -= d->size;
		receive_result(r->b, &d->a, &m);
		free(d);
	}
	STAILQ_CONCAT(&list, &r->deferred);
	STAILQ_CONCAT(&r->deferred, &list);
}

static struct results_batch *
results_batch_new(struct results *r)
{
	struct results_batch *b = STAILQ_FIRST(&r->spare);

	if (b != NULL) {
		STAILQ_REMOVE_HEAD(&r->spare, link);
		return b;
	}
	b = mem_zalloc(sizeof(*b));
	b->r = r;
	b->stored = arena_new(QUEUE_BYTES + TERMINAL_JSON_MAX +
	    QUEUE_MAX * (2 * (size_t)ID_MAX + 3));
	b->notes = arena_new(NOTES_BYTES);
	return b;
}

static void
results_batch_free(struct results_batch *b)
{
	arena_free(b->stored);
	arena_free(b->notes);
	free(b);
}

static void
results_batch_store(struct results_batch *b)
{
	static struct log_rate rate;
	struct results *r = b->r;
	int64_t missed;
	size_t i;
	enum rc rc;

	rc = terminal_put_results(r->b->state, b->v, b->n, b->notes);
	for (i = 0; i < b->n; i++) {
		if (b->v[i].rc == RC_NOENT) {
			result_unexpected(r, &b->v[i]);
			continue;
		}
		if (b->v[i].rc != RC_OK) {
			metric_add(r->unstored, 1);
			continue;
		}
		result_refund(b, i);
		if (b->v[i].first)
			result_stored(r, &b->v[i], b->ours[i]);
	}
	if (rc != RC_OK && log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.results_not_stored", LOG_RC(rc),
		    LOG_I("n", b->n), LOG_I("missed", missed));
	b->n = b->bytes = 0;
	arena_reset(b->stored);
	arena_reset(b->notes);
	STAILQ_INSERT_HEAD(&r->spare, b, link);
}

static void results_on_flush(void *arg);

static void
results_schedule_flush(struct results *r)
{
	loop_timer_set(
	    r->b->loop, &r->flush, clock_mono(), results_on_flush, r);
}

static void
results_fiber(void *arg)
{
	struct results_batch *b = arg;
	struct results *r = b->r;
	struct svc *s = r->b->svc;
	size_t i;

	svc_hold(s);
	r->storing[r->n_storing++] = b;
	results_batch_store(b);
	for (i = 0; r->storing[i] != b; i++)
		continue;
	r->storing[i] = r->storing[--r->n_storing];
	results_receive_deferred(r);
	results_schedule_flush(r);
	svc_release(s);
}

/* Store what is open and full, as far as there is room. */
static void
results_on_flush(void *arg)
{
	struct results *r = arg;
	struct results_batch *b;

	loop_timer_cancel(r->b->loop, &r->flush);
	while (r->n_storing < BATCHES_MAX &&
	    (b = STAILQ_FIRST(&r->full)) != NULL) {
		STAILQ_REMOVE_HEAD(&r->full, link);
		r->n_full--;
		fiber_start(results_fiber, b);
	}
	if (r->n_storing < BATCHES_MAX && r->open->n > 0) {
		b = r->open;
		r->open = results_batch_new(r);
		fiber_start(results_fiber, b);
	}
	if (!results_are_behind(r))
		receive_resume(r->b, RECEIVE_RESULTS);
}

/* False: there is no room for a result of that size. */
static bool
results_make_room(struct results *r, size_t bytes)
{
	if (r->open->n < QUEUE_MAX && r->open->bytes + bytes <= QUEUE_BYTES)
		return true;
	if (r->n_full == FULL_MAX)
		return false;
	STAILQ_INSERT_TAIL(&r->full, r->open, link);
	r->n_full++;
	r->open = results_batch_new(r);
	results_on_flush(r);
	return true;
}

/* Queue r->json, which arrived as a payload of that many bytes. */
static void
results_store(
    struct results *r, const struct address *a, size_t bytes, bool ours)
{
	const struct terminal_result passing = { .id = a->terminal,
		.request_id = a->request_id,
		.json = buf_str(&r->json) };
	struct results_batch *b;
	struct terminal_result *v;

	if (!results_make_room(r, r->json.n)) {
		metric_add(r->unstored, 1);
		if (ours)
			result_publish(r, &passing);
		return;
	}
	b = r->open;
	v = &b->v[b->n];
	*v = (struct terminal_result){ .id = arena_str(b->stored, a->terminal),
		.request_id = arena_str(b->stored, a->request_id),
		.json = arena_str(b->stored, buf_str(&r->json)) };
	b->ours[b->n] = ours;
	b->counts[b->n] = bytes;
	if (ours)
		result_publish(r, v);
	b->n++;
	b->bytes += v->json.n;
	if (results_are_behind(r))
		receive_pause(r->b, RECEIVE_RESULTS);
	results_schedule_flush(r);
}

/* ---- messages ---- */

void
results_receive(struct results *r, const struct address *a,
    const struct mqtt_msg *m, bool ours)
{
	struct wire_result msg;
	struct wire_err err;
	enum rc rc;

	metric_add(r->received, 1);
	arena_reset(r->a);
	buf_reset(&r->json);
	rc = wire_device_result(m->payload, a->request_id, r->a, &msg, &err);
	if (rc == RC_OK)
		rc = wire_encode(&wire_result_desc, &msg, &r->json, &err);
	if (rc != RC_OK) {
		/* All replicas receive it; the leader reports it. */
		if (lease_holder_epoch(r->b->lease) != 0)
			reports_reject(r->b->reports, a,
			    WIRE_REFUSAL_OUTCOME_REFUSED, &err);
		return;
	}
	results_store(r, a, m->payload.n, ours);
}

bool
results_claim(struct results *r, const struct address *a)
{
	struct mono now = clock_mono();

	if (!pending_results_take(r->pending, a->terminal, a->request_id, now))
		return false;
	(void)pending_results_add(r->counted, a->terminal, a->request_id, now);
	return true;
}

void
results_expect(struct results *r, const struct address *a)
{
	(void)pending_results_add(
	    r->pending, a->terminal, a->request_id, clock_mono());
}

/* ---- start and stop ---- */

void
results_subscribe(struct results *r)
{
	char topic[ADDRESS_TOPIC_MAX];
	struct str filter =
	    address_filter(r->b->prefix, WIRE_TOPIC_RESULT, topic);

	if (mqtt_subscribe(
		r->b->mqtt, filter, 1 | MQTT_AS_PUBLISHED, NULL, NULL) != RC_OK)
		log_error("bridge.filter", LOG_V("filter", filter));
}

struct results *
results_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct results *r = mem_zalloc(sizeof(*r));

	r->b = b;
	r->a = arena_new(WIRE_ARENA_MAX);
	STAILQ_INIT(&r->spare);
	STAILQ_INIT(&r->full);
	r->open = results_batch_new(r);
	STAILQ_INIT(&r->deferred);
	buf_init(&r->json, BUS_PAYLOAD_MAX);
	r->received = metric_counter(
	    set, "soul_bridge_results_total", "Results received.", NULL);
	r->unexpected = metric_counter(set, "soul_bridge_results_unasked_total",
	    "Results without a known invoke, dropped.", NULL);
	r->unpublished = metric_counter(set, "soul_bridge_results_unsent_total",
	    "Results that could not be published.", NULL);
	r->unstored = metric_counter(set, "soul_bridge_results_unkept_total",
	    "Results that could not be stored.", NULL);
	r->pending = pending_results_new();
	r->counted = pending_results_new();
	results_subscribe(r);
	return r;
}

void
results_free(struct results *r)
{
	struct deferred_result *d;
	struct results_batch *b;

	if (r == NULL)
		return;
	while ((b = STAILQ_FIRST(&r->full)) != NULL) {
		STAILQ_REMOVE_HEAD(&r->full, link);
		results_batch_store(b);
	}
	if (r->open->n > 0)
		results_batch_store(r->open);
	else
		results_batch_free(r->open);
	while ((d = STAILQ_FIRST(&r->deferred)) != NULL) {
		STAILQ_REMOVE_HEAD(&r->deferred, link);
		free(d);
	}
	while ((b = STAILQ_FIRST(&r->spare)) != NULL) {
		STAILQ_REMOVE_HEAD(&r->spare, link);
		results_batch_free(b);
	}
	loop_timer_cancel(r->b->loop, &r->flush);
	pending_results_free(r->pending);
	pending_results_free(r->counted);
	arena_free(r->a);
	buf_free(&r->json);
	free(r);
}
