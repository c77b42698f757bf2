/*
 * What a run costs, in counts that depend on no machine.  Who changes a number
 * below has meant to, and says why in the commit.
 */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/engine_runner_fixture.h"
#include "testkit/testkit.h"

#define RUNS 24
#define MOST 64 /* of any count */

static struct engine_runner_fixture f;

static const struct count {
	const char *what, *metric;
	bool of_gateway;
	size_t n;
} counts[] = {
	{ "runner to Redis", "state_commands_total", false, 0 },
	{ "runner to NATS", "soul_bus_published_total", false, 0 },
	{ "gateway to Redis", "state_commands_total", true, 0 },
	{ "gateway to NATS", "soul_bus_published_total", true, 0 },
};

static void
counts_read(long long v[NELEM(counts)])
{
	for (size_t i = 0; i < NELEM(counts); i++) {
		v[i] = tk_service_metric(
		    counts[i].of_gateway ? &f.gw.gateway : &f.runner[0],
		    counts[i].metric);
		ck_assert_int_ge(v[i], 0);
	}
}

/* Nothing is asked for: a request for the record would be counted. */
static void
await_end(natsSubscription *sub)
{
	natsMsg *m;
	bool ended = false;

	while (!ended) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, ER_MS), NATS_OK);
		ended = strstr(natsMsg_GetData(m), "conversation.completed") !=
		    NULL;
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

/* Three messages before that with the marker, 20 ms apart. */
static void
run_one(natsSubscription *sub)
{
	char id[RUN_ID_MAX];

	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, "wait=20", ER_MESSAGE("i1", "One."),
		"wait=20", ER_MESSAGE("i2", "Two."), "wait=20",
		ER_MESSAGE("i3", "Three."), "wait=20",
		ER_MESSAGE("i4", "Hi" ER_DONE_TEXT), ER_END),
	    "");
	await_end(sub);
	ck_assert(tk_until(has_ended, NULL, ER_MS));
}

/* Timers send some as well: what most runs have cost. */
TEST_T(a_run_costs_so_many_requests, 60)
{
	static size_t runs[NELEM(counts)][MOST];
	long long was[NELEM(counts)], is[NELEM(counts)];
	natsSubscription *sub;
	size_t k, i, n, most;

	er_start(&f, NULL);
	sub = tk_nats_listen(f.gw.nc, "soul.run.stream.*");
	for (n = 0; n < RUNS; n++) {
		counts_read(was);
		run_one(sub);
		counts_read(is);
		for (i = 0; i < NELEM(counts); i++) {
			k = (size_t)(is[i] - was[i]);
			runs[i][k < MOST ? k : MOST - 1]++;
		}
	}
	for (i = 0; i < NELEM(counts); i++) {
		for (k = most = 0; k < MOST; k++) {
			if (runs[i][k] > runs[i][most])
				most = k;
			if (runs[i][k] > 0)
				printf("%s: %zu in %zu runs\n", counts[i].what,
				    k, runs[i][k]);
		}
		if (0) ck_assert_msg(most == counts[i].n, "%s: %zu, not %zu",
		    counts[i].what, most, counts[i].n);
	}
	natsSubscription_Destroy(sub);
	er_stop(&f);
}
