/* Which memory a query matches for forgetting. */
#include "recall/forget_match.h"

#include "core/mem.h"
#include "testkit/testkit.h"

#include <stdio.h>
#include <string.h>

static const char day[] =
    "用户喜欢喝乌龙茶，不喜欢香菜；用户养了一只橘猫，名叫小花。"
    "用户妈妈的生日是5月3日，喜欢红烧肉。";

static const struct {
	const char *query, *memory;
	bool matches;
} match_cases[] = {
	/* The same words, or a part of them. */
	{ "用户喜欢乌龙茶", "用户喜欢乌龙茶", true },
	{ "我喜欢乌龙茶", "用户喜欢喝乌龙茶。", true },
	{ "我喜欢喝乌龙茶这件事", "用户最爱乌龙茶", true },
	{ "乌龙茶", "用户喜欢乌龙茶", true },
	{ "忘掉去大理旅行的事", "用户要去大理旅行", true },
	{ "我对花生过敏", "用户吃了花生会过敏", true },
	{ "我每天早上跑步", "用户每天早上都跑步", true },
	{ "我养的橘猫", "用户有一只橘猫叫小花", true },
	{ "我妈妈的生日", "用户妈妈的生日是5月3日", true },
	{ "我住在成都", "用户住在成都", true },
	{ "我的手机号是13800001111", "用户的手机号：１３８００００１１１１",
	    true },
	{ "我养狗", "用户养了狗", true },
	{ "用户不喜欢香菜", "用户不喜欢香菜", true },
	{ "I like oolong tea", "The user likes oolong tea.", true },
	{ "forget that I like Oolong tea", "User loves oolong TEA", true },
	{ "my dog Rex", "The user's dog is called Rex", true },
	{ "user's cats", "The user has a cat", true },
	{ "iPhone 手机密码", "用户的iphone手机密码是1234", true },
	{ "my mother's birthday", "The birthday of the user's mother is May 3",
	    true },
	/* Similar, but different. */
	{ "我喜欢乌龙茶", "用户喜欢爬山", false },
	{ "我喜欢喝乌龙茶", "用户喜欢喝咖啡", false },
	{ "我喜欢绿茶", "用户喜欢喝红茶", false },
	{ "我喜欢乌龙茶", "用户喜欢龙井茶", false },
	{ "我对花生过敏", "用户对青霉素过敏", false },
	{ "我喜欢看电影", "用户喜欢看电视", false },
	{ "北京师范大学", "用户毕业于南京师范大学", false },
	{ "我在成都", "用户的计划成了", false },
	{ "我的爱好", "用户身体很好", false },
	{ "我养狗", "用户养了猫", false },
	{ "狗", "用户爱吃热狗", false },
	{ "我的鱼", "用户喜欢鱼香肉丝", false },
	{ "小花", "用户买了一束花", false },
	{ "生日是5月3日", "用户的生日是5月4日", false },
	{ "我的手机号是13800001111", "用户的手机号是13900002222", false },
	{ "我喜欢乌龙茶和爬山", "用户喜欢爬山", false },
	{ "今天天气如何", "用户的车周三限行", false },
	{ "I like green tea", "The user likes oolong tea", false },
	{ "I drink green tea", "The user drinks oolong tea", false },
	{ "my dog Rex", "The user's dog is called Max", false },
	{ "may", "The user will be mayor", false },
	/* About someone else, or negated. */
	{ "我喜欢乌龙茶", "用户的妈妈喜欢乌龙茶", false },
	{ "乌龙茶", "用户的妈妈喜欢乌龙茶", true },
	{ "我妈妈喜欢乌龙茶", "用户的妈妈喜欢乌龙茶", true },
	{ "我妈妈喜欢乌龙茶", "用户喜欢乌龙茶", false },
	{ "我的生日", "用户妈妈的生日是5月3日", false },
	{ "我喜欢香菜", "用户不喜欢香菜", false },
	{ "我不喜欢香菜", "用户喜欢香菜", false },
	{ "关于香菜的事", "用户不喜欢香菜", true },
	{ "my birthday", "My mother's birthday is May 3", false },
	{ "I like coriander", "The user doesn't like coriander", false },
	{ "I like coriander", "The user doesn’t like coriander", false },
	/*
	 * Memories are paragraphs: only a clause can match, and its subject may
	 * be named in an earlier one.
	 */
	{ "我喜欢乌龙茶", day, true },
	{ "用户喜欢喝乌龙茶，不喜欢香菜。", day, true },
	{ day, day, true },
	{ "我妈妈的生日是5月3日", day, true },
	{ "忘掉这个，我养的橘猫", day, true },
	{ "我喜欢香菜", day, false },
	{ "我的生日是5月3日", day, false },
	{ "我喜欢红烧肉", day, false },
	{ "红烧肉", day, true },
	{ "乌龙茶生日", day, false },
	{ "我妈妈喜欢乌龙茶", day, false },
	{ "用户喜欢喝乌龙茶，喜欢爬山", day, false },
	{ "tea", "The user likes tea, coffee and 3.5 cookies. She hikes.",
	    true },
	{ "I like cookies", "User likes 3.5 cookies, hates tea.", true },
	{ "I like tea", "User likes 3.5 cookies, hates tea.", false },
	/* Other words. */
	{ "我爱喝茶", "用户喜欢乌龙茶", false },
	{ "我的宠物", "用户有一只橘猫", false },
	/* An empty query matches nothing. */
	{ "", "用户喜欢乌龙茶", false },
	{ "   ", "用户喜欢乌龙茶", false },
	{ "　", "用户喜欢乌龙茶", false },
	{ "。。。！", "用户喜欢乌龙茶", false },
	{ "忘掉这个", "用户喜欢乌龙茶", false },
	{ "忘掉这件事", "这件事", false },
	{ "忘掉我喜欢的", "用户喜欢乌龙茶", false },
	{ "我", "我", false },
	{ "forget about that", "forget about that", false },
	{ "forget everything", "The user likes tea", false },
	{ "\xff\xfe", "用户喜欢乌龙茶", false },
	{ "乌龙茶", "", false },
};

