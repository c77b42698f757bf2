/* Snapshots: what is stored of a report, and what is rejected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "terminal/snapshot_parse.h"
#include "testkit/testkit.h"

#define SKILLS_MAX 4096

struct parse_fixture {
	struct snapshot_parser *p;
	struct arena *a;
	struct snapshot s;
	struct wire_err err;
};

static void
parse_start(struct parse_fixture *r)
{
	*r = (struct parse_fixture){ .p = snapshot_parser_new(SKILLS_MAX),
		.a = arena_new(WIRE_ARENA_MAX + 2UL * 1024 * 1024) };
}

static void
parse_end(struct parse_fixture *r)
{
	snapshot_parser_free(r->p);
	arena_free(r->a);
}

static enum rc
parse_skills(struct parse_fixture *r, const char *in)
{
	arena_reset(r->a);
	return snapshot_parse_skills(
	    r->p, str_of(in), STR("t1"), r->a, &r->s, &r->err);
}

static enum rc
parse_catalog(struct parse_fixture *r, const char *in)
{
	arena_reset(r->a);
	return snapshot_parse_catalog(
	    r->p, str_of(in), STR("t1"), r->a, &r->s, &r->err);
}

TEST(skills_are_read_from_object_and_array)
{
	struct parse_fixture r;

	parse_start(&r);
	ck_assert_int_eq(parse_skills(&r,
			     " { \"terminal_id\": \"t1\", \"soul_hint\": \"f\","
			     " \"skill_version\": 3, \"x\": 1, \"skills\": [ "
			     "{\"name\": \"a\", \"input_schema\": {\"type\" : "
			     "\"object\"}, \"y\": 2 }, {\"name\":\"b\"} ] } "),
	    RC_OK);
	ck_assert_str_eq(r.s.json.p,
	    "[{\"name\":\"a\",\"input_schema\":{\"type\":\"object\"}},"
	    "{\"name\":\"b\"}]");
	ck_assert_int_eq(r.s.version, 3);
	ck_assert(str_eq(r.s.soul_hint, STR("f")));
	ck_assert_uint_eq(r.s.n_names, 2);
	ck_assert(str_eq(r.s.names[1], STR("b")));
	ck_assert_ptr_null(r.s.hash.p);
	ck_assert(!r.s.bare);
	ck_assert_str_eq(r.s.note.why, "");

	ck_assert_int_eq(parse_skills(&r, "\n[{\"name\":\"a\"}]"), RC_OK);
	ck_assert_str_eq(r.s.json.p, "[{\"name\":\"a\"}]");
	ck_assert_int_eq(r.s.version, 0);
	ck_assert_ptr_null(r.s.soul_hint.p);
	ck_assert(r.s.bare);
	ck_assert_int_eq(parse_skills(&r, "[]"), RC_OK);
	ck_assert_str_eq(r.s.json.p, "[]");
	ck_assert_uint_eq(r.s.n_names, 0);
	ck_assert_int_eq(
	    parse_skills(&r, "{\"terminal_id\":\"\",\"skills\":[]}"), RC_OK);
	ck_assert_str_eq(r.s.json.p, "[]");
	parse_end(&r);
	snapshot_parser_free(NULL);
}

TEST(duplicate_skills_are_noted)
{
	struct parse_fixture r;

	parse_start(&r);
	ck_assert_int_eq(parse_skills(&r,
			     "{\"skills\":[{\"name\":\"a\"},{\"name\":\"a\","
			     "\"description\":\"2\"},{\"name\":\"b\"}]}"),
	    RC_OK);
	ck_assert_str_eq(r.s.json.p, "[{\"name\":\"a\"},{\"name\":\"b\"}]");
	ck_assert_str_eq(r.s.note.path, "/skills/1/name");
	ck_assert_uint_eq(r.s.n_names, 2);
	parse_end(&r);
}

static const struct {
	bool catalog;
	const char *in, *path, *why;
} invalid_reports[] = {
	{ false, "", "", "" },
	{ false, "{", "", "" },
	{ false, "{}", "/skills", "is missing" },
	{ false, "{\"terminal_id\":\"t2\",\"skills\":[]}", "/terminal_id",
	    "topic" },
	{ false, "[{\"name\":\"\\u0001\"}]", "/0/name", "" },
	{ false, "[{\"name\":\"a\",\"input_schema\":{\"type\":\"any\"}}]",
	    "/0/input_schema/type", "" },
	{ false,
	    "{\"skills\":[{\"name\":\"a\",\"input_schema\":{}},{\"name\":"
	    "\"b\",\"input_schema\":{\"properties\":{\"x\":{\"minimum\":"
	    "\"1\"}}}}]}",
	    "/skills/1/input_schema/properties/x/minimum", "" },
	{ false,
	    "{\"skills\":[{\"name\":\"a\"},{\"name\":\"a\"},{\"name\":"
	    "\"b\",\"input_schema\":{\"required\":true}}]}",
	    "/skills/2/input_schema/required", "" },
	{ false,
	    "[{\"name\":\"a\",\"input_schema\":{\"properties\":{\"x\":{"
	    "\"pattern\":\"(\"}}}}]",
	    "/0/input_schema/properties/x/pattern", "" },
	{ false,
	    "[{\"name\":\"a\",\"input_schema\":{\"$ref\":"
	    "\"http://x/y\"}}]",
	    "/0/input_schema/$ref", "" },
	{ true, "{\"intent_catalog\":[{\"id\":\"a\"},{\"id\":\"a\"}]}",
	    "/intent_catalog/1/id", "occurs twice" },
	{ true, "[{\"id\":\"b\"},{\"id\":\"a\"},{\"id\":\"b\"}]", "/2/id",
	    "occurs twice" },
	{ true,
	    "{\"intent_catalog\":[{\"id\":\"a\",\"match\":{\"regex_any\":["
	    "\"ok\",\"(\"]}}]}",
	    "/intent_catalog/0/match/regex_any/1", "" },
	{ true, "[{\"id\":\"a\",\"match\":{\"regex_all\":[\"*\"]}}]",
	    "/0/match/regex_all/0", "" },
	{ true,
	    "[{\"id\":\"a\"},{\"id\":\"b\",\"slots\":[{\"name\":\"s\"},"
	    "{\"name\":\"t\",\"regex\":\"[z-a]\"}]}]",
	    "/1/slots/1/regex", "" },
	{ true,
	    "{\"intent_catalog\":[{\"id\":\"a\",\"slots\":[{\"name\":\"s\","
	    "\"values\":[\"绿色\"]}]}]}",
	    "/intent_catalog/0/slots/0/values", "must be an object" },
	{ true,
	    "[{\"id\":\"a\",\"slots\":[{\"name\":\"s\",\"regex\":\"(a)\","
	    "\"regex_group\":100}]}]",
	    "/0/slots/0/regex_group", "at most 99" },
	{ true, "[{\"id\":\"a\",\"match\":{\"regex_any\":[\"\\\\C\"]}}]",
	    "/0/match/regex_any/0", "" },
	{ true, "[{\"id\":\"a\",\"match\":{\"regex_any\":[\"(?C1)a\"]}}]",
	    "/0/match/regex_any/0", "" },
	{ true, "[{\"id\":\"a\",\"match\":{\"regex_any\":[\"(?<=a*)b\"]}}]",
	    "/0/match/regex_any/0", "" },
	{ true, "[{\"id\":\"a\",\"match\":{\"min_confidence\":1.5}}]",
	    "/0/match/min_confidence", "" },
	{ true, "[{\"id\":\"\"}]", "/0/id", "must not be empty" },
	{ true, "{\"catalog_version\":1.5,\"intent_catalog\":[]}",
	    "/catalog_version", "" },
};

TEST(invalid_reports_are_rejected_with_a_path)
{
	struct parse_fixture r;
	enum rc rc;
	size_t i;

	parse_start(&r);
	for (i = 0; i < NELEM(invalid_reports); i++) {
		rc = invalid_reports[i].catalog
		    ? parse_catalog(&r, invalid_reports[i].in)
		    : parse_skills(&r, invalid_reports[i].in);
		ck_assert_msg(rc == RC_INVALID, "%zu: %s", i, rc_name(rc));
		ck_assert_str_eq(r.err.path, invalid_reports[i].path);
		ck_assert_msg(
		    strstr(r.err.why, invalid_reports[i].why) != NULL &&
			r.err.why[0] != '\0',
		    "%zu: %s", i, r.err.why);
	}
	parse_end(&r);
}

TEST(a_too_complex_pattern_is_rejected)
{
	struct parse_fixture r;

	parse_start(&r);
	ck_assert_int_eq(
	    parse_catalog(&r,
		"[{\"id\":\"a\"},{\"id\":\"b\",\"slots\":[{\"name\":"
		"\"s\",\"regex\":\"((((((a{1,99}){1,99}){1,99})"
		"{1,99}){1,99}){1,99})\"}]}]"),
	    RC_TOOBIG);
	ck_assert_str_eq(r.err.path, "/1/slots/0/regex");
	ck_assert_ptr_nonnull(strstr(r.err.why, "too large"));
	parse_end(&r);
}

TEST(a_missing_group_is_accepted)
{
	struct parse_fixture r;

	parse_start(&r);
	ck_assert_int_eq(
	    parse_catalog(&r,
		"[{\"id\":\"a\",\"slots\":[{\"name\":\"s\",\"regex\":\"a\"},"
		"{\"name\":\"t\",\"regex\":\"(b)\",\"regex_group\":2}]}]"),
	    RC_OK);
	ck_assert_str_eq(r.s.note.why, "");
	parse_end(&r);
}

TEST(equal_content_has_an_equal_digest)
{
	char first[SNAPSHOT_DIGEST_MAX], empty[SNAPSHOT_DIGEST_MAX];
	struct parse_fixture r;

	snapshot_digest(STR("abc"), first);
	ck_assert_str_eq(first,
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	snapshot_digest((struct str){ "", 0 }, empty);
	ck_assert_str_eq(empty,
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	parse_start(&r);
	ck_assert_int_eq(parse_catalog(&r,
			     "{\"catalog_version\":3,\"intent_catalog\":["
			     "{\"id\":\"a\",\"priority\":0,\"slots\":"
			     "[{\"name\":\"s\",\"default\":{\"x\" : 1}}]}]}"),
	    RC_OK);
	str_copy(r.s.hash, first, sizeof(first));
	ck_assert_uint_eq(r.s.hash.n, 64);
	ck_assert_int_eq(parse_catalog(&r,
			     "[{\"slots\":[{\"default\":{\"x\":1},\"name\":"
			     "\"s\"}],\"unknown\":[],\"id\":\"a\"}]"),
	    RC_OK);
	ck_assert(str_eq(r.s.hash, str_of(first)));
	ck_assert_int_eq(parse_catalog(&r,
			     "[{\"id\":\"a\",\"slots\":[{\"name\":\"s\","
			     "\"default\":{\"x\":2}}]}]"),
	    RC_OK);
	ck_assert(!str_eq(r.s.hash, str_of(first)));
	parse_end(&r);
}

/* More catalogs than are remembered, then the first one again. */
TEST(the_set_of_valid_digests_is_bounded)
{
	char in[128];
	struct parse_fixture r;
	int i;

	parse_start(&r);
	for (i = 0; i < SNAPSHOT_VALID_MAX + 10; i++) {
		snprintf(in, sizeof(in),
		    "[{\"id\":\"i%d\",\"match\":{\"regex_any\":[\"a\"]}}]", i);
		ck_assert_int_eq(parse_catalog(&r, in), RC_OK);
	}
	ck_assert_int_eq(
	    parse_catalog(
		&r, "[{\"id\":\"i0\",\"match\":{\"regex_any\":[\"a\"]}}]"),
	    RC_OK);
	parse_end(&r);
}

