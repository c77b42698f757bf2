/*
 * events: logs of events, of a session or of a run.
 *
 * Each event has a seq that rises by one within its log and is never reused. Of
 * a session the last 1,000 or so are stored, for an hour after the newest; only
 * turns write them (turn.h), each in one step with what the event reports.  Of
 * a run the last 20,000 or 16 MiB are, until some time after its end; the
 * script that publishes them writes them.
 */
#ifndef STATE_EVENTS_H
#define STATE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/session.h"

/* Largest event, in bytes. */
#define EVENTS_TEXT_MAX (256UL * 1024)
/* Events that events_read() reads at once, and their bytes, but for one. */
#define EVENTS_PAGE_MAX   512
#define EVENTS_PAGE_BYTES (64UL * 1024)

enum events_kind {
	EVENTS_SESSION,  /* FCMP of chats, stored without their seq */
	EVENTS_RUN,      /* FCMP of a run, stored whole */
	EVENTS_RUN_RASP, /* RASP of a run, stored whole */
	EVENTS_KINDS
};

/* Which log. */
struct events_key {
	enum events_kind kind;
	struct str user_id; /* of a session only: a run's id names its bucket */
	struct str id;      /* the session's, or the run's */
};

/* events_of_session(k): The log of a session; its strings are those of k. */
static inline struct events_key
events_of_session(const struct session_key *k)
{
	return (struct events_key){ EVENTS_SESSION, k->user_id, k->session_id };
}

/* events_of_run(run_id): The FCMP log of a run; its id is run_id. */
static inline struct events_key
events_of_run(struct str run_id)
{
	return (struct events_key){ EVENTS_RUN, { NULL, 0 }, run_id };
}

struct event {
	int64_t seq;
	struct str json; /* absent: lost */
	/* A turn whose process died, so that it has no end. */
	struct str lost_turn;
	struct wall lost_at;
	bool lost_acted; /* turn_mark_acting() had returned RC_OK for it */
};

struct events {
	struct event *item; /* oldest first */
	size_t n;
	/* Of the log, stored or not; 0: none yet. */
	int64_t newest;
	bool more; /* there are more, after these */
};

/*
 * events_read(s, k, after, stored, a, out):
 * The stored events with a seq above after.  Those between after and the first
 * one returned have been removed.  With stored they count when replicas have
 * them, as if they were logged now: RC_UNREPLICATED, and none is returned.
 */
enum rc events_read(struct state *s, const struct events_key *k, int64_t after,
    bool stored, struct arena *a, struct events *out) RC_CHECK;

/*
 * events_newest(s, k, seq): The newest event's; 0: none yet.
 *
 * events_follow(s, k, ttl_ms, seq):
 * The same.  Turns that log events within ttl_ms from now know that a client
 * reads them as they come (turn_events.followed); of a session that exists. Of
 * a run it changes nothing.
 */
enum rc events_newest(
    struct state *s, const struct events_key *k, int64_t *seq) RC_CHECK;
enum rc events_follow(struct state *s, const struct events_key *k,
    int64_t ttl_ms, int64_t *seq) RC_CHECK;

#endif /* !STATE_EVENTS_H */
