/*
 * Token buckets.
 */
#include "core/rate.h"
#include "testkit/testkit.h"

static struct mono
at_ms(int64_t ms)
{
	return (struct mono){ (1000 + ms) * 1000000LL };
}

TEST(a_burst_then_so_many_a_second)
{
	struct rate *r = rate_new(10, 3, 4);
	int i;

	for (i = 0; i < 3; i++)
		ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(40)), 60);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(100)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(100)), 100);
	/* A silence fills the bucket, and no more than that. */
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(rate_take(r, STR("a"), at_ms(9000)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(9000)), 100);
	rate_free(r);
}

TEST(many_at_once_or_none)
{
	struct rate *r = rate_new(10, 5, 4);

	ck_assert_int_eq(rate_take_n(r, STR("a"), 3, at_ms(0)), 0);
	ck_assert_int_eq(rate_take_n(r, STR("a"), 3, at_ms(0)), 100);
	ck_assert_int_eq(rate_take_n(r, STR("a"), 2, at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	rate_refund(r, STR("a"), 2);
	ck_assert_int_eq(rate_take_n(r, STR("a"), 2, at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	/* No more than it can hold. */
	rate_refund(r, STR("a"), 5);
	rate_refund(r, STR("a"), 5);
	rate_refund(r, STR("b"), 5);
	ck_assert_int_eq(rate_take_n(r, STR("a"), 5, at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	ck_assert_int_eq(rate_take_n(r, STR("b"), 5, at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("b"), at_ms(0)), 100);
	rate_free(r);
}

TEST(each_key_has_a_bucket_of_its_own)
{
	struct rate *r = rate_new(1, 1, 4);

	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("b"), at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR(""), at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 1000);
	rate_free(r);
}

TEST(the_key_asked_for_longest_ago_is_forgotten)
{
	struct rate *r = rate_new(1, 1, 2);

	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("b"), at_ms(0)), 0);
	ck_assert_int_gt(rate_take(r, STR("a"), at_ms(1)), 0);
	ck_assert_int_eq(rate_take(r, STR("c"), at_ms(2)), 0);
	ck_assert_int_gt(rate_take(r, STR("a"), at_ms(3)), 0);
	ck_assert_int_eq(rate_take(r, STR("b"), at_ms(4)), 0);
	rate_free(r);
}

/* What is charged afterwards is waited for, but not for ever. */
TEST(a_charge_may_fall_below_empty)
{
	struct rate *r = rate_new(10, 3, 4);

	rate_charge(r, STR("a"), 0, at_ms(0));
	rate_charge(r, STR("a"), 2, at_ms(0));
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	rate_charge(r, STR("a"), 1, at_ms(0));
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 200);
	/* Never deeper than a whole bucket. */
	rate_charge(r, STR("a"), INT64_MAX, at_ms(0));
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 400);
	ck_assert_int_eq(rate_take(r, STR("b"), at_ms(0)), 0);
	rate_free(r);
}