TEST(slow_patterns_are_rejected)
{
	struct buf b = BUF_INIT(2UL * 1024 * 1024);
	struct parse_fixture r;
	int i;

	parse_start(&r);
	buf_puts(&b, "[");
	for (i = 0; i < 7500; i++) {
		if (i % 50 == 0)
			buf_printf(&b, "%s{\"id\":\"i%d\",\"slots\":[",
			    i > 0 ? "]}," : "", i);
		buf_printf(&b, "%s{\"name\":\"a\",\"regex\":\"%s\"}",
		    i % 50 > 0 ? "," : "", "((((a{1,9}){1,9}){1,9}){1,9})");
	}
	buf_puts(&b, "]}]");
	ck_assert_int_eq(parse_catalog(&r, b.p), RC_TOOBIG);
	ck_assert_ptr_nonnull(strstr(r.err.why, "time limit"));
	ck_assert_ptr_nonnull(strstr(r.err.path, "/slots/"));
	buf_free(&b);
	parse_end(&r);
}

TEST(a_full_arena_is_an_error)
{
	struct parse_fixture r;

	parse_start(&r);
	arena_free(r.a);
	r.a = arena_new(100);
	ck_assert_int_eq(
	    parse_skills(&r, "[{\"name\":\"a\"},{\"name\":\"b\"}]"), RC_TOOBIG);
	ck_assert_int_eq(
	    parse_catalog(&r, "[{\"id\":\"a\"},{\"id\":\"b\"}]"), RC_TOOBIG);
	ck_assert_str_ne(r.err.why, "");
	parse_end(&r);
}

