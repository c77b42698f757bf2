/*
 * load: a load generator: a user who chats on a thread, alternating direct
 * actions and turns of the model, while the test does something that must not
 * affect other users.
 */
#ifndef TESTKIT_STACK_LOAD_H
#define TESTKIT_STACK_LOAD_H

#include <stdint.h>

#include "testkit/stack/client.h"

/* Maximum time of each turn. */
#define LOAD_TURN_MS 1000

struct load;

struct load_stats {
	size_t commands, completions; /* turns of both kinds */
	int64_t slowest_ms;
};

/*
 * load_prepare(st): The client of STACK_USER, with STACK_BODY bound to a soul.
 *
 * load_begin(o): Start. In a locked stack the user owns STACK_BODY, with a
 * token and an address of its own.
 */
struct client load_prepare(struct stack *st);
struct load *load_begin(const struct client *o);

/*
 * load_end(n, saw):
 * Stop after at least one more turn of each kind.  Fails the test unless every
 * turn got 200 within LOAD_TURN_MS; saw may be NULL.
 */
void load_end(struct load *n, struct load_stats *saw);

#endif /* !TESTKIT_STACK_LOAD_H */
