/*
 * engine_chaos: runs of a scripted engine while processes are killed, and what
 * must hold afterwards: each reader has seq 1 to n without a hole or a double,
 * however often it reconnected; each run has one end, its last event, which its
 * record agrees with; no process and no descriptor is left.
 */
#ifndef TESTKIT_ENGINE_CHAOS_H
#define TESTKIT_ENGINE_CHAOS_H

#include <stddef.h>
#include <stdint.h>

struct engine_chaos {
	size_t runs;
	size_t kills;      /* kill -9 of something, at random */
	size_t reconnects; /* of each run's reader, at least */
	uint64_t seed;
};

/* engine_chaos_run(c): All of it; prints the seed and what was killed. */
void engine_chaos_run(const struct engine_chaos *c);

#endif /* !TESTKIT_ENGINE_CHAOS_H */
