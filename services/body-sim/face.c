/*
 * The table of reactions.
 */
#include "face.h"

/* More than any intensity. */
#define NEVER 2.0

#define SECONDS_MIN 0.2
#define SECONDS_MAX 10.0

struct reaction {
	enum face_expression mild;
	enum face_expression strong;
	double strong_from; /* intensity */
	enum face_motion motion;
	double motion_from;
	double seconds, seconds_per; /* and per intensity */
};

#define CROSS                                                          \
	{                                                              \
		FACE_ANGRY, FACE_ANGRY, NEVER, FACE_SHAKE, 0, 1.0, 1.0 \
	}
#define AFRAID                                                              \
	{                                                                   \
		FACE_UNHAPPY, FACE_UNHAPPY, NEVER, FACE_SHAKE, .45, .8, 1.0 \
	}
#define SAD                                                            \
	{                                                              \
		FACE_UNHAPPY, FACE_CRY, .70, FACE_SHAKE, .70, 1.0, 1.2 \
	}
#define GLAD                                                         \
	{                                                            \
		FACE_SMILE, FACE_SMILE, NEVER, FACE_NOD, .50, .8, .8 \
	}
#define AT_REST                                                        \
	{                                                              \
		FACE_SMILE, FACE_SMILE, NEVER, FACE_STILL, NEVER, 0, 0 \
	}

static const struct reaction reactions[] = {
	[WIRE_EMOTION_ANGER] = CROSS,
	[WIRE_EMOTION_DISGUST] = CROSS,
	[WIRE_EMOTION_FRUSTRATION] = CROSS,
	[WIRE_EMOTION_ANXIETY] = AFRAID,
	[WIRE_EMOTION_FEAR] = AFRAID,
	[WIRE_EMOTION_SADNESS] = SAD,
	[WIRE_EMOTION_DISAPPOINTMENT] = SAD,
	[WIRE_EMOTION_BOREDOM] = SAD,
	[WIRE_EMOTION_JOY] = GLAD,
	[WIRE_EMOTION_GRATITUDE] = GLAD,
	[WIRE_EMOTION_RELIEF] = GLAD,
	[WIRE_EMOTION_EXCITEMENT] = { FACE_LAUGH, FACE_LAUGH, NEVER, FACE_NOD,
	    .50, .8, 1.0 },
	[WIRE_EMOTION_SURPRISE] = { FACE_LAUGH, FACE_LAUGH, NEVER, FACE_NOD,
	    .55, .7, .8 },
	[WIRE_EMOTION_CALM] = AT_REST,
	[WIRE_EMOTION_NEUTRAL] = AT_REST,
};

static double
within(double v, double min, double max)
{
	return v < min ? min : v > max ? max : v;
}

struct face
face_of(enum wire_emotion e, double intensity)
{
	const struct reaction *r = &reactions[e];
	struct face f = { .expression = r->mild };

	if (intensity >= r->strong_from)
		f.expression = r->strong;
	if (intensity >= r->motion_from) {
		f.motion = r->motion;
		f.seconds = within(r->seconds + r->seconds_per * intensity,
		    SECONDS_MIN, SECONDS_MAX);
	}
	return f;
}

const char *
face_expression_name(enum face_expression e)
{
	static const char *const names[] = {
		[FACE_SMILE] = "微笑",
		[FACE_LAUGH] = "大笑",
		[FACE_ANGRY] = "生气",
		[FACE_CRY] = "哭",
		[FACE_UNHAPPY] = "不开心",
	};

	return names[e];
}

const char *
face_motion_name(enum face_motion m)
{
	static const char *const names[] = {
		[FACE_STILL] = "",
		[FACE_NOD] = "点头",
		[FACE_SHAKE] = "摇头",
	};

	return names[m];
}
