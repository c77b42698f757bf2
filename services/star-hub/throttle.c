/*
 * The generic cell rate algorithm: what was taken is a time that has to pass.
 */
#include "throttle.h"

#define SECOND_NS INT64_C(1000000000)
#define MS_NS     INT64_C(1000000)

struct throttle_limit
throttle_limit_of(int64_t per_s, int64_t burst)
{
	int64_t each = SECOND_NS / per_s;

	return (struct throttle_limit){ each, each * burst };
}

int64_t
throttle_take(struct throttle *t, const struct throttle_limit *l, int64_t n,
    struct mono now)
{
	int64_t from = t->taken_ns > now.ns ? t->taken_ns : now.ns;
	int64_t over = from - now.ns + n * l->each_ns - l->burst_ns;

	if (over > 0)
		return (over + MS_NS - 1) / MS_NS;
	t->taken_ns = from + n * l->each_ns;
	return 0;
}
