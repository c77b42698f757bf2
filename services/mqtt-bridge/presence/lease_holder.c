/*
 * The lease is held only while the broker is connected: a replica that cannot
 * receive reports must let another one lead.
 */
#include "handlers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "address.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "state/state.h"
#include "svc/svc.h"

#define LEASE_PREFIX "bridge:"
#define BROKER_MAX   100
/* Retry interval while Redis is not connected. */
#define REDIS_RETRY_MS 20
#define CLEAR_MS       5000
#define LOG_EVERY_S    10

static const size_t filter_rows[FILTERS_N] = {
	[FILTER_HEARTBEAT] = WIRE_TOPIC_HEARTBEAT,
	[FILTER_ONLINE] = WIRE_TOPIC_ONLINE,
	[FILTER_SKILLS] = WIRE_TOPIC_SKILLS,
	[FILTER_CATALOG] = WIRE_TOPIC_INTENT_CATALOG,
};

struct lease_holder {
	struct bridge *b;
	struct leadership leadership;
	bool replaying; /* filters are still being subscribed */
	atomic_bool served;
	char name[sizeof(LEASE_PREFIX) + BROKER_MAX];
	char me[ID_HEX32_MAX];
	struct loop_timer renew, step, clear;
	bool renewing;     /* a fiber waits for Redis */
	uint64_t sessions; /* of the connection to the broker */
	struct metric *is_leader, *won, *replays;
};

bool
lease_holder_broker_valid(struct str id)
{
	return id_valid(id) && id.n <= BROKER_MAX;
}

int64_t
lease_holder_epoch(const struct lease_holder *l)
{
	return l->leadership.epoch;
}

bool
lease_holder_catching_up(const struct lease_holder *l)
{
	return l->leadership.epoch != 0 && l->replaying;
}

bool
lease_holder_served(const struct lease_holder *l)
{
	return atomic_load(&l->served);
}

/* ---- subscriptions ---- */

static void lease_step(void *arg);

static void
lease_schedule_step(struct lease_holder *l)
{
	loop_timer_set(l->b->loop, &l->step, leadership_due(&l->leadership),
	    lease_step, l);
}

static void
lease_subscribed(void *arg, enum rc rc, unsigned reason)
{
	struct lease_holder *l = arg;

	/*
	 * One subscription is pending at a time.  A rejected one, which
	 * libs/mqtt has logged, is not retried before the lease is won again.
	 */
	(void)rc;
	(void)reason;
	leadership_subscribed(
	    &l->leadership, l->leadership.subscribing, clock_mono());
	lease_schedule_step(l);
}

static void
lease_subscribe(struct lease_holder *l, int filter)
{
	char topic[ADDRESS_TOPIC_MAX];
	struct str f = address_filter(l->b->prefix, filter_rows[filter], topic);

	metric_add(l->replays, 1);
	/* Retained messages arrive completely only at QoS 1. */
	if (mqtt_subscribe(l->b->mqtt, f,
		wire_topics[filter_rows[filter]].retain ? 1
							: 1 | MQTT_AS_PUBLISHED,
		lease_subscribed, l) != RC_OK)
		log_error("bridge.filter", LOG_V("filter", f));
}

static void
lease_step(void *arg)
{
	struct lease_holder *l = arg;
	int filter;

	/* The next replay waits until this one is processed. */
	if (snapshot_queue_busy(l->b->snapshots) ||
	    reports_replaying(l->b->reports))
		leadership_replayed(&l->leadership, clock_mono());
	filter = leadership_next_filter(&l->leadership, clock_mono());
	if (filter >= 0)
		lease_subscribe(l, filter);
	else if (l->replaying && leadership_due(&l->leadership).ns == 0 &&
	    l->leadership.subscribing < 0) {
		l->replaying = false;
		atomic_store(&l->served, true);
		log_info(
		    "bridge.caught_up", LOG_I("epoch", l->leadership.epoch));
	}
	lease_schedule_step(l);
}

void
lease_holder_replayed(struct lease_holder *l)
{
	leadership_replayed(&l->leadership, clock_mono());
}

void
lease_holder_resubscribe(struct lease_holder *l, enum report_filter filter)
{
	leadership_resubscribe(&l->leadership, 1U << filter, clock_mono());
	if (l->leadership.subscribing < 0)
		lease_schedule_step(l);
}

/* ---- winning and losing ---- */

static void
lease_won(struct lease_holder *l)
{
	log_info("bridge.leader", LOG_I("epoch", l->leadership.epoch));
	metric_set(l->is_leader, 1);
	metric_add(l->won, 1);
	/* What is queued belongs to an earlier lease. */
	reports_clear(l->b->reports);
	snapshot_queue_clear(l->b->snapshots);
	l->replaying = true;
	atomic_store(&l->served, false);
	lease_schedule_step(l);
	results_subscribe(l->b->results);
}

static void
lease_clear_retry(void *arg)
{
	struct lease_holder *l = arg;

	if (l->leadership.epoch == 0)
		return;
	results_subscribe(l->b->results);
	lease_holder_resubscribe(l, FILTER_HEARTBEAT);
}

void
lease_holder_retry_clear(struct lease_holder *l)
{
	if (l->clear.pos == 0)
		loop_timer_set(l->b->loop, &l->clear,
		    mono_add_ms(clock_mono(), CLEAR_MS), lease_clear_retry, l);
}

