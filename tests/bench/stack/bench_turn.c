/*
 * A turn: turns per second, latency and what it costs all processes, by turns
 * in flight, orchestrators, length of the session, users, and a slow disk;
 * beside the bare pair of the same moment (testkit/stack/bare.h).
 *
 * Counts depend on no machine; tests/e2e/cost asserts them.  Times only compare
 * with each other.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/stack/bare.h"
#include "testkit/stack/census.h"
#include "testkit/stack/turns.h"
#include "testkit/throttle.h"

#define ORCHESTRATORS 4
/* Of most measurements; one user's turns wait for each other's emotions. */
#define USERS      16
#define MANY_USERS 100
#define BODIES     "BODY_COUNT=100"
#define BARE_TURNS 1000
#define WARM_UP    100
#define TRACED     100 /* turns */

static struct stack st;

/* What is measured beside the turns. */
struct row {
	struct census *census;
	bool processes; /* print them all */
};

static const int in_flight[] = { 1, 8, 64, 256 };

static int
turns_for(int n)
{
	return n == 1 ? 300 : n < 64 ? 800 : 2500;
}

static void
head(const char *what)
{
	printf("%s\n"
	       "  %-34s %7s %7s %7s %7s %6s %6s  %7s %7s %6s %6s %6s\n",
	    what, "", "turns/s", "p10 ms", "p50", "p99", "x bare", "rate x",
	    "CPU us", "switch", "redis", "fsync", "NATS");
}

/* Its system calls, in a run of their own: counting them takes time. */
static void
count_syscalls(struct census *c, struct turns_plan p, struct census_figures *f)
{
	struct census_figures from, to;

	p.n = p.in_flight > TRACED ? p.in_flight : TRACED;
	if (!census_trace(c))
		return;
	census_read(c, &from);
	turns_run(&st, &p, NULL);
	census_read(c, &to);
	census_trace_end(c);
	to = census_cost(&from, &to, p.n);
	memcpy(f->syscalls, to.syscalls, sizeof(f->syscalls));
}

/* Run a plan and print its line: times, those of bare, and its costs. */
static void
measure(const struct row *r, const char *what, const struct turns_plan *p)
{
	struct census_figures from, to;
	struct turns_times bare, t;
	struct census_sum s;

	bare_run(&st, BARE_TURNS, p->in_flight, &bare);
	census_read(r->census, &from);
	turns_run(&st, p, &t);
	census_read(r->census, &to);
	to = census_cost(&from, &to, p->n);
	s = census_sum(r->census, &to);
	printf("  %-34s %7.0f %7.2f %7.2f %7.2f %6.1f %6.3f  %7.0f %7.1f "
	       "%6.2f %6.2f %6.2f\n",
	    what, t.per_s, t.p10_ms, t.p50_ms, t.p99_ms, t.p10_ms / bare.p10_ms,
	    t.per_s / bare.per_s, s.cpu_us, s.switches, to.redis, to.fsyncs,
	    to.nats);
	printf("  %-34s %7.0f %7.2f %7.2f %7.2f\n", "  bare", bare.per_s,
	    bare.p10_ms, bare.p50_ms, bare.p99_ms);
	if (r->processes) {
		count_syscalls(r->census, *p, &to);
		census_print(r->census, &to);
	}
	(void)fflush(stdout);
}

static void
start(void)
{
	static const struct stack_opts o = { .no_capture = true,
		.metered = true,
		.env = { [STACK_MQTT_BRIDGE] = { TURNS_BRIDGE_ENV },
		    [STACK_LLM_ORCHESTRATOR] = { "REDIS_TIMEOUT_MS=5000" },
		    [STACK_EMOTION_ENGINE] = { "REDIS_TIMEOUT_MS=5000" },
		    [STACK_CHAT_GATEWAY] = { "REDIS_TIMEOUT_MS=5000",
			"HTTP_WORKERS=512" },
		    [STACK_BODY_SIM] = { BODIES } } };

	stack_start(&st, &o);
}

/* A row of each number in flight. */
static void
measure_each(const struct row *r, const char *text, bool http)
{
	static int number;
	char session[32], what[64];
	size_t i;

	for (i = 0; i < NELEM(in_flight); i++) {
		struct turns_plan p = { .text = text,
			.n = turns_for(in_flight[i]),
			.in_flight = in_flight[i],
			.users = USERS,
			.session = session,
			.http = http };

		snprintf(session, sizeof(session), "e%d", number++);
		snprintf(what, sizeof(what), "%d in flight", p.in_flight);
		measure(r, what, &p);
	}
}

static void
warm_up(int users)
{
	struct turns_plan p = { .text = TURNS_DIRECT,
		.n = WARM_UP,
		.in_flight = 8,
		.session = "warm" };

	turns_bind(&st, users);
	turns_run(&st, &p, NULL);
}

TEST_T(turns_by_number_in_flight_and_orchestrators, 1200)
{
	static struct stack_proc more[ORCHESTRATORS];
	struct row r = { .processes = true };
	char what[64];
	int n = 1;

	start();
	warm_up(USERS);
	r.census = census_new(&st);
	head("by the model, one orchestrator");
	measure_each(&r, TURNS_MODEL, false);
	for (;;) {
		snprintf(what, sizeof(what), "direct, %d orchestrator(s)", n);
		head(what);
		measure_each(&r, TURNS_DIRECT, false);
		if (n == ORCHESTRATORS)
			break;
		/* 1, 2, 4 */
		for (int end = 2 * n; n < end; n++) {
			snprintf(
			    what, sizeof(what), "llm-orchestrator-%d", n + 1);
			stack_spawn(
			    &st, STACK_LLM_ORCHESTRATOR, &more[n], what);
			stack_wait_ready(&more[n]);
			census_add(r.census, what, &more[n]);
		}
	}
	for (n = 1; n < ORCHESTRATORS; n++) {
		tk_signal(&more[n].proc, SIGTERM);
		ck_assert_int_eq(tk_wait(&more[n].proc, STACK_MS), 0);
	}
	census_free(r.census);
	ck_assert_ptr_null(stack_end(&st));
}

