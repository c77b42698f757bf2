/* Coercion of arguments to their types. */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/coerce.h"
#include "wire/tree.h"

#define S                                                              \
	"{\"type\":\"object\",\"properties\":{"                        \
	"\"i\":{\"type\":\"integer\"},"                                \
	"\"n\":{\"type\":\"number\"},"                                 \
	"\"b\":{\"type\":\"boolean\"},"                                \
	"\"s\":{\"type\":\"string\"},"                                 \
	"\"e\":{\"type\":\"string\",\"enum\":[\"on\",\"set_color\"]}," \
	"\"c\":{\"enum\":[\"red\",\"green\",3]},"                      \
	"\"z\":{\"type\":[\"integer\",\"null\"]},"                     \
	"\"l\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}," \
	"\"o\":{\"type\":\"object\",\"properties\":{"                  \
	"\"i\":{\"type\":\"integer\"}}},"                              \
	"\"any\":{}},\"required\":[\"b\"]}"

static enum rc
coerce(struct str schema, struct str json, struct buf *b)
{
	struct wire_tree *shape;
	enum rc rc;

	ck_assert_int_eq(wire_tree_parse(schema, &shape), RC_OK);
	rc = wire_coerce(shape, json, b);
	wire_tree_free(shape);
	return rc;
}

static void
turns_into(const char *schema, const char *json, const char *want)
{
	struct buf b = BUF_INIT(4096);

	ck_assert_int_eq(coerce(str_of(schema), str_of(json), &b), RC_OK);
	ck_assert_str_eq(buf_str(&b).p, want);
	buf_free(&b);
}

