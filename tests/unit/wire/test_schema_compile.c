/* Valid and invalid schemas; references. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/schema.h"

static const struct {
	const char *schema;
	const char *path;
	const char *why; /* part of the reason */
} no_schemas[] = {
	{ "1", "", "must be a schema" },
	{ "[]", "", "must be a schema" },
	{ "{", "", "ends too early" },
	{ "{\"type\":\"text\"}", "/type", "must be one of null" },
	{ "{\"type\":1}", "/type", "must be a type" },
	{ "{\"type\":[]}", "/type", "must be a type" },
	{ "{\"type\":[\"null\",\"null\"]}", "/type/1", "twice" },
	{ "{\"type\":[\"null\",3]}", "/type/1", "must be one of" },
	{ "{\"properties\":{\"a\":{\"type\":\"bool\"}}}", "/properties/a/type",
	    "must be one of" },
	{ "{\"properties\":[]}", "/properties", "object of schemas" },
	{ "{\"properties\":{\"a\":1}}", "/properties/a", "must be a schema" },
	{ "{\"required\":true}", "/required", "array of names" },
	{ "{\"required\":[\"a\",\"a\"]}", "/required/1", "twice" },
	{ "{\"required\":[1]}", "/required/0", "must be a string" },
	{ "{\"enum\":1}", "/enum", "must be an array" },
	{ "{\"minimum\":\"1\"}", "/minimum", "must be a number" },
	{ "{\"exclusiveMinimum\":true}", "/exclusiveMinimum",
	    "must be a number" },
	{ "{\"multipleOf\":0}", "/multipleOf", "above 0" },
	{ "{\"multipleOf\":-1.5}", "/multipleOf", "above 0" },
	{ "{\"maxLength\":-1}", "/maxLength", "at least 0" },
	{ "{\"maxLength\":1.5}", "/maxLength", "an integer" },
	{ "{\"maxLength\":\"1\"}", "/maxLength", "an integer" },
	{ "{\"uniqueItems\":1}", "/uniqueItems", "true or false" },
	{ "{\"items\":[{\"type\":\"x\"}]}", "/items/0/type", "must be one of" },
	{ "{\"items\":[]}", "/items", "at least one" },
	{ "{\"items\":3}", "/items", "must be a schema" },
	{ "{\"allOf\":[]}", "/allOf", "at least one" },
	{ "{\"anyOf\":{}}", "/anyOf", "at least one" },
	{ "{\"oneOf\":[null]}", "/oneOf/0", "must be a schema" },
	{ "{\"not\":null}", "/not", "must be a schema" },
	{ "{\"if\":3}", "/if", "must be a schema" },
	{ "{\"dependencies\":{\"a\":3}}", "/dependencies/a",
	    "must be a schema" },
	{ "{\"dependencies\":{\"a\":[3]}}", "/dependencies/a/0",
	    "must be a string" },
	{ "{\"definitions\":{\"a\":{\"minItems\":-1}}}",
	    "/definitions/a/minItems", "at least 0" },
	{ "{\"title\":1}", "/title", "must be a string" },
	{ "{\"format\":1}", "/format", "must be a string" },
	{ "{\"examples\":1}", "/examples", "must be an array" },
	{ "{\"$ref\":1}", "/$ref", "must be a string" },
	{ "{\"$id\":1}", "/$id", "must be a string" },
	{ "{\"pattern\":\"(\"}", "/pattern",
	    "has the pattern (: missing closing parenthesis" },
	{ "{\"pattern\":\"a\\\\Z\"}", "/pattern", "ECMA 262" },
	{ "{\"items\":{\"patternProperties\":{\"[\":{}}}}",
	    "/items/patternProperties", "without its ]" },
	{ "{\"$ref\":\"#/definitions/x\"}", "/$ref",
	    "refers to #/definitions/x, which is not in this schema" },
	{ "{\"items\":{\"$ref\":\"other.json#\"}}", "/items/$ref",
	    "not in this schema" },
	{ "{\"items\":{\"$ref\":\"#nowhere\"}}", "/items/$ref",
	    "not in this schema" },
	{ "{\"items\":{\"$ref\":\"http://json-schema.org/draft-07/"
	  "schema#/definitions\"}}",
	    "/items/$ref", "not in this schema" },
	{ "{\"x\":3,\"$ref\":\"#/x\"}", "/$ref",
	    "is not a schema: must be a schema" },
	{ "{\"x\":{\"type\":3},\"allOf\":[{\"$ref\":\"#/x\"}]}",
	    "/allOf/0/$ref", "is not a schema: /type: must be" },
	{ "{\"$ref\":\"#\"}", "/$ref", "in a circle" },
	{ "{\"allOf\":[{\"$ref\":\"#/definitions/a\"}],\"definitions\":"
	  "{\"a\":{\"$ref\":\"#/definitions/b\"},"
	  "\"b\":{\"$ref\":\"#/definitions/a\"}}}",
	    "/allOf/0/$ref", "in a circle" },
	{ "{\"allOf\":[{\"$ref\":\"#\"}]}", "",
	    "refers to itself for the same value" },
	{ "{\"definitions\":{\"a\":{\"not\":{\"anyOf\":["
	  "{\"$ref\":\"#/definitions/a\"}]}}}}",
	    "/definitions/a", "for the same value" },
	{ "{\"dependencies\":{\"a\":{\"$ref\":\"#\"}}}", "",
	    "for the same value" },
};

