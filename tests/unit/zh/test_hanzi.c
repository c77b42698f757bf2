/*
 * Traditional to simplified characters.
 */
#include "core/mem.h"
#include "core/str.h"
#include "testkit/testkit.h"
#include "zh/hanzi.h"

static const struct {
	const char *raw, *simple;
	bool found;
} texts[] = {
	{ "三點鐘以後,兩個禮拜 abc", "三点钟以后,两个礼拜 abc", true },
	{ "並麼點龐龜", "并么点庞龟", true },
	{ "打开灯", "打开灯", false },
	{ "電視Ａ、燈", "电视Ａ、灯", true },
	/* Truncated and invalid characters. */
	{ "鐘\xe9\x90", "钟\xe9\x90", true },
	{ "\x90\x98鐘", "\x90\x98钟", true },
	{ "\xe9\x90", "\xe9\x90", false },
	{ "", "", false },
};

TEST(texts_are_simplified)
{
	char text[64];
	size_t i;

	for (i = 0; i < NELEM(texts); i++) {
		str_copy(str_of(texts[i].raw), text, sizeof(text));
		ck_assert_msg(
		    hanzi_simplify(text, strlen(text)) == texts[i].found, "%s",
		    texts[i].raw);
		ck_assert_str_eq(text, texts[i].simple);
	}
}

/* A pair out of order in the table would not be found. */
TEST(every_pair_is_found)
{
	unsigned c;
	int n = 0;

	for (c = 0x4000; c <= 0x9fff; c++) {
		char text[] = { (char)(0xe0 | c >> 12),
			(char)(0x80 | (c >> 6 & 0x3f)),
			(char)(0x80 | (c & 0x3f)) };

		if (!hanzi_simplify(text, sizeof(text)))
			continue;
		n++;
		ck_assert_msg(!hanzi_simplify(text, sizeof(text)),
		    "U+%X becomes a traditional one", c);
	}
	ck_assert_int_eq(n, 723);
}
