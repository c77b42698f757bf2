/*
 * A hundred thousand bodies at five brokers on one machine, or at more where a
 * process may not have enough open files: how long until all are known, and
 * what that takes at rest.  make bench has 1,000 and 10,000.
 */
#include <stdio.h>

#include "testkit/stack/fleet.h"

#define BODIES  100000
#define BROKERS 5

TEST_T(a_hundred_thousand_bodies, 3600)
{
	int brokers = BROKERS;
	const char *why = fleet_obstacle(BODIES, &brokers);

	if (why != NULL) {
		printf("skipped: %d bodies: %s\n", BODIES, why);
		return;
	}
	fleet_measure(BODIES, brokers);
}
