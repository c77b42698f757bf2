/* The generator rejects what it does not implement, and reports where. */
#include "gen.h"

struct member {
	const char *schema; /* of the member "a" */
	const char *where;  /* below /properties/a */
	const char *why;
};

static void
try_member(const struct member *m)
{
	char text[4096];
	char where[256];
	(void)snprintf(text, sizeof(text),
	    "{\"title\":\"x\",\"description\":\"d\",\"x-section\":\"1\","
	    "\"type\":\"object\",\"properties\":{\"a\":%s},"
	    "\"$defs\":{\"loop\":{\"type\":\"object\",\"description\":\"d\","
	    "\"properties\":{\"again\":{\"$ref\":\"#/$defs/loop\"}}}}}",
	    m->schema);
	(void)snprintf(where, sizeof(where), "/properties/a%s", m->where);
	put_file("x.schema.json", text);
	gen_rejects("x.schema.json", where, m->why, m->schema);
}

#define D "\"description\":\"d\""
#define S "{" D ",\"type\":\"string\",\"maxLength\":1"

static const struct member members[] = {
	{ "1", "", "schema object" },
	{ "true", "", "schema object" },
	{ "{\"type\":\"string\",\"maxLength\":1}", "", "description is" },
	{ "{" D ",\"type\":\"string\"}", "", "maxLength is missing" },
	{ "{" D ",\"type\":\"null\"}", "/type", "must be object, array" },
	{ "{" D ",\"type\":[\"string\",\"null\"]}", "/type", "must be" },
	{ S ",\"anyOf\":[]}", "/anyOf", "not supported" },
	{ S ",\"contentEncoding\":\"base64\"}", "/contentEncoding", "not" },
	{ S ",\"minimum\":1}", "/minimum", "not supported here" },
	{ S ",\"x-member\":\"a\"}", "/x-member", "not supported here" },
	{ S ",\"minLength\":2}", "", "minLength is more than maxLength" },
	{ S ",\"minLength\":-1}", "/minLength", "from 0" },
	{ S ",\"minLength\":0.5}", "/minLength", "integer" },
	{ S ",\"x-max-bytes\":0}", "/x-max-bytes", "must not be 0" },
	{ S ",\"x-secret\":\"yes\"}", "/x-secret", "true or false" },
	{ S ",\"x-unit\":1}", "/x-unit", "must be a text" },
	{ S ",\"pattern\":\"^a+$\"}", "/pattern", "supported patterns" },
	{ S ",\"pattern\":1}", "/pattern", "supported patterns" },
	{ "{\"description\":\"\",\"type\":\"boolean\"}", "/description",
	    "not empty" },
	{ "{\"description\":\"a */ b\",\"type\":\"boolean\"}", "/description",
	    "must not have */" },
	{ "{\"description\":\"a\\nb\",\"type\":\"boolean\"}", "/description",
	    "must not have */" },
	{ "{" D ",\"type\":\"string\",\"enum\":[]}", "/enum", "1 to 1024" },
	{ "{" D ",\"type\":\"string\",\"enum\":\"a\"}", "/enum", "1 to 1024" },
	{ "{" D ",\"type\":\"string\",\"enum\":[\"a\",1]}", "/enum/1",
	    "must be a text" },
	{ "{" D ",\"type\":\"string\",\"enum\":[\"a\",\"a\"]}", "/enum/1",
	    "WIRE_X_A_A is already the name" },
	{ "{" D ",\"type\":\"string\",\"enum\":[\"a-b\",\"a_b\"]}", "/enum/1",
	    "WIRE_X_A_A_B is already the name" },
	{ "{" D ",\"type\":\"string\",\"enum\":[\"灯\"]}", "/enum/0",
	    "no letter or digit" },
	{ "{" D ",\"type\":\"string\",\"enum\":[\"\"]}", "/enum/0", "no let" },
	{ "{" D ",\"type\":\"string\",\"enum\":[\"a\"],\"const\":\"a\"}", "",
	    "both enum and const" },
	{ "{" D ",\"type\":\"string\",\"enum\":[\"a\"],\"maxLength\":1}",
	    "/maxLength", "not supported here" },
	{ "{" D ",\"enum\":[\"a\"]}", "/enum", "not supported here" },
	{ "{" D ",\"type\":\"integer\",\"enum\":[1]}", "/enum", "not sup" },
	{ "{" D ",\"type\":\"integer\",\"minimum\":0.5}", "/minimum",
	    "must be an integer" },
	{ "{" D ",\"type\":\"integer\",\"minimum\":2,\"maximum\":1}", "",
	    "minimum is more" },
	{ "{" D ",\"type\":\"integer\",\"multipleOf\":2}", "/multipleOf",
	    "not supported here" },
	{ "{" D ",\"type\":\"number\",\"exclusiveMinimum\":0}",
	    "/exclusiveMinimum", "not supported here" },
	{ "{" D ",\"type\":\"number\",\"minimum\":\"0\"}", "/minimum",
	    "must be a number" },
	{ "{" D ",\"type\":\"number\",\"minimum\":2,\"maximum\":1.5}", "",
	    "minimum is more" },
	{ "{" D ",\"type\":\"boolean\",\"const\":1}", "/const", "true or" },
	{ "{" D ",\"type\":\"array\",\"items\":{}}", "", "maxItems is" },
	{ "{" D ",\"type\":\"array\",\"maxItems\":1,\"uniqueItems\":true,"
	  "\"items\":{}}",
	    "/uniqueItems", "not supported here" },
	{ "{" D ",\"type\":\"array\",\"maxItems\":1,\"items\":"
	  "{\"type\":\"array\",\"maxItems\":1,\"items\":{}}}",
	    "/items", "array in an array" },
	{ "{" D ",\"type\":\"array\",\"maxItems\":1,\"items\":"
	  "{\"type\":\"string\"}}",
	    "/items", "maxLength is missing" },
	{ "{" D ",\"type\":\"array\",\"maxItems\":1,\"items\":"
	  "{\"type\":\"boolean\",\"default\":true}}",
	    "/items/default", "only supported at a member" },
	{ "{" D ",\"type\":\"array\",\"maxItems\":1}", "/maxItems",
	    "not supported here" },
	{ "{" D ",\"type\":\"object\",\"required\":[\"a\"]}", "/required",
	    "not supported here" },
	{ "{" D ",\"type\":\"object\",\"additionalProperties\":false}",
	    "/additionalProperties", "not supported here" },
	{ "{" D ",\"type\":\"object\",\"properties\":{}}", "/properties",
	    "an object with members" },
	{ "{" D ",\"type\":\"object\",\"properties\":{\"b\":{}}}",
	    "/properties/b", "description is missing" },
	{ "{" D ",\"type\":\"object\",\"properties\":{\"b\":{" D "}},"
	  "\"required\":[\"c\"]}",
	    "/required/0", "c is not in properties" },
	{ "{" D ",\"type\":\"object\",\"properties\":{\"b\":{" D "}},"
	  "\"required\":[\"b\",\"b\"]}",
	    "/required/1", "twice" },
	{ "{" D ",\"type\":\"object\",\"properties\":{\"b-c\":{" D "},"
	  "\"b_c\":{" D "}}}",
	    "/properties/b_c", "needs the C member b_c" },
	{ "{" D ",\"type\":\"object\",\"properties\":{\"b\":{" D "},"
	  "\"has_b\":{" D "}}}",
	    "/properties/has_b", "needs the C member has_b" },
	{ "{" D ",\"type\":\"object\",\"properties\":{\"灯\":{" D "}}}",
	    "/properties/灯", "no C identifier" },
	{ "{" D ",\"type\":\"object\",\"properties\":{\"1\":{" D "}}}",
	    "/properties/1", "no C identifier" },
	{ "{" D ",\"type\":\"integer\",\"default\":1.5}", "/default",
	    "not of the member's type" },
	{ "{" D ",\"type\":\"integer\",\"maximum\":1,\"default\":2}",
	    "/default", "at most 1" },
	{ "{" D ",\"type\":\"number\",\"minimum\":1,\"default\":0.5}",
	    "/default", "at least 1" },
	{ "{" D ",\"type\":\"boolean\",\"default\":\"true\"}", "/default",
	    "not of the member's type" },
	{ S ",\"default\":\"ab\"}", "/default", "at most 1" },
	{ S ",\"default\":null}", "/default", "not of the member's type" },
	{ S ",\"pattern\":\"^[a-z0-9_]+$\",\"default\":\"A\"}", "/default",
	    "a-z, 0-9 and _" },
	{ "{" D ",\"type\":\"string\",\"enum\":[\"a\",\"b\"],"
	  "\"default\":\"c\"}",
	    "/default", "must be one of a, b" },
	{ "{" D ",\"default\":1}", "/default", "only supported for single" },
	{ "{" D ",\"type\":\"object\",\"default\":{}}", "/default", "single" },
	{ "{\"$ref\":1}", "/$ref", "must be a text" },
	{ "{\"$ref\":\"y.schema.json\"}", "/$ref", "no such file" },
	{ "{\"$ref\":\"x.json#/$defs/loop\"}", "/$ref", "no such file" },
	{ "{\"$ref\":\"#/$defs/none\"}", "/$ref", "no such definition" },
	{ "{\"$ref\":\"#/properties/a\"}", "/$ref", "no such definition" },
	{ "{\"$ref\":\"#\"}", "/$ref", "refers to itself" },
	{ "{\"$ref\":\"x.schema.json\"}", "/$ref", "refers to itself" },
	{ "{\"$ref\":\"#/$defs/loop\",\"maxLength\":1}", "/maxLength",
	    "not supported here" },
};

