/* The 15 emotions of protocol section 3.8. */
#include "face.h"
#include "testkit/testkit.h"

static const struct {
	enum wire_emotion emotion;
	double intensity;
	const char *expression;
	const char *motion;
	double seconds;
} cases[] = {
	{ WIRE_EMOTION_ANGER, 0, "生气", "摇头", 1.0 },
	{ WIRE_EMOTION_ANGER, 1, "生气", "摇头", 2.0 },
	{ WIRE_EMOTION_DISGUST, .5, "生气", "摇头", 1.5 },
	{ WIRE_EMOTION_FRUSTRATION, .2, "生气", "摇头", 1.2 },
	{ WIRE_EMOTION_ANXIETY, .44, "不开心", "", 0 },
	{ WIRE_EMOTION_ANXIETY, .45, "不开心", "摇头", 1.25 },
	{ WIRE_EMOTION_FEAR, .9, "不开心", "摇头", 1.7 },
	{ WIRE_EMOTION_SADNESS, .69, "不开心", "", 0 },
	{ WIRE_EMOTION_SADNESS, .70, "哭", "摇头", 1.84 },
	{ WIRE_EMOTION_DISAPPOINTMENT, 1, "哭", "摇头", 2.2 },
	{ WIRE_EMOTION_BOREDOM, .5, "不开心", "", 0 },
	{ WIRE_EMOTION_JOY, .49, "微笑", "", 0 },
	{ WIRE_EMOTION_JOY, .5, "微笑", "点头", 1.2 },
	{ WIRE_EMOTION_GRATITUDE, .6, "微笑", "点头", 1.28 },
	{ WIRE_EMOTION_RELIEF, .1, "微笑", "", 0 },
	{ WIRE_EMOTION_EXCITEMENT, .3, "大笑", "", 0 },
	{ WIRE_EMOTION_EXCITEMENT, .8, "大笑", "点头", 1.6 },
	{ WIRE_EMOTION_SURPRISE, .54, "大笑", "", 0 },
	{ WIRE_EMOTION_SURPRISE, .55, "大笑", "点头", 1.14 },
	{ WIRE_EMOTION_CALM, 1, "微笑", "", 0 },
	{ WIRE_EMOTION_NEUTRAL, 1, "微笑", "", 0 },
};

TEST(emotions_have_their_faces)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct face f = face_of(cases[i].emotion, cases[i].intensity);

		ck_assert_str_eq(
		    face_expression_name(f.expression), cases[i].expression);
		ck_assert_str_eq(face_motion_name(f.motion), cases[i].motion);
		ck_assert_double_eq_tol(f.seconds, cases[i].seconds, 1e-9);
	}
}

TEST(every_emotion_has_one)
{
	size_t e, i;

	for (e = 0; e < sizeof(wire_emotion_names) / sizeof(struct str); e++) {
		bool tried = false;

		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			tried = tried || cases[i].emotion == e;
		ck_assert_msg(tried, "%s", wire_emotion_names[e].p);
	}
}
