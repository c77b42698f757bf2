/*
 * A provider's error for the log: without keys and texts of the chat.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/mem.h"
#include "llm/llm_internal.h"
#include "testkit/testkit.h"

#define KEY "sk-proj-0123456789abcdef"

static const char *
line(const char *message, const char *key, const char *text)
{
	static char shown[PROVIDER_ERROR_LINE_MAX * 2];
	const struct llm_message m = { .role = LLM_USER, .text = str_of(text) };
	const struct llm_chat chat = { .messages = &m, .nmessages = 1 };
	struct buf b = BUF_INIT(PROVIDER_ERROR_LINE_MAX * 2);

	provider_error_line(str_of(message), str_of(key), &chat, &b);
	ck_assert_uint_le(b.n, PROVIDER_ERROR_LINE_MAX);
	(void)snprintf(shown, sizeof(shown), "%.*s", STR_ARG(buf_str(&b)));
	buf_free(&b);
	return shown;
}

TEST(the_first_line_is_logged)
{
	ck_assert_str_eq(
	    line("The model `x` does not exist\nmore", KEY, "你好"),
	    "The model `x` does not exist");
	ck_assert_str_eq(line("  \n\n", "", ""), "");
	ck_assert_str_eq(line("a\tb\x1b[1m", "", ""), "a?b?[1m");
}

TEST(keys_are_hidden)
{
	ck_assert_str_eq(line("Incorrect API key provided: " KEY ".", KEY, ""),
	    "Incorrect API key provided: ***");
	ck_assert_str_eq(
	    line("bad key sk-p***cdef here", KEY, ""), "bad key *** here");
	ck_assert_str_eq(
	    line("no such key: abcdef", KEY, ""), "no such key: ***");
	ck_assert_str_eq(line("sk-another", "", ""), "***");
}

TEST(texts_of_the_chat_are_hidden)
{
	ck_assert_str_eq(
	    line("Invalid input: 今天我很难过。", "", "今天我很难过。"),
	    "Invalid input: …");
	ck_assert_str_eq(
	    line("no HELLO WORLD here", "", "say hello world"), "no… here");
	/* An escape could hide a quote. */
	ck_assert_str_eq(line("bad \\u4eca\\u5929", "", "今天"), "bad ");
	ck_assert_str_eq(line("bad 灯", "", "灯"), "bad …");
}

/* No six consecutive bytes of a text appear, at any position and length. */
TEST(property_no_part_of_a_text_is_logged)
{
	char message[600], text[64], low[PROVIDER_ERROR_LINE_MAX * 2];

	for (int round = 0; round < 20000; round++) {
		size_t before = id_random_below(250);
		size_t n = 6 + id_random_below(50);
		size_t from = id_random_below(n);
		size_t len = 1 + id_random_below(n - from);
		for (size_t i = 0; i < n; i++)
			text[i] = (char)('a' + (int)id_random_below(26));
		text[n] = '\0';
		memset(message, 'Z', before);
		(void)snprintf(message + before, sizeof(message) - before,
		    "%.*s ZZ", (int)len, text + from);
		const char *shown = line(message, KEY, text);
		(void)snprintf(low, sizeof(low), "%s", shown);
		for (size_t i = from; i + 6 <= from + len; i++) {
			char part[7] = { 0 };
			memcpy(part, text + i, 6);
			ck_assert_msg(strstr(low, part) == NULL,
			    "%s of %s in %s", part, text, shown);
		}
	}
}
