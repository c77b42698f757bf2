#include "testkit/throttle.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "core/mem.h"
#include "testkit/testkit.h"

#define PERIOD_NS 10000000

struct tk_throttle {
	pthread_t thread;
	pid_t pid;
	long run_ns;
	atomic_bool ended;
};

static void
throttle_wait(struct timespec *until, long ns)
{
	until->tv_nsec += ns;
	if (until->tv_nsec >= 1000000000) {
		until->tv_nsec -= 1000000000;
		until->tv_sec++;
	}
	while (
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, until, NULL) != 0)
		;
}

static void *
throttle_main(void *arg)
{
	struct tk_throttle *t = arg;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	while (!atomic_load(&t->ended)) {
		kill(t->pid, SIGCONT);
		throttle_wait(&at, t->run_ns);
		kill(t->pid, SIGSTOP);
		throttle_wait(&at, PERIOD_NS - t->run_ns);
	}
	kill(t->pid, SIGCONT);
	return NULL;
}

struct tk_throttle *
tk_throttle_start(pid_t pid, int percent)
{
	struct tk_throttle *t = mem_zalloc(sizeof(*t));

	t->pid = pid;
	t->run_ns = (long)PERIOD_NS / 100 * percent;
	ck_assert_int_eq(pthread_create(&t->thread, NULL, throttle_main, t), 0);
	return t;
}

void
tk_throttle_end(struct tk_throttle *t)
{
	atomic_store(&t->ended, true);
	pthread_join(t->thread, NULL);
	free(t);
}
