/* Rates and bursts. */
#include "testkit/testkit.h"
#include "throttle.h"

static struct mono
at_ms(int64_t ms)
{
	return mono_add_ms((struct mono){ INT64_C(1000000000) }, ms);
}

TEST(a_burst_and_then_the_rate)
{
	struct throttle_limit l = throttle_limit_of(100, 5);
	struct throttle t = { 0 };
	int64_t i;

	for (i = 0; i < 5; i++)
		ck_assert_int_eq(throttle_take(&t, &l, 1, at_ms(0)), 0);
	ck_assert_int_eq(throttle_take(&t, &l, 1, at_ms(0)), 10);
	ck_assert_int_eq(throttle_take(&t, &l, 1, at_ms(9)), 1);
	ck_assert_int_eq(throttle_take(&t, &l, 1, at_ms(10)), 0);
	ck_assert_int_eq(throttle_take(&t, &l, 1, at_ms(10)), 10);
	/* Full again after a while, never fuller. */
	ck_assert_int_eq(throttle_take(&t, &l, 5, at_ms(5000)), 0);
	ck_assert_int_eq(throttle_take(&t, &l, 1, at_ms(5000)), 10);
}

TEST(several_are_taken_together_or_not_at_all)
{
	struct throttle_limit l = throttle_limit_of(1000, 100);
	struct throttle t = { 0 };

	ck_assert_int_eq(throttle_take(&t, &l, 60, at_ms(0)), 0);
	ck_assert_int_eq(throttle_take(&t, &l, 60, at_ms(0)), 20);
	ck_assert_int_eq(throttle_take(&t, &l, 40, at_ms(0)), 0);
	ck_assert_int_eq(throttle_take(&t, &l, 1, at_ms(0)), 1);
	/* Nothing takes no time. */
	ck_assert_int_eq(throttle_take(&t, &l, 0, at_ms(0)), 0);
}
