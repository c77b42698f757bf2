/*
 * emotion_event: messages about a soul's state: encoding, updates to bodies,
 * and events.
 *
 * All updates of a process leave on one connection, so that they arrive in
 * order.
 */
#ifndef EMOTION_ENGINE_EMOTION_EVENT_H
#define EMOTION_ENGINE_EMOTION_EVENT_H

#include "change.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "dynamics/drive.h"
#include "dynamics/pad.h"
#include "soul_record.h"
#include "wire/msgs.h"

struct engine;

/* Strings of an encoded state. */
struct emotion_event_texts {
	char lock_until[WALL_FORMAT_MAX];
	char stable_since[WALL_FORMAT_MAX];
	char last_interaction[WALL_FORMAT_MAX];
	char last_updated[WALL_FORMAT_MAX];
};

/*
 * emotion_event_put_state(s, t, out):   The state; its strings are in t.
 * emotion_event_put_drives(d, out):     The drives, which a body does not get.
 * emotion_event_put_change(c, at, a, out): A log entry with its strings in a;
 *                                       RC_TOOBIG if a is full.
 * emotion_event_put_persona(p):         The traits.
 * emotion_event_round(x), emotion_event_round_delta(d): Six decimals, as all
 *                                       numbers of these messages have.
 * Pure.
 */
void emotion_event_put_state(const struct pad_state *s,
    struct emotion_event_texts *t, struct wire_emotion_state *out);
void emotion_event_put_drives(
    const struct drives *d, struct wire_emotion_state *out);
enum rc emotion_event_put_change(const struct change *c, struct wall at,
    struct arena *a, struct wire_emotion_history_reply_items *out) RC_CHECK;
struct wire_personality_vector emotion_event_put_persona(
    const struct persona *p);
double emotion_event_round(double x);
struct wire_emotion_history_reply_items_delta emotion_event_round_delta(
    const struct wire_emotion_history_reply_items_delta *d);

/* session_id of updates that no input caused. */
#define EMOTION_EVENT_TICK_SESSION "system_decay_tick"

/*
 * emotion_event_fill(soul, gate, t, out):
 * The members that all updates about a soul's current state have; recipient and
 * cause are set by the caller.  Strings are those of soul and t.
 */
void emotion_event_fill(const struct stored_soul *soul, const struct gate *gate,
    struct emotion_event_texts *t, struct wire_emotion_update *out);

/*
 * emotion_event_send(e, broker, u, trace):
 * Publish u to the body u->terminal_id at that broker without waiting; trace
 * may be NULL.  RC_DOWN while NATS is down.
 * emotion_event_publish_update(e, u, state, trace):
 * Publish the event that u was sent, with the soul's state.  A failure is
 * logged.
 * emotion_event_publish_psyche(e, c, req, state, trace):
 * Publish the event of a change by a user's input, with the state after it.
 * None if the input changed nothing.  A failure is logged.
 * emotion_event_publish_applied(e, t, trace):
 * The same of a request that moved a soul.
 */
enum rc emotion_event_send(struct engine *e, struct str broker,
    const struct wire_emotion_update *u, const struct trace *trace) RC_CHECK;
void emotion_event_publish_update(struct engine *e,
    const struct wire_emotion_update *u, const struct wire_emotion_state *state,
    const struct trace *trace);
void emotion_event_publish_psyche(struct engine *e, const struct change *c,
    const struct wire_emotion_observe_request *req,
    const struct wire_emotion_state *state, const struct trace *trace);

/* A request that moved a soul, what took effect, and the state after it. */
struct emotion_event_applied {
	const struct wire_psyche_apply_request *req;
	const struct drive_delta *effect;
	const struct wire_emotion_state *state;
	int64_t version;
};
void emotion_event_publish_applied(struct engine *e,
    const struct emotion_event_applied *t, const struct trace *trace);

#endif /* !EMOTION_ENGINE_EMOTION_EVENT_H */
