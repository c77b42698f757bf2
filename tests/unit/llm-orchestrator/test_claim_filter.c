/*
 * What may be published of a growing completion.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "reply/claim_filter.h"
#include "testkit/testkit.h"

static const struct {
	const char *text;
	const char *free; /* published if calls may follow */
} rows[] = {
	{ "", "" },
	{ "我来帮你开灯。", "我来帮你开灯。" },
	{ "我来开灯，已经开了", "我来开灯，" },
	{ "灯打开了", "灯打开" },
	{ "好的，我完成任务", "好的，我" },
	/* The beginning of a mark waits for the rest. */
	{ "好", "" },
	{ "好的", "好的" },
	{ "好啦", "" },
	{ "这就好了", "这就" },
	{ "完", "" },
	{ "我会忘掉它", "我会" },
	{ "这件事我忘了", "这件事我" },
	{ "我不会忘", "我不会" },
	{ "难忘的事", "难忘的事" },
	{ "好的，我删除它", "好的，我" },
	{ "I forgot it. ", "I" },
	{ "It has gone. ", "It" },
	{ "forgive me. ", "forgive me." },
	{ "完全", "完全" },
	{ "Let me do that", "Let me do" },
	{ "Let me do that.", "Let me do that." },
	{ "Sure! Done.", "Sure!" },
	{ "I will DONE x", "I will" },
	{ "I've done", "I'" },
	{ "abandoned. ", "" },
	{ "donut. ", "donut." },
	{ "settle it. ", "settle it." },
	{ "Turning it. ", "" },
	{ "ok", "" },
	{ "OK, it", "" },
	{ "1 + 2 = 3", "1 + 2 = 3" },
	{ "😀 hm, 你好。", "😀 hm, 你好。" },
	/* Languages without a word list. */
	{ "Свет", "" },
	{ "La luz está", "La luz" },
	{ "你好 مرحبا", "你好" },
	{ "今からつけます。", "今からつけます。" },
	{ "ライトをつけました", "ライトをつけ" },
	{ "불을 켰습니다. 했어요", "불을 켰습니다." },
	/* No reply. */
	{ "<NO_RE", "" },
	{ "`no_reply", "" },
	{ "<NO_REPLY>\n`", "" },
	{ "[NO_REPLY] 不是", "[NO_REPLY] 不是" },
	/* White space passes with what follows it. */
	{ "我想想 \n", "我想想" },
};

static void
is(struct str text, size_t n, const char *want)
{
	ck_assert_msg(n == strlen(want) && memcmp(text.p, want, n) == 0,
	    "of \"%.*s\": \"%.*s\", not \"%s\"", STR_ARG(text), (int)n, text.p,
	    want);
}

TEST(a_whole_text_is_filtered)
{
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct claim_filter h = { .calls_possible = true };
		struct str text = str_of(rows[i].text);
		is(text, claim_filter_released(&h, text), rows[i].free);
	}
}

/* Byte by byte, never more than at the end, and never shrinking. */
TEST(a_text_is_filtered_byte_by_byte)
{
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct claim_filter h = { .calls_possible = true };
		struct str all = str_of(rows[i].text);
		size_t before = 0;
		for (size_t n = 1; n <= all.n; n++) {
			struct str part = { all.p, n };
			size_t may = claim_filter_released(&h, part);
			ck_assert_uint_le(may, n);
			ck_assert_uint_ge(may, before);
			before = may;
		}
		is(all, before, rows[i].free);
	}
}

/* A blocked filter stays blocked. */
TEST(text_after_a_claim_is_held_back)
{
	struct claim_filter h = { .calls_possible = true };
	struct str text = STR("我来，已经好，真的。");

	claim_filter_released(&h, (struct str){ text.p, strlen("我来，已") });
	is(text, claim_filter_released(&h, text), "我来，");
}

TEST(without_calls_everything_passes)
{
	static const struct {
		const char *text, *free;
	} free_rows[] = {
		{ "灯已经打开了 ", "灯已经打开了" },
		{ "Done. Свет", "Done. Свет" },
		{ "<NO_REPLY>", "" },
		{ "<", "" },
		{ "<b>", "<b>" },
	};

	for (size_t i = 0; i < NELEM(free_rows); i++) {
		struct claim_filter h = { .calls_possible = false };
		struct str text = str_of(free_rows[i].text);
		is(text, claim_filter_released(&h, text), free_rows[i].free);
	}
}
