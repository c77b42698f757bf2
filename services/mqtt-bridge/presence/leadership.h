/*
 * leadership: the state machine of the replica that reads the reports: holding
 * the lease, and subscribing to one filter after the other.  Pure.
 *
 * A filter is subscribed when the retained messages of the previous one have
 * arrived, so that the broker queues one replay at a time.
 */
#ifndef MQTT_BRIDGE_LEADERSHIP_H
#define MQTT_BRIDGE_LEADERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"

/* The lease's time to live; it is renewed every third of it. */
#define LEASE_TTL_MS 2000
/* A replay has ended after this time without a message. */
#define REPLAY_QUIET_MS 10
/* Delay of a replay that is requested because a write failed. */
#define REPLAY_RETRY_MS 2000

/* Filters, in the order of subscribing: presence first. */
enum report_filter {
	FILTER_HEARTBEAT,
	FILTER_ONLINE,
	FILTER_SKILLS,
	FILTER_CATALOG,
	FILTERS_N
};

struct leadership {
	int64_t epoch;           /* 0: another replica leads, or none */
	struct mono valid_until; /* the lease cannot be lost before */
	unsigned pending;        /* a bit for each filter to be subscribed */
	int subscribing;         /* filter being subscribed; -1: none */
	struct mono quiet_since; /* its last message; {0}: no SUBACK yet */
	struct mono retry_at;    /* nothing is subscribed before */
};

#define LEADERSHIP_INIT           \
	{                         \
		.subscribing = -1 \
	}

enum leadership_change { LEADERSHIP_SAME, LEADERSHIP_WON, LEADERSHIP_LOST };

/* The result of lease_acquire(), and when it was requested. */
struct lease_reply {
	enum rc rc;
	int64_t epoch;
	struct mono requested;
};

/*
 * leadership_update(l, reply, now):
 * After LEADERSHIP_WON all filters are pending, whatever was subscribed before;
 * after LEADERSHIP_LOST *l is reset.
 */
enum leadership_change leadership_update(
    struct leadership *l, const struct lease_reply *reply, struct mono now);

/* leadership_drop(l): Reset *l; whether it was leading. */
bool leadership_drop(struct leadership *l);

/* leadership_next_filter(l, now): The filter to subscribe now, or -1. */
int leadership_next_filter(struct leadership *l, struct mono now);

/* leadership_subscribed(l, filter, now): The SUBACK of filter arrived. */
void leadership_subscribed(struct leadership *l, int filter, struct mono now);

/* leadership_replayed(l, now): A retained message arrived or is processed. */
void leadership_replayed(struct leadership *l, struct mono now);

/*
 * leadership_resubscribe(l, filters, now):
 * Messages of these filters (bits) were lost: subscribe them again after
 * REPLAY_RETRY_MS.
 */
void leadership_resubscribe(
    struct leadership *l, unsigned filters, struct mono now);

/*
 * leadership_due(l):
 * When leadership_next_filter() has to be called; {0}: after the next event.
 */
struct mono leadership_due(const struct leadership *l);

#endif /* !MQTT_BRIDGE_LEADERSHIP_H */
