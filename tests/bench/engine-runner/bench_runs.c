/*
 * Runs through the whole service: gateway, runner, shims, a Redis that syncs
 * each write, and nats-server.
 *
 *	lag	from the write of a line by an engine to its event at a
 *		subscriber, which is after it is in the log; beside a bare SET
 *		on the same Redis, one after each event
 *	start	from the request to the first line of the engine, beside
 *		posix_spawn() of the same command
 *	many	100 runs at 1,000 lines/s each, 99 of 100 of them raw: processor
 *		time and memory of the runner, and of its shims; an engine
 *		writes ten lines at a time, then each line by itself
 */
#include <fcntl.h>
#include <nats/nats.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit/engine_runner_fixture.h"
#include "testkit/figures.h"
#include "testkit/testkit.h"

#define STREAMS "soul.run.stream.*"
#define WAIT_MS 10000
#define MARK    "written at "
/* One line of codex with the time at which it is written. */
#define STAMPED                                                 \
	"{\"type\":\"item.completed\",\"item\":{\"id\":\"i1\"," \
	"\"type\":\"agent_message\",\"text\":\"" MARK "@.\"}}"

static struct engine_runner_fixture f;

/* ---- events ---- */

/* When libnats had the last stamped event, and what it says; 0: none yet. */
struct seen {
	_Atomic(int64_t) written_ns, got_ns;
	atomic_size_t n;
};

static struct seen seen;

static void
seen_on_message(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	const char *data = natsMsg_GetData(m);
	const char *at =
	    memmem(data, (size_t)natsMsg_GetDataLength(m), MARK, strlen(MARK));

	(void)nc;
	(void)sub;
	(void)arg;
	if (at != NULL && strstr(data, "message.") != NULL) {
		seen.got_ns = (int64_t)tk_now_ns();
		seen.written_ns = strtoll(at + strlen(MARK), NULL, 10);
		seen.n++;
	}
	natsMsg_Destroy(m);
}

static natsSubscription *
seen_begin(void)
{
	natsSubscription *sub;

	ck_assert_int_eq(natsConnection_Subscribe(
			     &sub, f.gw.nc, STREAMS, seen_on_message, NULL),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(f.gw.nc), NATS_OK);
	return sub;
}

struct seen_wait {
	size_t n;
};

static bool
seen_has(void *arg)
{
	const struct seen_wait *w = arg;

	return seen.n >= w->n;
}

static void
seen_await(size_t n)
{
	struct seen_wait w = { n };

	ck_assert_msg(tk_until(seen_has, &w, WAIT_MS), "no event %zu", n);
}

static void
print_us(const char *name, double *us, size_t n)
{
	tk_sort(us, n);
	printf("%-48s %9.0f %9.0f\n", name, us[n / 2], us[n * 99 / 100]);
}

/* ---- lag ---- */

#define LINES 500

static double
lag_set_us(int i)
{
	double began = tk_now_ns();
	char text[32];

	snprintf(text, sizeof(text), "%d", i);
	ck_assert_int_eq(
	    state_cmd(f.gw.db.s,
		STATE_ARGS(STR("SET"), STR("bench"), str_of(text)), NULL),
	    RC_OK);
	return (tk_now_ns() - began) / 1000;
}

TEST_T(lag_of_an_event, 120)
{
	static double lag[LINES], set[LINES];
	natsSubscription *sub;
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	sub = seen_begin();
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, "pace=20", "burst=500,1,1," STAMPED,
		ER_MESSAGE("i2", "Hi" ER_DONE_TEXT), ER_END),
	    "");
	for (int i = 0; i < LINES; i++) {
		seen_await((size_t)i + 1);
		lag[i] = (double)(seen.got_ns - seen.written_ns) / 1000;
		set[i] = lag_set_us(i);
	}
	er_is(&f, id, "succeeded", NULL);
	tk_print_load();
	printf("%-48s %9s %9s\n", "", "p50 us", "p99 us");
	print_us("a bare SET, synced", set, LINES);
	print_us("line: engine, log, subscriber", lag, LINES);
	printf("p50: 2 x SET + 1 ms is %.0f us\n", 2 * set[LINES / 2] + 1000);
	(void)fflush(stdout);
	natsSubscription_Destroy(sub);
	er_stop(&f);
}

/* ---- start ---- */

#define STARTS 50

/* The same script and player, with the same prompt. */
static double
start_bare_us(void)
{
	static const char prompt[] = "out=x\n---\n";
	char *argv[] = { (char *)(uintptr_t) "/bin/sh",
		(char *)(uintptr_t) "tests/testkit/engine-script",
		(char *)(uintptr_t)tk_bin("engine-play"), NULL };
	char *none[] = { NULL };
	posix_spawn_file_actions_t files;
	double began = tk_now_ns(), took;
	int in[2], out[2];
	char bytes[64];
	pid_t pid;

	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	ck_assert_int_eq(posix_spawn_file_actions_init(&files), 0);
	(void)posix_spawn_file_actions_adddup2(&files, in[0], 0);
	(void)posix_spawn_file_actions_adddup2(&files, out[1], 1);
	ck_assert_int_eq(
	    posix_spawn(&pid, argv[0], &files, NULL, argv, none), 0);
	(void)posix_spawn_file_actions_destroy(&files);
	close(out[1]);
	ck_assert_int_gt(write(in[1], prompt, sizeof(prompt) - 1), 0);
	ck_assert_int_gt(read(out[0], bytes, sizeof(bytes)), 0);
	took = tk_now_ns() - began;
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	return took / 1000;
}

