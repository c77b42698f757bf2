/*
 * ear: hears NATS messages (cnats), and can answer in a service's place.
 */
#ifndef TESTKIT_STACK_SUBSCRIBER_H
#define TESTKIT_STACK_SUBSCRIBER_H

#include <jansson.h>

#include "testkit/stack/stack.h"

struct subscriber;

/*
 * subscriber_new(st, subject, queue): Listen; queue NULL: to everything.
 * subscriber_free(e):                 No more.
 */
struct subscriber *subscriber_new(
    struct stack *st, const char *subject, const char *queue);
void subscriber_free(struct subscriber *e);

/*
 * subscriber_next(e, ms):
 * The next message's JSON, which the caller frees, or NULL after ms.
 */
json_t *subscriber_next(struct subscriber *e, int ms);

/*
 * subscriber_await(e, path, part):
 * The next that says part at path; those before it are dropped.  The test fails
 * if none comes within STACK_MS.  The caller frees it.
 */
json_t *subscriber_await(
    struct subscriber *e, const char *path, const char *part);

/* subscriber_subject(e): The subject of the last one. */
const char *subscriber_subject(const struct subscriber *e);

/* subscriber_reply(e, reply): Answer the last one; reply is given away. */
void subscriber_reply(struct subscriber *e, json_t *reply);

#endif /* !TESTKIT_STACK_SUBSCRIBER_H */