TEST(values_are_coerced_to_the_types_of_the_schema)
{
	static const struct {
		const char *json, *want;
	} rows[] = {
		{ "{\"i\":\"3\"}", "{\"i\":3}" },
		{ "{\"i\":\" -12 \"}", "{\"i\":-12}" },
		{ "{\"i\":3.0}", "{\"i\":3}" },
		{ "{\"i\":\"3.0\"}", "{\"i\":3}" },
		{ "{\"n\":\"2.5\"}", "{\"n\":2.5}" },
		{ "{\"n\":\"2\"}", "{\"n\":2}" },
		{ "{\"b\":\"true\"}", "{\"b\":true}" },
		{ "{\"b\":\"False\"}", "{\"b\":false}" },
		{ "{\"b\":\"yes\"}", "{\"b\":true}" },
		{ "{\"b\":\"关闭\"}", "{\"b\":false}" },
		{ "{\"i\":\"３\"}", "{\"i\":3}" },
		{ "{\"n\":\"２．５\"}", "{\"n\":2.5}" },
		{ "{\"s\":3}", "{\"s\":\"3\"}" },
		{ "{\"s\":2.5}", "{\"s\":\"2.5\"}" },
		{ "{\"s\":true}", "{\"s\":\"true\"}" },
		{ "{\"e\":\" ON \"}", "{\"e\":\"on\"}" },
		{ "{\"e\":\"Set_Color\"}", "{\"e\":\"set_color\"}" },
		{ "{\"c\":\"GREEN\"}", "{\"c\":\"green\"}" },
		{ "{\"i\":null,\"b\":true}", "{\"b\":true}" },
		{ "{\"l\":[\"1\",2.0,3]}", "{\"l\":[1,2,3]}" },
		{ "{\"l\":\"[1,\\\"2\\\"]\"}", "{\"l\":[1,2]}" },
		{ "{\"o\":{\"i\":\"7\"}}", "{\"o\":{\"i\":7}}" },
		{ "{\"o\":\"{\\\"i\\\":\\\"7\\\"}\"}", "{\"o\":{\"i\":7}}" },
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		turns_into(S, rows[i].json, rows[i].want);
}

TEST(other_values_stay_unchanged)
{
	static const char *const rows[] = {
		"{\"i\":\"three\"}",
		"{\"i\":\"3.5\"}",
		"{\"i\":3.5}",
		"{\"i\":\"9223372036854775808\"}",
		"{\"i\":true}",
		"{\"n\":\"\"}",
		"{\"b\":\"maybe\"}",
		"{\"b\":1}",
		"{\"b\":null}",
		"{\"s\":\"3\"}",
		"{\"s\":[1]}",
		"{\"e\":\"off\"}",
		"{\"z\":null}",
		"{\"any\":null}",
		"{\"any\":\"3\"}",
		"{\"other\":\"3\"}",
		"{\"l\":\"{}\"}",
		"{\"o\":\"[]\"}",
		"[1,\"2\"]",
		"3",
		"{}",
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		turns_into(S, rows[i], rows[i]);
}

/* Enum values in other spellings and synonyms, if exactly one can be meant. */
TEST(choices_are_matched_by_spelling_and_synonym)
{
	static const struct {
		const char *list, *word, *want;
	} table[] = {
		{ "\"on\",\"off\"", "\"开\"", "\"on\"" },
		{ "\"on\",\"off\"", "\"关闭\"", "\"off\"" },
		{ "\"on\",\"off\"", "\"ＯＮ\"", "\"on\"" },
		{ "\"on\",\"off\"", "true", "\"on\"" },
		{ "\"on\",\"off\"", "\"false\"", "\"off\"" },
		{ "\"打开\",\"关闭\"", "\"on\"", "\"打开\"" },
		{ "\"打开\",\"关闭\"", "\"关\"", "\"关闭\"" },
		{ "\"red\",\"green\"", "\"红色\"", "\"red\"" },
		{ "\"红\",\"绿\"", "\"Green\"", "\"绿\"" },
		{ "\"红\",\"绿\"", "\"绿色\"", "\"绿\"" },
		{ "\"点头\",\"摇头\"", "\"nod\"", "\"点头\"" },
		{ "\"set_color\",\"on\"", "\"Set Color\"", "\"set_color\"" },
		/* An exact enum value takes precedence over similar ones. */
		{ "\"ON\",\"on\",\"开\"", "\"on\"", "\"on\"" },
		/* Several values match, or none. */
		{ "\"on\",\"open\"", "\"打开\"", "\"打开\"" },
		{ "\"ON\",\"On\"", "\"on\"", "\"on\"" },
		{ "\"on\",\"off\"", "\"红\"", "\"红\"" },
		{ "\"on\",\"off\"", "\"不开\"", "\"不开\"" },
		{ "\"on\",\"off\"", "\"\"", "\"\"" },
	};
	char schema[256];

	for (size_t i = 0; i < NELEM(table); i++) {
		snprintf(schema, sizeof(schema),
		    "{\"type\":\"string\",\"enum\":[%s]}", table[i].list);
		turns_into(schema, table[i].word, table[i].want);
	}
}

/* Clamping, where the schema declares it. */
TEST(numbers_are_clamped_where_the_schema_allows)
{
	static const struct {
		const char *schema, *in, *want;
	} table[] = {
		{ "\"integer\",\"minimum\":1,\"maximum\":10", "30", "10" },
		{ "\"integer\",\"minimum\":1,\"maximum\":10", "\"-3\"", "1" },
		{ "\"integer\",\"minimum\":0.5,\"maximum\":9.5", "99", "9" },
		{ "\"integer\",\"maximum\":10", "\"99999999999999999999\"",
		    "10" },
		{ "\"number\",\"minimum\":0.2,\"maximum\":10", "0.1", "0.2" },
		{ "\"number\",\"minimum\":0.2", "7.5", "7.5" },
		{ "\"integer\",\"minimum\":5,\"maximum\":1", "3", "3" },
		{ "\"string\",\"minimum\":5", "\"3\"", "\"3\"" },
	};
	char schema[256];

	for (size_t i = 0; i < NELEM(table); i++) {
		snprintf(schema, sizeof(schema),
		    "{\"x-clamp\":true,\"type\":%s}", table[i].schema);
		turns_into(schema, table[i].in, table[i].want);
	}
	turns_into("{\"type\":\"integer\",\"maximum\":10}", "30", "30");
}

/* Unusual schemas, and deeply nested values. */
TEST(schemas_without_types_change_nothing)
{
	turns_into("{}", "{\"i\":\"3\"}", "{\"i\":\"3\"}");
	turns_into("true", "{\"i\":\"3\"}", "{\"i\":\"3\"}");
	turns_into("{\"properties\":[]}", "{\"i\":1}", "{\"i\":1}");
	turns_into("{\"type\":7,\"enum\":3}", "\"a\"", "\"a\"");
	turns_into(
	    "{\"properties\":{\"i\":true}}", "{\"i\":\"1\"}", "{\"i\":\"1\"}");
}

TEST(json_in_text_in_json)
{
	/*
	 * Each level is one more string encoding; beyond a few they are
	 * unchanged.
	 */
	struct buf b = BUF_INIT(1024 * 1024);
	struct buf out = BUF_INIT(1024 * 1024);

	buf_puts(&b, "{\"o\":\"{}\"}");
	ck_assert_int_eq(coerce(STR("{\"type\":\"object\","
				    "\"properties\":{\"o\":"
				    "{\"type\":\"object\"}}}"),
			     buf_str(&b), &out),
	    RC_OK);
	ck_assert_str_eq(buf_str(&out).p, "{\"o\":{}}");
	buf_free(&b);
	buf_free(&out);
}

TEST(invalid_json_is_rejected)
{
	struct buf b = BUF_INIT(16);

	ck_assert_int_eq(coerce(STR("{}"), STR("{"), &b), RC_INVALID);
	ck_assert_int_eq(
	    coerce(STR("{}"), STR("\"0123456789abcdef\""), &b), RC_TOOBIG);
	buf_free(&b);
}
