/*
 * kit_state: a test's own connection to Redis, to make and read records.
 *
 * Its loop runs only while a function here waits; between two calls the test
 * may use k->s.
 */
#ifndef KIT_KIT_STATE_H
#define KIT_KIT_STATE_H

#include "core/arena.h"
#include "core/loop.h"
#include "core/worker.h"
#include "state/state.h"

struct kit_state {
	struct loop *loop;
	struct worker_pool *workers;
	struct state *s;
	struct arena *arena; /* for what is read */
};

/*
 * kit_state_open(k, url): Connect; calls have a generous deadline.
 * kit_state_wait(k): Wait until it is connected, again if Redis was away; both
 * fail the test after 20 s.
 */
void kit_state_open(struct kit_state *k, const char *url);
void kit_state_wait(struct kit_state *k);

/* kit_state_close(k): Free all of it. */
void kit_state_close(struct kit_state *k);

#endif /* !KIT_KIT_STATE_H */
