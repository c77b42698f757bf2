/* Schema checks: verdict, path, reason. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/schema.h"

/* One check; path and why of the rejection, why NULL: valid. */
struct row {
	const char *schema;
	const char *value;
	const char *path;
	const char *why;
};

static void
check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		struct wire_schema *s = NULL;
		struct wire_err err = { "", "" };
		enum rc rc = wire_schema_new(str_of(r->schema), &s, &err);
		ck_assert_msg(
		    rc == RC_OK, "%s: %s: %s", r->schema, err.path, err.why);
		rc = wire_schema_check(s, str_of(r->value), &err);
		if (r->why == NULL) {
			ck_assert_msg(rc == RC_OK, "%s on %s: %s: %s",
			    r->schema, r->value, err.path, err.why);
			ck_assert_str_eq(err.why, "");
		} else {
			ck_assert_msg(rc == RC_INVALID, "%s on %s: %d",
			    r->schema, r->value, rc);
			ck_assert_str_eq(err.path, r->path);
			ck_assert_str_eq(err.why, r->why);
		}
		/* Without err the verdict is the same. */
		ck_assert_int_eq(
		    wire_schema_check(s, str_of(r->value), NULL), rc);
		wire_schema_free(s);
	}
}
#define CHECK_ROWS(rows) check_rows(rows, NELEM(rows))

#define LIGHT                                                         \
	"{\"type\":\"object\",\"properties\":{"                       \
	"\"mode\":{\"type\":\"string\",\"enum\":[\"on\",\"off\","     \
	"\"set_color\"]},"                                            \
	"\"color\":{\"type\":\"string\",\"enum\":[\"white\",\"red\"," \
	"\"green\"]}},\"required\":[\"mode\"],"                       \
	"\"additionalProperties\":false}"

TEST(skills_of_the_protocol_are_checked)
{
	static const struct row rows[] = {
		{ LIGHT, "{\"mode\":\"on\"}", "", NULL },
		{ LIGHT, "{\"mode\":\"set_color\",\"color\":\"red\"}", "",
		    NULL },
		{ LIGHT, "{}", "/mode", "is required" },
		{ LIGHT, "{\"mode\":\"blink\"}", "/mode",
		    "must be one of on, off, set_color" },
		{ LIGHT, "{\"mode\":1}", "/mode", "must be a string" },
		{ LIGHT, "{\"mode\":\"on\",\"colour\":\"red\"}", "/colour",
		    "is not known; known are color, mode" },
		{ LIGHT, "[]", "", "must be an object" },
		{ "{\"properties\":{\"duration_seconds\":{\"type\":\"number\","
		  "\"minimum\":0.2,\"maximum\":10}}}",
		    "{\"duration_seconds\":0.1}", "/duration_seconds",
		    "must be at least 0.2" },
	};
	CHECK_ROWS(rows);
}

TEST(reasons_for_types_and_values)
{
	static const struct row rows[] = {
		{ "{\"type\":\"array\"}", "1", "", "must be an array" },
		{ "{\"type\":\"boolean\"}", "1", "", "must be true or false" },
		{ "{\"type\":\"null\"}", "1", "", "must be null" },
		{ "{\"type\":\"number\"}", "\"1\"", "", "must be a number" },
		{ "{\"type\":\"integer\"}", "1.5", "", "must be an integer" },
		{ "{\"type\":\"integer\"}", "1.0", "", NULL },
		{ "{\"type\":\"integer\"}", "1e300", "", NULL },
		{ "{\"type\":[\"null\",\"string\"]}", "1", "",
		    "must be a string or null" },
		{ "{\"enum\":[1,\"a\",null,{\"b\":[2]}]}", "2", "",
		    "must be one of 1, a, null, {\"b\":[2]}" },
		{ "{\"enum\":[1.0]}", "1", "", NULL },
		{ "{\"enum\":[]}", "1", "", "can have no value" },
		{ "{\"const\":\"go\"}", "\"stop\"", "", "must be go" },
		{ "{\"const\":{\"a\":1,\"b\":2}}", "{\"b\":2.0,\"a\":1}", "",
		    NULL },
		{ "{\"const\":[false]}", "[0]", "", "must be [false]" },
		{ "{\"const\":null}", "0", "", "must be null" },
		{ "{\"enum\":[1,2],\"const\":2}", "1", "", "must be 2" },
		{ "true", "1", "", NULL },
		{ "false", "1", "", "is not allowed" },
		{ "{}", "1", "", NULL },
	};
	CHECK_ROWS(rows);
}

