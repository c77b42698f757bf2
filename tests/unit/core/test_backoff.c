/*
 * Back-off: doubling, a ceiling, and jitter within its bounds.
 */
#include <stdint.h>

#include "core/rate.h"
#include "testkit/testkit.h"

TEST(waits_double_up_to_the_ceiling)
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

TEST(jitter_uses_all_of_its_range)
{
	int64_t least = INT64_MAX, most = 0;

	for (int i = 0; i < 2000; i++) {
		struct backoff b = { .min_ms = 20, .max_ms = 1000 };
		int64_t ms = backoff_next_ms(&b);

		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
	}
	/* 11 values, each missed once in 10^83 runs. */
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

TEST(a_wait_is_never_nothing)
{
	struct backoff rows[] = { { 0, 0, 0 }, { 1, 1, 0 }, { -5, 10, 0 },
		{ 10, 1, 0 } };

	for (unsigned i = 0; i < 4; i++)
		for (int k = 0; k < 10; k++)
			ck_assert_int_ge(backoff_next_ms(&rows[i]), 1);
	/* The ceiling holds for the first wait too. */
	ck_assert_int_eq(backoff_next_ms(&rows[3]), 1);
}
