/* Writing JSON without a schema: numbers, strings, commas. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/out.h"

static void
check_f64(double f, const char *text)
{
	struct buf b = BUF_INIT(64);
	struct wire_out o = { &b, false };
	wire_out_f64(&o, f);
	if (text != NULL)
		ck_assert_str_eq(b.p, text);
	ck_assert_msg(strtod(b.p, NULL) == f, "%s is not %.17g", b.p, f);
	buf_free(&b);
}

TEST(numbers_are_short_and_read_back_equal)
{
	static const struct {
		double f;
		const char *text;
	} list[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ -1, "-1" },
		{ 0.1, "0.1" },
		{ -0.0, "0" },
		{ 0.35, "0.35" },
		{ -0.05, "-0.05" },
		{ 0.000001, "0.000001" },
		{ 0.0000001, "1e-7" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 100, "100" },
		{ 999999999999999, "999999999999999" },
		{ 1e15, "1e15" },
		{ 1e22, "1e22" },
		{ 123456.789, "123456.789" },
		{ 12345678.000001, "12345678.000001" },
		{ 1771743600.123, "1771743600.123" },
		{ DBL_MAX, "1.7976931348623157e308" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ DBL_TRUE_MIN, "5e-324" },
		{ 0x1p53, "9007199254740992" },
		{ 1e-300, "1e-300" },
		{ 1e100, "1e100" },
	};
	for (size_t i = 0; i < NELEM(list); i++)
		check_f64(list[i].f, list[i].text);
}

TEST(numbers_of_every_size_read_back_equal)
{
	uint64_t x = 88172645463325252U;
	for (int i = 0; i < 200000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		double f;
		memcpy(&f, &x, sizeof(f));
		if (isfinite(f))
			check_f64(f, NULL);
		check_f64(
		    (double)(int64_t)(x % 2000001 - 1000000) / 1000, NULL);
	}
}

TEST(nan_and_infinities_are_null)
{
	struct buf b = BUF_INIT(64);
	struct wire_out o = { &b, false };
	wire_out_array(&o);
	wire_out_f64(&o, NAN);
	wire_out_f64(&o, INFINITY);
	wire_out_f64(&o, -INFINITY);
	wire_out_array_end(&o);
	ck_assert_str_eq(b.p, "[null,null,null]");
	buf_free(&b);
}

TEST(integers_are_written_in_full)
{
	static const int64_t list[] = { 0, 1, -1, 10, INT64_MAX, INT64_MIN,
		1000000000000 };
	for (size_t i = 0; i < NELEM(list); i++) {
		struct buf b = BUF_INIT(64);
		struct wire_out o = { &b, false };
		char want[32];
		(void)snprintf(want, sizeof(want), "%" PRId64, list[i]);
		wire_out_i64(&o, list[i]);
		ck_assert_str_eq(b.p, want);
		buf_free(&b);
	}
}

TEST(texts_are_escaped_and_invalid_utf8_is_replaced)
{
	static const struct {
		struct str s;
		const char *text;
	} list[] = {
		{ STR_INIT(""), "\"\"" },
		{ { NULL, 0 }, "\"\"" },
		{ STR_INIT("a\"b\\c/"), "\"a\\\"b\\\\c/\"" },
		{ STR_INIT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"" },
		{ STR_INIT("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\x7f\"" },
		{ STR_INIT("灯😀é"), "\"灯😀é\"" },
		{ STR_INIT("a\xff"), "\"a\xef\xbf\xbd\"" },
		{ STR_INIT("\xff\xff"), "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ STR_INIT("\xe7\x81"), "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ STR_INIT("\xe7\x81z"), "\"\xef\xbf\xbd\xef\xbf\xbdz\"" },
		{ STR_INIT("\xed\xa0\x80"),
		    "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ STR_INIT("a\xc0\n"), "\"a\xef\xbf\xbd\\n\"" },
	};
	for (size_t i = 0; i < NELEM(list); i++) {
		struct buf b = BUF_INIT(256);
		struct wire_out o = { &b, false };
		wire_out_str(&o, list[i].s);
		ck_assert_str_eq(b.p, list[i].text);
		buf_free(&b);
	}
}

/* Texts are read sixteen bytes at a time: all bytes, wherever they are. */
TEST(any_byte_is_written_the_same_anywhere_in_a_text)
{
	static const char *const others[] = { "\xe7\x81\xaf", "\xef\xbc\x8c",
		"\xf0\x9f\x98\x80", "\xc3\xa9", "\xed\xa0\x80", "\xe7\x81",
		"\xee\x80\x80", "\xef\xbf", "\xf4\x90\x80\x80" };
	char plain[100], text[2] = { 0 };

	memset(plain, 'x', sizeof(plain));
	for (size_t i = 0; i < 255 + NELEM(others); i++) {
		struct buf one = BUF_INIT(64);
		struct wire_out o = { &one, false };

		text[0] = (char)(i + 1);
		wire_out_str(&o, str_of(i < 255 ? text : others[i - 255]));
		for (size_t at = 0; at <= sizeof(plain); at++) {
			struct buf in = BUF_INIT(256), b = BUF_INIT(256),
				   want = BUF_INIT(256);
			struct wire_out all = { &b, false };

			buf_put(&in, plain, at);
			buf_puts(&in, i < 255 ? text : others[i - 255]);
			buf_put(&in, plain, sizeof(plain) - at);
			wire_out_str(&all, buf_str(&in));
			buf_putc(&want, '"');
			buf_put(&want, plain, at);
			buf_put(&want, one.p + 1, one.n - 2);
			buf_put(&want, plain, sizeof(plain) - at);
			buf_putc(&want, '"');
			ck_assert_str_eq(b.p, want.p);
			buf_free(&in);
			buf_free(&b);
			buf_free(&want);
		}
		buf_free(&one);
	}
}