TEST(reasons_for_numbers)
{
	static const struct row rows[] = {
		{ "{\"minimum\":5}", "4", "", "must be at least 5" },
		{ "{\"minimum\":5}", "5.0", "", NULL },
		{ "{\"maximum\":5}", "5.5", "", "must be at most 5" },
		{ "{\"exclusiveMinimum\":5}", "5", "", "must be more than 5" },
		{ "{\"exclusiveMaximum\":5}", "5", "", "must be less than 5" },
		{ "{\"multipleOf\":0.1}", "0.3", "", NULL },
		{ "{\"multipleOf\":0.01}", "19.99", "", NULL },
		{ "{\"multipleOf\":0.1}", "0.35", "",
		    "must be a multiple of 0.1" },
		{ "{\"multipleOf\":3}", "-9", "", NULL },
		{ "{\"multipleOf\":3}", "10", "", "must be a multiple of 3" },
		{ "{\"multipleOf\":7e-300}", "1.4e300", "", NULL },
		{ "{\"multipleOf\":7e-300}", "1.5e300", "",
		    "must be a multiple of 7e-300" },
		{ "{\"multipleOf\":9223372036854775807}", "9223372036854775806",
		    "", "must be a multiple of 9223372036854775807" },
		{ "{\"multipleOf\":2.5}", "9223372036854775805", "", NULL },
		{ "{\"maximum\":9007199254740992}", "9007199254740993", "",
		    "must be at most 9007199254740992" },
		{ "{\"maximum\":9007199254740992.0}", "9007199254740993", "",
		    "must be at most 9007199254740992.0" },
		{ "{\"const\":9007199254740993}", "9007199254740992.0", "",
		    "must be 9007199254740993" },
		{ "{\"minimum\":-9223372036854775808}", "-1e19", "",
		    "must be at least -9223372036854775808" },
		{ "{\"maximum\":18446744073709551615}", "18446744073709551616",
		    "", NULL },
		{ "{\"type\":\"integer\"}",
		    "12345678910111213141516171819202122232425", "", NULL },
		{ "{\"minimum\":0}", "-12345678901234567890123", "",
		    "must be at least 0" },
		{ "{\"minimum\":0,\"maximum\":0}", "-0.0", "", NULL },
	};
	CHECK_ROWS(rows);
}

TEST(reasons_for_strings)
{
	static const struct row rows[] = {
		{ "{\"minLength\":1}", "\"\"", "", "must not be empty" },
		{ "{\"minLength\":3}", "\"点头\"", "",
		    "must have at least 3 characters" },
		{ "{\"maxLength\":2}", "\"点头\"", "", NULL },
		{ "{\"maxLength\":2.0}", "\"点头了\"", "",
		    "must have at most 2 characters" },
		{ "{\"maxLength\":1e300}", "\"点头了\"", "", NULL },
		{ "{\"pattern\":\"^#[0-9a-f]{6}$\"}", "\"#00ff7f\"", "", NULL },
		{ "{\"pattern\":\"^#[0-9a-f]{6}$\"}", "\"#00ff7f\\n\"", "",
		    "must match the pattern ^#[0-9a-f]{6}$" },
		{ "{\"format\":\"date\"}", "\"no date\"", "", NULL },
		{ "{\"contentEncoding\":\"base64\"}", "\"%\"", "", NULL },
	};
	CHECK_ROWS(rows);
}

