/*
 * The table of emotions and their names.
 */
#include "emotion.h"

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
emotion_find(struct str name)
{
	struct str s = str_trim(name);
	size_t i;

	for (i = 0; i < EMOTION_N; i++) {
		if (str_eq_nocase(s, wire_emotion_names[i]))
			return (enum wire_emotion)i;
	}
	for (i = 0; i < NELEM(emotion_aliases); i++) {
		if (str_eq_nocase(s, emotion_aliases[i].name))
			return emotion_aliases[i].emotion;
	}
	return WIRE_EMOTION_NEUTRAL;
}
