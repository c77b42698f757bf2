/*
 * Strings: comparing, finding, splitting, copying, numbers, UTF-8.
 */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/str.h"
#include "testkit/testkit.h"

static const struct str absent = { NULL, 0 };

TEST(absent_and_empty_differ_in_the_pointer)
{
	ck_assert_ptr_null(str_of(NULL).p);
	ck_assert_uint_eq(str_of("").n, 0);
	ck_assert_ptr_nonnull(str_of("").p);
	ck_assert(str_eq(absent, STR("")));
	ck_assert(str_eq_nocase(absent, STR("")));
	ck_assert_int_eq(str_cmp(absent, STR("")), 0);
	ck_assert(str_starts(absent, absent));
	ck_assert(str_ends(absent, STR("")));
	ck_assert_int_eq(str_find(absent, STR("a")), -1);
	ck_assert_uint_eq(str_trim(absent).n, 0);
	ck_assert_int_eq(str_utf8_count(absent), 0);
	ck_assert_ptr_null(str_dup(absent));
}

TEST(strings_are_compared)
{
	ck_assert(str_eq(STR("abc"), STR("abc")));
	ck_assert(!str_eq(STR("abc"), STR("abd")));
	ck_assert(!str_eq(STR("abc"), STR("ab")));
	ck_assert(str_eq(STR("a\0b"), STR("a\0b")));
	ck_assert(!str_eq(STR("a\0b"), STR("a\0c")));
	ck_assert(str_eq_nocase(STR("Online"), STR("oNLINE")));
	ck_assert(!str_eq_nocase(STR("@"), STR("`")));
	ck_assert(!str_eq_nocase(STR("["), STR("{")));
	/* Only ASCII letters are folded. */
	ck_assert(!str_eq_nocase(STR("Ä"), STR("ä")));
	ck_assert_int_lt(str_cmp(STR("ab"), STR("abc")), 0);
	ck_assert_int_gt(str_cmp(STR("b"), STR("abc")), 0);
	/* Bytes are unsigned. */
	ck_assert_int_gt(str_cmp(STR("\xff"), STR("a")), 0);
}

TEST(prefixes_suffixes_and_substrings)
{
	static const struct str any[] = { STR_INIT("soul"), STR_INIT("/x") };

	ck_assert(str_starts(STR("soul/x"), STR("soul/")));
	ck_assert(!str_starts(STR("sou"), STR("soul")));
	ck_assert(str_eq(str_after(STR("soul/x"), 5), STR("x")));
	ck_assert(str_eq(str_clip(STR("a灯b"), 4), STR("a灯")));
	ck_assert(str_eq(str_clip(STR("a灯b"), 3), STR("a")));
	ck_assert(str_eq(str_clip(STR("a灯b"), 5), STR("a灯b")));
	ck_assert_uint_eq(str_clip(STR("灯"), 2).n, 0);
	ck_assert_uint_eq(str_after(STR("soul"), 4).n, 0);
	ck_assert_ptr_null(str_after((struct str){ NULL, 0 }, 0).p);
	ck_assert_uint_eq(str_starts_any(STR("soul/x"), any, NELEM(any)), 4);
	ck_assert_uint_eq(str_ends_any(STR("x/soul"), any, NELEM(any)), 4);
	ck_assert_uint_eq(str_ends_any(STR("soul/x"), any, NELEM(any)), 2);
	ck_assert_uint_eq(str_starts_any(STR("sou"), any, NELEM(any)), 0);
	ck_assert_uint_eq(str_ends_any(STR(""), any, NELEM(any)), 0);
	ck_assert(str_ends(STR("a.json"), STR(".json")));
	ck_assert(!str_ends(STR("json"), STR(".json")));
	ck_assert_int_eq(str_find(STR("abcabd"), STR("abd")), 3);
	ck_assert_int_eq(str_find(STR("abc"), STR("abcd")), -1);
	ck_assert_int_eq(str_find(STR("abc"), STR("")), 0);
	ck_assert_int_eq(str_find(STR("a\0b"), STR("\0")), 1);
}

TEST(white_space_is_trimmed)
{
	struct str s = str_trim(STR(" \t\r\n\v\f x y \n"));

	ck_assert(str_eq(s, STR("x y")));
	ck_assert_uint_eq(str_trim(STR(" \n ")).n, 0);
	/* A no-break space is not ASCII. */
	ck_assert_uint_eq(str_trim(STR("\xc2\xa0")).n, 2);
}

