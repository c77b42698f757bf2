/*
 * Normalization of text.
 */
#include "core/mem.h"
#include "recognition/codepoints.h"
#include "testkit/testkit.h"

static const struct {
	const char *raw, *folded;
} folds[] = {
	{ "AbC", "abc" },
	{ "ＡｂＣ１！？", "abc1!?" },
	{ "我 很　难过", "我很难过" },
	{ "so   sad", "so sad" },
	{ "  so sad  ", "so sad" },
	{ "so\tsad", "so sad" },
	{ "so\nsad", "so,sad" },
	{ "我 so sad 了", "我so sad了" },
	{ "開心難過謝謝", "开心难过谢谢" },
	{ "並麼點", "并么点" },
	{ "don’t", "don't" },
	{ "❤️", "❤" },
	{ "a\xe2\x80\x8b"
	  "b",
	    "ab" },
	{ "a\xff\xfe"
	  "b",
	    "ab" },
	{ "\xe9\x9a", "" },
	{ "", "" },
};

TEST(text_is_normalized)
{
	uint32_t got[64], want[64];
	size_t i, k, n, m;

	for (i = 0; i < NELEM(folds); i++) {
		struct str w = str_of(folds[i].folded);
		size_t pos = 0;

		n = codepoints_fold(str_of(folds[i].raw), got, NELEM(got));
		for (m = 0; pos < w.n; m++)
			want[m] = (uint32_t)str_utf8_next(w, &pos);
		ck_assert_msg(n == m, "%s: %zu", folds[i].raw, n);
		for (k = 0; k < n; k++)
			ck_assert_msg(got[k] == want[k], "%s: %zu is U+%X",
			    folds[i].raw, k, (unsigned)got[k]);
	}
}

TEST(a_long_text_is_truncated)
{
	uint32_t got[4] = { 0, 0, 0, 7 };

	ck_assert_uint_eq(codepoints_fold(STR("难过难过"), got, 3), 3);
	ck_assert_uint_eq(got[3], 7);
	ck_assert_uint_eq(codepoints_fold(STR("a b c"), got, 2), 2);
	ck_assert_uint_eq(codepoints_fold(STR("abc"), got, 0), 0);
}

TEST(encoding_reverses_decoding)
{
	static const struct str texts[] = { STR_INIT("a"), STR_INIT("é"),
		STR_INIT("难"), STR_INIT("😀") };
	char utf8[4];
	size_t i;

	for (i = 0; i < NELEM(texts); i++) {
		size_t pos = 0;
		int32_t r = str_utf8_next(texts[i], &pos);

		ck_assert_uint_eq(
		    codepoint_encode((uint32_t)r, utf8), texts[i].n);
		ck_assert(memcmp(utf8, texts[i].p, texts[i].n) == 0);
	}
}
