/* Schemas and values that are expensive to check: each check ends soon. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/schema.h"

/* Several times the limit of a check, for sanitizers and busy machines. */
#define MOST_MS 1000.0

static double
cpu_ms(void)
{
	struct timespec t;
	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* before, n × part (in part i, "<" is i and ">" is i + 1), after. */
static struct str
parts(struct buf *b, const char *before, const char *part, size_t n,
    const char *after)
{
	buf_init(b, WIRE_MESSAGE_MAX);
	buf_puts(b, before);
	for (size_t i = 0; i < n; i++) {
		for (const char *p = part; *p != '\0'; p++) {
			if (*p == '<' || *p == '>')
				buf_printf(b, "%zu", i + (*p == '>'));
			else
				buf_putc(b, *p);
		}
	}
	buf_puts(b, after);
	ck_assert_int_eq(buf_rc(b), RC_OK);
	return buf_str(b);
}

static void
check_ends(const char *what, struct str schema, struct str value, enum rc want)
{
	struct wire_schema *s = NULL;
	struct wire_err err = { "", "" };
	double start = cpu_ms();
	ck_assert_msg(wire_schema_new(schema, &s, &err) == RC_OK, "%s: %s: %s",
	    what, err.path, err.why);
	double compiled = cpu_ms();
	enum rc rc = wire_schema_check(s, value, &err);
	double checked = cpu_ms();
	printf("%-28s compile %6.2f ms, check %6.2f ms: %s\n", what,
	    compiled - start, checked - compiled, rc_name(rc));
	ck_assert_msg(rc == want, "%s: %s: %s", what, err.path, err.why);
	if (rc == RC_TOOBIG)
		ck_assert_str_eq(err.why, "takes too long to check");
	ck_assert_msg(checked - compiled < MOST_MS, "%s: check", what);
	ck_assert_msg(compiled - start < MOST_MS, "%s: compile", what);
	wire_schema_free(s);
}

TEST(references_that_multiply_end_by_budget)
{
	static const char *const each[] = {
		"\"a<\":{\"allOf\":[{\"$ref\":\"#/definitions/a>\"},"
		"{\"$ref\":\"#/definitions/a>\"}]},",
		"\"a<\":{\"anyOf\":[{\"allOf\":[{\"$ref\":"
		"\"#/definitions/a>\"},false]},{\"$ref\":"
		"\"#/definitions/a>\"}]},",
		"\"a<\":{\"oneOf\":[{\"$ref\":\"#/definitions/a>\"},"
		"{\"not\":{\"$ref\":\"#/definitions/a>\"}}]},",
		"\"a<\":{\"if\":{\"$ref\":\"#/definitions/a>\"},"
		"\"then\":{\"$ref\":\"#/definitions/a>\"},"
		"\"else\":{\"$ref\":\"#/definitions/a>\"}},",
	};
	for (size_t i = 0; i < NELEM(each); i++) {
		struct buf b;
		struct str schema = parts(&b,
		    "{\"$ref\":\"#/definitions/a0\",\"definitions\":{", each[i],
		    30, "\"a30\":{\"type\":\"integer\"}}}");
		check_ends("2^30 references", schema, STR("1"), RC_TOOBIG);
		buf_free(&b);
	}
}

TEST(recursion_into_values_ends_by_budget)
{
	struct buf v;
	struct str schema = STR("{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},"
				"\"maxItems\":1},{\"items\":{\"$ref\":\"#\"},"
				"\"minItems\":2}],\"type\":\"array\"}");
	struct str value = parts(&v, "", "[", 60, "1");
	for (int i = 0; i < 60; i++)
		buf_putc(&v, ']');
	value = buf_str(&v);
	check_ends("2^60 ways into a value",
	    STR("{\"allOf\":[{\"items\":{\"$ref\":\"#\"}},"
		"{\"items\":{\"$ref\":\"#\"}}]}"),
	    value, RC_TOOBIG);
	check_ends("ways that end at once", schema, value, RC_INVALID);
	buf_free(&v);
}

TEST(compile_time_is_bounded)
{
	static const struct {
		const char *unit;
		size_t times, patterns;
	} rows[] = {
		{ "a?", 2000, 4 },
		{ ".", 150, 100 },
		{ "[\\\\S]?", 20, 99 },
		{ "(a|\\\\w?){2,9}", 8, 99 },
	};
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct buf part = BUF_INIT(8000);
		struct buf b;
		buf_puts(&part, "\"d<\":{\"pattern\":\"<");
		for (size_t k = 0; k < rows[i].times; k++)
			buf_puts(&part, rows[i].unit);
		buf_puts(&part, "\"},");
		struct str schema = parts(&b, "{\"definitions\":{", part.p,
		    rows[i].patterns, "\"z\":true}}");
		check_ends(rows[i].unit, schema, STR("1"), RC_OK);
		buf_free(&part);
		buf_free(&b);
	}
}

