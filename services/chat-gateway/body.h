/*
 * body: what is known of a terminal, as its owner sees it.
 */
#ifndef CHAT_GATEWAY_BODY_H
#define CHAT_GATEWAY_BODY_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct terminal;

/*
 * body_put(t, id, scratch, a, out):
 * The record of the terminal id as a message, with texts and lists of a.  Its
 * snapshots are read into scratch; one that cannot be read is logged and left
 * out, and so are both while they do not count.  RC_TOOBIG if a is full.
 */
enum rc body_put(const struct terminal *t, struct str id, struct arena *scratch,
    struct arena *a, struct wire_terminal *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_BODY_H */
