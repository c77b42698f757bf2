/*
 * tk_state: a test's own connection to Redis, for creating and reading records.
 *
 * Its loop runs only while a function here waits; between two calls the test
 * may use k->s.
 */
#ifndef TESTKIT_STATE_H
#define TESTKIT_STATE_H

#include "core/arena.h"
#include "core/loop.h"
#include "core/worker.h"
#include "state/state.h"

struct tk_state {
	struct loop *loop;
	struct worker_pool *workers;
	struct state *s;
	struct arena *arena; /* for decoded records */
};

/*
 * tk_state_open(k, url): Connect; calls have a generous deadline.
 * tk_state_wait(k): Wait until it is connected, or reconnected after an outage
 * of Redis. Both fail the test after 20 s.
 */
void tk_state_open(struct tk_state *k, const char *url);
void tk_state_wait(struct tk_state *k);

/*
 * tk_state_on_format(arg):
 * For state_opts: a client that writes before services start checks the format
 * of keys, as they do, and sets it; another one fails the test.
 */
void tk_state_on_format(void *arg);

/* tk_state_close(k): Free all of it. */
void tk_state_close(struct tk_state *k);

/* tk_state_soul(k, id, mbti, user): Create a soul; its name is id. */
void tk_state_soul(
    struct tk_state *k, const char *id, const char *mbti, const char *user);

#endif /* !TESTKIT_STATE_H */
