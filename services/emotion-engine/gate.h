/*
 * gate: how ready a soul is to carry something out.
 */
#ifndef EMOTION_ENGINE_GATE_H
#define EMOTION_ENGINE_GATE_H

#include "core/rc.h"
#include "core/str.h"
#include "pad.h"

struct gate {
	double probability; /* [0, 1] */
	enum wire_exec_mode mode;
};

/*
 * gate_at(kind, base, s, now):
 * The gate of a soul with traits base whose state is s, at now: only the lock
 * depends on the time.  Pure.
 */
struct gate gate_at(enum pad_gate kind, const struct persona *base,
    const struct pad_state *s, int64_t now);

/* gate_kind(name, out): "continuous" or "binary"; RC_INVALID otherwise. */
enum rc gate_kind(struct str name, enum pad_gate *out) RC_CHECK;

#endif /* !EMOTION_ENGINE_GATE_H */
