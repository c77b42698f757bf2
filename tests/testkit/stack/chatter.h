/*
 * chatter: a user who keeps chatting on a thread of its own, whatever breaks
 * meanwhile, and what became of each text.
 */
#ifndef TESTKIT_STACK_CHATTER_H
#define TESTKIT_STACK_CHATTER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "testkit/stack/client.h"

/* Texts of a conversation. */
#define CHATTER_TEXTS_MAX 20000

struct chatter {
	struct client owner;
	pthread_t thread;
	atomic_bool enough;
	atomic_size_t texts, responses;
	atomic_int unexpected;      /* a status that no retry ends; 0: none */
	bool ok[CHATTER_TEXTS_MAX]; /* the text got a 200 */
};

/*
 * chatter_begin(t, owner): Chat until chatter_end(), with this thread's
 *     identity.
 * chatter_resumes(t): Wait until some more texts succeed.
 * chatter_end(t): Stop, and fail the test unless every text that succeeded is
 *     in the session, in order.
 */
void chatter_begin(struct chatter *t, const struct client *owner);
void chatter_resumes(struct chatter *t);
void chatter_end(struct chatter *t);

#endif /* !TESTKIT_STACK_CHATTER_H */
