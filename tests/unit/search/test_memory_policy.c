/* Which memories may be stored. */
#include "core/mem.h"
#include "search/memory_policy.h"
#include "testkit/testkit.h"

TEST(statements_are_extracted)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "我喜欢乌龙茶", "我喜欢乌龙茶\n" },
		{ "我叫小明，你叫什么？", "我叫小明\n" },
		{ "你好！我叫小明。", "我叫小明\n" },
		{ "我最喜欢的茶是什么", "" },
		{ "你记得我喜欢什么茶吗", "" },
		{ "我什么都不吃辣的", "我什么都不吃辣的\n" },
		{ "谁也别动我的书", "谁也别动我的书\n" },
		{ "谢谢你啊", "" },
		{ "好的，好的。", "" },
		{ "早上好呀", "" },
		{ "嗯，我明天要去看牙医，怎么走？", "我明天要去看牙医\n" },
		{ "我今年3.5岁", "我今年3.5岁\n" },
		{ "My name is Anna. What's yours?", "My name is Anna\n" },
		{ "What is my favourite tea, please", "please\n" },
		{ "where does Anna live", "" },
		{ "Hello", "" },
		{ "Thanks!", "" },
		{ "I moved to Lisbon in 2024.", "I moved to Lisbon in 2024\n" },
		{ "J'aime le thé, et toi ?", "J'aime le thé\n" },
		{ "", "" },
		{ "？？？", "" },
		{ "\xff\xfe", "\xff\xfe\n" },
	};
	struct buf out = BUF_INIT(4096);
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		buf_reset(&out);
		memory_policy_statements(str_of(rows[i].text), &out);
		ck_assert_msg(str_eq(buf_str(&out), str_of(rows[i].want)),
		    "%s: %.*s", rows[i].text, STR_ARG(buf_str(&out)));
	}
	buf_free(&out);
}

TEST(only_stated_memories_are_admitted)
{
	static const struct {
		const char *text, *stated, *recalled, *forgotten;
		bool want;
	} rows[] = {
		{ "用户最喜欢的茶是乌龙茶", "我最喜欢乌龙茶", "", "", true },
		{ "用户的名字是小明", "我叫小明", "", "", true },
		/* Never stated. */
		{ "用户喜欢爬山", "今天好累", "", "", false },
		{ "用户喜欢乌龙茶", "", "", "", false },
		/* Recalled, not stated. */
		{ "用户最喜欢的茶是乌龙茶", "那就来一杯我最喜欢的",
		    "{\"memories\":[{\"text\":\"用户最喜欢的茶是乌龙茶\"}]}",
		    "", false },
		/* Recalled, but changed since. */
		{ "用户现在最喜欢的茶是普洱茶", "我现在最喜欢普洱茶了",
		    "{\"memories\":[{\"text\":\"用户最喜欢的茶是乌龙茶\"}]}",
		    "", true },
		/* Reports of questions and greetings. */
		{ "用户询问了明天的天气", "明天的天气", "", "", false },
		{ "The user asked about the weather", "nice weather", "", "",
		    false },
		{ "用户打招呼", "打个招呼", "", "", false },
		/* The user asked to forget it. */
		{ "用户最喜欢的茶是乌龙茶", "我最喜欢乌龙茶", "", "最喜欢的茶",
		    false },
		{ "用户养了一只猫", "我养了一只猫", "", "最喜欢的茶", true },
		{ "The user likes oolong tea", "I like oolong tea", "", "",
		    true },
		/* Only function words in common. */
		{ "The user is a doctor", "this is the one of you", "", "",
		    false },
		{ "The user likes oolong tea", "I like oolong tea", "",
		    "oolong tea", false },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		const struct str forgotten = str_of(rows[i].forgotten);
		const struct memory_policy policy = { str_of(rows[i].stated),
			str_of(rows[i].recalled), &forgotten, forgotten.n > 0 };

		ck_assert_msg(memory_policy_admits(&policy,
				  str_of(rows[i].text)) == rows[i].want,
		    "%zu: %s", i, rows[i].text);
	}
}

TEST(a_profile_has_stated_values_only)
{
	const struct memory_policy policy = {
		STR("我叫李\n我喜欢乌龙茶\nI am 34\n"), STR(""), NULL, 0
	};

	ck_assert(memory_policy_stated(&policy, STR("李")));
	ck_assert(memory_policy_stated(&policy, STR(" 乌龙茶 ")));
	ck_assert(memory_policy_stated(&policy, STR("34")));
	ck_assert(!memory_policy_stated(&policy, STR("绿茶是")));
	ck_assert(!memory_policy_stated(&policy, STR("")));
	ck_assert(!memory_policy_stated(&policy, (struct str){ 0 }));
}
