/*
 * tell: a soul's state as the messages carry it.
 */
#ifndef EMOTION_ENGINE_TELL_H
#define EMOTION_ENGINE_TELL_H

#include "change.h"
#include "core/arena.h"
#include "core/clock.h"
#include "gate.h"
#include "pad.h"
#include "wire/msgs.h"

/* tell_time(t): A moment of the state, cut to milliseconds. */
struct wall tell_time(int64_t t);

/* Texts that a told state refers to. */
struct tell_texts {
	char lock_until[WALL_FORMAT_MAX];
	char stable_since[WALL_FORMAT_MAX];
	char last_interaction[WALL_FORMAT_MAX];
	char last_updated[WALL_FORMAT_MAX];
};

/*
 * tell_state(s, t, out):
 * Fill out, numbers to six decimals; its texts are in t, which must outlive it.
 * last_updated_at is there for any use of "now".
 */
void tell_state(const struct pad_state *s, struct tell_texts *t,
    struct wire_emotion_state *out);

/* tell_number(x): x to six decimals. */
double tell_number(double x);

/*
 * tell_change(c, at, a, out):
 * A remembered change, with its texts in a.  RC_TOOBIG if it is full.
 */
enum rc tell_change(const struct change *c, struct wall at, struct arena *a,
    struct wire_emotion_history_reply_items *out) RC_CHECK;

/* tell_delta(d): What a change moved, to six decimals. */
struct wire_emotion_history_reply_items_delta tell_delta(
    const struct wire_emotion_history_reply_items_delta *d);

/* tell_persona(p): The traits as a message has them. */
struct wire_personality_vector tell_persona(const struct persona *p);

#endif /* !EMOTION_ENGINE_TELL_H */
