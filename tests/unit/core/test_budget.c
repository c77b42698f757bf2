/* A budget counts what its thread works, not what it waits. */
#include <poll.h>
#include <time.h>

#include "core/clock.h"
#include "testkit/testkit.h"

static double
cpu_ms(void)
{
	struct timespec t;
	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

TEST(work_uses_a_budget_up)
{
	struct budget b;
	double from = cpu_ms();
	budget_start(&b, 20 * 1000 * 1000);
	while (!budget_over(&b))
		ck_assert(cpu_ms() - from < 5000);
	ck_assert(cpu_ms() - from >= 20);
	ck_assert(budget_over(&b));
}

TEST(waiting_does_not)
{
	struct budget b;
	budget_start(&b, 20 * 1000 * 1000);
	ck_assert_int_eq(poll(NULL, 0, 60), 0);
	ck_assert(!budget_over(&b));
}

TEST(nothing_is_over_at_once)
{
	struct budget b;
	budget_start(&b, 0);
	ck_assert(budget_over(&b));
}
