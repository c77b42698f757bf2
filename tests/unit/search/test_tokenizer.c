/*
 * Tokens of a text, and whether two memories state the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "search/tokenizer.h"
#include "testkit/testkit.h"

#define TOKENS_MAX 256

static size_t
read_all(const char *text, struct token *dst)
{
	struct tokenizer t = tokenizer_start(str_of(text));
	size_t n = 0;

	while (n < TOKENS_MAX && tokenizer_next(&t, &dst[n]))
		n++;
	return n;
}

/* "w" word, "p" pair, "c" character. */
static const struct {
	const char *text, *token_kinds;
} token_kinds[] = {
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

TEST(texts_are_split_into_tokens)
{
	static const char letters[] = {
		[TOKEN_WORD] = 'w', [TOKEN_PAIR] = 'p', [TOKEN_CHAR] = 'c'
	};
	struct token got[TOKENS_MAX];
	char text[TOKENS_MAX + 1];
	size_t i, k, n;

	for (i = 0; i < NELEM(token_kinds); i++) {
		n = read_all(token_kinds[i].text, got);
		for (k = 0; k < n; k++)
			text[k] = letters[got[k].kind];
		text[n] = '\0';
		ck_assert_msg(strcmp(text, token_kinds[i].token_kinds) == 0,
		    "%s: %s", token_kinds[i].text, text);
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

TEST(words_are_folded)
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

TEST(token_kinds_have_distinct_keys)
{
	struct token one[TOKENS_MAX], two[TOKENS_MAX];
	size_t i, k, n, m;

	/* Tokens of different kinds never have the same key. */
	n = read_all("我爱你 hello 1 你我", one);
	m = read_all("爱 我爱 你 我 1 hello", two);
	for (i = 0; i < n; i++)
		for (k = 0; k < m; k++)
			ck_assert(one[i].key != two[k].key ||
			    one[i].kind == two[k].kind);
}

/* Any input terminates within its bounds. */
TEST(any_bytes_are_accepted)
{
	struct tokenizer t;
	struct token got;
	unsigned seed = 7;
	size_t i, n, len;
	char *text;

	for (i = 0; i < 20000; i++) {
		len = i % 40;
		text = mem_alloc(len + 1);
		for (n = 0; n < len; n++)
			text[n] = (char)(rand_r(&seed) >> 7);
		t = tokenizer_start((struct str){ text, len });
		for (n = 0; tokenizer_next(&t, &got); n++)
			ck_assert_uint_le(n, 2 * len);
		free(text);
	}
}

TEST(common_tokens_are_counted)
{
	ck_assert_uint_eq(
	    tokenizer_common(STR("忘掉橘猫"), STR("养了橘猫")), 1);
	ck_assert_uint_eq(
	    tokenizer_common(STR("橘猫小花"), STR("橘猫小花，橘猫小花")), 3);
	ck_assert_uint_eq(tokenizer_common(STR("my Dog"), STR("dogs, dog")), 1);
	ck_assert_uint_eq(tokenizer_common(STR("我 的"), STR("我 的")), 0);
	ck_assert_uint_eq(tokenizer_common(STR(""), STR("橘猫")), 0);
	ck_assert_uint_eq(tokenizer_common(STR("橘猫"), STR("")), 0);
}

TEST(equal_statements_are_recognised)
{
	static const struct {
		const char *a, *b;
		bool want;
	} rows[] = {
		{ "用户喜欢乌龙茶", "用户喜欢乌龙茶。", true },
		{ "用户喜欢乌龙茶", "该用户很喜欢乌龙茶", true },
		{ "主人最喜欢的茶是乌龙茶", "用户最喜欢的茶：乌龙茶", true },
		{ "The user likes oolong tea.", "user really likes Oolong Tea",
		    true },
		{ "User likes cats", "The user likes the cat", true },
		{ "用户喜欢乌龙茶", "用户喜欢普洱茶", false },
		{ "用户喜欢乌龙茶", "用户不喜欢乌龙茶", false },
		{ "用户喜欢乌龙茶", "用户的妈妈喜欢乌龙茶", false },
		{ "用户喜欢乌龙茶", "用户以前喜欢乌龙茶", false },
		{ "用户今年30岁", "用户今年31岁", false },
		{ "小红喜欢小明", "小明喜欢小红", false },
		{ "The user likes their dog", "The user likes her dog", false },
		{ "fact number 17", "fact number 18", false },
		{ "用户喜欢茶", "用户喜欢茶和咖啡", false },
		{ "", "", false },
		{ "的", "。", false },
		{ "用户", "用户", false },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_msg(similarity_equal(str_of(rows[i].a),
				  str_of(rows[i].b)) == rows[i].want,
		    "%s | %s", rows[i].a, rows[i].b);
		ck_assert(similarity_equal(str_of(rows[i].b),
			      str_of(rows[i].a)) == rows[i].want);
	}
}