TEST(splitting_returns_all_parts)
{
	static const struct {
		const char *in;
		const char *parts[4];
	} rows[] = {
		{ "a,b,c", { "a", "b", "c" } },
		{ "a,", { "a", "" } },
		{ ",a", { "", "a" } },
		{ "", { "" } },
		{ ",", { "", "" } },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct str s = str_of(rows[i].in);
		size_t n = 0;

		while (s.p != NULL) {
			struct str part = str_split(&s, ',');

			ck_assert_ptr_nonnull(rows[i].parts[n]);
			ck_assert(str_eq(part, str_of(rows[i].parts[n])));
			n++;
		}
		ck_assert_ptr_null(rows[i].parts[n]);
	}
}

TEST(integers_are_parsed)
{
	static const struct {
		const char *in;
		int64_t min, max, want;
		enum rc rc;
	} rows[] = {
		{ "0", 0, 0, 0, RC_OK },
		{ "-0", 0, 0, 0, RC_OK },
		{ "007", 0, 9, 7, RC_OK },
		{ "9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX,
		    RC_OK },
		{ "-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN,
		    RC_OK },
		{ "9223372036854775808", INT64_MIN, INT64_MAX, 0, RC_INVALID },
		{ "-9223372036854775809", INT64_MIN, INT64_MAX, 0, RC_INVALID },
		{ "99999999999999999999999", INT64_MIN, INT64_MAX, 0,
		    RC_INVALID },
		{ "10", 0, 9, 0, RC_INVALID },
		{ "-1", 0, 9, 0, RC_INVALID },
		{ "", -9, 9, 0, RC_INVALID },
		{ "-", -9, 9, 0, RC_INVALID },
		{ "--1", -9, 9, 0, RC_INVALID },
		{ "+1", -9, 9, 0, RC_INVALID },
		{ " 1", -9, 9, 0, RC_INVALID },
		{ "1 ", -9, 9, 0, RC_INVALID },
		{ "1.0", -9, 9, 0, RC_INVALID },
		{ "0x1", -9, 9, 0, RC_INVALID },
		{ "1e0", -9, 9, 0, RC_INVALID },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		int64_t v = 4711;
		enum rc rc = str_to_i64(
		    str_of(rows[i].in), rows[i].min, rows[i].max, &v);

		ck_assert_msg(rc == rows[i].rc, "\"%s\"", rows[i].in);
		ck_assert_int_eq(v, rc == RC_OK ? rows[i].want : 4711);
	}
	ck_assert_int_eq(str_to_i64(absent, 0, 1, &(int64_t){ 0 }), RC_INVALID);
	/* A NUL does not end the string. */
	ck_assert_int_eq(
	    str_to_i64(STR("1\0"), 0, 9, &(int64_t){ 0 }), RC_INVALID);
}

static const struct {
	const char *in;
	double want;
	enum rc rc;
} f64_rows[] = {
	{ "0", 0, RC_OK },
	{ "-1.5", -1.5, RC_OK },
	{ "0.1", 0.1, RC_OK },
	{ ".5", 0.5, RC_OK },
	{ "5.", 5, RC_OK },
	{ "1e3", 1000, RC_OK },
	{ "1E+3", 1000, RC_OK },
	{ "25e-1", 2.5, RC_OK },
	{ "1.7976931348623157e308", 1.7976931348623157e308, RC_OK },
	{ "1e-400", 0, RC_OK },
	{ "1e400", 0, RC_INVALID },
	{ "-1e400", 0, RC_INVALID },
	{ "inf", 0, RC_INVALID },
	{ "-infinity", 0, RC_INVALID },
	{ "nan", 0, RC_INVALID },
	{ "0x10", 0, RC_INVALID },
	{ "0x1p3", 0, RC_INVALID },
	{ "+1", 0, RC_INVALID },
	{ " 1", 0, RC_INVALID },
	{ "1 ", 0, RC_INVALID },
	{ "", 0, RC_INVALID },
	{ "-", 0, RC_INVALID },
	{ ".", 0, RC_INVALID },
	{ "-.", 0, RC_INVALID },
	{ "e1", 0, RC_INVALID },
	{ "1e", 0, RC_INVALID },
	{ "1e+", 0, RC_INVALID },
	{ "1.2.3", 0, RC_INVALID },
	{ "1,5", 0, RC_INVALID },
	{ "1_000", 0, RC_INVALID },
};

