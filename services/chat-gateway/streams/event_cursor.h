/*
 * event_cursor: the position of a reader in a log of events.  Pure.
 *
 * Events are numbered without gaps.  They arrive live, where any may be
 * missing, duplicated or reordered, and from the log, which has all but the
 * expired ones.
 */
#ifndef CHAT_GATEWAY_STREAMS_EVENT_CURSOR_H
#define CHAT_GATEWAY_STREAMS_EVENT_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct event_cursor {
	int64_t last; /* newest event that the reader has */
	bool gap;     /* events before the next one have expired */
};

enum event_cursor_step {
	EVENT_CURSOR_DROP, /* the reader has it */
	EVENT_CURSOR_SEND, /* it is the next one */
	EVENT_CURSOR_READ  /* others come before it: read the log */
};

/* event_cursor_live(c, seq): What to do with a live event. */
enum event_cursor_step event_cursor_live(
    const struct event_cursor *c, int64_t seq);

/*
 * event_cursor_take(c, seq):
 * Advance to an event that is sent, live or from the log.  False: the reader
 * has it.
 */
bool event_cursor_take(struct event_cursor *c, int64_t seq);

/*
 * event_cursor_end(c, newest):
 * The log has been read to its end; newest is its newest event.  False: the log
 * was deleted and started again since the reader's last event, and must be read
 * again from its start.
 */
bool event_cursor_end(struct event_cursor *c, int64_t newest);

/*
 * event_cursor_parse(header, query, after):
 * The seq in Last-Event-ID or, without that header, in the query; -1 if there
 * is neither.  RC_INVALID if it is not a seq.
 */
enum rc event_cursor_parse(
    struct str header, struct str query, int64_t *after) RC_CHECK;

#endif /* !CHAT_GATEWAY_STREAMS_EVENT_CURSOR_H */