TEST(reasons_for_arrays)
{
	static const struct row rows[] = {
		{ "{\"minItems\":1}", "[]", "", "must not be empty" },
		{ "{\"minItems\":2}", "[1]", "", "must have at least 2 items" },
		{ "{\"maxItems\":1}", "[1,2]", "",
		    "must have at most 1 items" },
		{ "{\"items\":{\"type\":\"string\"}}", "[\"a\",1]", "/1",
		    "must be a string" },
		{ "{\"items\":[{},{\"type\":\"string\"}]}", "[1,1,1]", "/1",
		    "must be a string" },
		{ "{\"items\":[{}],\"additionalItems\":{\"const\":2}}",
		    "[1,2,3]", "/2", "must be 2" },
		{ "{\"items\":[{}],\"additionalItems\":false}", "[1,2]", "/1",
		    "is not allowed" },
		{ "{\"items\":{},\"additionalItems\":false}", "[1,2]", "",
		    NULL },
		{ "{\"uniqueItems\":true}", "[1,\"1\",true,[1],1.0]", "",
		    "must not have the same item twice (items 0 and 4)" },
		{ "{\"uniqueItems\":true}",
		    "[{\"a\":1,\"b\":[]},"
		    "{\"b\":[],\"a\":1}]",
		    "", "must not have the same item twice (items 0 and 1)" },
		{ "{\"uniqueItems\":true}",
		    "[0,false,null,\"\",[],{},[0],[false],{\"a\":0},"
		    "{\"a\":false},9007199254740993,9007199254740992]",
		    "", NULL },
		{ "{\"uniqueItems\":true}", "[0,-0.0]", "",
		    "must not have the same item twice (items 0 and 1)" },
		{ "{\"contains\":{\"const\":3}}", "[1,2]", "",
		    "has no item of the form that one must have" },
		{ "{\"contains\":{\"const\":3}}", "[1,3]", "", NULL },
	};
	CHECK_ROWS(rows);
}

TEST(reasons_for_objects)
{
	static const struct row rows[] = {
		{ "{\"minProperties\":1}", "{}", "",
		    "must have at least 1 members" },
		{ "{\"maxProperties\":1}", "{\"a\":1,\"b\":1}", "",
		    "must have at most 1 members" },
		{ "{\"additionalProperties\":false}", "{\"a/b~c\":1}",
		    "/a~1b~0c", "is not known" },
		{ "{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\":1}",
		    "/a", "must be null" },
		{ "{\"patternProperties\":{\"^x-\":{\"type\":\"string\"}},"
		  "\"additionalProperties\":false}",
		    "{\"x-a\":1}", "/x-a", "must be a string" },
		{ "{\"patternProperties\":{\"^x-\":{\"type\":\"string\"}},"
		  "\"additionalProperties\":false}",
		    "{\"y-a\":1}", "/y-a", "is not known" },
		{ "{\"properties\":{\"a\":{\"minimum\":2}},"
		  "\"patternProperties\":{\"a\":{\"maximum\":3}}}",
		    "{\"a\":4}", "/a", "must be at most 3" },
		{ "{\"properties\":{\"a\":false}}", "{\"a\":4}", "/a",
		    "is not allowed" },
		{ "{\"dependencies\":{\"color\":[\"mode\"]}}", "{\"color\":1}",
		    "/mode", "is required beside color" },
		{ "{\"dependencies\":{\"color\":{\"required\":[\"m\"]}}}",
		    "{\"color\":1}", "/m", "is required" },
		{ "{\"dependencies\":{\"color\":{\"required\":[\"m\"]}}}",
		    "{\"x\":1}", "", NULL },
		{ "{\"propertyNames\":{\"maxLength\":2}}", "{\"abc\":1}",
		    "/abc",
		    "has a name that is not allowed: it must have at most 2 "
		    "characters" },
		{ "{\"properties\":{\"a\":{\"required\":[\"b\"]}}}",
		    "{\"a\":{}}", "/a/b", "is required" },
	};
	CHECK_ROWS(rows);
}

