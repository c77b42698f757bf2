/*
 * The lease is kept only while the broker is connected: who cannot hear the
 * bodies leaves it to another replica.
 */
#include "on_lease.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "address.h"
#include "bridge.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "on_report.h"
#include "on_result.h"
#include "on_snapshot.h"
#include "state/state.h"
#include "svc/svc.h"

#define LEASE      "bridge:"
#define BROKER_MAX 100
/* Between two looks whether Redis is back. */
#define AWAY_MS     20
#define CLEAR_MS    5000
#define LOG_EVERY_S 10

static const size_t rows[LEAD_FILTERS] = {
	[LEAD_HEARTBEAT] = WIRE_TOPIC_HEARTBEAT,
	[LEAD_ONLINE] = WIRE_TOPIC_ONLINE,
	[LEAD_SKILLS] = WIRE_TOPIC_SKILLS,
	[LEAD_CATALOG] = WIRE_TOPIC_INTENT_CATALOG,
};

struct leading {
	struct bridge *b;
	struct lead lead;
	bool replaying; /* filters are still being subscribed */
	atomic_bool served;
	char name[sizeof(LEASE) + BROKER_MAX];
	char me[ID_HEX32_MAX];
	struct loop_timer renew, step, clear;
	struct metric *leads, *won, *replays;
};

bool
leading_broker_ok(struct str id)
{
	return id_valid(id) && id.n <= BROKER_MAX;
}

int64_t
leading_epoch(const struct leading *l)
{
	return l->lead.epoch;
}

bool
leading_catching_up(const struct leading *l)
{
	return l->lead.epoch != 0 && l->replaying;
}

bool
leading_served(const struct leading *l)
{
	return atomic_load(&l->served);
}

/* ---- subscribing --------------------------------------------------------- */

static void step(void *arg);

static void
step_later(struct leading *l)
{
	loop_timer_set(l->b->loop, &l->step, lead_due(&l->lead), step, l);
}

static void
on_subscribed(void *arg, enum rc rc, unsigned reason)
{
	struct leading *l = arg;

	/* Only one is asked for at a time.  What is refused (the library has
	 * logged it) is asked for again when the lease is won anew. */
	(void)rc;
	(void)reason;
	lead_answered(&l->lead, l->lead.asking, clock_mono());
	step_later(l);
}

static void
subscribe(struct leading *l, int filter)
{
	char topic[ADDRESS_TOPIC_MAX];
	struct str f = address_filter(l->b->prefix, rows[filter], topic);

	metric_add(l->replays, 1);
	/* Retained messages come only at this QoS without a gap. */
	if (mqtt_subscribe(l->b->mqtt, f,
		wire_topics[rows[filter]].retain ? 1 : 1 | MQTT_AS_PUBLISHED,
		on_subscribed, l) != RC_OK)
		log_error("bridge.filter", LOG_V("filter", f));
}

static void
step(void *arg)
{
	struct leading *l = arg;
	int filter;

	/* The broker waits while we are behind. */
	if (snapshots_busy(l->b->snapshots))
		lead_replayed(&l->lead, clock_mono());
	filter = lead_next(&l->lead, clock_mono());
	if (filter >= 0)
		subscribe(l, filter);
	else if (l->replaying && lead_due(&l->lead).ns == 0 &&
	    l->lead.asking < 0) {
		l->replaying = false;
		atomic_store(&l->served, true);
		log_info("bridge.caught_up", LOG_I("epoch", l->lead.epoch));
	}
	step_later(l);
}

void
leading_replayed(struct leading *l)
{
	lead_replayed(&l->lead, clock_mono());
}

void
leading_again(struct leading *l, enum lead_filter filter)
{
	lead_again(&l->lead, 1U << filter, clock_mono());
	if (l->lead.asking < 0)
		step_later(l);
}

/* ---- winning and losing -------------------------------------------------- */

static void
won(struct leading *l)
{
	log_info("bridge.leads", LOG_I("epoch", l->lead.epoch));
	metric_set(l->leads, 1);
	metric_add(l->won, 1);
	/* What is left of an earlier lease was told to another epoch. */
	reports_clear(l->b->reports);
	snapshots_clear(l->b->snapshots);
	l->replaying = true;
	atomic_store(&l->served, false);
	step_later(l);
	results_subscribe(l->b->results);
}

