/* Reports of devices: deviations that are tolerated. */
#include <stdio.h>

#include "codec.h"
#include "wire/device.h"

#define SKILLS                                                     \
	"\"skills\":[{\"name\":\"a\",\"description\":\"1\"},"      \
	"{\"name\":\"b\"},{\"name\":\"a\",\"description\":\"2\"}," \
	"{\"name\":\"c\"},{\"name\":\"b\"}]"
#define INTENTS "[{\"id\":\"x\",\"name\":\"1\"},{\"id\":\"x\",\"name\":\"2\"}]"

struct skills {
	struct arena *a;
	struct wire_skills_report r;
	struct wire_err note;
	struct wire_err err;
	enum rc rc;
};

static struct skills
read_skills(const char *text)
{
	struct skills s = { .a = arena_new(WIRE_ARENA_MAX) };
	s.rc = wire_device_skills(
	    str_of(text), STR("t-1"), s.a, &s.r, &s.note, &s.err);
	return s;
}

TEST(of_two_skills_with_one_name_the_first_counts)
{
	static const struct {
		const char *text;
		const char *path;
	} list[] = {
		{ "{" SKILLS "}", "/skills/2/name" },
		{ " [{\"name\":\"a\",\"description\":\"1\"},{\"name\":\"b\"},"
		  "{\"name\":\"a\"},{\"name\":\"c\"},{\"name\":\"b\"}]",
		    "/2/name" },
	};
	for (size_t i = 0; i < NELEM(list); i++) {
		struct skills s = read_skills(list[i].text);
		ck_assert_int_eq(s.rc, RC_OK);
		ck_assert_uint_eq(s.r.n_skills, 3);
		ck_assert(str_eq(s.r.skills[0].name, STR("a")));
		ck_assert(str_eq(s.r.skills[0].description, STR("1")));
		ck_assert(str_eq(s.r.skills[1].name, STR("b")));
		ck_assert(str_eq(s.r.skills[2].name, STR("c")));
		ck_assert_str_eq(s.note.path, list[i].path);
		ck_assert_str_eq(
		    s.note.why, "is the same as in item 0; the first counts");
		arena_free(s.a);
	}
}

TEST(a_valid_report_has_no_note)
{
	struct skills s =
	    read_skills("{\"terminal_id\":\"t-1\",\"skill_version\":3,"
			"\"skills\":[{\"name\":\"a\"},{\"name\":\"A\"},"
			"{\"name\":\"a \"}]}");
	ck_assert_int_eq(s.rc, RC_OK);
	ck_assert_uint_eq(s.r.n_skills, 3);
	ck_assert_int_eq(s.r.skill_version, 3);
	ck_assert_str_eq(s.note.why, "");
	ck_assert_str_eq(s.note.path, "");
	arena_free(s.a);
	s = read_skills("{\"skills\":[]}");
	ck_assert_int_eq(s.rc, RC_OK);
	ck_assert_uint_eq(s.r.n_skills, 0);
	arena_free(s.a);
}

TEST(the_terminal_is_the_topics)
{
	static const char *const same[] = { "{\"skills\":[]}", "[]",
		"{\"terminal_id\":\"\",\"skills\":[]}",
		"{\"terminal_id\":null,\"skills\":[]}",
		"{\"terminal_id\":\"t-1\",\"skills\":[]}" };
	for (size_t i = 0; i < NELEM(same); i++) {
		struct skills s = read_skills(same[i]);
		ck_assert_int_eq(s.rc, RC_OK);
		ck_assert(str_eq(s.r.terminal_id, STR("t-1")));
		arena_free(s.a);
	}
	struct skills s =
	    read_skills("{\"terminal_id\":\"t-2\",\"skills\":[]}");
	ck_assert_int_eq(s.rc, RC_INVALID);
	ck_assert_str_eq(s.err.path, "/terminal_id");
	ck_assert_str_eq(s.err.why, "is not the topic's");
	arena_free(s.a);
	s = read_skills("{\"skills\":[{}]}");
	ck_assert_int_eq(s.rc, RC_INVALID);
	ck_assert_str_eq(s.err.path, "/skills/0/name");
	ck_assert_str_eq(s.note.why, "");
	arena_free(s.a);
}

