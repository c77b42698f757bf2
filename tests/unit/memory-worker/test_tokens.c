/* Tokens: which words, characters and pairs a text has. */
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "tokens.h"

#define TOKENS_MAX 256

static size_t
read_all(const char *text, struct token *dst)
{
	struct tokens t = tokens_of(str_of(text));
	size_t n = 0;

	while (n < TOKENS_MAX && tokens_next(&t, &dst[n]))
		n++;
	return n;
}

/* "w" word, "p" pair, "c" character. */
static const struct {
	const char *text, *kinds;
} kinds[] = {
	{ "", "" },
	{ " ,.!?　，。！？…《》", "" },
	{ "我", "c" },
	{ "我爱", "ccp" },
	{ "我爱你", "ccpcp" },
	{ "我，爱", "cc" },
	{ "我 爱", "cc" },
	{ "LED灯亮", "wccp" },
	{ "开LED灯", "cwc" },
	{ "hello world", "ww" },
	{ "hello, world!", "ww" },
	{ "user's dog", "ww" },
	{ "don’t", "w" },
	{ "'", "" },
	{ "a1b2", "w" },
	{ "10.5", "ww" },
	{ "さくら", "ccpcp" },
	{ "한국어", "ccpcp" },
	{ "ภาษา", "ccpcpcp" },
	{ "Привет мир", "ww" },
	{ "naïve café", "ww" },
	{ "😀我😀", "c" },
	{ "\xff\xfe我\xe9", "c" },
	{ "𠮷野家", "ccpcp" },
};

TEST(what_a_text_is_made_of)
{
	static const char letters[] = {
		[TOKEN_WORD] = 'w', [TOKEN_PAIR] = 'p', [TOKEN_CHAR] = 'c'
	};
	struct token got[TOKENS_MAX];
	char text[TOKENS_MAX + 1];
	size_t i, k, n;

	for (i = 0; i < NELEM(kinds); i++) {
		n = read_all(kinds[i].text, got);
		for (k = 0; k < n; k++)
			text[k] = letters[got[k].kind];
		text[n] = '\0';
		ck_assert_msg(strcmp(text, kinds[i].kinds) == 0, "%s: %s",
		    kinds[i].text, text);
	}
}

static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
	{ "Hello", "hello", true },
	{ "ＨＥＬＬＯ１２", "hello12", true },
	{ "ÀÉ", "àé", true },
	{ "ПРИВЕТ", "привет", true },
	{ "cakes", "cake", true },
	{ "user's", "user", true },
	{ "gas", "ga", false },
	{ "glass", "glas", false },
	{ "status", "statu", false },
	{ "this", "thi", false },
	{ "Thesis", "Thesi", false },
	{ "ab", "ba", false },
	{ "我爱", "爱我", false },
	{ "我爱你", "我爱 你", false },
	{ "10", "１０", true },
};

TEST(what_is_the_same)
{
	struct token a[TOKENS_MAX], b[TOKENS_MAX];
	size_t i, k, n;
	bool same;

	for (i = 0; i < NELEM(pairs); i++) {
		n = read_all(pairs[i].a, a);
		same = n == read_all(pairs[i].b, b);
		for (k = 0; same && k < n; k++)
			same = a[k].key == b[k].key;
		ck_assert_msg(
		    same == pairs[i].same, "%s, %s", pairs[i].a, pairs[i].b);
	}
}

TEST(kinds_do_not_mix)
{
	struct token one[TOKENS_MAX], two[TOKENS_MAX];
	size_t i, k, n, m;

	/* Every character of the basic plane beside every kind of another. */
	n = read_all("我爱你 hello 1 你我", one);
	m = read_all("爱 我爱 你 我 1 hello", two);
	for (i = 0; i < n; i++)
		for (k = 0; k < m; k++)
			ck_assert(one[i].key != two[k].key ||
			    one[i].kind == two[k].kind);
}

/* Nothing that comes can make it go on for ever, or beyond the text. */
TEST(any_bytes)
{
	struct tokens t;
	struct token got;
	unsigned seed = 7;
	size_t i, n, len;
	char *text;

	for (i = 0; i < 20000; i++) {
		len = i % 40;
		text = mem_alloc(len + 1);
		for (n = 0; n < len; n++)
			text[n] = (char)(rand_r(&seed) >> 7);
		t = tokens_of((struct str){ text, len });
		for (n = 0; tokens_next(&t, &got); n++)
			ck_assert_uint_le(n, 2 * len);
		free(text);
	}
}

TEST(what_two_texts_have_in_common)
{
	ck_assert_uint_eq(tokens_common(STR("忘掉橘猫"), STR("养了橘猫")), 1);
	ck_assert_uint_eq(
	    tokens_common(STR("橘猫小花"), STR("橘猫小花，橘猫小花")), 3);
	ck_assert_uint_eq(tokens_common(STR("my Dog"), STR("dogs, dog")), 1);
	ck_assert_uint_eq(tokens_common(STR("我 的"), STR("我 的")), 0);
	ck_assert_uint_eq(tokens_common(STR(""), STR("橘猫")), 0);
	ck_assert_uint_eq(tokens_common(STR("橘猫"), STR("")), 0);
}
