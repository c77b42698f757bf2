/*
 * turn_end_event: the last events of a turn as its record has them, for a log
 * that lacks them.  Pure.
 */
#ifndef CHAT_GATEWAY_CHAT_TURN_END_EVENT_H
#define CHAT_GATEWAY_CHAT_TURN_END_EVENT_H

#include "core/buf.h"
#include "core/rc.h"
#include "fcmp/fcmp_read.h"
#include "wire/msgs.h"

/*
 * turn_end_event_text(h, rep, text, out): The reply's text.
 * turn_end_event(h, rep, text, out):      The outcome.
 *
 * h->seq is a number.  *out is in text, which is reset first.  RC_INVALID or
 * RC_TOOBIG if it cannot be encoded.
 */
enum rc turn_end_event_text(const struct fcmp_head *h,
    const struct wire_turn_reply *rep, struct buf *text,
    struct fcmp_event *out) RC_CHECK;
enum rc turn_end_event(const struct fcmp_head *h,
    const struct wire_turn_reply *rep, struct buf *text,
    struct fcmp_event *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_CHAT_TURN_END_EVENT_H */