TEST(invalid_schemas_are_rejected_with_path_and_reason)
{
	for (size_t i = 0; i < NELEM(no_schemas); i++) {
		struct wire_schema *s = NULL;
		struct wire_err err;
		enum rc rc =
		    wire_schema_new(str_of(no_schemas[i].schema), &s, &err);
		ck_assert_msg(
		    rc == RC_INVALID, "%s: %d", no_schemas[i].schema, rc);
		ck_assert_msg(strcmp(err.path, no_schemas[i].path) == 0 &&
			strstr(err.why, no_schemas[i].why) != NULL,
		    "%s: %s: %s", no_schemas[i].schema, err.path, err.why);
		ck_assert_ptr_null(s);
		ck_assert_int_eq(
		    wire_schema_new(str_of(no_schemas[i].schema), &s, NULL),
		    rc);
	}
}

/* Each schema must accept the first value and reject the second. */
static const struct {
	const char *schema;
	const char *good;
	const char *bad;
} references[] = {
	{ "{\"properties\":{\"sub\":{\"$ref\":\"#\"}},\"required\":[\"n\"]}",
	    "{\"n\":1,\"sub\":{\"n\":2}}", "{\"n\":1,\"sub\":{}}" },
	{ "{\"$ref\":\"#/a%20b/~1~0/1\",\"a b\":{\"/~\":[0,"
	  "{\"type\":\"null\"}]}}",
	    "null", "1" },
	{ "{\"$ref\":\"#/\",\"\":{\"type\":\"null\"}}", "null", "1" },
	{ "{\"allOf\":[{\"$ref\":\"#spot\"}],\"definitions\":{\"x\":"
	  "{\"$id\":\"#spot\",\"type\":\"null\"}}}",
	    "null", "1" },
	{ "{\"$id\":\"http://a.example/dir/root.json\",\"items\":"
	  "{\"$ref\":\"item.json\"},\"definitions\":{\"x\":"
	  "{\"$id\":\"item.json\",\"type\":\"null\"}}}",
	    "[null]", "[1]" },
	{ "{\"$id\":\"http://a.example/dir/root.json\",\"items\":"
	  "{\"$ref\":\"http://a.example/dir/root.json#/definitions/x\"},"
	  "\"definitions\":{\"x\":{\"type\":\"null\"}}}",
	    "[null]", "[1]" },
	{ "{\"$id\":\"http://a.example/root.json\",\"items\":"
	  "{\"$ref\":\"/sub/../in.json#/definitions/y\"},\"definitions\":"
	  "{\"x\":{\"$id\":\"in.json\",\"definitions\":{\"y\":"
	  "{\"$ref\":\"#/definitions/z\"},\"z\":{\"type\":\"null\"}}}}}",
	    "[null]", "[1]" },
	{ "{\"$id\":\"urn:x:1\",\"items\":{\"$ref\":\"urn:x:1#/definitions/a\"}"
	  ",\"definitions\":{\"a\":{\"type\":\"null\"}}}",
	    "[null]", "[1]" },
	{ "{\"$id\":\"light\",\"items\":{\"$ref\":\"#/definitions/a\"},"
	  "\"definitions\":{\"a\":{\"type\":\"null\"}}}",
	    "[null]", "[1]" },
	{ "{\"items\":{\"$ref\":\"http://b.example/n#s\"},\"definitions\":"
	  "{\"a\":{\"$id\":\"http://b.example/n\",\"items\":"
	  "{\"$id\":\"#s\",\"type\":\"null\"}}}}",
	    "[null]", "[1]" },
	{ "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"null\"}}}",
	    "null", "1" },
	{ "{\"items\":{\"$ref\":\"#/definitions/a\",\"$id\":\"http://no/\"},"
	  "\"definitions\":{\"a\":{\"type\":\"null\"}}}",
	    "[null]", "[1]" },
	{ "{\"enum\":[{\"$id\":\"e\",\"type\":\"null\"}],\"definitions\":"
	  "{\"a\":{\"$id\":\"e\",\"type\":\"object\"},"
	  "\"b\":{\"$ref\":\"e\"}}}",
	    "{\"$id\":\"e\",\"type\":\"null\"}", "null" },
	{ "{\"properties\":{\"a\":{\"$id\":\"#/properties/a\","
	  "\"type\":\"null\"}},\"$ref\":\"#/properties/a\"}",
	    "null", "1" },
	{ "{\"properties\":{\"$ref\":{\"type\":\"null\"},"
	  "\"$id\":{\"type\":\"null\"}}}",
	    "{\"$ref\":null,\"$id\":null}", "{\"$ref\":\"#\"}" },
	{ "{\"properties\":{\"s\":{\"$ref\":"
	  "\"http://json-schema.org/draft-07/schema#\"}}}",
	    "{\"s\":{\"type\":[\"null\"],\"properties\":{\"a\":true}}}",
	    "{\"s\":{\"properties\":{\"a\":3}}}" },
	{ "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
	  "\"type\":\"null\"}",
	    "null", "1" },
};

