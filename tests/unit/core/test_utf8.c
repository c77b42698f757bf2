/*
 * UTF-8: every code point there and back, and every way of being wrong.
 */
#include "core/mem.h"
#include "core/str.h"
#include "testkit/testkit.h"

/* The plain definition of the encoding. */
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

TEST(every_code_point_and_all_its_truncations)
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

TEST(what_is_not_utf8)
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

TEST(walking_and_counting)
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
	/* An error behind good text still is one. */
	ck_assert_int_eq(str_utf8_count(STR("abc\xff")), -1);
}
