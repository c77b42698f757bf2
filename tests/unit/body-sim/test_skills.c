/* Names and arguments of skills. */
#include "core/mem.h"
#include "skills.h"
#include "testkit/testkit.h"

#define NOW "2026-02-22T10:20:30Z"

struct bed {
	struct documents *docs;
	struct skills *skills;
	struct wall now;
	struct skill_call call;
	char why[SKILLS_WHY_MAX];
};

static void
bed_start(struct bed *b)
{
	*b = (struct bed){ .docs = documents_new() };
	b->skills = skills_new(b->docs);
	ck_assert_int_eq(wall_parse(STR(NOW), &b->now), RC_OK);
}

static void
bed_end(struct bed *b)
{
	skills_free(b->skills);
	documents_free(b->docs);
}

static enum rc
read_two(
    struct bed *b, const char *skill, const char *first, const char *second)
{
	struct wire_tree *t[2] = { NULL, NULL };
	enum rc rc;

	b->why[0] = '\0';
	if (first != NULL)
		ck_assert_int_eq(wire_tree_parse(str_of(first), &t[0]), RC_OK);
	if (second != NULL)
		ck_assert_int_eq(wire_tree_parse(str_of(second), &t[1]), RC_OK);
	rc = skills_read(b->skills, str_of(skill),
	    (const struct wire_tree *const[2]){ t[0], t[1] }, b->now, &b->call,
	    b->why);
	wire_tree_free(t[0]);
	wire_tree_free(t[1]);
	return rc;
}

static void
reads(struct bed *b, const char *skill, const char *args)
{
	enum rc rc = read_two(b, skill, args, NULL);

	ck_assert_msg(rc == RC_OK, "%s %s: %s", skill, args, b->why);
}

static void
refuses(struct bed *b, const char *skill, const char *args, const char *why)
{
	ck_assert_msg(read_two(b, skill, args, NULL) == RC_INVALID, "%s", args);
	ck_assert_msg(strstr(b->why, why) != NULL, "%s: %s", args, b->why);
}

TEST(lights)
{
	static const struct {
		const char *args;
		enum wire_body_state_color color;
	} cases[] = {
		{ "{\"mode\":\"on\"}", WIRE_BODY_STATE_COLOR_WHITE },
		{ "{\"mode\":\"on\",\"color\":\"red\"}",
		    WIRE_BODY_STATE_COLOR_RED },
		{ "{\"mode\":\"off\",\"color\":\"red\"}",
		    WIRE_BODY_STATE_COLOR_OFF },
		{ "{\"mode\":\"set_color\",\"color\":\"green\"}",
		    WIRE_BODY_STATE_COLOR_GREEN },
		{ "{\"skill\":\"control_light\",\"mode\":\"变绿\","
		  "\"color\":\"绿色\",\"more\":[1]}",
		    WIRE_BODY_STATE_COLOR_GREEN },
		{ "{\"color\":\"绿\"}", WIRE_BODY_STATE_COLOR_GREEN },
		{ "{\"color\":\"灯白色\",\"mode\":null}",
		    WIRE_BODY_STATE_COLOR_WHITE },
		{ "{\"mode\":\"红灯\",\"color\":\"红灯\"}",
		    WIRE_BODY_STATE_COLOR_RED },
		{ "{\"mode\":\" 把灯打开 \"}", WIRE_BODY_STATE_COLOR_WHITE },
		{ "{\"mode\":\"关掉\"}", WIRE_BODY_STATE_COLOR_OFF },
		{ "{\"mode\":\"Open\",\"color\":\"GREEN\"}",
		    WIRE_BODY_STATE_COLOR_GREEN },
	};
	struct bed b;
	size_t i;

	bed_start(&b);
	for (i = 0; i < NELEM(cases); i++) {
		reads(&b, "control_light", cases[i].args);
		ck_assert_int_eq(b.call.skill, SKILL_LIGHT);
		ck_assert_msg(
		    b.call.color == cases[i].color, "%s", cases[i].args);
	}
	refuses(&b, "control_light", "{}", "/mode: is required");
	refuses(&b, "control_light", "{\"mode\":\"blink\"}",
	    "/mode: must be one of on, off, set_color");
	refuses(&b, "control_light", "{\"color\":\"blue\"}",
	    "/color: must be one of white, red, green");
	refuses(&b, "control_light", "{\"mode\":\"set_color\"}", "/color");
	refuses(&b, "control_light", "{\"mode\":1}", "/mode");
	refuses(&b, "control_light", "{\"mode\":[\"on\"]}", "/mode");
	refuses(&b, "control_light", "{\"mode\":{\"on\":1}}", "/mode");
	refuses(&b, "control_light", "{\"mode\":true}", "/mode");
	bed_end(&b);
}

