/*
 * chatter: a client that keeps chatting through every outage, on a thread of
 * its own.
 */
#ifndef TESTKIT_STACK_CHATTER_H
#define TESTKIT_STACK_CHATTER_H

#include <pthread.h>
#include <stdatomic.h>

#include "testkit/stack/client.h"

/* Messages of one conversation. */
#define CHATTER_MAX 20000

struct chatter {
	struct client owner;
	pthread_t thread;
	atomic_bool enough;
	atomic_size_t texts, responses; /* sent; with a 200 */
	bool ok[CHATTER_MAX];           /* the message got a 200 */
	char turn[CHATTER_MAX][48];     /* its turn, then */
	size_t errors[600];             /* by status; 0: no response */
};

/*
 * chatter_start(t, owner): Chat as owner, every second message an action.
 * chatter_resumes(t): Wait until three more messages succeed.
 * chatter_stop(t): End.
 * chatter_check(t): Every message that succeeded is in the session, in order,
 *     and the others got no response, or one that allows a retry.
 */
void chatter_start(struct chatter *t, const struct client *owner);
void chatter_resumes(struct chatter *t);
void chatter_stop(struct chatter *t);
void chatter_check(struct chatter *t);

#endif /* !TESTKIT_STACK_CHATTER_H */
