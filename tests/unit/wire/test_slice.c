/* Members of JSON texts as slices: what is accepted, and what is given. */
#include <jansson.h>
#include <stdio.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/slice.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

/* Texts beside the decoder's verdict on them. */
static const char *const texts[] = {
	"",
	" ",
	"{}",
	" [ ] ",
	"[1,2,]",
	"[,]",
	"{\"a\":1,}",
	"{\"a\" 1}",
	"{\"a\":}",
	"{a:1}",
	"{\"a\":1}x",
	"{\"a\":1}\n",
	"{\"a\":1}{}",
	"[1 2]",
	"[1,\001]",
	"{\"a\":1",
	"[\"a",
	"[\"\\",
	"[\"a\\x\"]",
	"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
	"[\"\\u12\"]",
	"[\"\\u12g4\"]",
	"[\"\\u0000\"]",
	"[\"\\u0001\"]",
	"[\"\\ud83d\\ude00\"]",
	"[\"\\ud83d\"]",
	"[\"\\ud83d\\n\"]",
	"[\"\\ud83d\\ud83d\"]",
	"[\"\\ude00\"]",
	"[\"\t\"]",
	"[\"\x7f\"]",
	"[\"\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80\"]",
	"[\"\xc3\"]",
	"[\"\xe4\xbd\"]",
	"[\"\xc0\x80\"]",
	"[\"\xe0\x80\x80\"]",
	"[\"\xed\xa0\x80\"]",
	"[\"\xf4\x90\x80\x80\"]",
	"[\"\xff\"]",
	"\xef\xbb\xbf{}",
	"[true,false,null]",
	"[tru]",
	"[True]",
	"[nul]",
	"[0,-0,10,-1]",
	"[01]",
	"[-]",
	"[+1]",
	"[.5]",
	"[1.]",
	"[1.5,1e3,1E-3,1.5e+3]",
	"[1e]",
	"[1e+]",
	"[0x10]",
	"[NaN]",
	"[9223372036854775807,-9223372036854775808]",
	"[9223372036854775808]",
	"[-9223372036854775809]",
	"[10000000000000000000]",
	"[1.7976931348623157e308]",
	"[1.7976931348623159e308]",
	"[17976931348623157.0000e292]",
	"[0.00017976931348623159e312]",
	"[1e309]",
	"[-1e99999999999999999999]",
	"[1e-99999999999999999999]",
	"[0.000e99999999999999999999]",
	"{\"a\":1,\"a\":2}",
	"{\"a\":1,\"\\u0061\":2}",
	"{\"\\u0061\":1,\"\\u0062\":2}",
	"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}",
	"{\"\\/\":1,\"/\":2}",
	"{\"\\u0000\":1}",
	"{\"\":1,\"\":2}",
	"{\"\":1,\" \":2}",
	"{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}",
	"[{\"a\":1},{\"a\":1}]",
	"[{\"b\":{\"a\":1,\"a\":1}}]",
};

static bool
slice_is_parsed(struct str text)
{
	const struct wire_at top = { 0 };
	json_t *v;

	if (wire_raw_parse(text, WIRE_DEPTH_MAX, &top, &v) != RC_OK)
		return false;
	bool is = json_is_object(v) || json_is_array(v);
	json_decref(v);
	return is;
}

TEST(the_verdict_is_the_decoders)
{
	size_t accepted = 0;

	for (size_t i = 0; i < NELEM(texts); i++) {
		struct str s = str_of(texts[i]);
		bool is = wire_slice_each(s, NULL) == RC_OK;

		ck_assert_msg(is == slice_is_parsed(s), "%s", texts[i]);
		accepted += is;
	}
	ck_assert_uint_ge(accepted, 20);
	ck_assert_int_eq(
	    wire_slice_each((struct str){ NULL, 0 }, NULL), RC_INVALID);
	ck_assert_int_eq(wire_slice_each(STR("[1\0]"), NULL), RC_INVALID);
	ck_assert(!slice_is_parsed(STR("[1\0]")));
	ck_assert(!slice_is_parsed(STR("[true\0]")));
	/* What wire_decode() accepts, but has no members. */
	ck_assert_int_eq(wire_slice_each(STR("1"), NULL), RC_INVALID);
}

/* An object with n members, the last of which has that name. */
static void
slice_put_members(struct buf *b, size_t n, const char *last)
{
	buf_reset(b);
	for (size_t i = 0; i + 1 < n; i++)
		buf_printf(b, "%c\"k%zu\":0", i == 0 ? '{' : ',', i);
	buf_printf(b, ",\"%s\":0}", last);
}

