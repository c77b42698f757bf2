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

static struct engine_runner_fixture f;

enum { COUNT_REDIS, COUNT_RUNNER, COUNT_GATEWAY, COUNTS_N };

static const struct count {
	const char *what;
	size_t n;
} counts[COUNTS_N] = {
	/*
	 * Create, read, queue; read, claim.  Events: the start, each message,
	 * the end.  Out of the queue.
	 */
	[COUNT_REDIS] = { "commands to Redis with the run's id", 12 },
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
await_event(natsSubscription *sub, const char *text)
{
	bool is = false;
	natsMsg *m;

	while (!is) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, ER_MS), NATS_OK);
		is = strstr(natsMsg_GetData(m), text) != NULL;
		natsMsg_Destroy(m);
	}
}

/* What the engine awaits before it prints more. */
static void
let_go_on(const char *id)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/runs-r1/%s/workspace/work/go",
	    tk_dir(), id);
	tk_write_file(path, "");
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

/*
 * Three messages before the one with the marker.  Each is published before the
 * engine prints the next, and what is one write is read at once, so that no
 * load makes one request of two, or two of one.
 */
static void
run_one(natsSubscription *sub, natsSubscription *ends, char id[RUN_ID_MAX])
{
	er_begin(&f, id,
	    ER_STEPS("await=go", "hold", ER_THREAD, ER_TURN,
		ER_MESSAGE("i1", "One."), "release", "await=go",
		ER_MESSAGE("i2", "Two."), "await=go",
		ER_MESSAGE("i3", "Three."), "await=go", "hold",
		ER_MESSAGE("i4", "Hi" ER_DONE_TEXT), ER_END, "release"),
	    "");
	await_event(sub, "conversation.started");
	let_go_on(id);
	for (int i = 0; i < 3; i++) {
		await_event(sub, "assistant.message.final");
		let_go_on(id);
	}
	await_event(sub, "conversation.completed");
	await_event(ends, id);
	ck_assert(tk_until(has_ended, NULL, ER_MS));
}

/* The least that a run has cost: timers send some as well. */
TEST_T(a_run_costs_so_many_requests, 60)
{
	size_t cost[COUNTS_N], least[COUNTS_N], i, n;
	redisContext *monitor;
	natsSubscription *sub, *ends;
	char id[RUN_ID_MAX], mark[32];

	for (i = 0; i < COUNTS_N; i++)
		least[i] = SIZE_MAX;
	er_start(&f, NULL);
	sub = tk_nats_listen(f.gw.nc, "soul.run.stream.*");
	ends = tk_nats_listen(f.gw.nc, "soul.event.run_ended.*");
	monitor = monitor_begin();
	for (n = 0; n < RUNS; n++) {
		cost[COUNT_RUNNER] = (size_t)published(&f.runner[0]);
		cost[COUNT_GATEWAY] = (size_t)published(&f.gw.gateway);
		run_one(sub, ends, id);
		cost[COUNT_RUNNER] =
		    (size_t)published(&f.runner[0]) - cost[COUNT_RUNNER];
		cost[COUNT_GATEWAY] =
		    (size_t)published(&f.gw.gateway) - cost[COUNT_GATEWAY];
		snprintf(mark, sizeof(mark), "run-%zu-is-over", n);
		cost[COUNT_REDIS] = monitor_count_run(monitor, id, mark);
		for (i = 0; i < COUNTS_N; i++)
			if (cost[i] < least[i])
				least[i] = cost[i];
	}
	for (i = 0; i < COUNTS_N; i++) {
		printf("%s: %zu\n", counts[i].what, least[i]);
		ck_assert_msg(least[i] == counts[i].n, "%s: %zu, not %zu",
		    counts[i].what, least[i], counts[i].n);
	}
	redisFree(monitor);
	natsSubscription_Destroy(sub);
	natsSubscription_Destroy(ends);
	er_stop(&f);
}
