/*
 * The table of emotions and their names.
 */
#include "persona/emotion.h"

#include <math.h>

#include "core/mem.h"

struct emotion_row {
	struct wire_pad pad;
	enum emotion_valence valence;
};

static const struct emotion_row emotion_rows[EMOTION_N] = {
	[WIRE_EMOTION_NEUTRAL] = { { 0, .05, 0 }, EMOTION_INDIFFERENT },
	[WIRE_EMOTION_JOY] = { { .70, .55, .20 }, EMOTION_POSITIVE },
	[WIRE_EMOTION_SURPRISE] = { { .10, .75, -.05 }, EMOTION_INDIFFERENT },
	[WIRE_EMOTION_SADNESS] = { { -.65, -.15, -.35 }, EMOTION_NEGATIVE },
	[WIRE_EMOTION_FEAR] = { { -.70, .70, -.60 }, EMOTION_NEGATIVE },
	[WIRE_EMOTION_ANGER] = { { -.60, .75, .25 }, EMOTION_NEGATIVE },
	[WIRE_EMOTION_DISGUST] = { { -.55, .35, .10 }, EMOTION_NEGATIVE },
	[WIRE_EMOTION_CALM] = { { .20, -.35, .15 }, EMOTION_POSITIVE },
	[WIRE_EMOTION_RELIEF] = { { .50, -.20, .30 }, EMOTION_POSITIVE },
	[WIRE_EMOTION_GRATITUDE] = { { .60, .20, .35 }, EMOTION_POSITIVE },
	[WIRE_EMOTION_EXCITEMENT] = { { .78, .82, .30 }, EMOTION_POSITIVE },
	[WIRE_EMOTION_ANXIETY] = { { -.62, .72, -.48 }, EMOTION_NEGATIVE },
	[WIRE_EMOTION_FRUSTRATION] = { { -.52, .58, -.08 }, EMOTION_NEGATIVE },
	[WIRE_EMOTION_DISAPPOINTMENT] = { { -.58, -.08, -.28 },
	    EMOTION_NEGATIVE },
	[WIRE_EMOTION_BOREDOM] = { { -.20, -.45, -.15 }, EMOTION_NEGATIVE },
};

static const struct {
	struct str name;
	enum wire_emotion emotion;
} emotion_aliases[] = {
	{ STR_INIT("happy"), WIRE_EMOTION_JOY },
	{ STR_INIT("happiness"), WIRE_EMOTION_JOY },
	{ STR_INIT("sad"), WIRE_EMOTION_SADNESS },
	{ STR_INIT("angry"), WIRE_EMOTION_ANGER },
};

static const struct emotion_row *
emotion_row_of(enum wire_emotion e)
{
	size_t i = (size_t)e;

	return &emotion_rows[i < EMOTION_N ? i : (size_t)WIRE_EMOTION_NEUTRAL];
}

const struct wire_pad *
emotion_prototype(enum wire_emotion e)
{
	return &emotion_row_of(e)->pad;
}

enum emotion_valence
emotion_valence(enum wire_emotion e)
{
	return emotion_row_of(e)->valence;
}

enum wire_emotion
emotion_nearest(const struct wire_pad *pad)
{
	enum wire_emotion best = WIRE_EMOTION_NEUTRAL;
	double least = INFINITY;

	for (size_t i = 0; i < EMOTION_N; i++) {
		const struct wire_pad *at = &emotion_rows[i].pad;
		double p = pad->p - at->p, a = pad->a - at->a,
		       d = pad->d - at->d;
		if (p * p + a * a + d * d < least) {
			least = p * p + a * a + d * d;
			best = (enum wire_emotion)i;
		}
	}
	return best;
}

enum rc
emotion_of(struct str name, enum wire_emotion *out)
{
	struct str s = str_trim(name);
	size_t i;

	for (i = 0; i < EMOTION_N; i++) {
		if (str_eq_nocase(s, wire_emotion_names[i])) {
			*out = (enum wire_emotion)i;
			return RC_OK;
		}
	}
	for (i = 0; i < NELEM(emotion_aliases); i++) {
		if (str_eq_nocase(s, emotion_aliases[i].name)) {
			*out = emotion_aliases[i].emotion;
			return RC_OK;
		}
	}
	return RC_INVALID;
}

enum wire_emotion
emotion_find(struct str name)
{
	enum wire_emotion e = WIRE_EMOTION_NEUTRAL;

	return emotion_of(name, &e) == RC_OK ? e : WIRE_EMOTION_NEUTRAL;
}