TEST(a_duplicate_member_is_found_among_any_number)
{
	static const size_t sizes[] = { 2, 15, 16, 17, 18, 64, 65, 66, 5000 };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	for (size_t i = 0; i < NELEM(sizes); i++) {
		slice_put_members(&b, sizes[i], "x");
		ck_assert_int_eq(wire_slice_each(buf_str(&b), NULL), RC_OK);
		slice_put_members(&b, sizes[i], "k0");
		ck_assert_int_eq(
		    wire_slice_each(buf_str(&b), NULL), RC_INVALID);
		slice_put_members(&b, sizes[i], "\\u006b0");
		ck_assert_int_eq(
		    wire_slice_each(buf_str(&b), NULL), RC_INVALID);
	}
	buf_free(&b);
}

static void
slice_put_nested(struct buf *b, size_t depth)
{
	buf_reset(b);
	for (size_t i = 0; i < depth; i++)
		buf_puts(b, i % 2 == 0 ? "{\"a\":" : "[");
	buf_puts(b, "1");
	for (size_t i = depth; i-- > 0;)
		buf_putc(b, i % 2 == 0 ? '}' : ']');
}

TEST(limits_are_the_decoders)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX + 1);

	slice_put_nested(&b, WIRE_DEPTH_MAX);
	ck_assert_int_eq(wire_slice_each(buf_str(&b), NULL), RC_OK);
	slice_put_nested(&b, WIRE_DEPTH_MAX + 1);
	ck_assert_int_eq(wire_slice_each(buf_str(&b), NULL), RC_INVALID);

	for (size_t over = 0; over < 2; over++) {
		buf_reset(&b);
		for (size_t i = 1; i < WIRE_CONTAINERS_MAX + over; i++)
			buf_puts(&b, i == 1 ? "[{}" : ",{}");
		buf_putc(&b, ']');
		ck_assert_int_eq(wire_slice_each(buf_str(&b), NULL),
		    over == 0 ? RC_OK : RC_TOOBIG);
		ck_assert(slice_is_parsed(buf_str(&b)) == (over == 0));
	}
	buf_reset(&b);
	buf_puts(&b, "[1");
	while (b.n < WIRE_MESSAGE_MAX - 1)
		buf_putc(&b, ' ');
	buf_putc(&b, ']');
	ck_assert_int_eq(wire_slice_each(buf_str(&b), NULL), RC_OK);
	buf_putc(&b, ' ');
	ck_assert_int_eq(wire_slice_each(buf_str(&b), NULL), RC_TOOBIG);
	buf_free(&b);
}

/* ---- what is given ---- */

struct slice_log {
	struct buf b;
	struct wire_slice_extent known; /* of the member "k" */
	enum rc rc;                     /* for it */
};

static void
slice_log_each(void *arg, const struct wire_slice *s)
{
	struct slice_log *l = arg;

	if (s->key.p != NULL)
		buf_printf(&l->b, "%.*s%s=", STR_ARG(s->key),
		    s->escaped ? "(escaped)" : "");
	buf_printf(&l->b, "%.*s;", STR_ARG(s->value));
}

static enum rc
slice_log_known(
    void *arg, const struct wire_slice *s, struct wire_slice_extent *x)
{
	struct slice_log *l = arg;

	if (!str_eq(s->key, STR("k")))
		return RC_NOENT;
	*x = l->known;
	return l->rc;
}

static void
slice_log_check(const char *text, const char *expected)
{
	struct slice_log l = { .b = BUF_INIT(4096) };
	struct wire_slice_handler h = { .each = slice_log_each, .arg = &l };

	ck_assert_int_eq(wire_slice_each(str_of(text), &h), RC_OK);
	ck_assert_str_eq(buf_str(&l.b).p, expected);
	buf_free(&l.b);
}

TEST(members_and_elements_are_given_in_order_without_white_space)
{
	slice_log_check(" { \"b\" : 1 , \"a\":[ {} , 2 ] ,\"\":\"x\\\"y\" } ",
	    "b=1;a=[ {} , 2 ];=\"x\\\"y\";");
	slice_log_check("[ null,true , -1.5e3,\"\",{\"a\":{}} ]",
	    "null;true;-1.5e3;\"\";{\"a\":{}};");
	slice_log_check("{\"\\u0061b\":{}}", "\\u0061b(escaped)={};");
	slice_log_check("{}", "");
	slice_log_check("[]", "");
}

