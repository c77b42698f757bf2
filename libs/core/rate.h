/*
 * rate: rate limits by token buckets, one per key, and back-off for retries.
 *
 * Pure: the time is an argument.  Not thread-safe.  When the table is full the
 * least recently used key is evicted; its bucket is then full.
 */
#ifndef CORE_RATE_H
#define CORE_RATE_H

#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/str.h"

struct rate;

/* Largest rate per second, and largest burst. */
#define RATE_MAX 1000000

/*
 * rate_new(per_s, burst, keys):
 * Buckets of size burst, refilled at per_s per second (1 to RATE_MAX each), for
 * at most that many keys.
 */
struct rate *rate_new(int64_t per_s, int64_t burst, size_t keys);

/* rate_free(r): NULL is allowed. */
void rate_free(struct rate *r);

/*
 * rate_take(r, key, now):
 * Take a token from key's bucket and return 0; if it is empty, take nothing and
 * return the milliseconds until there is one, at least 1.
 */
int64_t rate_take(struct rate *r, struct str key, struct mono now);

/*
 * rate_take_n(r, key, n, now):
 * The same for n tokens (1 to RATE_MAX and the burst), all or none.
 * rate_refund(r, key, n): Return n tokens that were taken.
 */
int64_t rate_take_n(struct rate *r, struct str key, int64_t n, struct mono now);
void rate_refund(struct rate *r, struct str key, int64_t n);

/*
 * rate_charge(r, key, n, now):
 * Take n (≥ 0) tokens for work that is already done.  The bucket may go below
 * empty, by its size at most, which delays the next rate_take().
 */
void rate_charge(struct rate *r, struct str key, int64_t n, struct mono now);

/* Waits before retries: exponential with jitter. */
struct backoff {
	int64_t min_ms; /* first wait, before jitter */
	int64_t max_ms; /* longest wait */
	unsigned tries; /* since the last reset */
};

/*
 * backoff_next_ms(b):
 * The next wait: min · 2^tries, at most max, minus up to half of it at random;
 * at least 1.  Counts a try.
 */
int64_t backoff_next_ms(struct backoff *b);

/* backoff_reset(b): Start over with the first wait. */
void backoff_reset(struct backoff *b);

#endif /* !CORE_RATE_H */
