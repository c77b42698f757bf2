/*
 * backoff: how long to wait before trying again.
 */
#ifndef CORE_BACKOFF_H
#define CORE_BACKOFF_H

#include <stdint.h>

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

#endif /* !CORE_BACKOFF_H */
