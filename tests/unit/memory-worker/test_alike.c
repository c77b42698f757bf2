/* Whether two memories say the same. */
#include "alike.h"
#include "core/mem.h"
#include "testkit/testkit.h"

TEST(the_same_and_not)
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
		{ "The user likes his dog", "The user likes her dog", false },
		{ "fact number 17", "fact number 18", false },
		{ "用户喜欢茶", "用户喜欢茶和咖啡", false },
		{ "", "", false },
		{ "的", "。", false },
		{ "用户", "用户", false },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_msg(
		    alike(str_of(rows[i].a), str_of(rows[i].b)) == rows[i].want,
		    "%s | %s", rows[i].a, rows[i].b);
		ck_assert(alike(str_of(rows[i].b), str_of(rows[i].a)) ==
		    rows[i].want);
	}
}
