/* Calls of skills, and the reports. */
#include <string.h>

#include "core/mem.h"
#include "rx/rx.h"
#include "skills.h"
#include "testkit/testkit.h"
#include "wire/device.h"
#include "wire/schema.h"
#include "wire/tree.h"

#define NOW "2026-02-22T10:20:30Z"

struct skill_fixture {
	struct documents *docs;
	struct skills *skills;
	struct wall now;
	struct skill_call call;
	char error[SKILLS_ERROR_MAX];
};

static void
skill_start(struct skill_fixture *b)
{
	*b = (struct skill_fixture){ .docs = documents_new() };
	b->skills = skills_new(b->docs);
	ck_assert_int_eq(wall_parse(STR(NOW), &b->now), RC_OK);
}

static void
skill_end(struct skill_fixture *b)
{
	skills_free(b->skills);
	documents_free(b->docs);
}

static enum rc
skill_read_two(struct skill_fixture *b, const char *skill, const char *first,
    const char *second)
{
	struct wire_tree *t[2] = { NULL, NULL };
	enum rc rc;

	b->error[0] = '\0';
	if (first != NULL)
		ck_assert_int_eq(wire_tree_parse(str_of(first), &t[0]), RC_OK);
	if (second != NULL)
		ck_assert_int_eq(wire_tree_parse(str_of(second), &t[1]), RC_OK);
	rc = skills_read(b->skills, str_of(skill),
	    (const struct wire_tree *const[2]){ t[0], t[1] }, b->now, &b->call,
	    b->error);
	wire_tree_free(t[0]);
	wire_tree_free(t[1]);
	return rc;
}

static void
skill_ck_reads(struct skill_fixture *b, const char *skill, const char *args)
{
	enum rc rc = skill_read_two(b, skill, args, NULL);

	ck_assert_msg(rc == RC_OK, "%s %s: %s", skill, args, b->error);
}

static void
skill_ck_rejects(struct skill_fixture *b, const char *skill, const char *args,
    const char *error)
{
	ck_assert_msg(
	    skill_read_two(b, skill, args, NULL) == RC_INVALID, "%s", args);
	ck_assert_msg(
	    strstr(b->error, error) != NULL, "%s: %s", args, b->error);
}

TEST(light_calls_are_read)
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
	struct skill_fixture b;
	size_t i;

	skill_start(&b);
	for (i = 0; i < NELEM(cases); i++) {
		skill_ck_reads(&b, "control_light", cases[i].args);
		ck_assert_int_eq(b.call.skill, SKILL_LIGHT);
		ck_assert_msg(
		    b.call.color == cases[i].color, "%s", cases[i].args);
	}
	skill_ck_rejects(&b, "control_light", "{}", "/mode: is required");
	skill_ck_rejects(&b, "control_light", "{\"mode\":\"blink\"}",
	    "/mode: must be one of on, off, set_color");
	skill_ck_rejects(&b, "control_light", "{\"color\":\"blue\"}",
	    "/color: must be one of white, red, green");
	skill_ck_rejects(
	    &b, "control_light", "{\"mode\":\"set_color\"}", "/color");
	skill_ck_rejects(&b, "control_light", "{\"mode\":1}", "/mode");
	skill_ck_rejects(&b, "control_light", "{\"mode\":[\"on\"]}", "/mode");
	skill_ck_rejects(&b, "control_light", "{\"mode\":{\"on\":1}}", "/mode");
	skill_ck_rejects(&b, "control_light", "{\"mode\":true}", "/mode");
	skill_end(&b);
}