TEST(of_two_intents_with_one_id_the_first_counts)
{
	static const struct {
		const char *text;
		const char *path;
	} list[] = {
		{ "{\"intent_catalog\":" INTENTS "}", "/intent_catalog/1/id" },
		{ INTENTS, "/1/id" },
	};
	for (size_t i = 0; i < NELEM(list); i++) {
		struct wire_intent_catalog_report r;
		struct wire_err note;
		struct arena *a = arena_new(WIRE_ARENA_MAX);
		ck_assert_int_eq(wire_device_intents(str_of(list[i].text),
				     STR("t"), a, &r, &note, NULL),
		    RC_OK);
		ck_assert_uint_eq(r.n_intent_catalog, 1);
		ck_assert(str_eq(r.intent_catalog[0].name, STR("1")));
		ck_assert(str_eq(r.terminal_id, STR("t")));
		ck_assert_str_eq(note.path, list[i].path);
		ck_assert_int_eq(wire_device_intents(str_of(list[i].text),
				     STR("t"), a, &r, NULL, NULL),
		    RC_OK);
		arena_free(a);
	}
	struct wire_intent_catalog_report r;
	struct wire_err err;
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	ck_assert_int_eq(wire_device_intents(STR("{\"terminal_id\":\"u\","
						 "\"intent_catalog\":[]}"),
			     STR("t"), a, &r, NULL, &err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/terminal_id");
	ck_assert_int_eq(
	    wire_device_intents(STR("{}"), STR("t"), a, &r, NULL, &err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/intent_catalog");
	arena_free(a);
}

TEST(a_failure_without_a_reason_gets_one)
{
	static const struct {
		const char *text;
		const char *error; /* NULL: absent */
	} list[] = {
		{ "{\"request_id\":\"r\",\"ok\":false}",
		    "tool invocation failed" },
		{ "{\"request_id\":\"r\",\"ok\":false,\"error\":\"\"}",
		    "tool invocation failed" },
		{ "{\"request_id\":\"r\",\"ok\":false,\"error\":null}",
		    "tool invocation failed" },
		{ "{\"request_id\":\"r\",\"ok\":false,\"error\":\"x\"}", "x" },
		{ "{\"request_id\":\"r\",\"ok\":true}", NULL },
		{ "{\"request_id\":\"r\",\"ok\":true,\"error\":\"\"}", "" },
	};
	for (size_t i = 0; i < NELEM(list); i++) {
		struct arena *a = arena_new(WIRE_ARENA_MAX);
		struct wire_result r;
		ck_assert_int_eq(wire_device_result(str_of(list[i].text),
				     STR("r"), a, &r, NULL),
		    RC_OK);
		ck_assert_int_eq(r.error.p != NULL, list[i].error != NULL);
		ck_assert(str_eq(r.error, str_of(list[i].error)));
		arena_free(a);
	}
}

TEST(a_result_must_have_the_request_id_of_its_topic)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_result r;
	struct wire_err err;
	ck_assert_int_eq(
	    wire_device_result(STR("{\"request_id\":\"other\",\"ok\":true}"),
		STR("r"), a, &r, &err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/request_id");
	ck_assert_int_eq(
	    wire_device_result(STR("{\"ok\":true}"), STR("r"), a, &r, &err),
	    RC_INVALID);
	ck_assert_str_eq(err.why, "is missing");
	arena_free(a);
}

/* The maximum number of entries, all with one name. */
TEST(many_duplicate_names_are_dropped_quickly)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	buf_puts(&b, "[{\"id\":\"x\"}");
	for (int i = 1; i < 2048; i++)
		buf_puts(&b,
		    i % 2 == 0     ? ",{\"id\":\"x\"}"
			: i < 1000 ? ",{\"id\":\"y\"}"
				   : ",{\"id\":\"z\"}");
	buf_puts(&b, "]");
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_intent_catalog_report r;
	struct wire_err note;
	ck_assert_int_eq(
	    wire_device_intents(buf_str(&b), STR("t"), a, &r, &note, NULL),
	    RC_OK);
	ck_assert_uint_eq(r.n_intent_catalog, 3);
	ck_assert_str_eq(note.path, "/2/id");
	arena_free(a);
	buf_free(&b);
}