static void
check_f64_rows(void)
{
	for (size_t i = 0; i < NELEM(f64_rows); i++) {
		double v = 4711;
		enum rc rc =
		    str_to_f64(str_of(f64_rows[i].in), -INFINITY, INFINITY, &v);

		ck_assert_msg(rc == f64_rows[i].rc, "\"%s\"", f64_rows[i].in);
		ck_assert_double_eq(v, rc == RC_OK ? f64_rows[i].want : 4711);
	}
}

TEST(hexadecimal_digits_of_either_case_have_a_value)
{
	static const char digits[] = "0123456789abcdef", upper[] = "ABCDEF";
	int c, n = 0;

	for (c = 0; digits[c] != '\0'; c++)
		ck_assert_int_eq(str_hex_value(digits[c]), c);
	for (c = 0; upper[c] != '\0'; c++)
		ck_assert_int_eq(str_hex_value(upper[c]), 10 + c);
	for (c = -128; c < 128; c++)
		n += str_hex_value((char)c) >= 0;
	ck_assert_int_eq(n, 22);
}

TEST(decimal_numbers_are_parsed)
{
	char digits[400];
	double v = 4711;

	check_f64_rows();
	ck_assert_int_eq(str_to_f64(STR("2"), 0, 1.5, &v), RC_INVALID);
	ck_assert_int_eq(str_to_f64(STR("-0.1"), 0, 1.5, &v), RC_INVALID);
	ck_assert_double_eq(v, 4711);
	ck_assert_int_eq(str_to_f64(STR("1\0"), 0, 9, &v), RC_INVALID);
	ck_assert_int_eq(str_to_f64(absent, 0, 9, &v), RC_INVALID);
	memset(digits, '1', sizeof(digits));
	ck_assert_int_eq(
	    str_to_f64((struct str){ digits, sizeof(digits) }, 0, INFINITY, &v),
	    RC_INVALID);
	ck_assert_int_eq(
	    str_to_f64((struct str){ digits, 255 }, 0, INFINITY, &v), RC_OK);
}

TEST(decimal_numbers_do_not_depend_on_the_locale)
{
	static const char *const commas[] = { "de_DE.UTF-8", "fr_FR.UTF-8",
		"de_DE.utf8", "ru_RU.UTF-8" };

	/* If none is installed this repeats the C locale. */
	for (size_t i = 0; i < NELEM(commas); i++)
		if (setlocale(LC_NUMERIC, commas[i]) != NULL)
			break;
	check_f64_rows();
}

TEST(dup_ends_in_nul)
{
	char *p = str_dup((struct str){ "abcdef", 3 });

	ck_assert_str_eq(p, "abc");
	free(p);
	p = str_dup(STR(""));
	ck_assert_str_eq(p, "");
	free(p);
}

TEST(a_copy_is_truncated_between_code_points)
{
	static const struct {
		const char *in;
		size_t size;
		const char *want;
	} rows[] = {
		{ "abc", 4, "abc" },
		{ "abc", 3, "ab" },
		{ "abc", 1, "" },
		{ "", 1, "" },
		{ "a\xc3\xa4", 4, "a\xc3\xa4" },
		{ "a\xc3\xa4", 3, "a" },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd", 6, "\xe4\xbd\xa0" },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd", 4, "\xe4\xbd\xa0" },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd", 3, "" },
		{ "\xf0\x9f\x98\x80", 4, "" },
		{ "\xf0\x9f\x98\x80x", 5, "\xf0\x9f\x98\x80" },
		/* Not UTF-8: truncated anywhere. */
		{ "\x80\x80\x80\x80\x80\x80", 6, "\x80\x80\x80\x80\x80" },
		{ "\x80\x80", 2, "\x80" },
		{ "a\x80\x80\x80\x80\x80", 6, "a\x80\x80\x80\x80" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		char dst[16];

		memset(dst, '#', sizeof(dst));
		str_copy(str_of(rows[i].in), dst, rows[i].size);
		ck_assert_msg(strcmp(dst, rows[i].want) == 0, "row %zu", i);
		ck_assert_int_eq(dst[rows[i].size], '#');
	}
}

