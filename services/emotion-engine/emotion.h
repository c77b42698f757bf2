/*
 * emotion: the 15 emotions of the protocol as points in the pleasure, arousal,
 * dominance space.  The suite's only such table.
 */
#ifndef EMOTION_ENGINE_EMOTION_H
#define EMOTION_ENGINE_EMOTION_H

#include "core/str.h"
#include "wire/msgs.h"

#define EMOTION_N 15

/* Which way an emotion pulls, where the formulas ask for it. */
enum emotion_valence {
	EMOTION_INDIFFERENT,
	EMOTION_NEGATIVE,
	EMOTION_POSITIVE
};

/*
 * emotion_prototype(e), emotion_valence(e):
 * Of one of the 15; of neutral for any other value.
 */
const struct wire_pad *emotion_prototype(enum wire_emotion e);
enum emotion_valence emotion_valence(enum wire_emotion e);

/*
 * emotion_find(name):
 * The emotion of that name or alias (happy, happiness, sad, angry), whatever
 * its case and the blanks around it; neutral if there is none.
 */
enum wire_emotion emotion_find(struct str name);

#endif /* !EMOTION_ENGINE_EMOTION_H */
