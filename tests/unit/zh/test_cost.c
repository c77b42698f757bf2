/*
 * What a short utterance costs, in instructions.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/instructions.h"
#include "testkit/testkit.h"
#include "testkit/zh_fixture.h"
#include "zh/number.h"

#define CALLS 20
/* 5 us at two instructions a cycle of 2.5 GHz. */
#define INSTRUCTIONS_MAX 25000.0

/* About fifteen characters each. */
static const char *const times[] = { "明天早上七点半叫我起床去跑步好吗",
	"每周一三五晚上八点提醒我去健身房", "六月的第二周我们去海边玩三天吧",
	"今年头三个月的电费一共花了多少钱", "打开客厅的灯然后把窗帘拉上谢谢" };
static const char *const numbers[] = { "我买了三斤半苹果花了二十几块钱呢",
	"这套房子要一千二百三十四万五千元", "空调调到二十六度风速调到百分之五",
	"打开客厅的灯然后把窗帘拉上谢谢你" };

__attribute__((noinline)) size_t counted_times(
    struct datetime_now now, const char *text);
__attribute__((noinline)) size_t counted_numbers(const char *text);

size_t
counted_times(struct datetime_now now, const char *text)
{
	struct datetime w[ZH_FIXTURE_FOUND];

	return datetime_find(now, str_of(text), w, ZH_FIXTURE_FOUND);
}

size_t
counted_numbers(const char *text)
{
	struct number w[ZH_FIXTURE_FOUND];

	return number_find(str_of(text), w, ZH_FIXTURE_FOUND);
}

/* In the process that is counted. */
TEST(run_times)
{
	struct zone *z;
	struct datetime_now now;
	size_t i, k, found = 0;

	if (!instructions_child())
		return;
	z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	now = zh_fixture_now(z, ZH_FIXTURE_NOW);
	for (k = 0; k < CALLS; k++) {
		for (i = 0; i < NELEM(times); i++)
			found += counted_times(now, times[i]);
	}
	ck_assert_uint_gt(found, 0);
	zone_free(z);
}

TEST(run_numbers)
{
	size_t i, k, found = 0;

	if (!instructions_child())
		return;
	for (k = 0; k < CALLS; k++) {
		for (i = 0; i < NELEM(numbers); i++)
			found += counted_numbers(numbers[i]);
	}
	ck_assert_uint_gt(found, 0);
}

static void
cost_check(const char *function, const char *test, int calls)
{
	double n = instructions_count(function, test, calls);

	if (n > 0)
		printf("%s: %.0f instructions\n", function, n);
	ck_assert_double_le(n, INSTRUCTIONS_MAX);
}

TEST_T(times_of_a_short_utterance, 120)
{
	if (!instructions_child())
		cost_check(
		    "counted_times", "run_times", CALLS * (int)NELEM(times));
}

TEST_T(numbers_of_a_short_utterance, 120)
{
	if (!instructions_child())
		cost_check("counted_numbers", "run_numbers",
		    CALLS * (int)NELEM(numbers));
}
