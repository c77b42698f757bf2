/*
 * fcmp_event_view: chat_event messages, stored or made here, and the position
 * of a reader in a session's event log.  Pure.
 */
#ifndef CHAT_GATEWAY_STREAMS_FCMP_EVENT_VIEW_H
#define CHAT_GATEWAY_STREAMS_FCMP_EVENT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct fcmp_event {
	int64_t seq;
	struct str run_id;
	enum wire_chat_event_type type;
	struct str json;
};

/* fcmp_event_ends(type): Whether it is the last event of a run. */
bool fcmp_event_ends(enum wire_chat_event_type type);

/*
 * fcmp_event_decode(json, a, out):
 * A published event.  RC_INVALID if it is not one, RC_TOOBIG if a is full.
 * Strings are those of json and a.
 * fcmp_event_decode_stored(seq, json, text, a, out):
 * The same for an event of the log, which is stored without its seq: *out is in
 * text, which is reset first, and a.
 */
enum rc fcmp_event_decode(
    struct str json, struct arena *a, struct fcmp_event *out) RC_CHECK;
enum rc fcmp_event_decode_stored(int64_t seq, struct str json, struct buf *text,
    struct arena *a, struct fcmp_event *out) RC_CHECK;

/* Where an event made here belongs. */
struct fcmp_event_origin {
	int64_t seq;
	struct str run_id, session_id;
	struct wall at;
};

/* The error of a lost turn; the second one if the body may have acted. */
#define TURN_LOST_TEXT  "the turn was lost"
#define TURN_LOST_ACTED "the turn was lost; an action may have been carried out"

/*
 * fcmp_event_lost(p, acted, text, out): The run failed with its process; a body
 *                                      may have acted for it.
 * fcmp_event_expired(p, text, out):    Events up to p->seq are no longer
 *                                      stored.
 * fcmp_event_final(p, rep, text, out): The reply's text, from the turn's
 * record. fcmp_event_end(p, rep, text, out):   The outcome, from the turn's
 * record. *out is in text, which is reset first.  RC_INVALID or RC_TOOBIG if it
 * cannot be encoded.
 */
enum rc fcmp_event_lost(const struct fcmp_event_origin *p, bool acted,
    struct buf *text, struct fcmp_event *out) RC_CHECK;
enum rc fcmp_event_expired(const struct fcmp_event_origin *p, struct buf *text,
    struct fcmp_event *out) RC_CHECK;
enum rc fcmp_event_final(const struct fcmp_event_origin *p,
    const struct wire_turn_reply *rep, struct buf *text,
    struct fcmp_event *out) RC_CHECK;
enum rc fcmp_event_end(const struct fcmp_event_origin *p,
    const struct wire_turn_reply *rep, struct buf *text,
    struct fcmp_event *out) RC_CHECK;

/*
 * Position of a reader.  Events are numbered without gaps.  They arrive live,
 * where any may be missing, duplicated or reordered, and from the log, which
 * has all but the expired ones.
 */
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
 * The log has been read to its end; newest is the session's newest event.
 * False: the log was deleted and started again since the reader's last event,
 * and must be read again from its start.
 */
bool event_cursor_end(struct event_cursor *c, int64_t newest);

/*
 * event_cursor_parse(header, query, after):
 * The seq in Last-Event-ID or, without that header, in the query; -1 if there
 * is neither.  RC_INVALID if it is not a seq.
 */
enum rc event_cursor_parse(
    struct str header, struct str query, int64_t *after) RC_CHECK;

#endif /* !CHAT_GATEWAY_STREAMS_FCMP_EVENT_VIEW_H */
