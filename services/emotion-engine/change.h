/*
 * change: what moved a soul, as its log keeps it and as the history tells it.
 *
 * Pure.  Numbers are kept to seven digits.
 */
#ifndef EMOTION_ENGINE_CHANGE_H
#define EMOTION_ENGINE_CHANGE_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "gate.h"
#include "pad.h"
#include "wire/msgs.h"

struct change {
	enum wire_emotion_history_reply_items_cause cause;
	int64_t version; /* of the state after it */
	double p, a, d, boredom, shock_load, extreme_memory; /* after it */
	struct gate gate;                                    /* after it */
	struct wire_emotion_history_reply_items_delta delta;
	/* Of a user's input only. */
	enum wire_emotion emotion;
	double intensity;
	struct str session_id, turn_id; /* ≤ ID_MAX bytes, or absent */
};

/* Bytes that a packed change has at most. */
#define CHANGE_MAX 336

/*
 * change_by_user(before, after, in, out):
 * before is the state at its moment, without the input, and after with it.
 * version, gate and the ids are the caller's to fill in.
 */
void change_by_user(const struct pad_state *before,
    const struct pad_state *after, const struct pad_input *in,
    struct change *out);

/*
 * change_by_time(before, after, out):
 * Whether a step through silence is to be remembered: the lock ended, or so
 * much time has passed since a user spoke that a sample is due (after 10 s, 30
 * s, 1 min, … 1 day).  version and gate are the caller's to fill in.
 */
bool change_by_time(const struct pad_state *before,
    const struct pad_state *after, struct change *out);

/* change_pack(c, dst): The bytes, in dst. */
struct str change_pack(const struct change *c, char dst[CHANGE_MAX]);

/*
 * change_unpack(bytes, out):
 * RC_INVALID, *out undefined, if they are not what change_pack() made.  Texts
 * of *out are parts of bytes.
 */
enum rc change_unpack(struct str bytes, struct change *out) RC_CHECK;

/* Room for what change_reason() says. */
#define CHANGE_REASON_MAX 32

/* change_reason(e, dst): Why a user's emotion moved the soul: "user_joy". */
struct str change_reason(enum wire_emotion e, char dst[CHANGE_REASON_MAX]);

#endif /* !EMOTION_ENGINE_CHANGE_H */
