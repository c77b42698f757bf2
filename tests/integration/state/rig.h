/*
 * rig: a loop, workers and a struct state against a real Redis.
 */
#ifndef STATE_RIG_H
#define STATE_RIG_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "state/state.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define RIG_MS 20000

struct rig {
	struct tk_server redis;
	struct loop *loop;
	struct worker_pool *workers;
	struct metric_set *metrics;
	struct state *s;
};

static bool
rig_up(void *arg)
{
	return state_up(arg);
}

static bool
rig_down(void *arg)
{
	return !state_up(arg);
}

/* Wait until r->s is connected. */
static inline void
rig_wait_up(struct rig *r)
{
	ck_assert(tk_loop_until(r->loop, rig_up, r->s, RIG_MS));
}

/* Wait until r->s has noticed that it is not. */
static inline void
rig_wait_down(struct rig *r)
{
	ck_assert(tk_loop_until(r->loop, rig_down, r->s, RIG_MS));
}

/* All but the server and the connection. */
static inline void
rig_bare(struct rig *r)
{
	*r = (struct rig){ 0 };
	r->loop = loop_new(64);
	r->workers = worker_new(r->loop, 1, 16);
	r->metrics = metric_set_new();
}

static inline void
rig_connect(struct rig *r, const char *url, int deadline_ms)
{
	struct state_opts o = { .loop = r->loop,
		.workers = r->workers,
		.url = url,
		.name = "rig",
		.deadline_ms = deadline_ms,
		.metrics = r->metrics };

	ck_assert_int_eq(state_new(&o, &r->s), RC_OK);
}

/*
 * A connected rig.  The deadline is generous, for tests that are not about it
 * and run on slow machines.
 */
static inline void
rig_start(struct rig *r)
{
	rig_bare(r);
	tk_server_start(&r->redis, TK_REDIS);
	rig_connect(r, r->redis.url, 5000);
	rig_wait_up(r);
}

static inline void
rig_end(struct rig *r)
{
	state_free(r->s);
	worker_free(r->workers);
	loop_free(r->loop);
	metric_set_free(r->metrics);
}

/* Run a command whose reply must be the text want; NULL: nil. */
static inline void
rig_expect(struct rig *r, const char *want, const struct str *args, size_t n)
{
	struct state_reply *reply = NULL;
	enum rc rc = state_cmd(r->s, args, n, &reply);

	ck_assert_msg(rc == RC_OK, "%s: %.*s", rc_name(rc),
	    STR_ARG(state_reply_str(reply)));
	if (want == NULL)
		ck_assert_int_eq(state_reply_kind(reply), STATE_NIL);
	else
		ck_assert_str_eq(state_reply_str(reply).p, want);
	state_reply_free(reply);
}

static inline enum rc
rig_ping(struct rig *r)
{
	return state_cmd(r->s, STATE_ARGS(STR("PING")), NULL);
}

static inline int64_t
rig_metric(struct rig *r, const char *name)
{
	return metric_value(metric_counter(r->metrics, name, "", NULL));
}

#endif /* !STATE_RIG_H */
