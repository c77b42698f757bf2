/*
 * rate: how often each of many may do something: token buckets, one for each
 * key.  Pure: time is handed in.  Not thread-safe.
 *
 * Of more keys than the table holds the one that was asked for longest ago is
 * forgotten; its bucket is full again.
 */
#ifndef CORE_RATE_H
#define CORE_RATE_H

#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/str.h"

struct rate;

/* Largest number a second, and largest burst. */
#define RATE_MAX 1000000

/*
 * rate_new(per_s, burst, keys):
 * Buckets that hold burst and are filled by per_s a second (1 to RATE_MAX
 * each), for that many keys.
 */
struct rate *rate_new(int64_t per_s, int64_t burst, size_t keys);

/* rate_free(r): NULL is allowed. */
void rate_free(struct rate *r);

/*
 * rate_take(r, key, now):
 * Take one from key's bucket: 0.  If it is empty nothing is taken, and the
 * result is after how many milliseconds one will be there (at least 1).
 */
int64_t rate_take(struct rate *r, struct str key, struct mono now);

/*
 * rate_take_n(r, key, n, now):
 * The same for n at once (1 to RATE_MAX), all or none; a burst must hold them.
 * rate_refund(r, key, n): Put n back that were taken.
 */
int64_t rate_take_n(struct rate *r, struct str key, int64_t n, struct mono now);
void rate_refund(struct rate *r, struct str key, int64_t n);

/*
 * rate_charge(r, key, n, now):
 * Take n (≥ 0) from key's bucket for what was done already.  It may fall below
 * empty, by no more than it holds: the next rate_take() waits for that, too.
 */
void rate_charge(struct rate *r, struct str key, int64_t n, struct mono now);

/*
 * backoff: how long to wait before trying again.
 */
struct backoff {
	int64_t min_ms; /* first wait, before jitter */
	int64_t max_ms; /* no wait is longer */
	unsigned tries; /* since the last reset */
};

/*
 * backoff_next_ms(b):
 * min · 2^tries, at most max, minus up to half of it at random; counts a try.
 * At least 1.
 */
int64_t backoff_next_ms(struct backoff *b);

/* backoff_reset(b): The next wait is the first again. */
void backoff_reset(struct backoff *b);

#endif /* !CORE_RATE_H */
