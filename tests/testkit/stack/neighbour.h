/*
 * neighbour: somebody who talks to a body of his own while something happens
 * that must not disturb him: a clear command, then something for the model, and
 * so on, on a thread.
 */
#ifndef TESTKIT_STACK_NEIGHBOUR_H
#define TESTKIT_STACK_NEIGHBOUR_H

#include <stdint.h>

#include "testkit/stack/owner.h"

/* Longest time that any of his turns may take. */
#define NEIGHBOUR_MS 1000

struct neighbour;

struct neighbour_saw {
	size_t commands, thoughts; /* turns of either kind */
	int64_t slowest_ms;
};

/*
 * neighbour_settle(st): STACK_USER, whose STACK_BODY is bound to a soul now.
 *
 * neighbour_begin(o):
 * He begins to talk.  In a locked stack he is the owner of STACK_BODY, with a
 * token and an address of his own.
 */
struct owner neighbour_settle(struct stack *st);
struct neighbour *neighbour_begin(const struct owner *o);

/*
 * neighbour_end(n, saw):
 * He has had at least one more turn of each kind since this was called, and
 * ends.  Fails the test unless all were answered with 200, within NEIGHBOUR_MS
 * each; saw may be NULL.
 */
void neighbour_end(struct neighbour *n, struct neighbour_saw *saw);

#endif /* !TESTKIT_STACK_NEIGHBOUR_H */
