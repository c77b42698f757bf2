/*
 * terminals_api: a terminal's record as its owner sees it.
 */
#ifndef CHAT_GATEWAY_TERMINALS_TERMINALS_API_H
#define CHAT_GATEWAY_TERMINALS_TERMINALS_API_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct terminal;

/*
 * terminal_view_put(t, id, scratch, a, out):
 * The record as a message, with strings and lists in a.  Its snapshots are
 * decoded into scratch; one that is invalid is logged and left out, and both
 * are left out while the terminal is offline.  RC_TOOBIG if a is full.
 */
enum rc terminal_view_put(const struct terminal *t, struct str id,
    struct arena *scratch, struct arena *a, struct wire_terminal *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_TERMINALS_TERMINALS_API_H */
