/*
 * From the broker to the bus at once, and to Redis when the loop comes round.
 */
#include "on_result.h"

#include <stdio.h>
#include <stdlib.h>

#include "asked.h"
#include "bridge.h"
#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "expected.h"
#include "flood.h"
#include "mqtt/mqtt.h"
#include "on_lease.h"
#include "on_report.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "tell.h"
#include "wire/device.h"

/* Results of one turn of the loop that are handed on without delay; behind them
 * so many come that a millisecond is no delay. */
#define ASAP_MAX 4
/* Results that wait to be kept. */
#define WAITING_MAX   512
#define WAITING_BYTES (4UL * 1024 * 1024)
#define NOTES_BYTES   (WAITING_MAX * (size_t)TERMINAL_NOTE_MAX * 2)
#define LOG_EVERY_S   10

struct results {
	struct bridge *b;
	struct arena *a;     /* of a message */
	struct arena *kept;  /* of those that wait */
	struct arena *notes; /* of those that are told */
	struct buf json;
	struct expected *expected;
	struct expected
	    *counted; /* asked for, and not to be given back again */
	struct terminal_result v[WAITING_MAX];
	bool ours[WAITING_MAX];     /* v[i] was handed on, and never counted */
	size_t counts[WAITING_MAX]; /* bytes of v[i] as it came */
	size_t n, bytes;
	struct loop_timer flush;
	struct metric *came, *unasked, *unsent, *unkept;
};

/* ---- handing on ---------------------------------------------------------- */

static void
hand_on(struct results *r, const struct terminal_result *v)
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
		rc = bus_publish(
		    r->n < ASAP_MAX ? svc_bus(r->b->svc) : svc_bulk(r->b->svc),
		    subject, v->json, NULL);
	}
	if (rc == RC_OK)
		return;
	metric_add(r->unsent, 1);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.result_not_sent", LOG_V("terminal", v->id),
		    LOG_RC(rc), LOG_I("missed", missed));
}

/* ---- keeping ------------------------------------------------------------- */

static void
tell(struct results *r, const struct terminal_result *v)
{
	struct wire_result msg;
	struct asked asked;

	arena_reset(r->a);
	if (wire_decode(&wire_result_desc, v->json, r->a, &msg, NULL) != RC_OK)
		return;
	tell_result(r->b->telling, v->id, &msg,
	    asked_read(v->note, &asked) ? &asked : NULL);
}

static void
settle(struct results *r, const struct terminal_result *v, bool sent)
{
	if (!sent)
		hand_on(r, v);
	tell(r, v);
}

/* All replicas see it; one tells. */
static void
unasked(struct results *r, const struct terminal_result *v)
{
	metric_add(r->unasked, 1);
	if (leading_epoch(r->b->leading) != 0)
		tell_denied(r->b->telling, v->id,
		    wire_topics[WIRE_TOPIC_RESULT].name,
		    "nobody asked this body for it within ten minutes");
}

/* Once for each that was asked for, so that repeating it counts. */
static void
give_back(struct results *r, size_t i)
{
	const struct terminal_result *v = &r->v[i];

	if (!r->ours[i] &&
	    expected_add(r->counted, v->id, v->request_id, clock_mono()))
		flood_give(r->b->flood, WIRE_TOPIC_RESULT, v->id, r->counts[i]);
}

static void
flush(void *arg)
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
			unasked(r, &r->v[i]);
			continue;
		}
		if (r->v[i].rc != RC_OK) {
			metric_add(r->unkept, 1);
			continue;
		}
		give_back(r, i);
		if (r->v[i].first)
			settle(r, &r->v[i], r->ours[i]);
	}
	if (rc != RC_OK && log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.results_not_kept", LOG_RC(rc),
		    LOG_I("n", r->n), LOG_I("missed", missed));
	r->n = r->bytes = 0;
	arena_reset(r->kept);
}

void
results_settle(struct results *r)
{
	if (r->n > 0)
		flush(r);
}

/* r->json is the result; it came as so many bytes. */
static void
keep(struct results *r, const struct address *a, size_t bytes, bool ours)
{
	struct terminal_result *v;

	if (r->n == WAITING_MAX || r->bytes + r->json.n > WAITING_BYTES)
		flush(r);
	v = &r->v[r->n];
	*v = (struct terminal_result){ .id = arena_str(r->kept, a->terminal),
		.request_id = arena_str(r->kept, a->request_id),
		.json = arena_str(r->kept, buf_str(&r->json)) };
	r->ours[r->n] = ours;
	r->counts[r->n] = bytes;
	if (ours)
		hand_on(r, v);
	r->n++;
	r->bytes += v->json.n;
	loop_timer_set(r->b->loop, &r->flush, clock_mono(), flush, r);
}

/* ---- messages ------------------------------------------------------------ */

void
on_result(struct results *r, const struct address *a, const struct mqtt_msg *m,
    bool ours)
{
	struct wire_result msg;
	struct wire_err err;
	enum rc rc;

	metric_add(r->came, 1);
	arena_reset(r->a);
	buf_reset(&r->json);
	rc = wire_device_result(m->payload, a->request_id, r->a, &msg, &err);
	if (rc == RC_OK)
		rc = wire_encode(&wire_result_desc, &msg, &r->json, &err);
	if (rc != RC_OK) {
		/* All replicas see it; one writes it down. */
		if (leading_epoch(r->b->leading) != 0)
			reports_refuse(r->b->reports, a,
			    WIRE_REFUSAL_OUTCOME_REFUSED, &err);
		return;
	}
	keep(r, a, m->payload.n, ours);
}

bool
results_take(struct results *r, const struct address *a)
{
	struct mono now = clock_mono();

	if (!expected_take(r->expected, a->terminal, a->request_id, now))
		return false;
	(void)expected_add(r->counted, a->terminal, a->request_id, now);
	return true;
}

void
results_expect(struct results *r, const struct address *a)
{
	(void)expected_add(
	    r->expected, a->terminal, a->request_id, clock_mono());
}

/* ---- start and end ------------------------------------------------------- */

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
	(void)svc_bulk(b->svc); /* it takes a moment to connect */
	r->a = arena_new(WIRE_ARENA_MAX);
	r->kept = arena_new(WAITING_BYTES + TERMINAL_JSON_MAX +
	    WAITING_MAX * (2 * (size_t)ID_MAX + 3));
	r->notes = arena_new(NOTES_BYTES);
	buf_init(&r->json, BUS_PAYLOAD_MAX);
	r->came = metric_counter(set, "soul_bridge_results_total",
	    "Results of bodies that came.", NULL);
	r->unasked = metric_counter(set, "soul_bridge_results_unasked_total",
	    "Results that nobody had asked for.", NULL);
	r->unsent = metric_counter(set, "soul_bridge_results_unsent_total",
	    "Results that could not be handed on.", NULL);
	r->unkept = metric_counter(set, "soul_bridge_results_unkept_total",
	    "Results that could not be kept.", NULL);
	r->expected = expected_new();
	r->counted = expected_new();
	results_subscribe(r);
	return r;
}

void
results_free(struct results *r)
{
	if (r == NULL)
		return;
	results_settle(r);
	loop_timer_cancel(r->b->loop, &r->flush);
	expected_free(r->expected);
	expected_free(r->counted);
	arena_free(r->a);
	arena_free(r->kept);
	arena_free(r->notes);
	buf_free(&r->json);
	free(r);
}
