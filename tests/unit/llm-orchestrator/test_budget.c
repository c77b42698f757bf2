/*
 * How much of a conversation the model is shown.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "model/model.h"
#include "testkit/testkit.h"

TEST(tokens_are_estimated)
{
	static const struct {
		const char *text;
		size_t tokens;
	} rows[] = {
		{ "", 0 },
		{ "a", 1 },
		{ "abcd", 1 },
		{ "abcde", 2 },
		{ "你好", 2 },
		{ "你好 world!", 4 },
		{ "こんにちは", 5 },
		{ "안녕", 2 },
		{ "éé", 1 },
		{ "，。", 2 },
		{ "\xFF\xFE", 1 },
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_assert_msg(
		    history_tokens(str_of(rows[i].text)) == rows[i].tokens,
		    "%s: %zu", rows[i].text,
		    history_tokens(str_of(rows[i].text)));
}

/* Beginning and end remain. */
TEST(texts_are_shortened_in_the_middle)
{
	static const struct {
		const char *text;
		size_t max;
		const char *want;
	} rows[] = {
		{ "一二三四五六", 6, "一二三四五六" },
		{ "一二三四五六七八九", 6, "一二三四……八九" },
		{ "一二三四五六七八九", 3, "一二……九" },
		{ "abcdefghijklmnopqrstuvwxyz", 3, "abcdefgh……wxyz" },
		{ "一二三abcdefghijkl", 3, "一二……ijkl" },
		{ "一二三", 0, "……" },
	};
	struct arena *a = arena_new(4096), *small = arena_new(8);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct str s =
		    history_shorten(str_of(rows[i].text), rows[i].max, a);
		ck_assert_msg(
		    str_eq(s, str_of(rows[i].want)), "%.*s", STR_ARG(s));
	}
	ck_assert_ptr_null(
	    history_shorten(STR("一二三四五六七八九"), 6, small).p);
	arena_free(a);
	arena_free(small);
}

/* "u a c t t": user, assistant, assistant with two calls, results. */
static struct history_list
talk(
    const char *roles, struct llm_message *m, const struct llm_tool_call *calls)
{
	size_t n = 0;

	for (; roles[n] != '\0'; n++) {
		m[n] = (struct llm_message){ .role = LLM_USER,
			.text = STR("一二三四五六") };
		if (roles[n] != 'u')
			m[n].role = roles[n] == 't' ? LLM_TOOL : LLM_ASSISTANT;
		if (roles[n] != 'c')
			continue;
		m[n].calls = calls;
		m[n].ncalls = 2;
	}
	return (struct history_list){ m, n };
}

/* Each of these messages has 10 tokens, one with calls 22. */
TEST(the_oldest_messages_are_dropped)
{
	static const struct llm_tool_call calls[2] = {
		{ .name = STR_INIT("a"), .arguments = STR_INIT("{}") },
		{ .name = STR_INIT("b"), .arguments = STR_INIT("{}") },
	};
	static const struct {
		const char *roles;
		size_t tokens, left;
	} rows[] = {
		{ "uaua", 40, 4 },
		{ "uaua", 39, 3 },
		{ "uaua", 20, 2 },
		{ "uaua", 9, 0 },
		{ "uaua", 0, 0 },
		{ "", 0, 0 },
		/* Calls and results go together. */
		{ "ucttau", 72, 6 },
		{ "ucttau", 71, 5 },
		{ "ucttau", 61, 2 },
		{ "uctt", 52, 4 },
		{ "uctt", 41, 0 },
	};
	struct arena *a = arena_new(4096);
	struct llm_message m[8];

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct history_list l = talk(rows[i].roles, m, calls);
		ck_assert_int_eq(
		    history_trim(&l, rows[i].tokens, 100, a), RC_OK);
		ck_assert_msg(l.n == rows[i].left, "%s in %zu: %zu",
		    rows[i].roles, rows[i].tokens, l.n);
		if (l.n > 0)
			ck_assert_int_ne(l.list[0].role, LLM_TOOL);
	}
	arena_free(a);
}

TEST(long_messages_are_shortened)
{
	static const struct llm_tool_call calls[2] = {
		{ .name = STR_INIT("a"), .arguments = STR_INIT("{}") },
		{ .name = STR_INIT("b"),
		    .arguments = STR_INIT("{\"x\":\"一二三四五六七八九\"}") },
	};
	struct arena *a = arena_new(4096), *small = arena_new(8);
	struct llm_message m[8];
	struct history_list l = talk("uct", m, calls);

	ck_assert_int_eq(history_trim(&l, 1000, 3, a), RC_OK);
	ck_assert_uint_eq(l.n, 3);
	for (size_t i = 0; i < l.n; i++)
		ck_assert(str_eq(l.list[i].text, STR("一二……六")));
	/* Arguments are whole or absent. */
	ck_assert(str_eq(l.list[1].calls[1].arguments, STR("{}")));
	ck_assert(str_eq(l.list[1].calls[1].name, STR("b")));
	ck_assert(
	    str_eq(calls[1].arguments, STR("{\"x\":\"一二三四五六七八九\"}")));
	l = talk("u", m, calls);
	ck_assert_int_eq(history_trim(&l, 1000, 3, small), RC_TOOBIG);
	arena_free(a);
	arena_free(small);
}
