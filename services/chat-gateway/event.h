/*
 * event: chat_event messages, from the log and of our own; pure.
 */
#ifndef CHAT_GATEWAY_EVENT_H
#define CHAT_GATEWAY_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/* An event as it is sent. */
struct event {
	int64_t seq;
	struct str run_id;
	enum wire_chat_event_type type;
	struct str json;
};

/* event_ends(type): Whether it is the last one of its run. */
bool event_ends(enum wire_chat_event_type type);

/*
 * event_read(json, a, out):
 * An event as it was published.  RC_INVALID if it is none, RC_TOOBIG if a is
 * full.  Texts are json's and a's.
 */
enum rc event_read(
    struct str json, struct arena *a, struct event *out) RC_CHECK;

/*
 * event_number(seq, json, text, a, out):
 * An event of the log, which gets its number: *out is in text, which is emptied
 * first, and a.  As event_read().
 */
enum rc event_number(int64_t seq, struct str json, struct buf *text,
    struct arena *a, struct event *out) RC_CHECK;

/* Where an event of our own belongs. */
struct event_place {
	int64_t seq;
	struct str run_id, session_id;
	struct wall at;
};

/*
 * event_lost(p, text, out):     The run's process died: it has failed.
 * event_gone(p, text, out):     Events up to p->seq are not to be had.
 * event_final(p, rep, text, out): What the turn said, again.
 * event_end(p, rep, text, out): How the turn ended, again.
 * *out is in text, which is emptied first.  RC_INVALID or RC_TOOBIG if that
 * cannot be said.
 */
enum rc event_lost(
    const struct event_place *p, struct buf *text, struct event *out) RC_CHECK;
enum rc event_gone(
    const struct event_place *p, struct buf *text, struct event *out) RC_CHECK;
enum rc event_final(const struct event_place *p,
    const struct wire_turn_reply *rep, struct buf *text,
    struct event *out) RC_CHECK;
enum rc event_end(const struct event_place *p,
    const struct wire_turn_reply *rep, struct buf *text,
    struct event *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_EVENT_H */
