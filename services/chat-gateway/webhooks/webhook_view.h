/*
 * webhook_view: webhooks as their users see them.  Pure.
 */
#ifndef CHAT_GATEWAY_WEBHOOKS_WEBHOOK_VIEW_H
#define CHAT_GATEWAY_WEBHOOKS_WEBHOOK_VIEW_H

#include "core/arena.h"
#include "core/rc.h"
#include "state/webhook.h"
#include "wire/msgs.h"

/*
 * webhook_view_put(w, a, out):
 * Without its secret; texts of w and a.  RC_INVALID if what is stored is none,
 * RC_TOOBIG if a is full.
 */
enum rc webhook_view_put(const struct webhook_listed *w, struct arena *a,
    struct wire_webhook *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_WEBHOOKS_WEBHOOK_VIEW_H */