TEST(alarm_calls_are_read)
{
	struct skill_fixture b;

	skill_start(&b);
	skill_ck_reads(&b, "create_alarm", "{\"trigger_in_seconds\":10}");
	ck_assert_int_eq(b.call.skill, SKILL_ALARM);
	ck_assert_int_eq(b.call.at.ms, b.now.ms + 10000);
	ck_assert_str_eq(b.call.label, "闹钟");
	skill_ck_reads(&b, "create_alarm",
	    "{\"trigger_in_seconds\":\"1.5\",\"label\":\"取快递\"}");
	ck_assert_int_eq(b.call.at.ms, b.now.ms + 1500);
	ck_assert_str_eq(b.call.label, "取快递");
	skill_ck_reads(&b, "create_alarm",
	    "{\"trigger_at\":\"2026-02-22T18:20:31+08:00\"}");
	ck_assert_int_eq(b.call.at.ms, b.now.ms + 1000);
	/* With both, the relative time counts, as it needs no correct clock. */
	skill_ck_reads(&b, "create_alarm",
	    "{\"trigger_at\":\"2020-01-01T00:00:00Z\","
	    "\"trigger_in_seconds\":2}");
	ck_assert_int_eq(b.call.at.ms, b.now.ms + 2000);

	skill_ck_rejects(&b, "create_alarm", "{}", "is required");
	skill_ck_rejects(
	    &b, "create_alarm", "{\"label\":\"x\"}", "is required");
	skill_ck_rejects(&b, "create_alarm", "{\"trigger_in_seconds\":0}",
	    "/trigger_in_seconds");
	skill_ck_rejects(&b, "create_alarm", "{\"trigger_in_seconds\":0.5}",
	    "/trigger_in_seconds");
	skill_ck_rejects(&b, "create_alarm",
	    "{\"trigger_in_seconds\":\"soon\"}", "/trigger_in_seconds");
	skill_ck_rejects(
	    &b, "create_alarm", "{\"trigger_in_seconds\":1e14}", "over a year");
	skill_ck_rejects(&b, "create_alarm",
	    "{\"trigger_at\":\"2026-02-22T10:20:29Z\"}", "in the past");
	skill_ck_rejects(&b, "create_alarm",
	    "{\"trigger_at\":\"2036-02-22T10:20:29Z\"}", "over a year");
	skill_ck_rejects(&b, "create_alarm",
	    "{\"trigger_at\":\"2026-02-22T10:20:40\"}", "with its zone");
	skill_ck_rejects(
	    &b, "create_alarm", "{\"trigger_at\":5}", "/trigger_at");
	skill_end(&b);
}

TEST(head_calls_are_read)
{
	struct skill_fixture b;

	skill_start(&b);
	skill_ck_reads(&b, "set_head_motion", "{\"action\":\"点头\"}");
	ck_assert_int_eq(b.call.skill, SKILL_HEAD);
	ck_assert_int_eq(b.call.motion, FACE_NOD);
	ck_assert_double_eq(b.call.seconds, 1.5);
	skill_ck_reads(&b, "set_head_motion",
	    "{\"action\":\"摇头\",\"duration_seconds\":0.2}");
	ck_assert_int_eq(b.call.motion, FACE_SHAKE);
	ck_assert_double_eq(b.call.seconds, .2);
	skill_ck_reads(&b, "set_head_motion",
	    "{\"action\":\"nod\",\"duration_seconds\":\"10\"}");
	ck_assert_int_eq(b.call.motion, FACE_NOD);
	ck_assert_double_eq(b.call.seconds, 10);
	skill_ck_reads(&b, "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":0}");
	ck_assert_double_eq(b.call.seconds, 1.5);
	skill_ck_rejects(&b, "set_head_motion", "{}", "/action: is required");
	skill_ck_rejects(
	    &b, "set_head_motion", "{\"action\":\"跳\"}", "/action");
	skill_ck_rejects(&b, "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":0.1}",
	    "/duration_seconds");
	skill_ck_rejects(&b, "set_head_motion",
	    "{\"action\":\"点头\",\"duration_seconds\":10.5}",
	    "/duration_seconds");
	skill_end(&b);
}

TEST(the_first_object_takes_precedence)
{
	struct skill_fixture b;

	skill_start(&b);
	ck_assert_int_eq(
	    skill_read_two(&b, "control_light", "{\"skill\":\"control_light\"}",
		"{\"mode\":\"关灯\"}"),
	    RC_OK);
	ck_assert_int_eq(b.call.color, WIRE_BODY_STATE_COLOR_OFF);
	ck_assert_int_eq(skill_read_two(&b, "control_light",
			     "{\"mode\":\"on\",\"color\":null}",
			     "{\"mode\":\"off\",\"color\":\"red\"}"),
	    RC_OK);
	ck_assert_int_eq(b.call.color, WIRE_BODY_STATE_COLOR_RED);
	ck_assert_int_eq(
	    skill_read_two(&b, "control_light", NULL, NULL), RC_INVALID);
	skill_end(&b);
}