static void
lease_lost(struct lease_holder *l, const char *why)
{
	char topic[ADDRESS_TOPIC_MAX];
	int i;

	log_warn("bridge.leadership_lost", LOG_S("why", why));
	metric_set(l->is_leader, 0);
	atomic_store(&l->served, false);
	loop_timer_cancel(l->b->loop, &l->step);
	for (i = 0; i < FILTERS_N; i++)
		/* RC_NOENT: not subscribed yet. */
		if (mqtt_unsubscribe(l->b->mqtt,
			address_filter(l->b->prefix, filter_rows[i], topic)) ==
		    RC_OK)
			continue;
	reports_clear(l->b->reports);
	snapshot_queue_clear(l->b->snapshots);
}

static void
lease_give_up(struct lease_holder *l)
{
	enum rc rc = lease_release(l->b->state, str_of(l->name), str_of(l->me));

	/* It expires by itself. */
	if (rc != RC_OK)
		log_info("bridge.lease_not_released", LOG_RC(rc));
}

void
lease_holder_fenced(struct lease_holder *l)
{
	if (leadership_drop(&l->leadership))
		lease_lost(l, "another replica has written");
}

static void lease_on_renew(void *arg);

static void
lease_renew_in(struct lease_holder *l, int64_t ms)
{
	loop_timer_set(l->b->loop, &l->renew, mono_add_ms(clock_mono(), ms),
	    lease_on_renew, l);
}

static void
lease_take(struct lease_holder *l, const struct lease_reply *answer)
{
	static struct log_rate rate;
	struct lease_reply reply = *answer;
	enum leadership_change change;
	int64_t missed;

	if (reply.rc == RC_DOWN)
		lease_renew_in(l, REDIS_RETRY_MS);
	if (reply.rc != RC_OK && reply.rc != RC_DOWN &&
	    log_every(&rate, LOG_EVERY_S, &missed))
		log_warn(
		    "bridge.lease", LOG_RC(reply.rc), LOG_I("missed", missed));
	change = leadership_update(&l->leadership, &reply, clock_mono());
	if (change == LEADERSHIP_LOST)
		lease_lost(l,
		    reply.rc == RC_OK ? "another replica has the lease"
				      : "the lease could not be renewed");
	else if (change == LEADERSHIP_WON)
		lease_won(l);
	if (reply.rc == RC_OK && reply.epoch == 0)
		atomic_store(&l->served, true);
	reports_retry(l->b->reports);
}

static void
lease_renew(void *arg)
{
	struct lease_holder *l = arg;
	struct lease_reply reply = { .requested = clock_mono() };
	struct svc *s = l->b->svc;
	uint64_t session = l->sessions;

	svc_hold(s);
	l->renewing = true;
	reply.rc = lease_acquire(l->b->state, str_of(l->name), str_of(l->me),
	    LEASE_TTL_MS, &reply.epoch);
	l->renewing = false;
	/* After a disconnect the lease was released, or will not be used. */
	if (session == l->sessions)
		lease_take(l, &reply);
	else
		lease_renew_in(l, 0);
	svc_release(s);
}

static void
lease_on_renew(void *arg)
{
	struct lease_holder *l = arg;

	lease_renew_in(l, LEASE_TTL_MS / 3);
	if (mqtt_up(l->b->mqtt) && !l->renewing)
		fiber_start(lease_renew, l);
}

static void
lease_give_up_in_fiber(void *arg)
{
	struct lease_holder *l = arg;
	struct svc *s = l->b->svc;

	svc_hold(s);
	lease_give_up(l);
	svc_release(s);
}

void
lease_holder_broker_state(struct lease_holder *l, bool up)
{
	l->sessions++;
	if (up) {
		lease_on_renew(l);
	} else if (leadership_drop(&l->leadership)) {
		lease_lost(l, "the broker disconnected");
		fiber_call(lease_give_up_in_fiber, l);
	}
}

struct lease_holder *
lease_holder_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct lease_holder *l = mem_zalloc(sizeof(*l));

	l->b = b;
	l->leadership = (struct leadership)LEADERSHIP_INIT;
	(void)snprintf(
	    l->name, sizeof(l->name), LEASE_PREFIX "%.*s", STR_ARG(b->broker));
	id_hex32(l->me);
	l->is_leader = metric_gauge(set, "soul_bridge_leads",
	    "1 if this replica reads the reports, else 0.", NULL);
	l->won = metric_counter(
	    set, "soul_bridge_leads_won_total", "Leases won.", NULL);
	l->replays = metric_counter(set, "soul_bridge_replays_total",
	    "Subscriptions made for a replay of retained messages.", NULL);
	loop_timer_set(b->loop, &l->renew, clock_mono(), lease_on_renew, l);
	return l;
}

void
lease_holder_free(struct lease_holder *l)
{
	if (l == NULL)
		return;
	loop_timer_cancel(l->b->loop, &l->renew);
	loop_timer_cancel(l->b->loop, &l->step);
	loop_timer_cancel(l->b->loop, &l->clear);
	if (l->leadership.epoch != 0)
		lease_give_up(l);
	free(l);
}
