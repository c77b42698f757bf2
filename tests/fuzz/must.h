/* must: the assertion of every fuzzer, and a clock for its time limits. */
#ifndef FUZZ_MUST_H
#define FUZZ_MUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* The entry point of libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static inline void
must(bool ok)
{
	if (!ok)
		abort();
}

/* Processor time of this thread. */
static inline double
cpu_s(void)
{
	struct timespec t;

	must(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif /* !FUZZ_MUST_H */
