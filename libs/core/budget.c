/*
 * budget: the wall clock says when the CPU clock is worth a look.
 */
#include "core/clock.h"

#include <time.h>

static int64_t
cpu_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

void
budget_start(struct budget *b, int64_t ns)
{
	b->cpu_end_ns = cpu_ns() + ns;
	b->look.ns = clock_mono().ns + ns;
}

bool
budget_over(struct budget *b)
{
	struct mono now = clock_mono();
	int64_t left;

	if (now.ns < b->look.ns)
		return false;
	left = b->cpu_end_ns - cpu_ns();
	b->look.ns = now.ns + left;
	return left <= 0;
}