TEST(a_nul_is_escaped_or_for_those_who_reject_it_replaced)
{
	static const char text[] = "0123456789abcdef\0 0123456789abcdef"
				   "0123456789abcdef0123456789abcdef";
	struct str s = { text, sizeof(text) - 1 };
	struct buf b = BUF_INIT(256);
	struct wire_out o = { &b, false };

	wire_out_str(&o, s);
	wire_out_text(&o, s);
	wire_out_text(&o, (struct str){ text + 16, 1 });
	ck_assert_str_eq(b.p,
	    "\"0123456789abcdef\\u0000 0123456789abcdef"
	    "0123456789abcdef0123456789abcdef\","
	    "\"0123456789abcdef\xef\xbf\xbd 0123456789abcdef"
	    "0123456789abcdef0123456789abcdef\",\"\xef\xbf\xbd\"");
	buf_free(&b);
}

TEST(values_are_separated_by_commas)
{
	struct buf b = BUF_INIT(256);
	struct wire_out o = { &b, false };
	wire_out_object(&o);
	wire_out_key(&o, STR("a"));
	wire_out_array(&o);
	wire_out_array_end(&o);
	wire_out_key(&o, STR("b\""));
	wire_out_array(&o);
	wire_out_bool(&o, true);
	wire_out_object(&o);
	wire_out_object_end(&o);
	wire_out_null(&o);
	wire_out_raw(&o, STR("{\"x\":1}"));
	wire_out_bool(&o, false);
	wire_out_array_end(&o);
	wire_out_name(&o, "c");
	wire_out_i64(&o, 1);
	wire_out_object_end(&o);
	ck_assert_str_eq(
	    b.p, "{\"a\":[],\"b\\\"\":[true,{},null,{\"x\":1},false],\"c\":1}");
	buf_free(&b);
}

TEST(overflow_is_sticky)
{
	struct buf b = BUF_INIT(4);
	struct wire_out o = { &b, false };
	wire_out_array(&o);
	wire_out_str(&o, STR("long"));
	wire_out_array_end(&o);
	ck_assert_int_eq(buf_rc(&b), RC_TOOBIG);
	buf_free(&b);
}
