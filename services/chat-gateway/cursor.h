/*
 * cursor: where a reader of a session's events stands; pure.
 *
 * Events are numbered without gaps.  They come live, where any may be missing,
 * doubled or late, and from the log, which has all but the oldest.
 */
#ifndef CHAT_GATEWAY_CURSOR_H
#define CHAT_GATEWAY_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct cursor {
	int64_t last; /* the newest event that the reader has */
	bool gone;    /* events before the next one are not to be had */
};

enum cursor_step {
	CURSOR_DROP, /* the reader has it */
	CURSOR_SEND, /* it is the next */
	CURSOR_READ  /* others come before it: read the log */
};

/* cursor_live(c, seq): What to do with a live event. */
enum cursor_step cursor_live(const struct cursor *c, int64_t seq);

/*
 * cursor_take(c, seq):
 * The next event is sent, live or as the log has it.  False: the reader has it.
 */
bool cursor_take(struct cursor *c, int64_t seq);

/*
 * cursor_end(c, newest):
 * The log has been read to its end, newest being the session's newest event.
 * False: the log has begun again since the reader's last event, and is to be
 * read again, from its start.
 */
bool cursor_end(struct cursor *c, int64_t newest);

/*
 * cursor_parse(header, query, after):
 * What a client knows already, by its Last-Event-ID or, without one, its query:
 * *after is -1 if neither says.  RC_INVALID if it is no number of an event.
 */
enum rc cursor_parse(
    struct str header, struct str query, int64_t *after) RC_CHECK;

#endif /* !CHAT_GATEWAY_CURSOR_H */
