/*
 * tk_throttle: a process that runs only a part of the time, as on a machine
 * with less processor for it: what limits a service is found without as many
 * cores as that takes.
 */
#ifndef TESTKIT_THROTTLE_H
#define TESTKIT_THROTTLE_H

#include <sys/types.h>

struct tk_throttle;

/*
 * tk_throttle_start(pid, percent): Let it run this part of each 10 ms, and stop
 * it by a signal for the rest.
 * tk_throttle_end(t): It runs all the time.
 */
struct tk_throttle *tk_throttle_start(pid_t pid, int percent);
void tk_throttle_end(struct tk_throttle *t);

#endif /* !TESTKIT_THROTTLE_H */