TEST(references_are_resolved)
{
	for (size_t i = 0; i < NELEM(references); i++) {
		struct wire_schema *s = NULL;
		struct wire_err err;
		enum rc rc =
		    wire_schema_new(str_of(references[i].schema), &s, &err);
		ck_assert_msg(rc == RC_OK, "%s: %s: %s", references[i].schema,
		    err.path, err.why);
		rc = wire_schema_check(s, str_of(references[i].good), &err);
		ck_assert_msg(rc == RC_OK, "%s: %s: %s", references[i].schema,
		    err.path, err.why);
		rc = wire_schema_check(s, str_of(references[i].bad), &err);
		ck_assert_msg(
		    rc == RC_INVALID, "%s: %d", references[i].schema, rc);
		wire_schema_free(s);
	}
}

TEST(a_schema_in_a_value_is_checked_as_one)
{
	struct wire_schema *s = NULL;
	struct wire_err err;
	ck_assert_int_eq(
	    wire_schema_new(
		STR("{\"items\":{\"$ref\":"
		    "\"http://json-schema.org/draft-07/schema#\"}}"),
		&s, &err),
	    RC_OK);
	ck_assert_int_eq(
	    wire_schema_check(
		s, STR("[{\"items\":{\"required\":[\"a\",1]}}]"), &err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/0/items/required/1");
	ck_assert_str_eq(err.why, "must be a string");
	wire_schema_free(s);
}

TEST(schemas_are_limited_in_size)
{
	struct wire_schema *s = NULL;
	struct wire_err err;
	size_t n = WIRE_SCHEMA_MAX + 1;
	char *text = mem_alloc(n + 1);
	memset(text, ' ', n);
	memcpy(text, "{}", 2);
	struct str json = { text, n };
	ck_assert_int_eq(wire_schema_new(json, &s, &err), RC_TOOBIG);
	json.n--;
	ck_assert_int_eq(wire_schema_new(json, &s, &err), RC_OK);
	wire_schema_free(s);
	s = NULL;

	free(text);
}

/* A schema of n parts: in part i, "<" stands for i and ">" for i + 1. */
static enum rc
compile_parts(const char *before, const char *part, size_t n, const char *after,
    struct wire_err *err)
{
	struct buf b = BUF_INIT(WIRE_SCHEMA_MAX);
	buf_puts(&b, before);
	for (size_t i = 0; i < n; i++) {
		for (const char *p = part; *p != '\0'; p++) {
			if (*p == '<' || *p == '>')
				buf_printf(&b, "%zu", i + (*p == '>'));
			else
				buf_putc(&b, *p);
		}
	}
	buf_puts(&b, after);
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	struct wire_schema *s = NULL;
	enum rc rc = wire_schema_new(buf_str(&b), &s, err);
	wire_schema_free(s);
	buf_free(&b);
	return rc;
}

TEST(expensive_schemas_are_rejected)
{
	struct wire_err err;
	ck_assert_int_eq(
	    compile_parts("{\"definitions\":{", "\"a<\":{\"pattern\":\"^<$\"},",
		90, "\"z\":true}}", &err),
	    RC_OK);
	ck_assert_int_eq(
	    compile_parts("{\"definitions\":{", "\"a<\":{\"pattern\":\"^<$\"},",
		101, "\"z\":true}}", &err),
	    RC_TOOBIG);
	ck_assert_str_eq(err.path, "/definitions/a100/pattern");
	ck_assert_str_eq(err.why, "is one pattern too many");

	/* A long chain of references alone costs little. */
	ck_assert_int_eq(
	    compile_parts("{\"definitions\":{",
		"\"a<\":{\"$ref\":\"#/definitions/a>\"},", 1000,
		"\"a1000\":true},\"$ref\":\"#/definitions/a0\"}", &err),
	    RC_OK);
	ck_assert_int_eq(compile_parts("{\"definitions\":{",
			     "\"a<\":{\"allOf\":[{\"$ref\":"
			     "\"#/definitions/a>\"}]},",
			     40, "\"a40\":true}}", &err),
	    RC_OK);
	ck_assert_int_eq(compile_parts("{\"definitions\":{",
			     "\"a<\":{\"allOf\":[{\"$ref\":"
			     "\"#/definitions/a>\"}]},",
			     110, "\"a110\":true}}", &err),
	    RC_TOOBIG);
	ck_assert_ptr_nonnull(strstr(err.why, "inside each other"));

	ck_assert_int_eq(compile_parts("{\"definitions\":{", "\"<\":{\"x\":<},",
			     3000, "\"a\":true}}", &err),
	    RC_OK);
	ck_assert_int_eq(
	    compile_parts("{\"allOf\":[{}", ",{\"<\":<}", 3000, "]}", &err),
	    RC_OK);
}

TEST(nesting_is_limited_as_in_messages)
{
	char text[1000];
	struct wire_schema *s = NULL;
	struct wire_err err;
	for (int depth = WIRE_DEPTH_MAX; depth < WIRE_DEPTH_MAX + 2; depth++) {
		size_t n = 0;
		for (int i = 1; i < depth; i++)
			n += (size_t)snprintf(
			    text + n, sizeof(text) - n, "{\"not\":");
		n += (size_t)snprintf(text + n, sizeof(text) - n, "{");
		memset(text + n, '}', (size_t)depth);
		struct str json = { text, n + (size_t)depth };
		ck_assert_int_eq(wire_schema_new(json, &s, &err),
		    depth <= WIRE_DEPTH_MAX ? RC_OK : RC_INVALID);
	}
	wire_schema_free(s);
}
