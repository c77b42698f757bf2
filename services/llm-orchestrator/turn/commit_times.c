/*
 * While one pipeline runs, the other is filled.
 */
#include "turn/commit_times.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "state/state.h"
#include "state/turn.h"

struct commit_times {
	struct state_pipe *filling, *running;
	size_t n; /* in the former */
	bool flushing;
};

struct commit_times *
commit_times_new(struct state *s)
{
	struct commit_times *c = mem_zalloc(sizeof(*c));

	c->filling = state_pipe_new(s, COMMIT_TIMES_MAX);
	c->running = state_pipe_new(s, COMMIT_TIMES_MAX);
	return c;
}

void
commit_times_free(struct commit_times *c)
{
	if (c == NULL)
		return;
	state_pipe_free(c->filling);
	state_pipe_free(c->running);
	free(c);
}

void
commit_times_add(struct commit_times *c, const struct turn_slot *p, int64_t us)
{
	if (turn_put_commit_time(c->filling, p->key.user_id, p->turn_id, us) ==
	    RC_OK)
		c->n++;
}

void
commit_times_flush(struct commit_times *c)
{
	struct state_pipe *pipe = c->filling;
	enum rc rc;

	if (c->n == 0 || c->flushing)
		return;
	c->flushing = true;
	c->filling = c->running;
	c->running = pipe;
	c->n = 0;
	rc = state_pipe_run(pipe);
	if (rc != RC_OK)
		log_debug("turn.commit_times_lost", LOG_RC(rc));
	c->flushing = false;
}
