/*
 * emotion: the 15 emotions of the protocol as points in the pleasure, arousal,
 * dominance space.  The only such table of the suite.
 */
#ifndef PERSONA_EMOTION_H
#define PERSONA_EMOTION_H

#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

#define EMOTION_N 15

/* The direction of an emotion in the formulas of the dynamics. */
enum emotion_valence {
	EMOTION_INDIFFERENT,
	EMOTION_NEGATIVE,
	EMOTION_POSITIVE
};

/*
 * emotion_prototype(e), emotion_valence(e):
 * Point and valence of an emotion; those of neutral for any other value.
 */
const struct wire_pad *emotion_prototype(enum wire_emotion e);
enum emotion_valence emotion_valence(enum wire_emotion e);

/* emotion_nearest(pad): The emotion whose point is nearest. */
enum wire_emotion emotion_nearest(const struct wire_pad *pad);

/*
 * emotion_of(name, out): As emotion_find(), but RC_INVALID, with *out
 * unchanged, if there is none.
 */
enum rc emotion_of(struct str name, enum wire_emotion *out) RC_CHECK;

/*
 * emotion_find(name):
 * The emotion of that name or alias (happy, happiness, sad, angry), case and
 * surrounding blanks ignored; neutral if there is none.
 */
enum wire_emotion emotion_find(struct str name);

#endif /* !PERSONA_EMOTION_H */
