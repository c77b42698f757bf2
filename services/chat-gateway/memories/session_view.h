/* session_view: the messages of a session as users see them. */
#ifndef CHAT_GATEWAY_MEMORIES_SESSION_VIEW_H
#define CHAT_GATEWAY_MEMORIES_SESSION_VIEW_H

#include "core/arena.h"
#include "core/rc.h"
#include "wire/msgs.h"

struct session_list;

/*
 * session_view_messages(a, list, out):
 * out->items, in a; a message that cannot be read is logged and left out.
 * RC_TOOBIG if a is full.
 */
enum rc session_view_messages(struct arena *a, const struct session_list *list,
    struct wire_session_messages *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_MEMORIES_SESSION_VIEW_H */
