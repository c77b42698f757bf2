/*
 * update: telling bodies how their soul feels.
 */
#ifndef EMOTION_ENGINE_UPDATE_H
#define EMOTION_ENGINE_UPDATE_H

#include "change.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "gate.h"
#include "store.h"
#include "tell.h"
#include "wire/msgs.h"

struct engine;

/*
 * All updates leave on one connection, so that those of a process arrive in
 * their order.
 */

/* session_id of the updates that nobody's words caused. */
#define UPDATE_TICK_SESSION "system_decay_tick"

/*
 * update_fill(soul, gate, t, out):
 * What all updates about a soul's present state share; who gets it and why is
 * the caller's to fill in.  Texts are the soul's and t's.
 */
void update_fill(const struct store_soul *soul, const struct gate *gate,
    struct tell_texts *t, struct wire_emotion_update *out);

/*
 * update_send(e, broker, u, trace):
 * Publish u to the body u->terminal_id of that broker; trace may be NULL.  Does
 * not wait; RC_DOWN while NATS is away.
 */
enum rc update_send(struct engine *e, struct str broker,
    const struct wire_emotion_update *u, const struct trace *trace) RC_CHECK;

/*
 * update_event(e, u, trace):
 * Tell the world that u was sent.  What keeps it from being sent is logged.
 */
void update_event(struct engine *e, const struct wire_emotion_update *u,
    const struct trace *trace);

/*
 * update_psyche(e, c, req, u, trace):
 * Tell the world what a user's input moved: the change c, which the update u
 * follows from.  Nothing if it moved nothing.
 */
void update_psyche(struct engine *e, const struct change *c,
    const struct wire_emotion_observe_request *req,
    const struct wire_emotion_update *u, const struct trace *trace);

#endif /* !EMOTION_ENGINE_UPDATE_H */
