/*
 * Trace context: the rules for traceparent, one row each.
 */
#include <string.h>

#include "core/mem.h"
#include "core/trace.h"
#include "testkit/testkit.h"

#define T  "4bf92f3577b34da6a3ce929d0e0e4736"
#define S  "00f067aa0ba902b7"
#define T0 "00000000000000000000000000000000"
#define S0 "0000000000000000"

TEST(valid_headers_are_parsed)
{
	static const struct {
		const char *in;
		unsigned flags;
	} rows[] = {
		{ "00-" T "-" S "-00", 0 },
		{ "00-" T "-" S "-01", 1 },
		{ "00-" T "-" S "-02", 2 },
		{ "00-" T "-" S "-03", 3 },
		/* Undefined flags are dropped. */
		{ "00-" T "-" S "-ff", 3 },
		{ "00-" T "-" S "-09", 1 },
		/* A later version: the known fields, whatever follows. */
		{ "01-" T "-" S "-01", 1 },
		{ "cc-" T "-" S "-01-what-the-future", 1 },
		{ "cc-" T "-" S "-01-", 1 },
		{ "fe-" T "-" S "-00", 0 },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct trace t;

		ck_assert_msg(trace_parse(str_of(rows[i].in), &t) == RC_OK,
		    "%s", rows[i].in);
		ck_assert_str_eq(t.trace_id, T);
		ck_assert_str_eq(t.span_id, S);
		ck_assert_uint_eq(t.flags, rows[i].flags);
	}
}

TEST(invalid_headers_are_rejected)
{
	static const char *const rows[] = {
		"",
		"00",
		"00-" T "-" S,
		"00-" T "-" S "-",
		"00-" T "-" S "-0",
		"ff-" T "-" S "-01",
		"FF-" T "-" S "-01",
		/* Version 00 ends after the flags. */
		"00-" T "-" S "-01-",
		"00-" T "-" S "-01-x",
		"00-" T "-" S "-01 ",
		"00-" T "-" S "-011",
		/* A later version continues with a dash. */
		"cc-" T "-" S "-01.what",
		"cc-" T "-" S "-01x",
		"cc-" T "-" S "-011",
		/* All zero. */
		"00-" T0 "-" S "-01",
		"00-" T "-" S0 "-01",
		/* Upper case, other letters, other separators. */
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" S "-01",
		"00-" T "-00F067AA0BA902B7-01",
		"00-" T "-" S "-0A",
		"0A-" T "-" S "-01",
		"0x-" T "-" S "-01",
		"00-gbf92f3577b34da6a3ce929d0e0e4736-" S "-01",
		"00-" T "-g0f067aa0ba902b7-01",
		"00-" T "-" S "-0g",
		"00_" T "-" S "-01",
		"00-" T "_" S "-01",
		"00-" T "-" S "_01",
		" 00-" T "-" S "-01",
		"00-" S "-" T "-01",
		".0-" T "-" S "-01",
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct trace t;

		memset(&t, '#', sizeof(t));
		ck_assert_msg(trace_parse(str_of(rows[i]), &t) == RC_INVALID,
		    "%s", rows[i]);
		ck_assert_int_eq(t.trace_id[0], '#');
		ck_assert_int_eq(t.flags, '#');
	}
	ck_assert_int_eq(
	    trace_parse((struct str){ NULL, 0 }, &(struct trace){ 0 }),
	    RC_INVALID);
}

TEST(new_traces_and_child_spans)
{
	struct trace t, child, back;
	char text[TRACE_PARENT_MAX], uuid[ID_UUID_MAX];

	for (int i = 0; i < 100; i++) {
		trace_new(&t);
		ck_assert_uint_eq(strlen(t.trace_id), 32);
		ck_assert_uint_eq(strlen(t.span_id), 16);
		/* A version 4 UUID. */
		ck_assert_int_eq(t.trace_id[12], '4');
		ck_assert_ptr_nonnull(strchr("89ab", t.trace_id[16]));
		ck_assert_uint_eq(t.flags, 1);
		trace_child(&t, &child);
		ck_assert_str_eq(child.trace_id, t.trace_id);
		ck_assert_str_ne(child.span_id, t.span_id);
		ck_assert_uint_eq(child.flags, t.flags);
		trace_format(&child, text);
		ck_assert_uint_eq(strlen(text), TRACE_PARENT_MAX - 1);
		ck_assert_int_eq(trace_parse(str_of(text), &back), RC_OK);
		ck_assert_str_eq(back.trace_id, child.trace_id);
		ck_assert_str_eq(back.span_id, child.span_id);
		ck_assert_uint_eq(back.flags, child.flags);
		trace_child(&child, &child);
		ck_assert_str_ne(back.span_id, child.span_id);
		ck_assert_str_eq(back.trace_id, child.trace_id);
		trace_uuid(&t, uuid);
		ck_assert_uint_eq(strlen(uuid), ID_UUID_MAX - 1);
	}
}

TEST(traces_are_formatted)
{
	struct trace t;
	char text[TRACE_PARENT_MAX], uuid[ID_UUID_MAX];

	ck_assert_int_eq(trace_parse(STR("cc-" T "-" S "-01-x"), &t), RC_OK);
	trace_format(&t, text);
	ck_assert_str_eq(text, "00-" T "-" S "-01");
	trace_uuid(&t, uuid);
	ck_assert_str_eq(uuid, "4bf92f35-77b3-4da6-a3ce-929d0e0e4736");
}

TEST(traces_of_a_stock_are_as_new_ones)
{
	static struct id_stock s;
	char parent[TRACE_PARENT_MAX];
	struct trace last = { .trace_id = "" }, t, parsed;

	for (int i = 0; i < 100; i++) {
		trace_new_of(&t, &s);
		ck_assert_int_eq(t.flags, TRACE_SAMPLED);
		ck_assert_int_eq(t.trace_id[12], '4');
		ck_assert_str_ne(t.trace_id, last.trace_id);
		ck_assert_str_ne(t.span_id, last.span_id);
		trace_format(&t, parent);
		ck_assert_int_eq(trace_parse(str_of(parent), &parsed), RC_OK);
		ck_assert_str_eq(parsed.trace_id, t.trace_id);
		ck_assert_str_eq(parsed.span_id, t.span_id);
		last = t;
	}
}
