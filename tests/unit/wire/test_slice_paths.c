/* Wanted members of lines: what is accepted, and what is found. */
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/slice.h"
#include "wire/wire.h"

static const char *const paths[] = { "type", "item.id", "item", "a.b.c",
	"list" };
enum { TYPE, ITEM_ID, ITEM, ABC, LIST, PATHS_N };

static const struct {
	const char *line;
	enum rc rc;
	const char *found[PATHS_N];
} lines[] = {
	{ "{}", RC_OK, { 0 } },
	{ "37", RC_OK, { 0 } },
	{ "null", RC_OK, { 0 } },
	{ " \"text\" ", RC_OK, { 0 } },
	{ "[{\"type\":1}]", RC_OK, { 0 } },
	{ "{\"type\":\"t\",\"item\":{\"id\":\"i\",\"x\":[{\"id\":2}]}}", RC_OK,
	    { "\"t\"", "\"i\"", "{\"id\":\"i\",\"x\":[{\"id\":2}]}" } },
	{ "{ \"a\" : { \"b\" : { \"c\" : -1.5e3 } } , \"list\" : [ ] }", RC_OK,
	    { [ABC] = "-1.5e3", [LIST] = "[ ]" } },
	{ "{\"a\":{\"b\":[{\"c\":1}]},\"b\":{\"c\":2}}", RC_OK, { 0 } },
	{ "{\"list\":[1,[2],{\"type\":3}],\"type\":true}", RC_OK,
	    { [LIST] = "[1,[2],{\"type\":3}]", [TYPE] = "true" } },
	/* A key means its text. */
	{ "{\"\\u0074ype\":1}", RC_OK, { "1" } },
	{ "{\"\\u0074ype\":1,\"type\":2}", RC_INVALID, { 0 } },
	{ "{\"type\":1,\"type\":2}", RC_INVALID, { 0 } },
	{ "{\"item\":1,\"item\":{\"id\":2}}", RC_INVALID, { 0 } },
	/* What is not wanted may be repeated. */
	{ "{\"x\":1,\"x\":2,\"item\":{\"y\":1,\"y\":2}}", RC_OK,
	    { [ITEM] = "{\"y\":1,\"y\":2}" } },
	{ "", RC_INVALID, { 0 } },
	{ "{", RC_INVALID, { 0 } },
	{ "{\"type\":1}}", RC_INVALID, { 0 } },
	{ "{\"type\":1} {\"type\":1}", RC_INVALID, { 0 } },
	{ "{\"type\":01}", RC_INVALID, { 0 } },
	{ "{\"type\":1.}", RC_INVALID, { 0 } },
	{ "{\"type\":9223372036854775808}", RC_INVALID, { 0 } },
	{ "{\"type\":\"\xc3\"}", RC_INVALID, { 0 } },
	{ "{\"x\":\"\xed\xa0\x80\"}", RC_INVALID, { 0 } },
	{ "{\"x\":\"\\u0000\"}", RC_INVALID, { 0 } },
	{ "{\"x\":\"\\ud800\"}", RC_INVALID, { 0 } },
	{ "{\"x\":\"a\tb\"}", RC_INVALID, { 0 } },
	{ "{\"x\":\"0123456789abcdef\\x\"}", RC_INVALID, { 0 } },
	{ "{'type':1}", RC_INVALID, { 0 } },
	{ "{\"type\":1,}", RC_INVALID, { 0 } },
	{ "[1,]", RC_INVALID, { 0 } },
	{ "{\"type\" 1}", RC_INVALID, { 0 } },
	{ "{\"type\":nul}", RC_INVALID, { 0 } },
	{ "]", RC_INVALID, { 0 } },
	{ "[}", RC_INVALID, { 0 } },
};

TEST(wanted_members_are_found)
{
	struct wire_paths *p = wire_paths_new(paths, PATHS_N);

	for (size_t i = 0; i < NELEM(lines); i++) {
		struct wire_found found[PATHS_N];
		enum rc rc = wire_slice_paths(p, str_of(lines[i].line), found);

		ck_assert_msg(rc == lines[i].rc, "%s", lines[i].line);
		for (size_t k = 0; rc == RC_OK && k < PATHS_N; k++)
			ck_assert_msg(
			    str_eq(found[k].value, str_of(lines[i].found[k])),
			    "%s: %zu is %.*s", lines[i].line, k,
			    STR_ARG(found[k].value));
	}
	wire_paths_free(p);
}

TEST(nesting_has_a_limit)
{
	struct wire_paths *p = wire_paths_new(paths, PATHS_N);
	struct wire_found found[PATHS_N];

	for (size_t depth = WIRE_DEPTH_MAX; depth <= WIRE_DEPTH_MAX + 1;
	     depth++) {
		struct buf b = BUF_INIT(1024);

		for (size_t i = 0; i < depth; i++)
			buf_putc(&b, '[');
		for (size_t i = 0; i < depth; i++)
			buf_putc(&b, ']');
		ck_assert_int_eq(wire_slice_paths(p, buf_str(&b), found),
		    depth <= WIRE_DEPTH_MAX ? RC_OK : RC_INVALID);
		buf_free(&b);
	}
	wire_paths_free(p);
}

/* Longer than a message may be. */
TEST(lines_may_be_long)
{
	struct wire_paths *p = wire_paths_new(paths, PATHS_N);
	struct buf b = BUF_INIT(8UL * WIRE_MESSAGE_MAX);
	struct wire_found found[PATHS_N];

	buf_puts(&b, "{\"x\":\"");
	while (b.n < 2UL * WIRE_MESSAGE_MAX)
		buf_puts(&b, "a\\n\xe4\xbd\xa0");
	buf_puts(&b, "\",\"type\":\"t\"}");
	ck_assert_int_eq(wire_slice_paths(p, buf_str(&b), found), RC_OK);
	ck_assert(str_eq(found[TYPE].value, STR("\"t\"")));
	buf_free(&b);
	wire_paths_free(p);
}

TEST(values_have_kinds)
{
	const struct wire_found text = { STR_INIT("\"a\\n\\u4f60\""), true };
	const struct wire_found number = { STR_INIT("-12"), false };
	const struct wire_found none = { { NULL, 0 }, false };
	struct buf b = BUF_INIT(64);
	int64_t v;

	wire_found_put(&text, &b);
	wire_found_put(&number, &b);
	wire_found_put(&none, &b);
	ck_assert(str_eq(buf_str(&b), STR("a\n\xe4\xbd\xa0")));
	ck_assert_int_eq(wire_found_i64(&number, &v), RC_OK);
	ck_assert_int_eq(v, -12);
	ck_assert_int_eq(wire_found_i64(&text, &v), RC_INVALID);
	ck_assert(wire_found_inside(&number).p == NULL);
	buf_free(&b);
}

TEST(lines_end_with_a_line_feed)
{
	struct str rest = STR("a\r\n\nb\nc"), line;

	ck_assert(wire_line_next(&rest, &line) && str_eq(line, STR("a")));
	ck_assert(wire_line_next(&rest, &line) && line.n == 0);
	ck_assert(wire_line_next(&rest, &line) && str_eq(line, STR("b")));
	ck_assert(!wire_line_next(&rest, &line));
	ck_assert(str_eq(rest, STR("c")));
}
