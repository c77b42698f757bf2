/*
 * What a run costs, in counts that depend on no machine.  Who changes a number
 * below has meant to, and says why in the commit.
 */
#include <hiredis/hiredis.h>
#include <nats/nats.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/engine_runner_fixture.h"
#include "testkit/testkit.h"

#define RUNS 24
#define MOST 64 /* of any count */

static struct engine_runner_fixture f;

enum { COUNT_REDIS, COUNT_RUNNER, COUNT_GATEWAY, COUNTS_N };

static const struct count {
	const char *what;
	size_t n;
} counts[COUNTS_N] = {
	/*
	 * Create, read, queue; read, claim.  Events: the start, what the engine
	 * prints first, each message, the end.  Out of the queue.
	 */
	[COUNT_REDIS] = { "commands to Redis with the run's id", 13 },
	/* Six events, wake, reply, end; the start. */
	[COUNT_RUNNER] = { "runner to NATS", 9 },
	[COUNT_GATEWAY] = { "gateway to NATS", 2 },
};

/* ---- Redis ---- */

/* Commands that name the run, without those of scripts, up to the mark. */
static size_t
monitor_count_run(redisContext *monitor, const char *id, const char *mark)
{
	size_t n = 0;
	bool last = false;

	ck_assert_int_eq(
	    state_cmd(f.gw.db.s, STATE_ARGS(STR("ECHO"), str_of(mark)), NULL),
	    RC_OK);
	while (!last) {
		redisReply *r;

		ck_assert_int_eq(redisGetReply(monitor, (void **)&r), REDIS_OK);
		last = strstr(r->str, mark) != NULL;
		n += strstr(r->str, id) != NULL &&
		    strstr(r->str, " lua] ") == NULL;
		freeReplyObject(r);
	}
	return n;
}

static redisContext *
monitor_begin(void)
{
	redisContext *c = redisConnect("127.0.0.1", f.gw.redis.port);
	redisReply *r;

	ck_assert(c != NULL && c->err == 0);
	r = redisCommand(c, "MONITOR");
	ck_assert_ptr_nonnull(r);
	freeReplyObject(r);
	return c;
}

/* ---- runs ---- */

/* No record is asked for: such requests would be counted. */
static void
await_completed(natsSubscription *sub)
{
	bool completed = false;
	natsMsg *m;

	while (!completed) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, ER_MS), NATS_OK);
		completed = strstr(natsMsg_GetData(m),
				"conversation.completed") != NULL;
		natsMsg_Destroy(m);
	}
}

static bool
has_ended(void *arg)
{
	(void)arg;
	return tk_service_metric(
		   &f.runner[0], "soul_runs{state=\"running\"}") == 0;
}

static long long
published(const struct tk_service *s)
{
	long long n = tk_service_metric(s, "soul_bus_published_total");

	ck_assert_int_ge(n, 0);
	return n;
}

/* Three messages before the one with the marker, not at the same time. */
static void
run_one(natsSubscription *sub, char id[RUN_ID_MAX])
{
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, "wait=30", ER_MESSAGE("i1", "One."),
		"wait=30", ER_MESSAGE("i2", "Two."), "wait=30",
		ER_MESSAGE("i3", "Three."), "wait=30",
		ER_MESSAGE("i4", "Hi" ER_DONE_TEXT), ER_END),
	    "");
	await_completed(sub);
	ck_assert(tk_until(has_ended, NULL, ER_MS));
}

/* What most runs have cost: timers send some as well. */
TEST_T(a_run_costs_so_many_requests, 60)
{
	static size_t runs[COUNTS_N][MOST];
	size_t cost[COUNTS_N], i, k, n, most;
	redisContext *monitor;
	natsSubscription *sub;
	char id[RUN_ID_MAX], mark[32];

	er_start(&f, NULL);
	sub = tk_nats_listen(f.gw.nc, "soul.run.stream.*");
	monitor = monitor_begin();
	for (n = 0; n < RUNS; n++) {
		cost[COUNT_RUNNER] = (size_t)published(&f.runner[0]);
		cost[COUNT_GATEWAY] = (size_t)published(&f.gw.gateway);
		run_one(sub, id);
		cost[COUNT_RUNNER] =
		    (size_t)published(&f.runner[0]) - cost[COUNT_RUNNER];
		cost[COUNT_GATEWAY] =
		    (size_t)published(&f.gw.gateway) - cost[COUNT_GATEWAY];
		snprintf(mark, sizeof(mark), "run-%zu-is-over", n);
		cost[COUNT_REDIS] = monitor_count_run(monitor, id, mark);
		for (i = 0; i < COUNTS_N; i++)
			runs[i][cost[i] < MOST ? cost[i] : MOST - 1]++;
	}
	for (i = 0; i < COUNTS_N; i++) {
		for (k = most = 0; k < MOST; k++)
			if (runs[i][k] > runs[i][most])
				most = k;
		printf("%s: %zu in %zu of %d runs\n", counts[i].what, most,
		    runs[i][most], RUNS);
		ck_assert_msg(most == counts[i].n, "%s: %zu, not %zu",
		    counts[i].what, most, counts[i].n);
	}
	redisFree(monitor);
	natsSubscription_Destroy(sub);
	er_stop(&f);
}