static void
look_again(void *arg)
{
	struct leading *l = arg;

	if (l->lead.epoch == 0)
		return;
	results_subscribe(l->b->results);
	leading_again(l, LEAD_HEARTBEAT);
}

void
leading_clear_again(struct leading *l)
{
	if (l->clear.pos == 0)
		loop_timer_set(l->b->loop, &l->clear,
		    mono_add_ms(clock_mono(), CLEAR_MS), look_again, l);
}

static void
lost(struct leading *l, const char *why)
{
	char topic[ADDRESS_TOPIC_MAX];
	int i;

	log_warn("bridge.leads_no_more", LOG_S("why", why));
	metric_set(l->leads, 0);
	atomic_store(&l->served, false);
	loop_timer_cancel(l->b->loop, &l->step);
	for (i = 0; i < LEAD_FILTERS; i++)
		/* RC_NOENT: it was not come to yet. */
		if (mqtt_unsubscribe(l->b->mqtt,
			address_filter(l->b->prefix, rows[i], topic)) == RC_OK)
			continue;
	reports_clear(l->b->reports);
	snapshots_clear(l->b->snapshots);
}

static void
release(struct leading *l)
{
	enum rc rc = lease_release(l->b->state, str_of(l->name), str_of(l->me));

	/* It ends by itself, then. */
	if (rc != RC_OK)
		log_info("bridge.lease_not_released", LOG_RC(rc));
}

void
leading_fenced(struct leading *l)
{
	if (lead_drop(&l->lead))
		lost(l, "another replica has written");
}

static void renew(void *arg);

static void
renew_in(struct leading *l, int64_t ms)
{
	loop_timer_set(
	    l->b->loop, &l->renew, mono_add_ms(clock_mono(), ms), renew, l);
}

static void
renew(void *arg)
{
	static struct log_rate rate;
	struct leading *l = arg;
	struct lead_answer answer = { .asked = clock_mono() };
	enum lead_change change;
	int64_t missed;

	renew_in(l, LEAD_TTL_MS / 3);
	if (!mqtt_up(l->b->mqtt))
		return;
	answer.rc = lease_acquire(l->b->state, str_of(l->name), str_of(l->me),
	    LEAD_TTL_MS, &answer.epoch);
	if (answer.rc == RC_DOWN)
		renew_in(l, AWAY_MS);
	if (answer.rc != RC_OK && answer.rc != RC_DOWN &&
	    log_every(&rate, LOG_EVERY_S, &missed))
		log_warn(
		    "bridge.lease", LOG_RC(answer.rc), LOG_I("missed", missed));
	change = lead_lease(&l->lead, &answer, clock_mono());
	if (change == LEAD_LOST)
		lost(l,
		    answer.rc == RC_OK ? "another has the lease"
				       : "it could not be renewed");
	else if (change == LEAD_WON)
		won(l);
	if (answer.rc == RC_OK && answer.epoch == 0)
		atomic_store(&l->served, true);
	reports_retry(l->b->reports);
}

void
leading_broker(struct leading *l, bool up)
{
	if (up) {
		renew(l);
	} else if (lead_drop(&l->lead)) {
		lost(l, "the broker is gone");
		release(l);
	}
}

struct leading *
leading_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct leading *l = mem_zalloc(sizeof(*l));

	l->b = b;
	l->lead = (struct lead)LEAD_INIT;
	(void)snprintf(
	    l->name, sizeof(l->name), LEASE "%.*s", STR_ARG(b->broker));
	id_hex32(l->me);
	l->leads = metric_gauge(set, "soul_bridge_leads",
	    "Whether this replica reads the reports.", NULL);
	l->won = metric_counter(
	    set, "soul_bridge_leads_won_total", "Leases won.", NULL);
	l->replays = metric_counter(set, "soul_bridge_replays_total",
	    "Filters subscribed, so that the broker sent what it keeps.", NULL);
	loop_timer_set(b->loop, &l->renew, clock_mono(), renew, l);
	return l;
}

void
leading_free(struct leading *l)
{
	if (l == NULL)
		return;
	loop_timer_cancel(l->b->loop, &l->renew);
	loop_timer_cancel(l->b->loop, &l->step);
	loop_timer_cancel(l->b->loop, &l->clear);
	if (l->lead.epoch != 0)
		release(l);
	free(l);
}
