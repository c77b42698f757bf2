/*
 * state: making and freeing; single commands and scripts as pipelines of one.
 */
#include "state/state.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/mem.h"
#include "state/own.h"
#include "state/pipe.h"

static void
make_metrics(struct state *s, struct metric_set *m)
{
	s->m_up =
	    metric_gauge(m, "state_up", "Whether Redis is connected.", NULL);
	s->m_connects = metric_counter(
	    m, "state_connects_total", "Connections made to Redis.", NULL);
	s->m_calls = metric_counter(m, "state_commands_total",
	    "Commands that were to be executed by Redis.", NULL);
	s->m_failures = metric_counter(
	    m, "state_failures_total", "Commands without an answer.", NULL);
	s->m_refusals = metric_counter(m, "state_refusals_total",
	    "Commands that Redis answered with an error.", NULL);
	s->m_seconds = metric_histogram(m, "state_call_seconds",
	    "Round trip of a command or pipeline that was sent.", NULL);
}

enum rc
state_new(const struct state_opts *o, struct state **out)
{
	struct state *s = mem_zalloc(sizeof(*s));
	enum rc rc;

	*out = NULL;
	make_metrics(s, o->metrics);
	rc = state_link_start(o, s);
	if (rc != RC_OK) {
		free(s);
		return rc;
	}
	s->single = state_pipe_new(s, 1);
	*out = s;
	return RC_OK;
}

void
state_free(struct state *s)
{
	if (s == NULL)
		return;
	state_link_stop(s);
	state_pipe_free(s->single);
	free(s);
}

bool
state_up(const struct state *s)
{
	return atomic_load(&s->up);
}

enum rc
state_cmd(
    struct state *s, const struct str *args, size_t n, struct state_reply **out)
{
	enum rc rc;

	if (out != NULL)
		*out = NULL;
	rc = state_pipe_cmd(s->single, args, n);
	return rc == RC_OK ? pipe_run_single(s->single, out) : rc;
}

enum rc
state_eval(
    struct state *s, const struct state_call *c, struct state_reply **out)
{
	enum rc rc;

	if (out != NULL)
		*out = NULL;
	rc = state_pipe_eval(s->single, c);
	return rc == RC_OK ? pipe_run_single(s->single, out) : rc;
}
