/*
 * The door.
 */
#include "on_message.h"

#include <stdio.h>

#include "address.h"
#include "bridge.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/metric.h"
#include "flood.h"
#include "mqtt/mqtt.h"
#include "on_lease.h"
#include "on_report.h"
#include "on_result.h"
#include "on_snapshot.h"
#include "svc/svc.h"
#include "wire/wire.h"

#define LOG_EVERY_S 10

void
on_message_init(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);

	b->flood = flood_new(b->conf->rate_per_s, b->conf->rate_burst);
	b->flooded = metric_counter(set, "soul_bridge_flood_total",
	    "Messages of bodies that said too much, dropped.", NULL);
	b->cleared = metric_counter(set, "soul_bridge_cleared_total",
	    "Messages that the broker kept and should not, cleared.", NULL);
}

/* Who publishes under a name that is none cannot be told about it. */
static void
log_topic(const struct mqtt_msg *m, enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.topic", LOG_V("topic", m->topic), LOG_RC(rc),
		    LOG_I("missed", missed));
}

/*
 * Without this a body could fill the broker, a request's id after the other,
 * with what every replica would get again at its start.
 */
static void
clear(struct bridge *b, const struct mqtt_msg *m)
{
	const struct mqtt_msg nothing = {
		.topic = m->topic, .payload = STR(""), .retain = true
	};

	/* An empty one is such a clearing. */
	if (m->payload.n == 0 || leading_epoch(b->leading) == 0)
		return;
	metric_add(b->cleared, 1);
	if (mqtt_publish(b->mqtt, &nothing, NULL, NULL) != RC_OK)
		leading_clear_again(b->leading);
}

/*
 * Results that somebody waits for do not count; of those that another replica
 * asked for, Redis says so once they are kept.
 */
static enum flood_answer
count(struct bridge *b, const struct address *a, const struct mqtt_msg *m)
{
	struct mono now = clock_mono();
	size_t n = m->payload.n;

	if (a->row == WIRE_TOPIC_RESULT &&
	    !flood_room(b->flood, a->row, a->terminal, n, now))
		results_settle(b->results);
	return flood_take(b->flood, a->row, a->terminal, n, now);
}

/* Whether the body may say it now; if not, it is told once in a while. */
static bool
let_in(struct bridge *b, const struct address *a, const struct mqtt_msg *m)
{
	enum flood_answer answer = count(b, a, m);
	struct wire_err err = { .path = "" };

	if (answer == FLOOD_OK)
		return true;
	metric_add(b->flooded, 1);
	if (answer == FLOOD_OVER)
		return false;
	log_warn("bridge.flood", LOG_V("terminal", a->terminal),
	    LOG_S("report", wire_topics[a->row].name),
	    LOG_I("per_s", b->conf->rate_per_s));
	(void)snprintf(err.why, sizeof(err.why),
	    "too many messages: at most %lld a second are read",
	    (long long)b->conf->rate_per_s);
	if (leading_epoch(b->leading) != 0)
		reports_refuse(
		    b->reports, a, WIRE_REFUSAL_OUTCOME_REFUSED, &err);
	return false;
}

static void
hand_out(struct bridge *b, const struct address *a, const struct mqtt_msg *m)
{
	if (a->row == WIRE_TOPIC_ONLINE)
		on_online(b->reports, a, m);
	else if (a->row == WIRE_TOPIC_HEARTBEAT)
		on_heartbeat(b->reports, a, m);
	else
		on_snapshot(b->snapshots, a, m);
}

void
on_message(void *arg, const struct mqtt_msg *m)
{
	struct bridge *b = arg;
	struct address a;
	bool kept;
	enum rc rc;

	rc = address_parse(b->prefix, m->topic, &a);
	if (rc != RC_OK) {
		log_topic(m, rc);
		if (m->retain)
			clear(b, m);
		return;
	}
	kept = wire_topics[a.row].retain;
	if (m->retain && !kept) {
		clear(b, m);
		if (m->payload.n == 0)
			return;
	}
	/* It may still come for a moment after the lease was lost. */
	if (a.row != WIRE_TOPIC_RESULT && leading_epoch(b->leading) == 0)
		return;
	if (m->retain && kept)
		leading_replayed(b->leading);
	if (a.row == WIRE_TOPIC_RESULT) {
		bool ours = results_take(b->results, &a);

		if (ours || let_in(b, &a, m))
			on_result(b->results, &a, m, ours);
		return;
	}
	/* What the broker sends again nobody has said too often. */
	if ((m->retain && kept) || let_in(b, &a, m))
		hand_out(b, &a, m);
}
