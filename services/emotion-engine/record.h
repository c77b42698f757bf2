/*
 * record: a soul as it is stored: its own traits and its state, in a packed
 * form with a version number of its own.
 *
 * Pure.  The first record of a soul is empty: it is then made of its MBTI type.
 */
#ifndef EMOTION_ENGINE_RECORD_H
#define EMOTION_ENGINE_RECORD_H

#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "pad.h"
#include "persona/persona.h"

/* Bytes of a packed record. */
#define RECORD_SIZE 200

struct record {
	struct persona base;
	struct pad_state state;
};

/*
 * record_new(mbti, model, now, out):
 * A soul that was made at now.  RC_INVALID if mbti is no type.
 */
enum rc record_new(struct str mbti, enum persona_model model, int64_t now,
    struct record *out) RC_CHECK;

/* record_pack(r, dst): The bytes, in dst. */
struct str record_pack(const struct record *r, char dst[RECORD_SIZE]);

/*
 * record_unpack(bytes, out):
 * RC_INVALID, *out undefined, if they are not what record_pack() made.
 */
enum rc record_unpack(struct str bytes, struct record *out) RC_CHECK;

#endif /* !EMOTION_ENGINE_RECORD_H */
