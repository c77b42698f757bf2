/*
 * soul_view: souls as their owner sees them: the stored record with the current
 * emotional state.
 */
#ifndef CHAT_GATEWAY_SOULS_SOUL_VIEW_H
#define CHAT_GATEWAY_SOULS_SOUL_VIEW_H

#include <stddef.h>

#include "core/rc.h"
#include "wire/msgs.h"

struct arena;
struct gateway;
struct soul;
struct svc_call;

/* Called once on the loop with n views in the memory of c; must end c. */
typedef void (*soul_view_fn)(
    struct gateway *g, struct svc_call *c, struct wire_soul *list, size_t n);

/*
 * soul_view_read(g, c, souls, n, fn):
 * Read what all souls may speak unasked, in a fiber, request their state from
 * emotion-engine, each in parallel, and call fn.
 * Souls deleted in the meantime are left out.  If a state is unavailable, c is
 * ended with the reason instead.  souls must live as long as c.
 */
void soul_view_read(struct gateway *g, struct svc_call *c,
    const struct soul *souls, size_t n, soul_view_fn fn);

/*
 * soul_view_new(soul, a, out):
 * The view of a soul that was just created, in its initial state.  Strings are
 * those of a and of soul.  RC_TOOBIG if a is full.
 */
enum rc soul_view_new(
    const struct soul *soul, struct arena *a, struct wire_soul *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_SOULS_SOUL_VIEW_H */
