/*
 * What a turn costs, in counts that depend on no machine.  Who changes a number
 * below has meant to, and says why in the commit.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/service.h"
#include "testkit/stack/census.h"
#include "testkit/stack/monitor.h"
#include "testkit/stack/turns.h"

STACK_SHARED({ .no_capture = true,
    .metered = true,
    .env = { [STACK_MQTT_BRIDGE] = { TURNS_BRIDGE_ENV },
	[STACK_LLM_ORCHESTRATOR] = { "REDIS_TIMEOUT_MS=5000" },
	[STACK_EMOTION_ENGINE] = { "REDIS_TIMEOUT_MS=5000" },
	[STACK_BODY_SIM] = { "BODY_COUNT=16" } } })

/* ---- one turn at a time ---- */

#define WARM_UP 10
#define TURNS   40
/* Longer sessions are summarised. */
#define SESSION_TURNS 10
#define MOST          64 /* of any count */

static const char *const timers[] = {
	"soul:ticks:", "soul:lease:", "soul:idle:", "soul:timers:", NULL
};

/* Where a count is taken. */
enum source {
	SOURCE_REDIS, /* commands of a service to Redis */
	SOURCE_FSYNC, /* of Redis */
	SOURCE_NATS,  /* messages of all clients, the test's request included */
	SOURCE_SERVICE /* NATS messages of a service, events included */
};

static const struct count {
	enum source source;
	enum stack_service service;
	const char *what;
	size_t direct, model;
} counts[] = {
	/* Slot with input; no action, soul, history; end; after it, its
	 * details.
	 */
	{ SOURCE_REDIS, STACK_LLM_ORCHESTRATOR, "orchestrator to Redis", 3, 6 },
	{ SOURCE_REDIS, STACK_EMOTION_ENGINE, "emotion-engine to Redis", 1, 1 },
	{ SOURCE_REDIS, STACK_MQTT_BRIDGE, "mqtt-bridge to Redis", 0, 0 },
	{ SOURCE_REDIS, STACK_MEMORY_WORKER, "memory-worker to Redis", 0, 0 },
	{ SOURCE_FSYNC, 0, "fsyncs of Redis", 4, 5 },
	{ SOURCE_NATS, 0, "NATS messages", 14, 11 },
	{ SOURCE_SERVICE, STACK_LLM_ORCHESTRATOR, "orchestrator to NATS", 8,
	    6 },
	{ SOURCE_SERVICE, STACK_EMOTION_ENGINE, "emotion-engine to NATS", 3,
	    3 },
	{ SOURCE_SERVICE, STACK_MQTT_BRIDGE, "mqtt-bridge to NATS", 1, 0 },
	{ SOURCE_SERVICE, STACK_INTENT_FILTER, "intent-filter to NATS", 1, 1 },
	{ SOURCE_SERVICE, STACK_MEMORY_WORKER, "memory-worker to NATS", 0, 0 },
};

struct count_sample {
	struct monitor *monitor;
	long long v[NELEM(counts)];
	double changed_ns; /* when it was last seen to change */
};

static void
read_counts(struct count_sample *r)
{
	struct tk_service s = { 0 };
	size_t i;

	monitor_read(r->monitor);
	for (i = 0; i < NELEM(counts); i++) {
		s.admin = stack.service[counts[i].service].admin;
		switch (counts[i].source) {
		case SOURCE_REDIS:
			r->v[i] = (long long)monitor_count(
			    r->monitor, stack_name(counts[i].service));
			break;
		case SOURCE_FSYNC:
			r->v[i] = (long long)stack.meter->fsyncs;
			break;
		case SOURCE_NATS:
			r->v[i] = census_nats(&stack);
			break;
		case SOURCE_SERVICE:
			r->v[i] =
			    tk_service_metric(&s, "soul_bus_published_total");
			ck_assert_int_ge(r->v[i], 0);
			break;
		}
	}
}

/* Events are collected for 10 ms before they are sent. */
#define STEADY_NS 40e6

/* What follows a turn has been sent: nothing has changed for a while. */
static bool
is_steady(void *arg)
{
	struct count_sample *r = arg;
	long long was[NELEM(counts)];

	memcpy(was, r->v, sizeof(was));
	read_counts(r);
	if (memcmp(was, r->v, sizeof(was)) != 0)
		r->changed_ns = tk_now_ns();
	return tk_now_ns() - r->changed_ns >= STEADY_NS;
}

static void
wait_steady(struct count_sample *r)
{
	r->changed_ns = tk_now_ns();
	(void)tk_until(is_steady, r, 500);
}

/* What most turns have cost: timers send some as well. */
static void
measure(const char *text, const char *what, size_t cost[NELEM(counts)])
{
	static size_t turns[NELEM(counts)][MOST];
	char session[32];
	struct turns_plan one = {
		.text = text, .n = 1, .in_flight = 1, .session = session
	};
	struct count_sample r = { .monitor = monitor_new(&stack, timers) };
	long long before[NELEM(counts)];
	size_t i, k, n;

	memset(turns, 0, sizeof(turns));
	for (n = 0; n < TURNS; n++) {
		snprintf(
		    session, sizeof(session), "%s%zu", what, n / SESSION_TURNS);
		wait_steady(&r);
		memcpy(before, r.v, sizeof(before));
		turns_run(&stack, &one, NULL);
		wait_steady(&r);
		for (i = 0; i < NELEM(counts); i++) {
			k = (size_t)(r.v[i] - before[i]);
			turns[i][k < MOST ? k : MOST - 1]++;
		}
	}
	for (i = 0; i < NELEM(counts); i++) {
		for (cost[i] = k = 0; k < MOST; k++)
			if (turns[i][k] > turns[i][cost[i]])
				cost[i] = k;
	}
	monitor_free(r.monitor);
}

