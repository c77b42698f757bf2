/*
 * terminals_api: a terminal's record as its owner sees it.
 */
#ifndef CHAT_GATEWAY_TERMINALS_TERMINALS_API_H
#define CHAT_GATEWAY_TERMINALS_TERMINALS_API_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct gateway;
struct svc_call;
struct terminal;

/*
 * terminal_view_put(t, id, scratch, a, out):
 * The record as a message, with strings and lists in a.  Its snapshots are
 * decoded into scratch; one that is invalid is logged and left out, and both
 * are left out while the terminal is offline.  RC_TOOBIG if a is full.
 */
enum rc terminal_view_put(const struct terminal *t, struct str id,
    struct arena *scratch, struct arena *a, struct wire_terminal *out) RC_CHECK;

/*
 * terminal_read_visible(g, c, id, a, t):
 * Read the record of a terminal for c, which names a user in its query, or is a
 * provisioner, who does not see owners.  One that the caller may not see is
 * RC_NOENT.  t's strings are in a.  False: c has been ended.
 */
bool terminal_read_visible(struct gateway *g, struct svc_call *c, struct str id,
    struct arena *a, struct terminal *t);

#endif /* !CHAT_GATEWAY_TERMINALS_TERMINALS_API_H */