static void
start_measure(const char *isolation)
{
	static double bare[STARTS], line[STARTS], event[STARTS];
	natsSubscription *sub;
	char id[RUN_ID_MAX], mode[64];
	double began;

	snprintf(mode, sizeof(mode), "ENGINE_ISOLATION=%s", isolation);
	er_start(&f, TK_ENV(mode));
	sub = seen_begin();
	seen.n = 0;
	for (size_t i = 0; i < STARTS; i++) {
		bare[i] = start_bare_us();
		began = tk_now_ns();
		er_begin(&f, id,
		    ER_STEPS("burst=1,1,1," STAMPED,
			ER_MESSAGE("i2", "Hi" ER_DONE_TEXT), ER_END),
		    "");
		seen_await(i + 1);
		line[i] = ((double)seen.written_ns - began) / 1000;
		event[i] = ((double)seen.got_ns - began) / 1000;
		er_is(&f, id, "succeeded", NULL);
	}
	tk_print_load();
	printf("isolation %-38s %9s %9s\n", isolation, "p50 us", "p99 us");
	print_us("first line, posix_spawn of the command", bare, STARTS);
	print_us("request to the engine's first line", line, STARTS);
	print_us("request to its event at a subscriber", event, STARTS);
	printf("p50 of the first line: %.1f ms over posix_spawn\n",
	    (line[STARTS / 2] - bare[STARTS / 2]) / 1000);
	(void)fflush(stdout);
	natsSubscription_Destroy(sub);
	er_stop(&f);
}

TEST_T(start_of_a_run, 120)
{
	start_measure("auto");
}

TEST_T(start_without_bubblewrap, 120)
{
	start_measure("landlock");
}

TEST_T(start_without_isolation, 120)
{
	start_measure("none");
}

/* ---- many ---- */

#define RUNS     100
#define LINEWISE 40 /* more of them leave no processor to start others */
#define SECONDS  10
#define FIRST_MS 60000

static double
many_shims_us(long *kib)
{
	pid_t pid[2 * RUNS];
	size_t n = er_shims(pid, 2 * RUNS);
	double us = 0;

	*kib = 0;
	for (size_t i = 0; i < n; i++) {
		us += tk_cpu_us(pid[i]);
		*kib += tk_proc_status(pid[i], "RssAnon");
	}
	return us;
}

static long long
many_read_bytes(void)
{
	return tk_service_metric(&f.runner[0],
	    "soul_engine_bytes_total{engine=\"codex\","
	    "stream=\"stdout\"}");
}

static bool
many_are_running(void *arg)
{
	return tk_service_metric(
		   &f.runner[0], "soul_runs{state=\"running\"}") == *(int *)arg;
}

/* n runs; burst: the step of an engine that prints 1,000 lines/s. */
static void
many_measure(int n, const char *pace, const char *burst)
{
	const pid_t *runner = &f.runner[0].proc.pid;
	double began, seconds, cpu, shims, server;
	natsSubscription *sub;
	char id[RUN_ID_MAX];
	long long bytes;
	size_t events;
	long kib, wakes;

	er_start(&f, TK_ENV("RUNS_MAX=100"));
	sub = seen_begin();
	for (int i = 0; i < n; i++)
		er_begin(&f, id, ER_STEPS(ER_THREAD, ER_TURN, pace, burst), "");
	ck_assert(tk_until(many_are_running, &n, FIRST_MS));
	(void)tk_until(
	    seen_has, &(struct seen_wait){ seen.n + (size_t)n }, 5000);
	began = tk_now_ns();
	cpu = tk_cpu_us(*runner);
	wakes = tk_proc_status(*runner, "voluntary_ctxt_switches");
	shims = many_shims_us(&kib);
	server = tk_cpu_us(f.gw.redis.proc.pid);
	bytes = many_read_bytes();
	events = seen.n;
	(void)tk_until(
	    seen_has, &(struct seen_wait){ SIZE_MAX }, SECONDS * 1000);
	seconds = (tk_now_ns() - began) / 1e6;
	bytes = many_read_bytes() - bytes;
	events = seen.n - events;
	cpu = tk_cpu_us(*runner) - cpu;
	wakes = tk_proc_status(*runner, "voluntary_ctxt_switches") - wakes;
	shims = many_shims_us(&kib) - shims;
	server = tk_cpu_us(f.gw.redis.proc.pid) - server;
	seconds /= 1000;
	tk_print_load();
	printf("%d runs in %.1f s: %.1f MB/s read, %.0f events/s\n", n, seconds,
	    (double)bytes / 1e6 / seconds, (double)events / seconds);
	printf("runner %.2f cores, %.0f wake-ups/s, %ld KiB resident; its "
	       "shims %.2f cores and %ld KiB of their own; Redis %.2f cores\n",
	    cpu / 1e6 / seconds, (double)wakes / seconds,
	    tk_proc_status(*runner, "VmRSS"), shims / 1e6 / seconds, kib,
	    server / 1e6 / seconds);
	(void)fflush(stdout);
	natsSubscription_Destroy(sub);
	tk_service_end(&f.runner[0]);
	er_kill_shims();
	er_kill_engines();
	er_await_processes(0);
	er_stop(&f);
}

TEST_T(many_runs, 300)
{
	many_measure(RUNS, "pace=10", "burst=1000000,10,100," STAMPED);
}

TEST_T(many_runs_that_print_line_by_line, 300)
{
	many_measure(LINEWISE, "pace=1", "burst=1000000,1,100," STAMPED);
}
