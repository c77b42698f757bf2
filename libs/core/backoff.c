/*
 * backoff: doubling waits with jitter, so that many clients of one server do
 * not come back in step.
 */
#include "core/rate.h"

#include "core/id.h"

int64_t
backoff_next_ms(struct backoff *b)
{
	int64_t wait = b->min_ms > 0 ? b->min_ms : 1;

	for (unsigned i = 0; i < b->tries && wait < b->max_ms; i++)
		wait = wait <= INT64_MAX / 2 ? wait * 2 : INT64_MAX;
	if (wait > b->max_ms)
		wait = b->max_ms > 0 ? b->max_ms : 1;
	if (b->tries < 64)
		b->tries++;
	return wait - (int64_t)id_random_below((uint64_t)wait / 2 + 1);
}

void
backoff_reset(struct backoff *b)
{
	b->tries = 0;
}