TEST_T(invalid_members_are_rejected, 120)
{
	for (size_t i = 0; i < NELEM(members); i++)
		try_member(&members[i]);
}

TEST(a_recursive_definition_is_rejected)
{
	put_file("x.schema.json",
	    "{\"title\":\"x\",\"description\":\"d\",\"$defs\":{\"loop\":"
	    "{\"type\":\"object\"," D ",\"properties\":{\"again\":"
	    "{\"type\":\"array\"," D ",\"maxItems\":1,"
	    "\"items\":{\"$ref\":\"#/$defs/loop\"}}}}}}");
	gen_rejects("x.schema.json", "/$defs/loop/properties/again/items/$ref",
	    "refers to itself", "loop");
}

#define TOP "\"title\":\"x\"," D ",\"x-section\":\"1\""
#define P   "\"properties\":{\"a\":{" D "}}"
#define LIST \
	"\"items\":{\"type\":\"boolean\"},\"type\":\"array\",\"maxItems\":2"

static const struct member files[] = {
	{ "[]", "", "must be an object" },
	{ "{", "", "line 1" },
	{ "{\"title\":\"x\",\"title\":\"x\"}", "", "line 1" },
	{ "{" D "}", "", "title is missing" },
	{ "{\"title\":\"y\"}", "/title", "\"y\", but the file is called x" },
	{ "{\"title\":\"x\"}", "", "description is missing" },
	{ "{\"title\":\"x\"," D ",\"type\":\"object\"," P "}", "",
	    "x-section is missing" },
	{ "{" TOP ",\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
	    "/$schema", "2020-12" },
	{ "{" TOP "}", "/x-section", "not supported here" },
	{ "{" TOP ",\"type\":\"object\"}", "/properties", "with members" },
	{ "{" TOP ",\"type\":\"object\"," P ",\"not\":{}}", "/not", "not sup" },
	{ "{" TOP ",\"type\":\"integer\"}", "", "an object, a text or one" },
	{ "{" TOP ",\"type\":\"string\",\"maxLength\":1}", "",
	    "needs \"x-encoding\"" },
	{ "{" TOP ",\"type\":\"string\",\"x-encoding\":\"text\"}",
	    "/properties/value", "maxLength is missing" },
	{ "{" TOP ",\"type\":\"string\",\"x-encoding\":\"base64\","
	  "\"maxLength\":1}",
	    "", "needs \"x-encoding\"" },
	{ "{" TOP ",\"$defs\":[],\"type\":\"object\"," P "}", "/$defs",
	    "must be an object" },
	{ "{" TOP ",\"$defs\":{\"a-b\":{}},\"type\":\"object\"," P "}",
	    "/$defs/a-b", "snake_case" },
	{ "{" TOP ",\"$defs\":{\"int\":{}},\"type\":\"object\"," P "}",
	    "/$defs/int", "no keyword" },
	{ "{" TOP ",\"$defs\":{\"b\":{\"default\":1}},\"type\":\"object\"," P
	  "}",
	    "/$defs/b/default", "only supported at a member" },
	{ "{" TOP ",\"$defs\":{\"x\":{\"type\":\"object\"," P "}},"
	  "\"type\":\"object\"," P "}",
	    "/$defs/x", "schemas/x is already the name" },
	{ "{" TOP ",\"$defs\":{\"x_a\":{\"type\":\"object\"," P "}},"
	  "\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"object\"," D
	  "," P "}}}",
	    "/$defs/x_a", "wire_x_a is already the name" },
	{ "{" TOP ",\"$defs\":{\"err\":{\"type\":\"object\"," P "}},"
	  "\"type\":\"object\"," P "}",
	    "/$defs/err", "wire_err is already the name of libs/wire" },
	{ "{" TOP ",\"type\":\"object\"," P ",\"oneOf\":[]}", "/oneOf",
	    "two members or more" },
	{ "{" TOP ",\"type\":\"object\"," P ",\"oneOf\":[{},{}]}",
	    "/oneOf/0/required", "the name of one member" },
	{ "{" TOP ",\"type\":\"object\"," P ",\"oneOf\":[{\"required\":"
	  "[\"a\"]},{\"required\":[\"a\"]}]}",
	    "/oneOf/1", "stands there twice" },
	{ "{" TOP ",\"type\":\"object\"," P ",\"oneOf\":[{\"required\":"
	  "[\"b\"]},{}]}",
	    "/oneOf/0/required", "b is not in properties" },
	{ "{" TOP ",\"type\":\"object\"," P ",\"required\":[\"a\"],"
	  "\"oneOf\":[{\"required\":[\"a\"]},{}]}",
	    "/oneOf/0/required", "a is always there" },
	{ "{" TOP ",\"oneOf\":[]}", "/oneOf", "an object schema and" },
	{ "{" TOP ",\"oneOf\":[{},{}]}", "/oneOf/0", "properties is missing" },
	{ "{" TOP ",\"oneOf\":[{\"type\":\"object\"," P "},{}]}", "/oneOf/1",
	    "x-member is missing" },
	{ "{" TOP ",\"oneOf\":[{\"type\":\"object\"," P "},"
	  "{\"x-member\":\"b\"}]}",
	    "/oneOf/1/x-member", "b is not a member" },
	{ "{" TOP ",\"oneOf\":[{\"type\":\"object\"," P "},"
	  "{\"x-member\":\"a\"}]}",
	    "/oneOf/1", "a is not an array" },
	{ "{" TOP ",\"oneOf\":[{\"type\":\"object\",\"properties\":{\"a\":{" D
	  "," LIST "},\"b\":{" D "}},\"required\":[\"b\"]},{" LIST
	  ",\"x-member\":\"a\"}]}",
	    "/oneOf/1", "requires b beside a" },
	{ "{" TOP ",\"oneOf\":[{\"type\":\"object\",\"properties\":{\"a\":{" D
	  "," LIST "}}},{\"type\":\"array\",\"maxItems\":3,\"items\":"
	  "{\"type\":\"boolean\"},\"x-member\":\"a\"}]}",
	    "/oneOf/1/maxItems", "must be as in the member a" },
	{ "{" TOP ",\"oneOf\":[{\"type\":\"object\",\"properties\":{\"a\":{" D
	  "," LIST "}}},{\"type\":\"array\",\"maxItems\":2,\"items\":"
	  "{\"type\":\"integer\"},\"x-member\":\"a\"}]}",
	    "/oneOf/1/items", "must be as in the member a" },
};

