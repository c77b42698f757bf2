/*
 * budget: a span of CPU time that work on hostile input may take.
 *
 * Asking is cheap, some 25 ns, until about that much time has passed; only then
 * the thread's CPU clock is looked at, which can cost most of a microsecond.
 * What other threads and processes do meanwhile does not count.
 */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"

struct budget {
	int64_t cpu_end_ns; /* private: of the thread's CPU time */
	struct mono look;   /* private: before this it cannot be over */
};

/* budget_start(b, ns): ns nanoseconds of the calling thread's time from now. */
void budget_start(struct budget *b, int64_t ns);

/* budget_over(b): Whether they are used up.  The thread that started it. */
bool budget_over(struct budget *b);

#endif /* !CORE_BUDGET_H */