static void
warm_up(int users)
{
	struct turns_plan p = { .text = TURNS_DIRECT,
		.n = WARM_UP,
		.in_flight = 1,
		.session = "warm" };

	turns_bind(&stack, users);
	turns_run(&stack, &p, NULL);
}

/* Of a kind of turn, in the order of counts. */
struct turn_costs {
	size_t direct[NELEM(counts)], model[NELEM(counts)];
};

static void
costs_measure(const char *what, struct turn_costs *c)
{
	char session[2][24];
	size_t i;

	snprintf(session[0], sizeof(session[0]), "direct%s", what);
	snprintf(session[1], sizeof(session[1]), "model%s", what);
	measure(TURNS_DIRECT, session[0], c->direct);
	measure(TURNS_MODEL, session[1], c->model);
	for (i = 0; i < NELEM(counts); i++)
		printf("%s: %zu direct, %zu by the model\n", counts[i].what,
		    c->direct[i], c->model[i]);
	(void)fflush(stdout);
}

TEST_T(a_turn_costs_what_is_listed, 120)
{
	struct turn_costs c;
	size_t i;

	warm_up(1);
	costs_measure("", &c);
	for (i = 0; i < NELEM(counts); i++) {
		ck_assert_msg(c.direct[i] == counts[i].direct,
		    "%s: %zu in a direct turn", counts[i].what, c.direct[i]);
		ck_assert_msg(c.model[i] == counts[i].model,
		    "%s: %zu in a turn by the model", counts[i].what,
		    c.model[i]);
	}
}

TEST_T(a_turn_costs_the_same_without_alarm_clock, 120)
{
	struct turn_costs beside, without;
	struct stack_proc alarm_clock;
	size_t i;

	warm_up(1);
	stack_spawn_alarm_clock(&stack, &alarm_clock);
	stack_wait_ready(&alarm_clock);
	costs_measure("beside", &beside);
	tk_signal(&alarm_clock.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&alarm_clock.proc, STACK_MS), 0);
	costs_measure("without", &without);
	for (i = 0; i < NELEM(counts); i++) {
		ck_assert_msg(without.direct[i] == beside.direct[i],
		    "%s: %zu, not %zu, in a direct turn", counts[i].what,
		    without.direct[i], beside.direct[i]);
		ck_assert_msg(without.model[i] == beside.model[i],
		    "%s: %zu, not %zu, in a turn by the model", counts[i].what,
		    without.model[i], beside.model[i]);
	}
}

/* ---- all processes ---- */

#define ALONE      100
#define MANY_TURNS 1000
#define MANY       64
/* One user's turns wait for each other's emotions. */
#define MANY_USERS 16

/* Twice the target: machines batch differently. */
#define FSYNCS_MAX      1.0
#define FSYNCS_TARGET   0.5
#define SWITCHES_MAX    80
#define SWITCHES_TARGET 40
#define SYSCALLS_MAX    700
#define SYSCALLS_TARGET 350

/* Sanitizers have system calls and locks of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static void
check_cost(const char *what, double cost, double max, double target)
{
	printf("%s: %.2f a turn; target %.1f\n", what, cost, target);
	(void)fflush(stdout);
	ck_assert_msg(SANITIZED || cost <= max, "%s: %.2f a turn", what, cost);
}

/* The cost of direct turns, n in flight at a time. */
static struct census_sum
count_costs(struct census *c, int n, int in_flight, double *fsyncs)
{
	struct turns_plan p = { .text = TURNS_DIRECT,
		.n = n,
		.in_flight = in_flight,
		.users = in_flight == 1 ? 1 : MANY_USERS,
		.session = in_flight == 1 ? "alone" : "many" };
	struct census_figures before, after;

	census_read(c, &before);
	turns_run(&stack, &p, NULL);
	census_read(c, &after);
	after = census_cost(&before, &after, n);
	*fsyncs = after.fsyncs;
	return census_sum(c, &after);
}

TEST_T(fsyncs_and_switches_stay_within_their_limits, 120)
{
	struct census *c = census_new(&stack);
	struct census_sum many;
	double fsyncs;

	warm_up(MANY_USERS);
	many = count_costs(c, MANY_TURNS, MANY, &fsyncs);
	check_cost("fsyncs, 64 in flight", fsyncs, FSYNCS_MAX, FSYNCS_TARGET);
	check_cost("voluntary switches, 64 in flight", many.switches,
	    SWITCHES_MAX, SWITCHES_TARGET);
	census_free(c);
}

TEST_T(system_calls_stay_within_their_limit, 120)
{
	struct census_sum alone;
	struct census *c;
	double fsyncs;

	warm_up(1);
	c = census_new(&stack);
	if (!census_trace(c)) {
		printf("system calls: the kernel lets only root count them\n");
	} else {
		alone = count_costs(c, ALONE, 1, &fsyncs);
		check_cost("system calls, 1 in flight", alone.syscalls,
		    SYSCALLS_MAX, SYSCALLS_TARGET);
	}
	census_free(c);
}