TEST_T(invalid_files_are_rejected, 120)
{
	for (size_t i = 0; i < NELEM(files); i++) {
		put_file("x.schema.json", files[i].schema);
		gen_rejects("x.schema.json", files[i].where, files[i].why,
		    files[i].schema);
	}
}

TEST(too_many_members_are_rejected)
{
	char text[8192];
	size_t n = (size_t)snprintf(text, sizeof(text),
	    "{" TOP ",\"type\":\"object\",\"properties\":{");
	for (int i = 0; i < 65; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "%s\"m%d\":{" D "}", i > 0 ? "," : "", i);
	(void)snprintf(text + n, sizeof(text) - n, "}}");
	put_file("x.schema.json", text);
	gen_rejects(
	    "x.schema.json", "/properties", "more than 64 members", "65");
}

TEST(files_that_refer_to_each_other_are_rejected)
{
	put_file("x.schema.json",
	    "{" TOP ",\"type\":\"object\",\"properties\":{\"a\":"
	    "{\"$ref\":\"y.schema.json\"}}}");
	put_file("y.schema.json",
	    "{\"title\":\"y\"," D ",\"x-section\":\"1\",\"type\":\"object\","
	    "\"properties\":{\"a\":{\"$ref\":\"x.schema.json\"}}}");
	gen_rejects("y.schema.json", "/properties/a/$ref", "refers to itself",
	    "x and y");
}

TEST(wrong_arguments_exit_with_64)
{
	struct tk_proc p;
	const char *const argv[] = { WIREGEN, "code", NULL };
	tk_spawn(&p, "wiregen", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 10000), 64);
	ck_assert(tk_log_has(&p, "usage: wiregen"));
}

TEST(missing_folders_are_rejected)
{
	char *output;
	ck_assert_int_eq(generate(&output), 1);
	ck_assert_ptr_nonnull(strstr(output, "cannot be read"));
	free(output);
	put_file("x.schema.json", "{" TOP ",\"type\":\"object\"," P "}");
	ck_assert_int_eq(generate(&output), 0);
	free(output);
	tk_write_file(tk_path("out/msgs.h"), "");
	ck_assert_int_eq(chmod(tk_path("out/msgs.h"), 0400), 0);
	/* Replaced by rename(), so its mode does not matter. */
	ck_assert_int_eq(generate(&output), 0);
	free(output);
}
