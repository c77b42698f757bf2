/*
 * throttle: a rate with a burst, in eight bytes.  Pure: the time is an
 * argument.
 */
#ifndef STAR_HUB_THROTTLE_H
#define STAR_HUB_THROTTLE_H

#include <stdint.h>

#include "core/clock.h"

struct throttle_limit {
	int64_t each_ns;  /* time that one takes */
	int64_t burst_ns; /* that may be taken in advance */
};

/* Zero: full. */
struct throttle {
	int64_t taken_ns; /* when all that was taken is over */
};

/* throttle_limit_of(per_s, burst): Both from 1 to 10^9. */
struct throttle_limit throttle_limit_of(int64_t per_s, int64_t burst);

/*
 * throttle_take(t, l, n, now):
 * Take n, of at most the burst; 0, or, with nothing taken, the milliseconds
 * until there is so much, at least 1.
 */
int64_t throttle_take(struct throttle *t, const struct throttle_limit *l,
    int64_t n, struct mono now);

#endif /* !STAR_HUB_THROTTLE_H */
