/*
 * Token buckets and back-off.
 */
#include "core/rate.h"
#include "testkit/testkit.h"
#include <stdint.h>

static struct mono
at_ms(int64_t ms)
{
	return (struct mono){ (1000 + ms) * 1000000LL };
}

TEST(a_burst_is_followed_by_the_rate)
{
	struct rate *r = rate_new(10, 3, 4);
	int i;

	for (i = 0; i < 3; i++)
		ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(40)), 60);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(100)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(100)), 100);
	/* Inactivity fills the bucket, up to its size. */
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(rate_take(r, STR("a"), at_ms(9000)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(9000)), 100);
	rate_free(r);
}

TEST(several_tokens_are_taken_all_or_none)
{
	struct rate *r = rate_new(10, 5, 4);

	ck_assert_int_eq(rate_take_n(r, STR("a"), 3, at_ms(0)), 0);
	ck_assert_int_eq(rate_take_n(r, STR("a"), 3, at_ms(0)), 100);
	ck_assert_int_eq(rate_take_n(r, STR("a"), 2, at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	rate_refund(r, STR("a"), 2);
	ck_assert_int_eq(rate_take_n(r, STR("a"), 2, at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	/* No more than its size. */
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

TEST(the_least_recently_used_key_is_evicted)
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

TEST(a_charge_may_go_below_empty)
{
	struct rate *r = rate_new(10, 3, 4);

	rate_charge(r, STR("a"), 0, at_ms(0));
	rate_charge(r, STR("a"), 2, at_ms(0));
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 0);
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 100);
	rate_charge(r, STR("a"), 1, at_ms(0));
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 200);
	/* Limited to the size of the bucket. */
	rate_charge(r, STR("a"), INT64_MAX, at_ms(0));
	ck_assert_int_eq(rate_take(r, STR("a"), at_ms(0)), 400);
	ck_assert_int_eq(rate_take(r, STR("b"), at_ms(0)), 0);
	rate_free(r);
}

TEST(waits_double_up_to_the_limit)
{
	static const int64_t full[] = { 100, 200, 400, 800, 1000, 1000 };

	for (int round = 0; round < 200; round++) {
		struct backoff b = { .min_ms = 100, .max_ms = 1000 };

		for (unsigned i = 0; i < 6; i++) {
			int64_t ms = backoff_next_ms(&b);

			ck_assert_int_le(ms, full[i]);
			ck_assert_int_ge(ms, full[i] / 2);
			ck_assert_uint_eq(b.tries, i + 1);
		}
		backoff_reset(&b);
		ck_assert_uint_eq(b.tries, 0);
		ck_assert_int_le(backoff_next_ms(&b), 100);
	}
}

TEST(jitter_covers_its_range)
{
	int64_t least = INT64_MAX, most = 0;

	for (int i = 0; i < 2000; i++) {
		struct backoff b = { .min_ms = 20, .max_ms = 1000 };
		int64_t ms = backoff_next_ms(&b);

		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
	}
	/* 11 values, each of which is missed in one of 10^83 runs. */
	ck_assert_int_eq(least, 10);
	ck_assert_int_eq(most, 20);
}

TEST(many_tries_do_not_overflow)
{
	struct backoff b = { .min_ms = 1, .max_ms = INT64_MAX };
	struct backoff at_end = { 100, 1000, 4000000000U };

	for (int i = 0; i < 200; i++)
		ck_assert_int_gt(backoff_next_ms(&b), 0);
	ck_assert_int_ge(backoff_next_ms(&b), INT64_MAX / 2);
	ck_assert_int_ge(backoff_next_ms(&at_end), 500);
	ck_assert_int_le(backoff_next_ms(&at_end), 1000);
}

TEST(a_wait_is_at_least_1_ms)
{
	struct backoff rows[] = { { 0, 0, 0 }, { 1, 1, 0 }, { -5, 10, 0 },
		{ 10, 1, 0 } };

	for (unsigned i = 0; i < 4; i++)
		for (int k = 0; k < 10; k++)
			ck_assert_int_ge(backoff_next_ms(&rows[i]), 1);
	/* The limit applies to the first wait, too. */
	ck_assert_int_eq(backoff_next_ms(&rows[3]), 1);
}