TEST(a_known_value_is_not_scanned)
{
	struct slice_log l = { .b = BUF_INIT(4096), .known = { 5, 3 } };
	struct wire_slice_handler h = {
		.each = slice_log_each, .known = slice_log_known, .arg = &l
	};

	ck_assert_int_eq(
	    wire_slice_each(STR("{\"a\":1, \"k\": \xff\xff\xff\xff\xff }"), &h),
	    RC_OK);
	ck_assert_str_eq(buf_str(&l.b).p, "a=1;k=\xff\xff\xff\xff\xff;");
	/* Its objects and arrays count. */
	l.known.containers = WIRE_CONTAINERS_MAX - 1;
	ck_assert_int_eq(wire_slice_each(STR("{\"k\":12345}"), &h), RC_OK);
	l.known.containers = WIRE_CONTAINERS_MAX;
	ck_assert_int_eq(wire_slice_each(STR("{\"k\":12345}"), &h), RC_TOOBIG);
	/* Another code ends the scan, before what is not valid. */
	l.rc = RC_CONFLICT;
	ck_assert_int_eq(
	    wire_slice_each(STR("{\"k\":12345,!"), &h), RC_CONFLICT);
	l.rc = RC_NOENT;
	ck_assert_int_eq(
	    wire_slice_each(STR("{\"k\":12345,!"), &h), RC_INVALID);
	buf_free(&l.b);
}

TEST(at_most_max_bytes_are_scanned)
{
	struct slice_log l = { .b = BUF_INIT(4096), .known = { 60, 1 } };
	struct wire_slice_handler h = {
		.known = slice_log_known, .arg = &l, .max = 18
	};
	struct buf b = BUF_INIT(4096);

	ck_assert_int_eq(
	    wire_slice_each(STR("{\"a\":[1,2,3,4,56]}"), &h), RC_OK);
	ck_assert_int_eq(
	    wire_slice_each(STR("{\"a\":[1,2,3,4,567]}"), &h), RC_TOOBIG);
	/* A known value does not count. */
	buf_printf(&b, "{\"k\":[%58s],\"a\":[1,2]}", "");
	ck_assert_int_eq(wire_slice_each(buf_str(&b), &h), RC_OK);
	h.max = 10;
	ck_assert_int_eq(wire_slice_each(buf_str(&b), &h), RC_TOOBIG);
	buf_free(&b);
}

TEST(more_bytes_than_a_message_has_are_scanned_if_max_says_so)
{
	struct wire_slice_handler h = { .max = WIRE_MESSAGE_MAX + 10 };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX + 100);

	buf_printf(&b, "[\"%*s\"]", WIRE_MESSAGE_MAX + 6, "");
	ck_assert_int_eq(wire_slice_each(buf_str(&b), NULL), RC_TOOBIG);
	ck_assert_int_eq(wire_slice_each(buf_str(&b), &h), RC_OK);
	h.max--;
	ck_assert_int_eq(wire_slice_each(buf_str(&b), &h), RC_TOOBIG);
	buf_free(&b);
}

/* ---- ends ---- */

TEST(the_end_is_found_at_every_offset_of_a_block)
{
	struct buf b = BUF_INIT(4096);
	struct wire_slice_extent x;

	for (size_t pad = 0; pad < 140; pad++) {
		buf_reset(&b);
		buf_puts(&b, "[\"");
		for (size_t i = 0; i < pad; i++)
			buf_putc(&b, 'a');
		buf_puts(&b, "\\\\\",\"\\\"]\\\\\\\"\",{\"}\":[\"\\\\\"]},{}]");
		size_t n = b.n;

		for (size_t tail = 0; tail < 70; tail++) {
			ck_assert_int_eq(
			    wire_slice_extent(buf_str(&b), &x), RC_OK);
			ck_assert_uint_eq(x.n, n);
			ck_assert_uint_eq(x.containers, 4);
			buf_putc(&b, "]}\",\\"[tail % 5]);
		}
		for (size_t part = 0; part < n; part += 1 + part / 8)
			ck_assert_int_eq(
			    wire_slice_extent((struct str){ b.p, part }, &x),
			    RC_INVALID);
	}
	ck_assert_int_eq(wire_slice_extent(STR("1"), &x), RC_INVALID);
	ck_assert_int_eq(wire_slice_extent(STR("\"[]\""), &x), RC_INVALID);
	ck_assert_int_eq(wire_slice_extent(STR(" []"), &x), RC_INVALID);
	buf_free(&b);
}
