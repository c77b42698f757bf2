/*
 * talk: a chat request on a thread of its own, for tests that have something to
 * do meanwhile.
 */
#ifndef TESTKIT_STACK_TALK_H
#define TESTKIT_STACK_TALK_H

#include <jansson.h>

#include "testkit/stack/owner.h"

struct talk;

/* talk_begin(o, text): Say it, as who says things in this thread. */
struct talk *talk_begin(const struct owner *o, const char *text);

/*
 * talk_end(t, status):
 * Wait for the answer, which the caller frees; status 0: none came.
 */
json_t *talk_end(struct talk *t, int *status);

#endif /* !TESTKIT_STACK_TALK_H */