#define KINDS                                                       \
	"{\"anyOf\":["                                              \
	"{\"properties\":{\"kind\":{\"const\":\"say\"},\"text\":"   \
	"{\"type\":\"string\"}},\"required\":[\"kind\",\"text\"]}," \
	"{\"properties\":{\"kind\":{\"const\":\"move\"},\"by\":"    \
	"{\"type\":\"number\"}},\"required\":[\"kind\",\"by\"]}]}"

TEST(reasons_for_branches)
{
	static const struct row rows[] = {
		{ "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}",
		    "1", "", "must be a string; or must be null" },
		{ KINDS, "{\"kind\":\"move\",\"by\":\"x\"}", "/by",
		    "must be a number" },
		{ KINDS, "{\"kind\":\"say\",\"text\":1}", "/text",
		    "must be a string" },
		{ KINDS, "{\"kind\":\"move\",\"by\":1}", "", NULL },
		{ "{\"oneOf\":[{\"minimum\":1},{\"maximum\":5}]}", "3", "",
		    "must fit only one of the 2 allowed forms, and fits number "
		    "1 and number 2" },
		{ "{\"oneOf\":[{\"minimum\":9},{\"multipleOf\":2}]}", "3", "",
		    "must be at least 9; or must be a multiple of 2" },
		{ "{\"not\":{\"type\":\"string\"}}", "\"a\"", "",
		    "must not fit the form that is ruled out" },
		{ "{\"not\":{\"type\":\"string\"}}", "1", "", NULL },
		{ "{\"allOf\":[{\"minimum\":1},{\"maximum\":5}]}", "6", "",
		    "must be at most 5" },
		{ "{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":5},"
		  "\"else\":{\"multipleOf\":2}}",
		    "7", "", "must be a multiple of 5" },
		{ "{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":5},"
		  "\"else\":{\"multipleOf\":2}}",
		    "3", "", "must be a multiple of 2" },
		{ "{\"then\":false,\"else\":false}", "3", "", NULL },
	};
	CHECK_ROWS(rows);
}

TEST(values_that_are_not_json_are_rejected)
{
	struct wire_schema *s = NULL;
	struct wire_err err;
	static const struct {
		const char *value;
		const char *why;
	} rows[] = {
		{ "", "ends too early" },
		{ "{", "ends too early" },
		{ "{\"a\":1,\"a\":2}", "has the same member twice" },
		{ "1 2", "has bytes behind its end" },
		{ "\"\\u0000\"", "must not have U+0000" },
		{ "\"\xff\"", "is not UTF-8" },
		{ "1e999", "has a number out of range" },
	};
	ck_assert_int_eq(wire_schema_new(STR("{}"), &s, &err), RC_OK);
	for (size_t i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(
		    wire_schema_check(s, str_of(rows[i].value), &err),
		    RC_INVALID);
		ck_assert_str_eq(err.path, "");
		ck_assert_msg(strstr(err.why, rows[i].why) != NULL, "%s: %s",
		    rows[i].value, err.why);
	}
	wire_schema_free(s);
	wire_schema_free(NULL);
}

TEST(long_reasons_are_truncated_at_a_character)
{
	struct wire_schema *s = NULL;
	struct wire_err err;
	char schema[2000];
	size_t n = (size_t)snprintf(schema, sizeof(schema), "{\"enum\":[");
	for (int i = 0; i < 60; i++)
		n += (size_t)snprintf(schema + n, sizeof(schema) - n,
		    "%s\"点头%d\"", i > 0 ? "," : "", i);
	(void)snprintf(schema + n, sizeof(schema) - n, "]}");
	ck_assert_int_eq(wire_schema_new(str_of(schema), &s, &err), RC_OK);
	ck_assert_int_eq(wire_schema_check(s, STR("1"), &err), RC_INVALID);
	ck_assert_uint_ge(strlen(err.why), sizeof(err.why) - 4);
	ck_assert_int_ge(str_utf8_count(str_of(err.why)), 0);
	wire_schema_free(s);
}
