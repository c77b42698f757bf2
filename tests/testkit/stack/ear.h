/*
 * ear: hears NATS messages (cnats), and can answer in a service's place.
 */
#ifndef TESTKIT_STACK_EAR_H
#define TESTKIT_STACK_EAR_H

#include <jansson.h>

#include "testkit/stack/stack.h"

struct ear;

/*
 * ear_new(st, subject, queue): Listen; queue NULL: to everything.
 * ear_free(e):                 No more.
 */
struct ear *ear_new(struct stack *st, const char *subject, const char *queue);
void ear_free(struct ear *e);

/*
 * ear_next(e, ms):
 * The next message's JSON, which the caller frees, or NULL after ms.
 */
json_t *ear_next(struct ear *e, int ms);

/*
 * ear_await(e, path, part):
 * The next that says part at path; those before it are dropped.  The test fails
 * if none comes within STACK_MS.  The caller frees it.
 */
json_t *ear_await(struct ear *e, const char *path, const char *part);

/* ear_subject(e): The subject of the last one. */
const char *ear_subject(const struct ear *e);

/* ear_answer(e, reply): Answer the last one; reply is given away. */
void ear_answer(struct ear *e, json_t *reply);

#endif /* !TESTKIT_STACK_EAR_H */
