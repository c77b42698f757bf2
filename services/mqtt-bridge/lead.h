/*
 * lead: whether this replica reads the reports, and how far it is in
 * subscribing to them.
 *
 * Filters are subscribed one after the other, each when what the broker had
 * kept for the one before has come, so that one replay at a time waits in the
 * broker.
 */
#ifndef MQTT_BRIDGE_LEAD_H
#define MQTT_BRIDGE_LEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"

/* The lease's time to live; it is asked for every third of it. */
#define LEAD_TTL_MS 2000
/* Silence after which a replay is taken to have ended. */
#define LEAD_QUIET_MS 10
/* Between two replays that were asked for because writing failed. */
#define LEAD_AGAIN_MS 2000

/* Filters, in the order of subscribing: presence first. */
enum lead_filter {
	LEAD_HEARTBEAT,
	LEAD_ONLINE,
	LEAD_SKILLS,
	LEAD_CATALOG,
	LEAD_FILTERS
};

struct lead {
	int64_t epoch;     /* 0: another replica leads, or none */
	struct mono until; /* the lease is surely ours until then */
	unsigned todo;     /* a bit for each filter to be subscribed */
	int asking;        /* filter that is being subscribed; -1: none */
	struct mono quiet; /* since then nothing of it came; {0}: no SUBACK */
	struct mono again; /* not before that */
};

#define LEAD_INIT            \
	{                    \
		.asking = -1 \
	}

enum lead_change { LEAD_SAME, LEAD_WON, LEAD_LOST };

/* What lease_acquire() said, and when it was asked. */
struct lead_answer {
	enum rc rc;
	int64_t epoch;
	struct mono asked;
};

/*
 * lead_lease(l, answer, now):
 * Take note of it.  After LEAD_WON all filters are to be subscribed, whatever
 * was before; after LEAD_LOST *l is as in the beginning.
 */
enum lead_change lead_lease(
    struct lead *l, const struct lead_answer *answer, struct mono now);

/* lead_drop(l): It leads no more; whether it did. */
bool lead_drop(struct lead *l);

/* lead_next(l, now): The filter to subscribe now, which is asked for; or -1. */
int lead_next(struct lead *l, struct mono now);

/* lead_answered(l, filter, now): The broker has answered. */
void lead_answered(struct lead *l, int filter, struct mono now);

/* lead_replayed(l, now): Something of a replay came, or is still in work. */
void lead_replayed(struct lead *l, struct mono now);

/* lead_again(l, filters, now): Something of these (bits) was lost. */
void lead_again(struct lead *l, unsigned filters, struct mono now);

/* lead_due(l): When to ask lead_next() again; {0}: after something happened. */
struct mono lead_due(const struct lead *l);

#endif /* !MQTT_BRIDGE_LEAD_H */
