/*
 * Names and prototypes of emotions.
 */
#include "core/mem.h"
#include "persona/emotion.h"
#include "testkit/testkit.h"

static const struct {
	const char *name;
	enum wire_emotion emotion;
} names[] = {
	{ "neutral", WIRE_EMOTION_NEUTRAL },
	{ "sadness", WIRE_EMOTION_SADNESS },
	{ " Angry ", WIRE_EMOTION_ANGER },
	{ "HAPPY", WIRE_EMOTION_JOY },
	{ "happiness", WIRE_EMOTION_JOY },
	{ "sad", WIRE_EMOTION_SADNESS },
	{ "Boredom\n", WIRE_EMOTION_BOREDOM },
	{ "xyz", WIRE_EMOTION_NEUTRAL },
	{ "", WIRE_EMOTION_NEUTRAL },
	{ "joyful", WIRE_EMOTION_NEUTRAL },
};

TEST(emotions_are_found_by_name)
{
	size_t i;

	for (i = 0; i < NELEM(names); i++)
		ck_assert_msg(
		    emotion_find(str_of(names[i].name)) == names[i].emotion,
		    "%s", names[i].name);
	for (i = 0; i < EMOTION_N; i++)
		ck_assert(emotion_find(wire_emotion_names[i]) ==
		    (enum wire_emotion)i);
}

TEST(the_nearest_emotion_of_a_point)
{
	static const struct wire_pad sad = { -.7, -.2, -.3 };
	enum wire_emotion e = WIRE_EMOTION_JOY;

	for (size_t i = 0; i < EMOTION_N; i++)
		ck_assert(emotion_nearest(emotion_prototype(
			      (enum wire_emotion)i)) == (enum wire_emotion)i);
	ck_assert(emotion_nearest(&sad) == WIRE_EMOTION_SADNESS);
	ck_assert_int_eq(emotion_of(STR("moody"), &e), RC_INVALID);
	ck_assert(e == WIRE_EMOTION_JOY);
	ck_assert_int_eq(emotion_of(STR(" SAD "), &e), RC_OK);
	ck_assert(e == WIRE_EMOTION_SADNESS);
}

TEST(prototypes_are_distinct_and_match_their_valence)
{
	size_t i, j;

	for (i = 0; i < EMOTION_N; i++) {
		const struct wire_pad *x =
		    emotion_prototype((enum wire_emotion)i);

		ck_assert(x->p >= -1 && x->p <= 1 && x->a >= -1 && x->a <= 1 &&
		    x->d >= -1 && x->d <= 1);
		for (j = 0; j < i; j++) {
			const struct wire_pad *y =
			    emotion_prototype((enum wire_emotion)j);

			ck_assert(x->p != y->p || x->a != y->a || x->d != y->d);
		}
	}
	/* The sign of pleasure and the valence agree. */
	for (i = 0; i < EMOTION_N; i++) {
		double p = emotion_prototype((enum wire_emotion)i)->p;
		enum emotion_valence v = emotion_valence((enum wire_emotion)i);

		ck_assert(v != EMOTION_NEGATIVE || p < 0);
		ck_assert(v != EMOTION_POSITIVE || p > 0);
	}
	ck_assert_double_eq(
	    emotion_prototype((enum wire_emotion)EMOTION_N)->a, .05);
}