/* The definition of the encoding. */
static size_t
encode(int32_t cp, char dst[4])
{
	unsigned u = (unsigned)cp;

	if (u < 0x80) {
		dst[0] = (char)u;
		return 1;
	}
	if (u < 0x800) {
		dst[0] = (char)(0xc0 | u >> 6);
		dst[1] = (char)(0x80 | (u & 63));
		return 2;
	}
	if (u < 0x10000) {
		dst[0] = (char)(0xe0 | u >> 12);
		dst[1] = (char)(0x80 | (u >> 6 & 63));
		dst[2] = (char)(0x80 | (u & 63));
		return 3;
	}
	dst[0] = (char)(0xf0 | u >> 18);
	dst[1] = (char)(0x80 | (u >> 12 & 63));
	dst[2] = (char)(0x80 | (u >> 6 & 63));
	dst[3] = (char)(0x80 | (u & 63));
	return 4;
}

TEST(every_code_point_is_decoded_and_its_prefixes_rejected)
{
	for (int32_t cp = 0; cp < 0x110400; cp++) {
		char text[4];
		size_t n = encode(cp, text), pos = 0;
		bool ok = cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff);
		int32_t got = str_utf8_next((struct str){ text, n }, &pos);

		if (got != (ok ? cp : -1) || pos != (ok ? n : 0))
			ck_abort_msg("U+%04X gave %d", (unsigned)cp, got);
		for (size_t cut = 1; cut < n; cut++) {
			pos = 0;
			got = str_utf8_next((struct str){ text, cut }, &pos);
			if (got != -1 || pos != 0)
				ck_abort_msg("U+%04X cut to %zu gave %d",
				    (unsigned)cp, cut, got);
		}
	}
}

TEST(invalid_utf8_is_rejected)
{
	static const char *const rows[] = { "\x80", "\xbf", "\xc0\x80",
		"\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80",
		"\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xed\xa0\x80\xed\xb0\x80", "\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80",
		"\xfc\x84\x80\x80\x80\x80", "\xfe", "\xff", "\xc3(",
		"\xe2(\xa1", "\xe2\x82(", "\xf0\x9f\x98(", "\xc3", "\xe4\xbd",
		"\xf0\x9f\x98", "\xc3\xc3\xa4" };

	for (size_t i = 0; i < NELEM(rows); i++) {
		size_t pos = 0;

		ck_assert_msg(
		    str_utf8_next(str_of(rows[i]), &pos) == -1, "row %zu", i);
		ck_assert_uint_eq(pos, 0);
		ck_assert_int_eq(str_utf8_count(str_of(rows[i])), -1);
	}
}

TEST(code_points_are_counted)
{
	struct str s = STR("a\xc3\xa4\xe4\xbd\xa0\xf0\x9f\x98\x80");
	static const int32_t want[] = { 'a', 0xe4, 0x4f60, 0x1f600 };
	size_t pos = 0;

	for (size_t i = 0; i < NELEM(want); i++)
		ck_assert_int_eq(str_utf8_next(s, &pos), want[i]);
	ck_assert_int_eq(str_utf8_next(s, &pos), -1);
	ck_assert_uint_eq(pos, s.n);
	ck_assert_int_eq(str_utf8_count(s), 4);
	ck_assert_int_eq(str_utf8_count(STR("a\0b")), 3);
	/* An error after valid text. */
	ck_assert_int_eq(str_utf8_count(STR("abc\xff")), -1);
}

TEST(numbers_are_written_in_decimal)
{
	static const struct {
		int64_t v;
		const char *text;
	} c[] = { { 0, "0" }, { 9, "9" }, { 10, "10" }, { -1, "-1" },
		{ INT64_MAX, "9223372036854775807" },
		{ INT64_MIN, "-9223372036854775808" } };
	char text[STR_NUM_MAX];

	for (size_t i = 0; i < NELEM(c); i++) {
		ck_assert_uint_eq(str_num(c[i].v, text).n, strlen(c[i].text));
		ck_assert_str_eq(text, c[i].text);
	}
	ck_assert_uint_eq(strlen(c[5].text) + 1, STR_NUM_MAX);
}
