/*
 * history: a turn's record as its user sees it; pure.
 */
#ifndef CHAT_GATEWAY_HISTORY_H
#define CHAT_GATEWAY_HISTORY_H

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct turn_record;

/*
 * history_put(rec, id, now, a, out):
 * The known record of the turn id as a message, with texts of rec and a.
 * RC_INVALID if what is kept of its end cannot be read, RC_TOOBIG if a is full.
 */
enum rc history_put(const struct turn_record *rec, struct str id,
    struct wall now, struct arena *a, struct wire_turn_record *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_HISTORY_H */
