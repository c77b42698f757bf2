/*
 * Schemas as models are shown them; arguments are checked against the whole.
 */
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/tool_catalog.h"
#include "tools/tool_schema.h"
#include "wire/msgs.h"
#include "wire/tree.h"

#define ROOM  ((size_t)4 * 1024 * 1024)
#define OF(p) "{\"type\":\"object\",\"properties\":{" p "}}"

static void
ck_shown(const char *schema, size_t max, const char *want)
{
	struct arena *a = arena_new(ROOM);
	struct str s;

	ck_assert_int_eq(tool_schema_shown(str_of(schema), max, a, &s), RC_OK);
	ck_assert_msg(str_eq(s, str_of(want)), "%s: %.*s, not %s", schema,
	    STR_ARG(s), want);
	arena_free(a);
}

TEST(only_common_keywords_are_shown)
{
	static const char *const rows[][2] = {
		{ OF("\"a\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"],"
		     "\"description\":\"A.\",\"default\":\"x\"}"),
		    OF("\"a\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"],"
		       "\"description\":\"A.\",\"default\":\"x\"}") },
		{ "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
		  "\"$id\":\"x\",\"$comment\":\"c\",\"type\":\"object\","
		  "\"properties\":{\"a\":{\"x-clamp\":true,\"readOnly\":true,"
		  "\"type\":\"integer\"}},\"required\":[\"a\"],"
		  "\"if\":{},\"then\":{},\"not\":{\"a\":1},"
		  "\"patternProperties\":{\"^x\":{}},"
		  "\"additionalProperties\":false}",
		    "{\"type\":\"object\",\"properties\":{\"a\":{"
		    "\"type\":\"integer\"}},\"required\":[\"a\"],"
		    "\"additionalProperties\":false}" },
		/* A property may be called like a keyword. */
		{ OF("\"$ref\":{\"type\":\"string\"},\"x-a\":{},\"not\":{}"),
		    OF("\"$ref\":{\"type\":\"string\"},\"x-a\":{},"
		       "\"not\":{}") },
		{ OF("\"a\":{\"const\":1},\"b\":{\"oneOf\":[{\"const\":\"x\"},"
		     "true]},\"c\":true,\"d\":{\"items\":[{},{}]}"),
		    OF("\"a\":{\"enum\":[1]},\"b\":{\"anyOf\":[{\"enum\":["
		       "\"x\"]},{}]},\"c\":{},\"d\":{\"items\":{}}") },
		{ OF("\"a\":{\"enum\":[1,2],\"const\":1,\"anyOf\":[{}],"
		     "\"oneOf\":[]}"),
		    OF("\"a\":{\"enum\":[1,2],\"anyOf\":[{}]}") },
		/* Not at the top. */
		{ "{\"type\":\"object\",\"anyOf\":[{\"required\":[\"a\"]}]}",
		    "{\"type\":\"object\",\"properties\":{}}" },
		{ "[]", TOOL_SCHEMA_ANY },
		{ "{", TOOL_SCHEMA_ANY },
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_shown(rows[i][0], 4096, rows[i][1]);
}

