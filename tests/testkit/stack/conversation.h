/*
 * conversation: a chat request on a thread of its own, so that the test can act
 * while it is pending.
 */
#ifndef TESTKIT_STACK_CONVERSATION_H
#define TESTKIT_STACK_CONVERSATION_H

#include <jansson.h>

#include "testkit/stack/client.h"

struct conversation;

/* conversation_begin(o, text): Send it with this thread's identity. */
struct conversation *conversation_begin(
    const struct client *o, const char *text);

/*
 * conversation_end(t, status):
 * Wait for the response, which the caller frees; status 0: none came.
 */
json_t *conversation_end(struct conversation *t, int *status);

#endif /* !TESTKIT_STACK_CONVERSATION_H */
