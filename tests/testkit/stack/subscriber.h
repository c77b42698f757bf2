/*
 * subscriber: receives NATS messages (cnats), and can reply in place of a
 * service.
 */
#ifndef TESTKIT_STACK_SUBSCRIBER_H
#define TESTKIT_STACK_SUBSCRIBER_H

#include <jansson.h>

#include "testkit/stack/stack.h"

struct subscriber;

/*
 * subscriber_new(st, subject, queue): Subscribe; queue NULL: without a queue
 * group.
 * subscriber_free(e): Unsubscribe.
 */
struct subscriber *subscriber_new(
    struct stack *st, const char *subject, const char *queue);
void subscriber_free(struct subscriber *e);

/*
 * subscriber_next(e, ms): The next message's JSON, freed by the caller, or NULL
 * after ms.
 */
json_t *subscriber_next(struct subscriber *e, int ms);

/*
 * subscriber_await(e, path, part): The next message that has part at path;
 * earlier ones are dropped. The test fails if none comes within STACK_MS. The
 * caller frees it.
 */
json_t *subscriber_await(
    struct subscriber *e, const char *path, const char *part);

/* subscriber_subject(e): The subject of the last one. */
const char *subscriber_subject(const struct subscriber *e);

/* subscriber_reply(e, reply): Reply to the last one; takes reply. */
void subscriber_reply(struct subscriber *e, json_t *reply);

#endif /* !TESTKIT_STACK_SUBSCRIBER_H */
