/* Ranking of tools for a text. */
#include <stdio.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tool_rank.h"

static const struct tool_rank_text some[] = {
	{ STR_INIT("read_file"), STR_INIT("Read file"),
	    STR_INIT("Read the contents of a file, 读取文件内容") },
	{ STR_INIT("write_file"), STR_INIT("Write file"),
	    STR_INIT("Create a file or replace its contents, 写入文件") },
	{ STR_INIT("getWeather"), { NULL, 0 },
	    STR_INIT("Forecast for a city, 查询天气预报") },
	{ STR_INIT("list_issues"), { NULL, 0 },
	    STR_INIT("Issues of a repository") },
};

static size_t
best_of(struct tool_rank *r, const char *text, size_t max, uint32_t *out)
{
	const struct tool_rank_query q = { .text = str_of(text), .max = max };

	return tool_rank_find(r, &q, out);
}

TEST(words_and_pairs_of_characters_decide)
{
	struct tool_rank *r = tool_rank_new(some, NELEM(some));
	uint32_t out[4];

	ck_assert_uint_eq(best_of(r, "把文件内容读给我听", 2, out), 2);
	ck_assert_uint_eq(out[0], 0);
	ck_assert_uint_eq(best_of(r, "明天的天气怎么样？", 1, out), 1);
	ck_assert_uint_eq(out[0], 2);
	ck_assert_uint_eq(best_of(r, "what's the weather like", 4, out), 4);
	ck_assert_uint_eq(out[0], 2);
	ck_assert_uint_eq(best_of(r, "write this", 1, out), 1);
	ck_assert_uint_eq(out[0], 1);
	tool_rank_free(r);
}

TEST(a_name_counts_more_than_a_description)
{
	const struct tool_rank_text list[] = {
		{ STR("other"), { NULL, 0 }, STR("calendar of events") },
		{ STR("calendar"), { NULL, 0 }, STR("things of events") },
	};
	struct tool_rank *r = tool_rank_new(list, NELEM(list));
	uint32_t out[2];

	ck_assert_uint_eq(best_of(r, "calendar", 2, out), 2);
	ck_assert_uint_eq(out[0], 1);
	tool_rank_free(r);
}

TEST(without_a_common_word_the_order_of_the_list_stays)
{
	struct tool_rank *r = tool_rank_new(some, NELEM(some));
	uint32_t out[4], i;

	ck_assert_uint_eq(best_of(r, "zzz", 4, out), 4);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(out[i], i);
	ck_assert_uint_eq(best_of(r, "", 9, out), 4);
	ck_assert_uint_eq(best_of(r, "weather", 0, out), 0);
	tool_rank_free(r);
}

TEST(what_was_used_comes_first)
{
	const uint32_t used[] = { 3, 1, 3, 99 };
	struct tool_rank *r = tool_rank_new(some, NELEM(some));
	struct tool_rank_query q = { STR("weather"), used, NELEM(used), 3 };
	uint32_t out[3];

	ck_assert_uint_eq(tool_rank_find(r, &q, out), 3);
	ck_assert_uint_eq(out[0], 3);
	ck_assert_uint_eq(out[1], 1);
	ck_assert_uint_eq(out[2], 2);
	q.max = 1;
	ck_assert_uint_eq(tool_rank_find(r, &q, out), 1);
	ck_assert_uint_eq(out[0], 3);
	tool_rank_free(r);
}

TEST(no_tools_have_no_best_one)
{
	struct tool_rank *r = tool_rank_new(NULL, 0);
	uint32_t out[1];

	ck_assert_uint_eq(best_of(r, "x", 1, out), 0);
	tool_rank_free(r);
}

/* 40 servers of 25 tools each. */
#define MANY    1000
#define QUERIES 200

TEST(a_thousand_tools_are_ranked_by_reading_few_entries)
{
	static const char *const verbs[] = { "read", "write", "list", "delete",
		"search", "create", "update", "move", "copy", "open" };
	static struct tool_rank_text list[MANY];
	static char name[MANY][32], text[MANY][200];
	struct tool_rank *r;
	struct mono start;
	uint32_t out[24];
	int64_t ns;
	size_t i;

	for (i = 0; i < MANY; i++) {
		snprintf(name[i], sizeof(name[i]), "%s_thing%zu",
		    verbs[i % NELEM(verbs)], i / NELEM(verbs));
		snprintf(text[i], sizeof(text[i]),
		    "%s a thing of kind %zu in the system of server %zu, with "
		    "the path and the options given, 文件与目录的操作第%zu种",
		    verbs[i % NELEM(verbs)], i, i / 25, i);
		list[i] = (struct tool_rank_text){ str_of(name[i]), { NULL, 0 },
			str_of(text[i]) };
	}
	start = clock_mono();
	r = tool_rank_new(list, MANY);
	ns = mono_diff_ns(clock_mono(), start);
	printf("index of %d tools: %.2f ms\n", MANY, (double)ns / 1e6);
	start = clock_mono();
	for (i = 0; i < QUERIES; i++)
		ck_assert_uint_eq(
		    best_of(r, "please move thing42 and 把文件内容读给我听", 24,
			out),
		    24);
	ns = mono_diff_ns(clock_mono(), start);
	printf("query: %.3f ms, %zu entries\n", (double)ns / QUERIES / 1e6,
	    tool_rank_work(r));
	ck_assert_uint_eq(out[0], 427);
	/* Each of its 18 tokens: a binary search, and at most all tools. */
	ck_assert_uint_lt(tool_rank_work(r), 18 * (MANY + 16));
	ck_assert_uint_eq(best_of(r, "zzz", 24, out), 24);
	ck_assert_uint_lt(tool_rank_work(r), 17);
	tool_rank_free(r);
}
