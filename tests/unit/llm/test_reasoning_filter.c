/*
 * Reasoning separated from text, with chunks that end anywhere.
 */
#include <string.h>

#include "core/mem.h"
#include "llm/llm_internal.h"
#include "testkit/testkit.h"

static const struct {
	const char *in, *text, *thoughts;
} rows[] = {
	{ "hello", "hello", "" },
	{ "<think>a</think>b", "b", "a" },
	{ " \n<think>\na\n</think>\n\nb c", "b c", "\na\n" },
	{ "<think></think>b", "b", "" },
	/* No tag, or an invalid one. */
	{ "", "", "" },
	{ "<", "<", "" },
	{ "<thin", "<thin", "" },
	{ "<thing>a", "<thing>a", "" },
	{ "a<think>b</think>", "a<think>b</think>", "" },
	/* Only the first one. */
	{ "<think>a</think><think>b</think>", "<think>b</think>", "a" },
	/* An invalid end tag, or none. */
	{ "<think>a</thin k></think>b", "b", "a</thin k>" },
	{ "<think>a<</think>b", "b", "a<" },
	{ "<think>a</thi", "", "a</thi" },
	{ "<think>abc", "", "abc" },
	{ "<think>好</think>世界", "世界", "好" },
};

TEST(chunks_may_end_anywhere)
{
	for (size_t i = 0; i < NELEM(rows); i++) {
		size_t n = strlen(rows[i].in);
		for (size_t cut = 0; cut <= n; cut++) {
			struct buf text = BUF_INIT(100),
				   thoughts = BUF_INIT(100);
			struct reasoning_filter t = { 0 };
			reasoning_filter_feed(&t,
			    (struct str){ rows[i].in, cut }, &text, &thoughts);
			reasoning_filter_feed(&t,
			    (struct str){ rows[i].in + cut, n - cut }, &text,
			    &thoughts);
			reasoning_filter_end(&t, &text, &thoughts);
			ck_assert_msg(
			    str_eq(buf_str(&text), str_of(rows[i].text)) &&
				str_eq(buf_str(&thoughts),
				    str_of(rows[i].thoughts)),
			    "row %zu cut at %zu: \"%s\" \"%s\"", i, cut, text.p,
			    thoughts.p);
			buf_free(&text);
			buf_free(&thoughts);
		}
	}
}

/* What cannot be a tag is released at once. */
TEST(text_is_released_immediately)
{
	struct buf text = BUF_INIT(100), thoughts = BUF_INIT(100);
	struct reasoning_filter t = { 0 };

	reasoning_filter_feed(&t, STR("Hi"), &text, &thoughts);
	ck_assert_str_eq(text.p, "Hi");
	reasoning_filter_feed(&t, STR("<"), &text, &thoughts);
	ck_assert_str_eq(text.p, "Hi<");
	buf_free(&text);
	buf_free(&thoughts);
}
