/*
 * change: one entry of a soul's log: what changed its state.  Pure.  Numbers
 * are stored with seven digits.
 */
#ifndef EMOTION_ENGINE_CHANGE_H
#define EMOTION_ENGINE_CHANGE_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "dynamics/drive.h"
#include "dynamics/pad.h"
#include "wire/msgs.h"

struct change {
	enum wire_emotion_history_reply_items_cause cause;
	int64_t version; /* of the resulting state, as all of these: */
	double p, a, d, boredom, shock_load, extreme_memory;
	struct gate gate;
	struct wire_emotion_history_reply_items_delta delta;
	/* Only if a user's input was the cause. */
	enum wire_emotion emotion;
	double intensity;
	struct str session_id, turn_id; /* ≤ ID_MAX bytes, or absent */
};

/* Maximum size of a packed change in bytes. */
#define CHANGE_MAX 336

/*
 * change_by_user(before, after, in, out):
 * The effect of in: before and after are states at the same time, without and
 * with it.  version, gate and the ids are set by the caller.
 */
void change_by_user(const struct pad_state *before,
    const struct pad_state *after, const struct pad_input *in,
    struct change *out);

/*
 * change_by_time(before, after, out):
 * Whether a step without input is logged: the lock ended, or a sample is due
 * (10 s, 30 s, 1 min, … 1 day after the last input).  version and gate are set
 * by the caller.
 */
bool change_by_time(const struct pad_state *before,
    const struct pad_state *after, struct change *out);

/*
 * change_by_psyche(after, effect, out):
 * A thought of the soul has moved it.  version and gate are set by the caller.
 */
void change_by_psyche(const struct pad_state *after,
    const struct drive_delta *effect, struct change *out);

/* change_pack(c, dst): The packed form, in dst. */
struct str change_pack(const struct change *c, char dst[CHANGE_MAX]);

/*
 * change_unpack(bytes, out):
 * RC_INVALID, *out undefined, if bytes are not a packed change.  Strings of
 * *out are in bytes.
 */
enum rc change_unpack(struct str bytes, struct change *out) RC_CHECK;

/* Size for change_reason(). */
#define CHANGE_REASON_MAX 32

/* change_reason(e, dst): The reason of a change by that emotion: "user_joy". */
struct str change_reason(enum wire_emotion e, char dst[CHANGE_REASON_MAX]);

#endif /* !EMOTION_ENGINE_CHANGE_H */