TEST(too_large_skills_are_rejected)
{
	static const char *const paths[] = { "", "/skills" };
	struct parse_fixture r;

	parse_start(&r);
	for (size_t k = 0; k < NELEM(paths); k++) {
		struct buf b = BUF_INIT(2 * SKILLS_MAX);
		buf_puts(&b, "[");
		for (size_t i = 0; i < 40; i++)
			buf_printf(&b,
			    "%s{\"name\":\"s%zu\",\"description\":\"%0*d\"}",
			    i > 0 ? "," : "", i, 100, 0);
		buf_puts(&b, "]");
		struct buf whole = BUF_INIT(3 * SKILLS_MAX);
		buf_printf(&whole, "%s%.*s%s", k > 0 ? "{\"skills\":" : "",
		    STR_ARG(buf_str(&b)), k > 0 ? "}" : "");
		buf_putc(&whole, '\0');
		ck_assert_int_eq(
		    parse_skills(&r, buf_str(&whole).p), RC_TOOBIG);
		ck_assert_str_eq(r.err.path, paths[k]);
		ck_assert_ptr_nonnull(strstr(r.err.why, "4096 at most"));
		buf_free(&b);
		buf_free(&whole);
	}
	ck_assert_int_eq(parse_skills(&r, "[{\"name\":\"a\"}]"), RC_OK);
	parse_end(&r);
}
