/*
 * The cost of ticks: 50,000 bodies, each with its own soul, that one engine on
 * one core evolves every three seconds.  Lag of the updates; processor time of
 * the engine, Redis and nats-server; beside the number of bare GETs and SETs of
 * the same size that Redis handles in pipelines of the engine's size.
 */
#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/emotion_fixture.h"
#include "testkit/figures.h"
#include "testkit/terminal_fixture.h"

#define BODIES      50000
#define INTERVAL_MS 3000
#define RUN_MS      15000
/* Ticks of each soul before measuring: the first creates its record, which is
 * slow, so that those after it are late. */
#define WARM_TICKS  8
#define WARM_MS     90000
#define PIPE        512
#define BARE_ROUNDS 60
#define STATE_BYTES 209

/* Claims, round trips and commands of the engine. */
struct engine_calls {
	long long batches, trips, commands;
};

struct listener {
	int64_t offset[BODIES]; /* ms of its tick within the interval */
	double *lag;            /* ms */
	size_t n, max;
	int ticks[BODIES];
	atomic_int warm; /* bodies that have received WARM_TICKS ticks */
	atomic_bool
	    measuring; /* from then on ticks and lag are those measured */
	bool begun;    /* the listener's thread knows */
};

static int64_t
wall_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000000) + ts.tv_nsec / 1000;
}

static void
on_tick(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct listener *l = arg;
	int64_t now = wall_us(), lag_us;
	int i = -1;

	(void)nc;
	(void)sub;
	if (!l->begun && atomic_load(&l->measuring)) {
		l->begun = true;
		memset(l->ticks, 0, sizeof(l->ticks));
		l->n = 0;
	}
	if (sscanf(natsMsg_GetSubject(m), "soul.body.main.t%d.", &i) == 1 &&
	    i >= 0 && i < BODIES && l->n < l->max) {
		lag_us = (now - l->offset[i] * 1000) % (INTERVAL_MS * 1000);
		l->lag[l->n++] = (double)lag_us / 1e3;
		if (++l->ticks[i] == WARM_TICKS && !l->begun)
			atomic_fetch_add(&l->warm, 1);
	}
	natsMsg_Destroy(m);
}

/* Pin all threads of a process to one core. */
static void
pin(pid_t pid)
{
	char path[64];
	struct dirent *e;
	cpu_set_t one;
	int thread;
	DIR *d;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL)
		if (sscanf(e->d_name, "%d", &thread) == 1)
			(void)sched_setaffinity(thread, sizeof(one), &one);
	closedir(d);
}