TEST(local_references_are_replaced)
{
	static const char *const rows[][2] = {
		{ "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":"
		  "\"#/$defs/P\",\"description\":\"mine\"}},\"$defs\":{\"P\":"
		  "{\"type\":\"string\",\"description\":\"its\","
		  "\"minLength\":1}}}",
		    OF("\"a\":{\"description\":\"mine\",\"type\":\"string\","
		       "\"minLength\":1}") },
		/* Of a reference, and with escapes. */
		{ "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":"
		  "\"#/definitions/a~1b\"}},\"definitions\":{\"a/b\":{"
		  "\"$ref\":\"#/definitions/c~0\"},\"c~\":{\"type\":"
		  "\"null\"}}}",
		    OF("\"a\":{\"type\":\"null\"}") },
		{ "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
		  "\"array\",\"items\":[{\"type\":\"null\"}]},\"b\":{\"$ref\":"
		  "\"#/properties/a/items/0\"}}}",
		    OF("\"a\":{\"type\":\"array\",\"items\":{}},\"b\":{"
		       "\"type\":\"null\"}") },
		{ "{\"type\":\"object\",\"$ref\":\"#/$defs/P\",\"$defs\":{"
		  "\"P\":{\"type\":\"array\",\"properties\":{\"a\":{}}}}}",
		    OF("\"a\":{}") },
		/* What all of them have. */
		{ "{\"type\":\"object\",\"allOf\":[{\"$ref\":\"#/$defs/P\"},"
		  "{\"properties\":{\"b\":{}}}],\"$defs\":{\"P\":{"
		  "\"properties\":{\"a\":{}},\"required\":[\"a\"]}}}",
		    "{\"type\":\"object\",\"properties\":{\"b\":{},\"a\":{}},"
		    "\"required\":[\"a\"]}" },
		/* Nowhere, elsewhere, and to what is no schema. */
		{ OF("\"a\":{\"$ref\":\"#/$defs/X\"},\"b\":{\"$ref\":"
		     "\"http://x/y\"},\"c\":{\"$ref\":\"#/type\"},\"d\":{"
		     "\"$ref\":3},\"e\":{\"$ref\":\"#x\"}"),
		    OF("\"a\":{},\"b\":{},\"c\":{},\"d\":{},\"e\":{}") },
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_shown(rows[i][0], 4096, rows[i][1]);
}

TEST(a_schema_within_itself_is_any)
{
	ck_shown("{\"type\":\"object\",\"properties\":{\"tree\":{\"$ref\":"
		 "\"#/$defs/T\"},\"me\":{\"$ref\":\"#\"}},\"$defs\":{\"T\":{"
		 "\"type\":\"object\",\"properties\":{\"left\":{\"$ref\":"
		 "\"#/$defs/T\"},\"n\":{\"type\":\"integer\"}}}}}",
	    4096,
	    OF("\"tree\":{\"type\":\"object\",\"properties\":{\"left\":{},"
	       "\"n\":{\"type\":\"integer\"}}},\"me\":{}"));
	ck_shown("{\"type\":\"object\",\"$ref\":\"#\"}", 4096, TOOL_SCHEMA_ANY);
	ck_shown("{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":"
		 "\"#/$defs/A\"}},\"$defs\":{\"A\":{\"$ref\":\"#/$defs/B\"},"
		 "\"B\":{\"$ref\":\"#/$defs/A\"}}}",
	    4096, OF("\"a\":{}"));
}

/* n levels of {"a": {…}}, n references that each have the next one twice. */
static struct str
deep(struct buf *b, int n)
{
	buf_reset(b);
	buf_puts(b,
	    "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":"
	    "\"#/$defs/0\"}},\"$defs\":{");
	for (int i = 0; i < n; i++)
		buf_printf(b,
		    "%s\"%d\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/%d\"}"
		    ",\"b\":{\"$ref\":\"#/$defs/%d\"}}}",
		    i > 0 ? "," : "", i, i + 1, i + 1);
	buf_puts(b, "}}");
	return buf_str(b);
}

TEST(levels_and_bytes_are_limited)
{
	struct arena *a = arena_new(ROOM);
	struct buf b = BUF_INIT(ROOM);
	struct wire_tree *v;
	struct str s;

	ck_assert_int_eq(tool_schema_shown(deep(&b, 30), 2048, a, &s), RC_OK);
	ck_assert_uint_le(s.n, 2048);
	ck_assert_uint_gt(s.n, 128);
	ck_assert_int_eq(wire_tree_parse(s, &v), RC_OK);
	wire_tree_free(v);
	/* Names of arguments are left as long as they fit. */
	ck_shown(OF("\"a\":{\"enum\":[\"0123456789012345678901234567890123456"
		    "789\"]},\"b\":{}"),
	    64, OF("\"a\":{},\"b\":{}"));
	ck_shown(OF("\"a\":{},\"b\":{}"), 40, TOOL_SCHEMA_ANY);
	/* One that takes too long to read. */
	buf_reset(&b);
	buf_puts(&b, "{\"type\":\"object\",\"properties\":{\"a\":{}},\"y\":1");
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, ",\"x%d\":1", i);
	buf_puts(&b, "}");
	ck_assert_int_eq(tool_schema_shown(buf_str(&b), 2048, a, &s), RC_OK);
	ck_assert(str_eq(s, STR(TOOL_SCHEMA_ANY)));
	buf_free(&b);
	arena_free(a);
}

/* What is not shown still counts. */
TEST(arguments_are_checked_against_the_whole_schema)
{
	struct wire_tool_definition d = { .name = STR("fs__x"),
		.tool = STR("x"),
		.schema = STR("{\"$schema\":\"https://json-schema.org/draft/"
			      "2020-12/schema\",\"type\":\"object\","
			      "\"properties\":{\"a\":{\"$ref\":\"#/$defs/P\"}}"
			      ",\"not\":{\"required\":[\"b\"]},\"$defs\":{"
			      "\"P\":{\"type\":\"integer\",\"maximum\":3}}}") };
	struct arena *a = arena_new(ROOM);
	struct wire_err err;
	struct str args;
	struct tool t;

	ck_assert_int_eq(tool_from_definition(&d, a, &t), RC_OK);
	ck_assert(str_eq(
	    t.shown, STR(OF("\"a\":{\"type\":\"integer\",\"maximum\":3}"))));
	tool_prepare(&t);
	ck_assert(!t.loose);
	ck_assert_int_eq(
	    tool_arguments(&t, STR("{\"a\":3}"), a, &args, &err), RC_OK);
	ck_assert_int_eq(
	    tool_arguments(&t, STR("{\"a\":4}"), a, &args, &err), RC_INVALID);
	ck_assert_int_eq(
	    tool_arguments(&t, STR("{\"b\":4}"), a, &args, &err), RC_INVALID);
	tool_release(&t);
	arena_free(a);
}
