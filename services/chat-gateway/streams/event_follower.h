/*
 * event_follower: the events of a session or a run from a position on, each
 * once and in order.
 *
 * The log in Redis is authoritative; events published on NATS only reduce the
 * latency.  All followers of a log share one subscription and one poll of it
 * every 2 s, which finds events that NATS lost.  A follower that cannot
 * take another event is served from the log later and delays no other.
 */
#ifndef CHAT_GATEWAY_STREAMS_EVENT_FOLLOWER_H
#define CHAT_GATEWAY_STREAMS_EVENT_FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "fcmp/fcmp_read.h"
#include "state/events.h"

struct follower;
struct followers;
struct svc;

/*
 * followers_new(s, state): All followers of the process.
 * followers_drain(set):    NATS subscriptions are ending: poll every 100 ms.
 * followers_free(set):     No follower may be open.  NULL is allowed.
 */
struct followers *followers_new(struct svc *s, struct state *state);
void followers_drain(struct followers *set);
void followers_free(struct followers *set);

struct follower_opts {
	struct events_key key; /* copied, like turn_id */
	int64_t after;         /* follow events above this seq */
	struct str turn_id;    /* of this turn only; absent: of all */
	/*
	 * Called for each event; returns false to close and free the follower.
	 * Expired events are reported as one diagnostic.warning EVENTS_GONE, of
	 * RASP as one event without json; to a follower of one turn only if the
	 * start of the turn is among them.  A RASP event has no type.
	 */
	bool (*fn)(void *arg, const struct fcmp_event *e);
	bool (*ready)(void *arg); /* whether fn can take another event */
	void *arg;
};

/*
 * follower_open(set, o, f):
 * fn is not called before follower_start() or follower_read().  RC_DOWN while
 * draining, RC_INVALID if an id is invalid.
 */
enum rc follower_open(struct followers *set, const struct follower_opts *o,
    struct follower **f) RC_CHECK;

/*
 * follower_start(f):
 * Read the log page by page, alternating with the other followers.
 *
 * follower_read(f):
 * Read the log now.  RC_OK: fn has received all of it; RC_NOENT: fn has closed
 * f; RC_RETRY: fn was not ready and receives the rest later; otherwise the
 * error of the read, which is retried.
 */
void follower_start(struct follower *f);
enum rc follower_read(struct follower *f) RC_CHECK;

/* follower_last(f): The newest event of the log known to f. */
int64_t follower_last(const struct follower *f);

/* follower_close(f): Not from f's own fn.  NULL is allowed. */
void follower_close(struct follower *f);

#endif /* !CHAT_GATEWAY_STREAMS_EVENT_FOLLOWER_H */
