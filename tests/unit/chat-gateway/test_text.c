/*
 * Trimming white space.
 */
#include "core/mem.h"
#include "gateway.h"
#include "testkit/testkit.h"

static const struct {
	const char *in, *out;
} rows[] = {
	{ "", "" },
	{ " ", "" },
	{ " \t\r\n\v\f", "" },
	{ "a", "a" },
	{ " a b ", "a b" },
	{ "\n小灵\t", "小灵" },
	/* U+3000, U+00A0, U+0085, U+1680, U+2000, U+200A, U+2028, U+2029,
	 * U+202F, U+205F */
	{ "\xe3\x80\x80", "" },
	{ "\xe3\x80\x80灯\xe3\x80\x80", "灯" },
	{ "\xc2\xa0\xc2\x85x\xe1\x9a\x80", "x" },
	{ "\xe2\x80\x80\xe2\x80\x8ax\xe2\x80\xa8\xe2\x80\xa9", "x" },
	{ "\xe2\x80\xafx\xe2\x81\x9f", "x" },
	{ "a\xe3\x80\x80 b", "a\xe3\x80\x80 b" },
	/* Not white space: U+200B, U+FEFF, U+00A1, U+3001, emoji. */
	{ "\xe2\x80\x8b", "\xe2\x80\x8b" },
	{ "\xef\xbb\xbfx", "\xef\xbb\xbfx" },
	{ "\xc2\xa1", "\xc2\xa1" },
	{ "\xe3\x80\x81", "\xe3\x80\x81" },
	{ " \xf0\x9f\x98\x80 ", "\xf0\x9f\x98\x80" },
};

TEST(white_space_of_any_script_is_trimmed)
{
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		ck_assert_msg(str_eq(gateway_trim_text(str_of(rows[i].in)),
				  str_of(rows[i].out)),
		    "row %zu: \"%s\"", i, rows[i].in);
}

TEST(an_absent_text_is_empty)
{
	ck_assert_uint_eq(gateway_trim_text((struct str){ NULL, 0 }).n, 0);
}