static bool
is_warm(void *arg)
{
	struct listener *l = arg;

	return atomic_load(&l->warm) == BODIES;
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

static void
set_redis(struct emotion_fixture *b, const char *option, const char *value)
{
	ck_assert_int_eq(state_cmd(b->db.s,
			     STATE_ARGS(STR("CONFIG"), STR("SET"),
				 str_of(option), str_of(value)),
			     NULL),
	    RC_OK);
}

/* The state in Redis after the bodies' reports and bindings. */
static void
create_souls(struct emotion_fixture *b)
{
	char soul[16], body[16];
	int i;

	/* Setting up is not measured. */
	set_redis(b, "auto-aof-rewrite-percentage", "0");
	/* As in deploy/redis.conf. */
	set_redis(b, "zset-max-listpack-entries", "16");
	set_redis(b, "appendfsync", "no");
	for (i = 0; i < BODIES; i++) {
		snprintf(soul, sizeof(soul), "s%d", i);
		snprintf(body, sizeof(body), "t%d", i);
		emotion_fixture_soul_of(b, soul, "INFP", soul);
		ck_assert_int_eq(terminal_fixture_bind(b->db.s, str_of(body),
				     str_of(soul), str_of(soul)),
		    RC_OK);
		emotion_fixture_online(b, body, true);
	}
	set_redis(b, "appendfsync", "always");
}

/* The times at which the souls are due: those of their users' buckets. */
static void
set_offsets(struct listener *l)
{
	char user[16];
	unsigned bucket;
	int i;

	for (i = 0; i < BODIES; i++) {
		snprintf(user, sizeof(user), "s%d", i);
		ck_assert_int_eq(state_bucket(str_of(user), &bucket), RC_OK);
		l->offset[i] = (int64_t)INTERVAL_MS * bucket / STATE_BUCKETS;
	}
}

/* Redis alone: a GET and a SET per soul, PIPE souls at a time. */
static void
run_bare(struct emotion_fixture *b)
{
	struct state_pipe *p = state_pipe_new(b->db.s, 2 * PIPE);
	char key[32], value[STATE_BYTES] = { 0 };
	struct mono from = clock_mono();
	double s;
	int i, k;

	for (i = 0; i < BARE_ROUNDS; i++) {
		for (k = 0; k < PIPE; k++) {
			snprintf(key, sizeof(key), "bare:%d",
			    (i * PIPE + k) % BODIES);
			ck_assert_int_eq(
			    state_pipe_cmd(
				p, STATE_ARGS(STR("GET"), str_of(key))),
			    RC_OK);
			ck_assert_int_eq(
			    state_pipe_cmd(p,
				STATE_ARGS(STR("SET"), str_of(key),
				    ((struct str){ value, sizeof(value) }))),
			    RC_OK);
		}
		ck_assert_int_eq(state_pipe_run(p), RC_OK);
	}
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	printf("bare Redis: %.0f GET and SET pairs of %d bytes a second, %d in "
	       "a pipeline\n",
	    BARE_ROUNDS * PIPE / s, STATE_BYTES, PIPE);
	state_pipe_free(p);
}

static struct engine_calls
engine_calls(const struct tk_service *engine)
{
	return (struct engine_calls){ tk_service_metric(engine,
					  "soul_emotion_tick_batches_total"),
		tk_service_metric(engine, "state_call_seconds_count"),
		tk_service_metric(engine, "state_commands_total") };
}

static void
print_calls(const struct engine_calls *from, const struct engine_calls *to,
    double ticks)
{
	printf(
	    "per 1,000 ticks: %.1f batches, %.1f round trips, %.0f commands\n",
	    1e3 * (double)(to->batches - from->batches) / ticks,
	    1e3 * (double)(to->trips - from->trips) / ticks,
	    1e3 * (double)(to->commands - from->commands) / ticks);
}

static void
print_result(const struct listener *l, const double cpu[3], double s)
{
	int i, fewest = INT_MAX;

	for (i = 0; i < BODIES; i++)
		fewest = l->ticks[i] < fewest ? l->ticks[i] : fewest;
	printf("%d bodies every %d ms: %.0f updates published a second, at "
	       "least %d to each in %.0f s\n",
	    BODIES, INTERVAL_MS, (double)l->n / s, fewest, s);
	printf("of a core: engine %.0f %%, Redis %.0f %%, nats-server %.0f %%; "
	       "%.1f, %.1f and %.1f us a tick\n",
	    100 * cpu[0] / s, 100 * cpu[1] / s, 100 * cpu[2] / s,
	    1e6 * cpu[0] / (double)l->n, 1e6 * cpu[1] / (double)l->n,
	    1e6 * cpu[2] / (double)l->n);
	printf("late by, of 500 ms allowed: p50 %.0f, p99 %.0f, most %.0f ms\n",
	    l->lag[l->n / 2], l->lag[l->n * 99 / 100], l->lag[l->n - 1]);
}

TEST_T(ticks_of_fifty_thousand_souls, 300)
{
	struct listener *l = mem_zalloc(sizeof(*l));
	natsSubscription *sub = NULL;
	struct engine_calls calls[2];
	double cpu[3], s;
	struct mono from;
	struct emotion_fixture b;
	pid_t pid[3];
	int i;

	l->max = (size_t)BODIES * ((RUN_MS + WARM_MS) / INTERVAL_MS + 3);
	l->lag = mem_calloc(l->max, sizeof(l->lag[0]));
	emotion_fixture_servers(&b);
	run_bare(&b);
	b.writer.ttl_ms = 86400000;
	create_souls(&b);
	set_offsets(l);
	emotion_fixture_spawn_as(&b, 0, "EMOTION_TICK_INTERVAL_SECONDS=3",
	    "SKILL_SNAPSHOT_TTL_SECONDS=86400");
	tk_service_wait(&b.engine[0]);
	pin(b.engine[0].proc.pid);
	pid[0] = b.engine[0].proc.pid;
	pid[1] = b.redis.proc.pid;
	pid[2] = b.nats.proc.pid;
	ck_assert_int_eq(
	    natsConnection_Subscribe(&sub, b.nc, "soul.body.>", on_tick, l),
	    NATS_OK);
	natsSubscription_SetPendingLimits(sub, -1, -1);
	ck_assert(tk_until(is_warm, l, WARM_MS));
	for (i = 0; i < 3; i++)
		cpu[i] = tk_cpu_us(pid[i]) / 1e6;
	calls[0] = engine_calls(&b.engine[0]);
	from = clock_mono();
	atomic_store(&l->measuring, true);
	tk_until(never, NULL, RUN_MS);
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	for (i = 0; i < 3; i++)
		cpu[i] = tk_cpu_us(pid[i]) / 1e6 - cpu[i];
	calls[1] = engine_calls(&b.engine[0]);
	natsSubscription_Unsubscribe(sub);
	natsSubscription_Destroy(sub);
	tk_sort(l->lag, l->n);
	if (l->n > 0) {
		print_result(l, cpu, s);
		print_calls(&calls[0], &calls[1], (double)l->n);
	}
	tk_print_load();
	(void)fflush(stdout);
	emotion_fixture_stop(&b);
	free(l->lag);
	free(l);
}
