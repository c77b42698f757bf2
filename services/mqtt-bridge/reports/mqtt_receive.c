/* Admission of messages from the broker, and their dispatch. */
#include "handlers.h"

#include <stdio.h>

#include "address.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "svc/svc.h"
#include "terminal_limits.h"
#include "wire/wire.h"

#define LOG_EVERY_S 10

void
receive_init(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);

	b->flood = flood_limiter_new(b->conf->rate_per_s, b->conf->rate_burst);
	b->over_limit = metric_counter(set, "soul_bridge_flood_total",
	    "Messages over the rate of a terminal, dropped.", NULL);
	b->pauses = metric_counter(set, "soul_bridge_pauses_total",
	    "Pauses of reading from the broker while a queue was full.", NULL);
	b->cleared = metric_counter(set, "soul_bridge_cleared_total",
	    "Retained messages cleared because they must not be.", NULL);
}

void
receive_pause(struct bridge *b, enum receive_queue queue)
{
	static struct log_rate rate;
	int64_t missed;

	if ((b->paused & 1U << queue) != 0)
		return;
	if (b->paused == 0)
		mqtt_pause(b->mqtt);
	b->paused |= 1U << queue;
	metric_add(b->pauses, 1);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.paused",
		    LOG_S("queue",
			queue == RECEIVE_REPORTS ? "reports" : "results"),
		    LOG_I("missed", missed));
}

void
receive_resume(struct bridge *b, enum receive_queue queue)
{
	if ((b->paused & 1U << queue) == 0)
		return;
	b->paused &= ~(1U << queue);
	if (b->paused == 0)
		mqtt_resume(b->mqtt);
}

/* Only logged: without a valid topic there is no terminal to notify. */
static void
receive_log_topic(const struct mqtt_msg *m, enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.topic", LOG_V("topic", m->topic), LOG_RC(rc),
		    LOG_I("missed", missed));
}

/*
 * A terminal must not fill the broker with retained messages under ever new
 * request ids, which every replica would receive at its start.
 */
static void
receive_clear_retained(struct bridge *b, const struct mqtt_msg *m)
{
	const struct mqtt_msg nothing = {
		.topic = m->topic, .payload = STR(""), .retain = true
	};

	/* An empty message is such a clear. */
	if (m->payload.n == 0 || lease_holder_epoch(b->lease) == 0)
		return;
	metric_add(b->cleared, 1);
	if (mqtt_publish(b->mqtt, &nothing, NULL, NULL) != RC_OK)
		lease_holder_retry_clear(b->lease);
}

/* Whether the terminal is within its rate; if not, it is notified at times. */
static bool
receive_admit(
    struct bridge *b, const struct address *a, const struct mqtt_msg *m)
{
	enum flood_verdict verdict = flood_limiter_take(
	    b->flood, a->row, a->terminal, m->payload.n, clock_mono());
	struct wire_err err = { .path = "" };

	if (verdict == FLOOD_OK)
		return true;
	metric_add(b->over_limit, 1);
	if (verdict == FLOOD_OVER)
		return false;
	log_warn("bridge.flood", LOG_V("terminal", a->terminal),
	    LOG_S("report", wire_topics[a->row].name),
	    LOG_I("per_s", b->conf->rate_per_s));
	(void)snprintf(err.why, sizeof(err.why),
	    "too many messages: at most %lld a second are read",
	    (long long)b->conf->rate_per_s);
	if (lease_holder_epoch(b->lease) != 0)
		reports_reject(
		    b->reports, a, WIRE_REFUSAL_OUTCOME_REFUSED, &err);
	return false;
}

static void
receive_dispatch(
    struct bridge *b, const struct address *a, const struct mqtt_msg *m)
{
	if (a->row == WIRE_TOPIC_ONLINE)
		reports_online(b->reports, a, m);
	else if (a->row == WIRE_TOPIC_HEARTBEAT)
		reports_heartbeat(b->reports, a, m);
	else
		snapshot_queue_add(b->snapshots, a, m);
}

/*
 * Results of known invokes are not counted.  For those that another replica
 * sent, this is known once they are stored.
 */
void
receive_result(
    struct bridge *b, const struct address *a, const struct mqtt_msg *m)
{
	bool ours = results_claim(b->results, a);

	if (!ours &&
	    !flood_limiter_has_room(
		b->flood, a->row, a->terminal, m->payload.n, clock_mono()) &&
	    results_defer(b->results, a, m))
		return;
	if (ours || receive_admit(b, a, m))
		results_receive(b->results, a, m, ours);
}

void
receive_message(void *arg, const struct mqtt_msg *m)
{
	struct bridge *b = arg;
	struct address a;
	bool retained;
	enum rc rc;

	rc = address_parse(b->prefix, m->topic, &a);
	if (rc != RC_OK) {
		receive_log_topic(m, rc);
		if (m->retain)
			receive_clear_retained(b, m);
		return;
	}
	retained = wire_topics[a.row].retain;
	if (m->retain && !retained) {
		receive_clear_retained(b, m);
		if (m->payload.n == 0)
			return;
	}
	/* Messages may still arrive for a moment after the lease was lost. */
	if (a.row != WIRE_TOPIC_RESULT && lease_holder_epoch(b->lease) == 0)
		return;
	if (m->retain && retained)
		lease_holder_replayed(b->lease);
	if (a.row == WIRE_TOPIC_RESULT) {
		receive_result(b, &a, m);
		return;
	}
	/* A replay is not the terminal's doing. */
	if ((m->retain && retained) || receive_admit(b, &a, m))
		receive_dispatch(b, &a, m);
}