TEST(matches_and_mismatches)
{
	for (size_t i = 0; i < NELEM(match_cases); i++) {
		double score = forget_match_score(str_of(match_cases[i].query),
		    str_of(match_cases[i].memory));
		ck_assert_msg((score > 0) == match_cases[i].matches,
		    "%s | %s: %g", match_cases[i].query, match_cases[i].memory,
		    score);
		ck_assert_double_le(score, 1);
	}
}

/* Of two matches the one with less additional text scores higher. */
TEST(the_closer_match_scores_higher)
{
	static const struct {
		const char *query, *closer, *other;
	} rows[] = {
		{ "我喜欢乌龙茶", "用户喜欢乌龙茶",
		    "用户喜欢乌龙茶，周末爬山，养了一只橘猫" },
		{ "乌龙茶", "用户喜欢乌龙茶", "用户不太喜欢喝乌龙茶" },
		{ "oolong tea", "The user likes oolong tea",
		    "The user likes oolong tea and hiking" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct str q = str_of(rows[i].query);
		ck_assert_double_gt(
		    forget_match_score(q, str_of(rows[i].closer)),
		    forget_match_score(q, str_of(rows[i].other)));
		ck_assert_double_gt(
		    forget_match_score(q, str_of(rows[i].other)), 0);
	}
}

/* Queries have a maximum length; memories may be longer. */
TEST(long_texts_are_limited)
{
	static char query[3 * (FORGET_MATCH_QUERY_MAX + 1) + 1],
	    memory[FORGET_MATCH_MEMORY_MAX + 64];
	size_t n = 0;

	for (int i = 0; i < FORGET_MATCH_QUERY_MAX; i++)
		n += (size_t)snprintf(query + n, sizeof(query) - n, "%c%c%c",
		    0xE7, 0x80 + i / 64, 0x80 + i % 64);
	snprintf(memory, sizeof(memory), "用户说%s", query);
	ck_assert_double_gt(
	    forget_match_score(str_of(query), str_of(memory)), 0);
	memcpy(query + n, "茶", sizeof("茶"));
	memcpy(memory + strlen(memory), "茶", sizeof("茶"));
	ck_assert(forget_match_score(str_of(query), str_of(memory)) == 0);
	for (n = 0; n + 16 < FORGET_MATCH_MEMORY_MAX; n += 8)
		memcpy(memory + n, "tea 猫,", 8);
	memcpy(memory + n, "乌龙茶，龙井", sizeof("乌龙茶，龙井"));
	ck_assert_double_gt(
	    forget_match_score(STR("乌龙茶"), str_of(memory)), 0);
	ck_assert_uint_eq(n + 16, FORGET_MATCH_MEMORY_MAX);
	ck_assert_double_gt(forget_match_score(STR("龙井"), STR("龙井")), 0);
	/* Text beyond the limit is ignored. */
	ck_assert(forget_match_score(STR("龙井"), str_of(memory)) == 0);
	/* Clauses are limited, too. */
	query[0] = '\0';
	for (int i = 0; i < FORGET_MATCH_CLAUSES_MAX; i++)
		memcpy(query + 5 * i, "tea, ", sizeof("tea, "));
	ck_assert_double_gt(forget_match_score(str_of(query), STR("tea")), 0);
	memcpy(query + 5 * FORGET_MATCH_CLAUSES_MAX, "tea, ", sizeof("tea, "));
	ck_assert(forget_match_score(str_of(query), STR("tea")) == 0);
}
