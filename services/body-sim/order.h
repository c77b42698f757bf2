/*
 * order: whether a body announces itself as it should.  Pure: times are in ms
 * since the watch began.
 */
#ifndef BODY_SIM_ORDER_H
#define BODY_SIM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "verdict.h"

enum report {
	REPORT_ONLINE,
	REPORT_SKILLS,
	REPORT_INTENTS,
	REPORT_HEARTBEAT,
	REPORT_N
};

/* How long after online: skills and intent_catalog; a heartbeat. */
#define ORDER_REPORTS_MS   5000
#define ORDER_HEARTBEAT_MS 15000

struct order {
	struct verdicts *v;
	bool known;     /* it has been connected before */
	bool active;    /* an announcement is under way */
	bool reconnect; /* and it is not the body's first */
	int64_t began;
	enum report seen[REPORT_N]; /* in the order they came */
	int n_seen;
	/* Reports that came while none was under way; 0: none. */
	int64_t early[REPORT_N];
	int done; /* announcements that are over */
};

/* order_init(o, v): Nothing has been seen. */
void order_init(struct order *o, struct verdicts *v);

/* order_known(o): The body has been connected before the watch began. */
void order_known(struct order *o);

/*
 * order_away(o):
 * The body has gone: what it was about to announce is not judged, and what it
 * reported before is no part of what it announces next.
 */
void order_away(struct order *o);

/*
 * order_saw(o, t, r, away):
 * A report that is not a kept one; of online, that it is there.  away: the body
 * is known not to be.
 */
void order_saw(struct order *o, int64_t t, enum report r, bool away);

/* order_time(o, t): Judge what has been waited for long enough. */
void order_time(struct order *o, int64_t t);

/* order_name(r): Its topic. */
const char *order_name(enum report r);

#endif /* !BODY_SIM_ORDER_H */