TEST(unknown_skills_are_rejected)
{
	struct skill_fixture b;

	skill_start(&b);
	ck_assert_int_eq(skill_read_two(&b, "fly", "{}", NULL), RC_NOENT);
	ck_assert_str_eq(b.error, "unknown skill: fly");
	ck_assert_int_eq(skill_read_two(&b, "", "{}", NULL), RC_NOENT);
	ck_assert_int_eq(
	    skill_read_two(&b, "Control_light", "{}", NULL), RC_NOENT);
	skill_end(&b);
}

/* ---- reports ---- */

TEST(the_skills_are_those_of_the_protocol)
{
	static const char *const names[] = { "control_light", "create_alarm",
		"set_head_motion", "speak" };
	struct documents *d = documents_new();
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_skills_report r;
	struct wire_schema *s;
	struct wire_err note, err;
	size_t i;

	ck_assert_int_eq(
	    documents_skills(d, STR("t1"), STR("friendly"), 7, &out), RC_OK);
	ck_assert_int_eq(
	    wire_device_skills(buf_str(&out), STR("t1"), a, &r, &note, &err),
	    RC_OK);
	ck_assert_str_eq(note.why, "");
	ck_assert_int_eq(r.skill_version, 7);
	ck_assert(str_eq(r.soul_hint, STR("friendly")));
	ck_assert_uint_eq(r.n_skills, NELEM(names));
	for (i = 0; i < NELEM(names); i++) {
		ck_assert(str_eq(r.skills[i].name, str_of(names[i])));
		ck_assert_uint_gt(r.skills[i].description.n, 0);
		ck_assert_int_eq(
		    wire_schema_new(r.skills[i].input_schema, &s, &err), RC_OK);
		wire_schema_free(s);
		ck_assert_ptr_nonnull(documents_skill(d, str_of(names[i])));
	}
	ck_assert_ptr_null(documents_skill(d, STR("fly")));
	buf_reset(&out);
	ck_assert_int_eq(
	    documents_skills(d, STR("t1"), STR(""), 7, &out), RC_OK);
	ck_assert_int_eq(str_find(buf_str(&out), STR("soul_hint")), -1);
	buf_free(&out);
	arena_free(a);
	documents_free(d);
	documents_free(NULL);
}

TEST(intents_have_reported_skills)
{
	struct documents *d = documents_new();
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_intent_catalog_report r;
	struct wire_err note, err;
	struct str skill;
	struct rx *rx;
	size_t i, k;

	ck_assert_int_eq(documents_intents(d, STR("t1"), 12, &out), RC_OK);
	ck_assert_int_eq(
	    wire_device_intents(buf_str(&out), STR("t1"), a, &r, &note, &err),
	    RC_OK);
	ck_assert_str_eq(note.why, "");
	ck_assert_int_eq(r.catalog_version, 12);
	ck_assert_uint_eq(r.n_intent_catalog, 3);
	for (i = 0; i < r.n_intent_catalog; i++) {
		const struct wire_intent *in = &r.intent_catalog[i];

		ck_assert_uint_gt(in->match.n_keywords_any, 0);
		ck_assert(str_eq(in->slots[0].name, STR("skill")));
		ck_assert_int_eq(
		    wire_tree_string(in->slots[0].default_, a, &skill), RC_OK);
		ck_assert_ptr_nonnull(documents_skill(d, skill));
		for (k = 0; k < in->n_slots; k++) {
			if (in->slots[k].regex.p == NULL)
				continue;
			ck_assert_int_eq(
			    rx_new(in->slots[k].regex, 0, &rx, NULL, 0), RC_OK);
			ck_assert_uint_eq(rx_groups(rx), 1);
			rx_free(rx);
		}
	}
	buf_free(&out);
	arena_free(a);
	documents_free(d);
}

TEST(a_full_buffer_is_an_error)
{
	struct documents *d = documents_new();
	struct buf out = BUF_INIT(100);

	ck_assert_int_eq(
	    documents_skills(d, STR("t1"), STR(""), 7, &out), RC_TOOBIG);
	buf_reset(&out);
	ck_assert_int_eq(documents_intents(d, STR("t1"), 7, &out), RC_TOOBIG);
	buf_reset(&out);
	ck_assert_int_eq(
	    documents_skills(d, STR("t1"), STR(""), -1, &out), RC_INVALID);
	buf_free(&out);
	documents_free(d);
}