TEST(alarms)
{
	struct bed b;

	bed_start(&b);
	reads(&b, "create_alarm", "{\"trigger_in_seconds\":10}");
	ck_assert_int_eq(b.call.skill, SKILL_ALARM);
	ck_assert_int_eq(b.call.at.ms, b.now.ms + 10000);
	ck_assert_str_eq(b.call.label, "闹钟");
	reads(&b, "create_alarm",
	    "{\"trigger_in_seconds\":\"1.5\",\"label\":\"取快递\"}");
	ck_assert_int_eq(b.call.at.ms, b.now.ms + 1500);
	ck_assert_str_eq(b.call.label, "取快递");
	reads(&b, "create_alarm",
	    "{\"trigger_at\":\"2026-02-22T18:20:31+08:00\"}");
	ck_assert_int_eq(b.call.at.ms, b.now.ms + 1000);
	/* Both: the one that no clock can be wrong about. */
	reads(&b, "create_alarm",
	    "{\"trigger_at\":\"2020-01-01T00:00:00Z\","
	    "\"trigger_in_seconds\":2}");
	ck_assert_int_eq(b.call.at.ms, b.now.ms + 2000);

	refuses(&b, "create_alarm", "{}", "is required");
	refuses(&b, "create_alarm", "{\"label\":\"x\"}", "is required");
	refuses(&b, "create_alarm", "{\"trigger_in_seconds\":0}",
	    "/trigger_in_seconds");
	refuses(&b, "create_alarm", "{\"trigger_in_seconds\":0.5}",
	    "/trigger_in_seconds");
	refuses(&b, "create_alarm", "{\"trigger_in_seconds\":\"soon\"}",
	    "/trigger_in_seconds");
	refuses(
	    &b, "create_alarm", "{\"trigger_in_seconds\":1e14}", "over a year");
	refuses(&b, "create_alarm", "{\"trigger_at\":\"2026-02-22T10:20:29Z\"}",
	    "in the past");
	refuses(&b, "create_alarm", "{\"trigger_at\":\"2036-02-22T10:20:29Z\"}",
	    "over a year");
	refuses(&b, "create_alarm", "{\"trigger_at\":\"2026-02-22T10:20:40\"}",
	    "with its zone");
	refuses(&b, "create_alarm", "{\"trigger_at\":5}", "/trigger_at");
	bed_end(&b);
}

TEST(heads)
{
	struct bed b;

	bed_start(&b);
	reads(&b, "set_head_motion", "{\"action\":\"点头\"}");
	ck_assert_int_eq(b.call.skill, SKILL_HEAD);
	ck_assert_int_eq(b.call.motion, FACE_NOD);
	ck_assert_double_eq(b.call.seconds, 1.5);
	reads(&b, "set_head_motion",
	    "{\"action\":\"摇头\",\"duration_seconds\":0.2}");
	ck_assert_int_eq(b.call.motion, FACE_SHAKE);
	ck_assert_double_eq(b.call.seconds, .2);
	reads(&b, "set_head_motion",
	    "{\"action\":\"nod\",\"duration_seconds\":\"10\"}");
	ck_assert_int_eq(b.call.motion, FACE_NOD);
	ck_assert_double_eq(b.call.seconds, 10);
	reads(&b, "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":0}");
	ck_assert_double_eq(b.call.seconds, 1.5);
	refuses(&b, "set_head_motion", "{}", "/action: is required");
	refuses(&b, "set_head_motion", "{\"action\":\"跳\"}", "/action");
	refuses(&b, "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":0.1}",
	    "/duration_seconds");
	refuses(&b, "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":10.5}",
	    "/duration_seconds");
	bed_end(&b);
}

TEST(the_first_object_goes_before_the_second)
{
	struct bed b;

	bed_start(&b);
	ck_assert_int_eq(
	    read_two(&b, "control_light", "{\"skill\":\"control_light\"}",
		"{\"mode\":\"关灯\"}"),
	    RC_OK);
	ck_assert_int_eq(b.call.color, WIRE_BODY_STATE_COLOR_OFF);
	ck_assert_int_eq(
	    read_two(&b, "control_light", "{\"mode\":\"on\",\"color\":null}",
		"{\"mode\":\"off\",\"color\":\"red\"}"),
	    RC_OK);
	ck_assert_int_eq(b.call.color, WIRE_BODY_STATE_COLOR_RED);
	ck_assert_int_eq(read_two(&b, "control_light", NULL, NULL), RC_INVALID);
	bed_end(&b);
}

TEST(unknown_skills)
{
	struct bed b;

	bed_start(&b);
	ck_assert_int_eq(read_two(&b, "fly", "{}", NULL), RC_NOENT);
	ck_assert_str_eq(b.why, "unknown skill: fly");
	ck_assert_int_eq(read_two(&b, "", "{}", NULL), RC_NOENT);
	ck_assert_int_eq(read_two(&b, "Control_light", "{}", NULL), RC_NOENT);
	bed_end(&b);
}
