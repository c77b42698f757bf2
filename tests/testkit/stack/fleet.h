/*
 * fleet: thousands of simulated bodies at one or several brokers of a stack,
 * and what the processes then use.
 */
#ifndef TESTKIT_STACK_FLEET_H
#define TESTKIT_STACK_FLEET_H

#include <stddef.h>

#include "testkit/stack/stack.h"

#define FLEET_BROKERS_MAX 12

/*
 * fleet_obstacle(bodies, brokers):
 * Why this machine cannot have that many (open files, memory), or NULL.  Raises
 * the limit of open files of this process, and so of its children.  A broker
 * and the simulator of its bodies have a file for each: where they may not have
 * as many, *brokers becomes how many are needed, and that is printed.
 */
const char *fleet_obstacle(int bodies, int *brokers);

/*
 * fleet_measure(bodies, brokers):
 * Start a stack with so many bodies, the same number at each broker, or one
 * less, whose connections come from an address of 127/8 for each thousand of
 * them; wait until all are known, and print how long that took, what each kind
 * of process uses at rest, and what the updates of a thousand souls' states add
 * to that.  fleet_obstacle() must be NULL.
 */
void fleet_measure(int bodies, int brokers);

#endif /* !TESTKIT_STACK_FLEET_H */
