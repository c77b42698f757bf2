/*
 * events: a session's log of what happened, as who watches it reads it.
 *
 * Every event has a number, seq: strictly rising within its session and never
 * used again, also when the log is gone: about the last 1000 events are kept,
 * for an hour after the newest.  They are written by turns only (turn.h), each
 * in one step with what it tells of.
 */
#ifndef STATE_EVENTS_H
#define STATE_EVENTS_H

#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/session.h"

/* Largest event, in bytes. */
#define EVENTS_TEXT_MAX (256UL * 1024)
/* Events that events_read() gives at once, and their bytes. */
#define EVENTS_PAGE_MAX   512
#define EVENTS_PAGE_BYTES (64UL * 1024)

struct events_item {
	int64_t seq;
	struct str json; /* without its seq; absent: lost */
	/* Of a turn whose process died: nobody will ever end it. */
	struct str lost_turn;
	struct wall lost_at;
};

struct events_page {
	struct events_item *item; /* oldest first */
	size_t n;
	/* The newest event of the session, in the log or not; 0: none yet. */
	int64_t newest;
	bool more; /* there are more, after these */
};

/*
 * events_read(s, k, after, a, out):
 * The events whose seq is above after (0: all that are kept).  Those between
 * after and the first that is here are gone.
 */
enum rc events_read(struct state *s, const struct session_key *k, int64_t after,
    struct arena *a, struct events_page *out) RC_CHECK;

/* events_newest(s, k, seq): The newest event's; 0: none yet. */
enum rc events_newest(
    struct state *s, const struct session_key *k, int64_t *seq) RC_CHECK;

#endif /* !STATE_EVENTS_H */