/*
 * Of a core for each orchestrator, so that nothing else is the limit; and
 * enough turns that none of them waits for one: each step of a turn waits until
 * its orchestrator runs.
 */
#define SHARE_PERCENT   10
#define SHARE_ROUNDS    3
#define SHARE_IN_FLIGHT 256

static double
run_shared(int n, int round)
{
	char session[32];
	struct turns_plan p = { .text = TURNS_DIRECT,
		.n = turns_for(SHARE_IN_FLIGHT),
		.in_flight = SHARE_IN_FLIGHT,
		.users = USERS,
		.session = session };
	struct turns_times t;

	snprintf(session, sizeof(session), "o%d-%d", n, round);
	turns_run(&st, &p, &t);
	printf("  %d orchestrator(s), %d %% of a core each: %.0f turns/s, "
	       "p50 %.1f ms\n",
	    n, SHARE_PERCENT, t.per_s, t.p50_ms);
	(void)fflush(stdout);
	return t.per_s;
}

TEST_T(orchestrators_share_the_turns, 600)
{
	struct stack_proc *one = &st.service[STACK_LLM_ORCHESTRATOR];
	static struct stack_proc more;
	double single[SHARE_ROUNDS], both[SHARE_ROUNDS];
	struct tk_throttle *t[2];
	int i;

	start();
	warm_up(USERS);
	printf("direct, %d in flight\n", SHARE_IN_FLIGHT);
	for (i = 0; i < SHARE_ROUNDS; i++) {
		t[0] = tk_throttle_start(one->proc.pid, SHARE_PERCENT);
		single[i] = run_shared(1, i);
		stack_spawn(
		    &st, STACK_LLM_ORCHESTRATOR, &more, "llm-orchestrator-2");
		stack_wait_ready(&more);
		t[1] = tk_throttle_start(more.proc.pid, SHARE_PERCENT);
		both[i] = run_shared(2, i);
		tk_throttle_end(t[0]);
		tk_throttle_end(t[1]);
		tk_signal(&more.proc, SIGTERM);
		ck_assert_int_eq(tk_wait(&more.proc, STACK_MS), 0);
	}
	printf("  two / one: %.2f\n",
	    tk_median(both, SHARE_ROUNDS) / tk_median(single, SHARE_ROUNDS));
	ck_assert_ptr_null(stack_end(&st));
}

TEST_T(turns_through_the_gateway, 600)
{
	struct row r = { .processes = true };

	start();
	warm_up(USERS);
	r.census = census_new(&st);
	head("direct, over HTTP");
	measure_each(&r, TURNS_DIRECT, true);
	census_free(r.census);
	ck_assert_ptr_null(stack_end(&st));
}

/* Of each kind about as many turns; each turn is two messages. */
static const struct length {
	int messages, sessions, turns;
} lengths[] = {
	{ 2, 50, 50 },
	{ 40, 10, 50 },
	{ 80, 5, 50 },
	{ 2000, 1, 50 },
};

TEST_T(turns_by_length_of_the_session, 600)
{
	struct row r = { .processes = false };
	char session[32], what[64];
	size_t i, k;

	start();
	warm_up(USERS);
	r.census = census_new(&st);
	head("one in flight, by length of the session");
	for (i = 0; i < NELEM(lengths); i++) {
		const struct length *l = &lengths[i];
		struct turns_plan p = { .text = TURNS_DIRECT,
			.n = l->messages / 2 * l->sessions,
			.in_flight = l->sessions < 8 ? l->sessions : 8,
			.sessions = l->sessions,
			.session = session };

		snprintf(session, sizeof(session), "l%d", l->messages);
		turns_run(&st, &p, NULL);
		for (k = 0; k < 2; k++) {
			p.n = l->turns;
			p.in_flight = 1;
			p.text = k == 0 ? TURNS_DIRECT : TURNS_MODEL;
			snprintf(what, sizeof(what), "%s, %d messages",
			    k == 0 ? "direct" : "by the model", l->messages);
			measure(&r, what, &p);
		}
	}
	census_free(r.census);
	ck_assert_ptr_null(stack_end(&st));
}

TEST_T(turns_by_number_of_users, 600)
{
	struct row r = { .processes = false };
	char session[32], what[64];
	int users;

	start();
	warm_up(MANY_USERS);
	r.census = census_new(&st);
	head("direct, 64 in flight, by users with a soul and a body each");
	for (users = 1; users <= MANY_USERS; users *= 10) {
		struct turns_plan p = { .text = TURNS_DIRECT,
			.n = turns_for(64),
			.in_flight = 64,
			.users = users,
			.sessions = 200,
			.session = session };

		snprintf(session, sizeof(session), "u%d", users);
		snprintf(what, sizeof(what), "%d users", users);
		measure(&r, what, &p);
	}
	census_free(r.census);
	ck_assert_ptr_null(stack_end(&st));
}

#define SLOW_US 2000

TEST_T(turns_with_a_slow_disk, 600)
{
	struct row r = { .processes = false };

	start();
	warm_up(USERS);
	r.census = census_new(&st);
	atomic_store(&st.meter->fsync_us, SLOW_US);
	head("direct, an fsync takes 2 ms more");
	measure_each(&r, TURNS_DIRECT, false);
	atomic_store(&st.meter->fsync_us, 0);
	census_free(r.census);
	ck_assert_ptr_null(stack_end(&st));
}
