/*
 * neighbour: somebody who talks to a body of his own while something happens
 * that must not disturb him: a clear command, then something for the model, and
 * so on, on a thread.
 */
#ifndef TESTKIT_STACK_LOAD_H
#define TESTKIT_STACK_LOAD_H

#include <stdint.h>

#include "testkit/stack/client.h"

/* Longest time that any of his turns may take. */
#define LOAD_TURN_MS 1000

struct load;

struct load_stats {
	size_t commands, completions; /* turns of either kind */
	int64_t slowest_ms;
};

/*
 * load_prepare(st): STACK_USER, whose STACK_BODY is bound to a soul now.
 *
 * load_begin(o):
 * He begins to talk.  In a locked stack he is the owner of STACK_BODY, with a
 * token and an address of his own.
 */
struct client load_prepare(struct stack *st);
struct load *load_begin(const struct client *o);

/*
 * load_end(n, saw):
 * He has had at least one more turn of each kind since this was called, and
 * ends.  Fails the test unless all were answered with 200, within LOAD_TURN_MS
 * each; saw may be NULL.
 */
void load_end(struct load *n, struct load_stats *saw);

#endif /* !TESTKIT_STACK_LOAD_H */
