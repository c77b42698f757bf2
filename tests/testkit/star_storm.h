/* star_storm: three star-hubs under a clients and faults. */
#ifndef TESTKIT_STAR_STORM_H
#define TESTKIT_STAR_STORM_H

#include <stddef.h>
#include <stdint.h>

struct star_storm {
	size_t clients;
	int64_t seconds;     /* of faults */
	int64_t period_ms;   /* a fault each */
	int64_t interval_ms; /* between two messages of a client */
	int64_t resume_ms;   /* STAR_RESUME_MS */
	uint64_t seed;
};

/*
 * star_storm_run(s):
 * One after the other, in an order that the seed says, each kind equally often:
 * a hub is killed, and started 3 s later; nats-server or redis-server is, for
 * 1 s; a hub is ended by SIGTERM, and started again.  Before each fault, and in
 * the end, when everybody has come back, presence is checked; then the history.
 * Prints a summary; returns how much was wrong, which is on stderr.
 */
size_t star_storm_run(const struct star_storm *s);

#endif /* !TESTKIT_STAR_STORM_H */
