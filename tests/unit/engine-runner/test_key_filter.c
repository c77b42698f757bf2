/* A provider's key never passes. */
#include <stdlib.h>

#include "proxy/key_filter.h"
#include "testkit/testkit.h"

/* text after the filter, divided at each of two offsets. */
static void
filter_expect(const char *key, const char *text, const char *want)
{
	size_t n = strlen(text), a, b;

	for (a = 0; a <= n; a++) {
		for (b = a; b <= n; b++) {
			struct buf out = BUF_INIT(4096);
			struct key_filter f;

			key_filter_init(&f, str_of(key));
			key_filter_feed(&f, (struct str){ text, a }, &out);
			key_filter_feed(
			    &f, (struct str){ text + a, b - a }, &out);
			key_filter_feed(
			    &f, (struct str){ text + b, n - b }, &out);
			key_filter_end(&f, &out);
			ck_assert_msg(str_eq(buf_str(&out), str_of(want)),
			    "%s: %.*s", text, STR_ARG(buf_str(&out)));
			key_filter_free(&f);
			buf_free(&out);
		}
	}
}

TEST(a_key_is_overwritten_wherever_the_bytes_are_divided)
{
	filter_expect("sk-1", "no key", "no key");
	filter_expect("sk-1", "sk-1", "****");
	filter_expect("sk-1", "a sk-1 b sk-1sk-1 c", "a **** b ******** c");
	filter_expect("sk-1", "ssk-1 sk-sk-1 sk-", "s**** sk-**** sk-");
}

TEST(a_key_that_repeats_itself)
{
	filter_expect("aab", "aaab", "a***");
	filter_expect("abab", "abababab", "********");
	filter_expect("ababc", "abababc abab", "ab***** abab");
	filter_expect("aaaa", "aaaaaaa", "****aaa");
}

TEST(without_a_key_all_passes)
{
	filter_expect("", "anything", "anything");
}

TEST(only_what_may_become_the_key_is_withheld)
{
	struct buf out = BUF_INIT(4096);
	struct key_filter f;

	key_filter_init(&f, STR("sk-secret"));
	key_filter_feed(&f, STR("data: {}\n\n"), &out);
	ck_assert(str_eq(buf_str(&out), STR("data: {}\n\n")));
	key_filter_feed(&f, STR("task-s"), &out);
	ck_assert(str_eq(buf_str(&out), STR("data: {}\n\nta")));
	key_filter_free(&f);
	buf_free(&out);
}