TEST(unique_items_of_large_arrays_are_checked_in_time)
{
	static const struct {
		const char *part;
		size_t n;
		const char *last;
		enum rc rc;
	} rows[] = {
		{ "<,", 120000, "-1]", RC_OK },
		{ "<,", 120000, "7]", RC_INVALID },
		{ "\"text <\",", 60000, "1]", RC_OK },
		{ "{\"a\":<},", 30000, "1]", RC_OK },
		/* Distinct integers that map to the same double. */
		{ "4611686018427400<,", 600, "1]", RC_OK },
		{ "[[[[[[\"a\"]]]]],<],", 9000, "1]", RC_OK },
	};
	struct str schema = STR("{\"uniqueItems\":true}");
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct buf v;
		struct str value =
		    parts(&v, "[", rows[i].part, rows[i].n, rows[i].last);
		check_ends(rows[i].part, schema, value, rows[i].rc);
		buf_free(&v);
	}
}

TEST(slow_patterns_are_stopped)
{
	struct buf b;
	struct buf v;
	check_ends("one bad pattern", STR("{\"pattern\":\"^(a+)+$\"}"),
	    STR("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\""),
	    RC_TOOBIG);
	check_ends("a bad pattern in not",
	    STR("{\"not\":{\"pattern\":\"^(a+)+$\"}}"),
	    STR("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\""),
	    RC_TOOBIG);
	/* Each is below the time limit; their sum is not. */
	struct str schema = parts(&b, "{\"patternProperties\":{",
	    "\"^(?:(?=.*x.*y)a)+<\":true,", 90, "\"z\":true}}");
	struct str value = parts(&v, "{",
	    "\"<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":1,",
	    15000, "\"z\":1}");
	check_ends("many patterns, many names", schema, value, RC_TOOBIG);
	buf_free(&b);
	buf_free(&v);
}

TEST(many_values_times_many_rules_are_stopped)
{
	struct buf b;
	struct buf v;
	struct str schema = parts(&b, "{\"items\":{\"enum\":[",
	    "\"word number <\",", 3000, "\"z\"]}}");
	struct str value = parts(&v, "[", "\"z\",", 100000, "\"z\"]");
	check_ends("long enum, long array", schema, value, RC_TOOBIG);
	buf_free(&b);
	buf_free(&v);

	schema = parts(&b, "{\"items\":{\"anyOf\":[",
	    "{\"type\":\"object\",\"required\":[\"a<\"]},", 1000,
	    "{\"type\":\"null\"}]}}");
	value = parts(&v, "[", "{},", 10000, "{}]");
	check_ends("long anyOf, long array", schema, value, RC_INVALID);
	buf_free(&v);
	value = parts(&v, "[", "null,", 10000, "null]");
	check_ends("the same, fitting", schema, value, RC_TOOBIG);
	buf_free(&b);
	buf_free(&v);

	schema = parts(
	    &b, "{\"items\":{\"required\":[", "\"member<\",", 3000, "\"z\"]}}");
	value = parts(&v, "[{", "\"member<\":1,", 3000, "\"z\":1}]");
	check_ends("long required", schema, value, RC_OK);
	buf_free(&b);
	buf_free(&v);

	schema = STR("{\"propertyNames\":{\"pattern\":\"^n[0-9]+$\","
		     "\"maxLength\":9},\"additionalProperties\":"
		     "{\"type\":\"integer\"}}");
	value = parts(&v, "{", "\"n<\":<,", 1500, "\"n\":1}");
	check_ends("many names", schema, value, RC_INVALID);
	buf_free(&v);

	schema = parts(&b, "{\"allOf\":[",
	    "{\"title\":\"<\",\"allOf\":[{\"$ref\":"
	    "\"http://json-schema.org/draft-07/schema#\"}]},",
	    500, "true]}");
	value = parts(&v, "{\"properties\":{", "\"p<\":{\"minimum\":<},", 2000,
	    "\"z\":true}}");
	check_ends("meta-schema 500 times", schema, value, RC_TOOBIG);
	buf_free(&b);
	buf_free(&v);
}

TEST(large_honest_values_are_checked_whole)
{
	struct buf v;
	struct str value =
	    parts(&v, "[", "{\"id\":<,\"name\":\"lamp <\",\"on\":true},", 18000,
		"{\"id\":1,\"name\":\"x\",\"on\":1}]");
	check_ends("700 KB of objects",
	    STR("{\"type\":\"array\",\"items\":{\"type\":\"object\","
		"\"properties\":{\"id\":{\"type\":\"integer\",\"minimum\":0},"
		"\"name\":{\"type\":\"string\",\"maxLength\":20},"
		"\"on\":{\"type\":\"boolean\"}},\"required\":[\"id\"]}}"),
	    value, RC_INVALID);
	buf_free(&v);
}
