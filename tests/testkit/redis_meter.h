/*
 * tk_meter: the fsyncs of the redis-servers of a test program, counted and made
 * slower.
 *
 * Redis 7.0 has no counter of its fsyncs.  A library that is preloaded into the
 * servers (preload/redis_meter.c) shares this with the test.
 */
#ifndef TESTKIT_REDIS_METER_H
#define TESTKIT_REDIS_METER_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable with the path of the shared file. */
#define TK_METER_FILE "SOUL_TEST_METER"

struct tk_meter {
	_Atomic uint64_t fsyncs;
	/* Added to each fsync. */
	_Atomic uint32_t fsync_us;
	/* Added to each fsync, for each byte that was appended since the last.
	 */
	_Atomic uint32_t byte_us;
};

/*
 * tk_meter_begin(): Redis servers that are started from now on are metered,
 * all by the same meter, which lives as long as the program; without a delay at
 * first.  Fails the test.
 */
struct tk_meter *tk_meter_begin(void);

/* tk_meter_env(): The variables of such a server; NULL before the begin. */
const char *const *tk_meter_env(void);

#endif /* !TESTKIT_REDIS_METER_H */
