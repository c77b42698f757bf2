/*
 * fcmp_read: what readers need of chat_event messages, and the events that they
 * make themselves.  Pure.
 */
#ifndef FCMP_FCMP_READ_H
#define FCMP_FCMP_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "fcmp/fcmp_write.h"
#include "wire/msgs.h"

struct fcmp_event {
	int64_t seq;
	struct str run_id;
	enum wire_chat_event_type type;
	struct str json;
};

/*
 * fcmp_event_ends_turn(type): Whether it is the last event of a chat turn,
 *                             which a question ends, too.
 * fcmp_event_ends_run(type):  The same of a run.
 */
bool fcmp_event_ends_turn(enum wire_chat_event_type type);
bool fcmp_event_ends_run(enum wire_chat_event_type type);

/*
 * fcmp_event_decode(json, a, out):
 * An event with its seq.  RC_INVALID if it is not one, RC_TOOBIG if a is full.
 * Strings are those of json and a.
 * fcmp_event_decode_unnumbered(seq, json, text, a, out):
 * The same for an event without its seq, as logs of sessions store them: *out
 * is in text, which is reset first, and a.
 */
enum rc fcmp_event_decode(
    struct str json, struct arena *a, struct fcmp_event *out) RC_CHECK;
enum rc fcmp_event_decode_unnumbered(int64_t seq, struct str json,
    struct buf *text, struct arena *a, struct fcmp_event *out) RC_CHECK;

/* The error of a lost turn; the second one if the body may have acted. */
#define FCMP_TURN_LOST_TEXT "the turn was lost"
#define FCMP_TURN_LOST_ACTED \
	"the turn was lost; an action may have been carried out"

/*
 * fcmp_event_lost(h, acted, text, out):
 * The chat turn failed with its process; a body may have acted for it.
 * fcmp_event_expired(h, text, out): Events up to h->seq are no longer stored.
 * fcmp_event_made(h, type, text, out): An event that was written to text.
 *
 * h->seq is a number.  *out is in text, which the first two reset.  RC_TOOBIG
 * if text is full.
 */
enum rc fcmp_event_lost(const struct fcmp_head *h, bool acted, struct buf *text,
    struct fcmp_event *out) RC_CHECK;
enum rc fcmp_event_expired(const struct fcmp_head *h, struct buf *text,
    struct fcmp_event *out) RC_CHECK;
enum rc fcmp_event_made(const struct fcmp_head *h,
    enum wire_chat_event_type type, const struct buf *text,
    struct fcmp_event *out) RC_CHECK;

#endif /* !FCMP_FCMP_READ_H */
