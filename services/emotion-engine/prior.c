/*
 * The rules of the overlay as numbers.
 */
#include "prior.h"

#include <string.h>

/* What a cue says when it is denied: another emotion, and how much less. */
static const struct {
	enum wire_emotion emotion;
	double factor;
} denied[EMOTION_N] = {
	[WIRE_EMOTION_NEUTRAL] = { WIRE_EMOTION_NEUTRAL, 0 },
	[WIRE_EMOTION_JOY] = { WIRE_EMOTION_SADNESS, 1 },
	[WIRE_EMOTION_SURPRISE] = { WIRE_EMOTION_NEUTRAL, .7 },
	[WIRE_EMOTION_SADNESS] = { WIRE_EMOTION_CALM, .8 },
	[WIRE_EMOTION_FEAR] = { WIRE_EMOTION_CALM, .8 },
	[WIRE_EMOTION_ANGER] = { WIRE_EMOTION_CALM, .8 },
	[WIRE_EMOTION_DISGUST] = { WIRE_EMOTION_NEUTRAL, .7 },
	[WIRE_EMOTION_CALM] = { WIRE_EMOTION_ANXIETY, 1 },
	[WIRE_EMOTION_RELIEF] = { WIRE_EMOTION_ANXIETY, 1 },
	[WIRE_EMOTION_GRATITUDE] = { WIRE_EMOTION_NEUTRAL, .7 },
	[WIRE_EMOTION_EXCITEMENT] = { WIRE_EMOTION_CALM, .6 },
	[WIRE_EMOTION_ANXIETY] = { WIRE_EMOTION_CALM, 1 },
	[WIRE_EMOTION_FRUSTRATION] = { WIRE_EMOTION_CALM, .8 },
	[WIRE_EMOTION_DISAPPOINTMENT] = { WIRE_EMOTION_RELIEF, .7 },
	[WIRE_EMOTION_BOREDOM] = { WIRE_EMOTION_JOY, .7 },
};

static void
prior_cue(const struct features_sign *s, double w[EMOTION_N])
{
	enum wire_emotion e = s->row->emotion;
	double x = 3 * s->row->strength;

	switch (s->state) {
	case FEATURES_PLAIN:
		w[e] = x;
		break;
	case FEATURES_DENIED:
		w[denied[e].emotion] = x * denied[e].factor;
		break;
	case FEATURES_PAST:
	case FEATURES_THEIRS:
		w[e] = x / 3;
		break;
	case FEATURES_MOCKED:
		w[WIRE_EMOTION_FRUSTRATION] = x / 2;
		w[WIRE_EMOTION_ANGER] = x / 2;
		break;
	default:
		w[WIRE_EMOTION_NEUTRAL] = x;
	}
}

void
prior_of(const struct features_sign *s, double w[EMOTION_N])
{
	memset(w, 0, EMOTION_N * sizeof(w[0]));
	switch (s->row->kind) {
	case LEXICON_CUE:
		prior_cue(s, w);
		break;
	case LEXICON_ORDER:
	case LEXICON_FACT:
		w[WIRE_EMOTION_NEUTRAL] = 1.5;
		break;
	case LEXICON_META:
	case LEXICON_ACK:
		w[WIRE_EMOTION_NEUTRAL] = 3;
		break;
	case LEXICON_MOCK:
		w[WIRE_EMOTION_ANGER] = 1.5;
		w[WIRE_EMOTION_FRUSTRATION] = 1.5;
		break;
	default:
		break;
	}
}
