/*
 * Results are published to the bus at once, and stored in Redis at the end of
 * the current turn of the loop.
 */
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
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

/*
 * Results that are published on the latency connection in one turn of the loop;
 * a longer burst goes through the bulk connection.
 */
#define IMMEDIATE_MAX 4
/* Results in the queue. */
#define QUEUE_MAX   512
#define QUEUE_BYTES (4UL * 1024 * 1024)
#define NOTES_BYTES (QUEUE_MAX * (size_t)TERMINAL_NOTE_MAX * 2)
#define LOG_EVERY_S 10

struct results {
	struct bridge *b;
	struct arena *a;      /* reset for each message */
	struct arena *stored; /* of queued results */
	struct arena *notes;  /* of contexts read back */
	struct buf json;
	struct pending_results *pending;
	struct pending_results
	    *counted; /* refunded already, or never counted */
	struct terminal_result v[QUEUE_MAX];
	bool ours[QUEUE_MAX];     /* v[i] was published, and not counted */
	size_t counts[QUEUE_MAX]; /* size of v[i] on arrival */
	size_t n, bytes;
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
		rc = bus_publish(r->n < IMMEDIATE_MAX ? svc_bus(r->b->svc)
						      : svc_bulk(r->b->svc),
		    subject, v->json, NULL);
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
result_refund(struct results *r, size_t i)
{
	const struct terminal_result *v = &r->v[i];

	if (!r->ours[i] &&
	    pending_results_add(r->counted, v->id, v->request_id, clock_mono()))
		flood_limiter_refund(
		    r->b->flood, WIRE_TOPIC_RESULT, v->id, r->counts[i]);
}

static void
results_on_flush(void *arg)
{
	static struct log_rate rate;
	struct results *r = arg;
	int64_t missed;
	size_t i;
	enum rc rc;

	loop_timer_cancel(r->b->loop, &r->flush);
	arena_reset(r->notes);
	rc = terminal_put_results(r->b->state, r->v, r->n, r->notes);
	for (i = 0; i < r->n; i++) {
		if (r->v[i].rc == RC_NOENT) {
			result_unexpected(r, &r->v[i]);
			continue;
		}
		if (r->v[i].rc != RC_OK) {
			metric_add(r->unstored, 1);
			continue;
		}
		result_refund(r, i);
		if (r->v[i].first)
			result_stored(r, &r->v[i], r->ours[i]);
	}
	if (rc != RC_OK && log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.results_not_stored", LOG_RC(rc),
		    LOG_I("n", r->n), LOG_I("missed", missed));
	r->n = r->bytes = 0;
	arena_reset(r->stored);
}

void
results_flush(struct results *r)
{
	if (r->n > 0)
		results_on_flush(r);
}

/* Queue r->json, which arrived as a payload of that many bytes. */
static void
results_store(
    struct results *r, const struct address *a, size_t bytes, bool ours)
{
	struct terminal_result *v;

	if (r->n == QUEUE_MAX || r->bytes + r->json.n > QUEUE_BYTES)
		results_on_flush(r);
	v = &r->v[r->n];
	*v = (struct terminal_result){ .id = arena_str(r->stored, a->terminal),
		.request_id = arena_str(r->stored, a->request_id),
		.json = arena_str(r->stored, buf_str(&r->json)) };
	r->ours[r->n] = ours;
	r->counts[r->n] = bytes;
	if (ours)
		result_publish(r, v);
	r->n++;
	r->bytes += v->json.n;
	loop_timer_set(
	    r->b->loop, &r->flush, clock_mono(), results_on_flush, r);
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
	(void)svc_bulk(b->svc); /* connects in the background */
	r->a = arena_new(WIRE_ARENA_MAX);
	r->stored = arena_new(QUEUE_BYTES + TERMINAL_JSON_MAX +
	    QUEUE_MAX * (2 * (size_t)ID_MAX + 3));
	r->notes = arena_new(NOTES_BYTES);
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
	if (r == NULL)
		return;
	results_flush(r);
	loop_timer_cancel(r->b->loop, &r->flush);
	pending_results_free(r->pending);
	pending_results_free(r->counted);
	arena_free(r->a);
	arena_free(r->stored);
	arena_free(r->notes);
	buf_free(&r->json);
	free(r);
}
