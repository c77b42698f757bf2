/*
 * bare: what a turn cannot do without, and nothing else: a request of 300 bytes
 * and its reply over NATS, then one SET that Redis has on disk.  Both ends of
 * the request are in this thread, with plain sockets.
 */
#ifndef TESTKIT_STACK_BARE_H
#define TESTKIT_STACK_BARE_H

#include "testkit/stack/turns.h"

/* bare_run(st, n, in_flight, t): n of them; a failure fails the test. */
void bare_run(struct stack *st, int n, int in_flight, struct turns_times *t);

#endif /* !TESTKIT_STACK_BARE_H */
