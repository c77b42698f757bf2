/*
 * What a stack of three replicas sends to Redis while nobody does anything.
 */
#include <signal.h>
#include <stdio.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/stack/client.h"
#include "testkit/stack/monitor.h"

/* Commands of all services per second. */
#define IDLE_MAX 300
/* A sweep over the buckets of timers, 30 s: all that is regular is in it. */
#define SPAN_MS 32000
#define STEP_MS 1000

#define REPLICAS 2 /* more than the stack has */

STACK_SHARED({ .no_capture = true, .metered = true })

static const enum stack_service services[] = { STACK_LLM_ORCHESTRATOR,
	STACK_EMOTION_ENGINE, STACK_MEMORY_WORKER, STACK_CHAT_GATEWAY,
	STACK_INTENT_FILTER, STACK_MQTT_BRIDGE };

static struct stack_proc replica[NELEM(services)][REPLICAS];

static void
replicas_start(void)
{
	char name[64];
	size_t i, k;

	for (i = 0; i < NELEM(services); i++)
		for (k = 0; k < REPLICAS; k++) {
			snprintf(name, sizeof(name), "%s-%zu",
			    stack_name(services[i]), k + 2);
			stack_spawn(&stack, services[i], &replica[i][k], name);
		}
	for (i = 0; i < NELEM(services); i++)
		for (k = 0; k < REPLICAS; k++)
			stack_wait_ready(&replica[i][k]);
}

static void
replicas_end(void)
{
	size_t i, k;

	for (i = 0; i < NELEM(services); i++)
		for (k = 0; k < REPLICAS; k++)
			tk_signal(&replica[i][k].proc, SIGTERM);
	for (i = 0; i < NELEM(services); i++)
		for (k = 0; k < REPLICAS; k++)
			ck_assert_int_eq(
			    tk_wait(&replica[i][k].proc, STACK_MS), 0);
}

/* ---- counting ---- */

struct span {
	struct monitor *monitor;
	struct mono end;
	size_t sum, before[NELEM(services)], n[NELEM(services)];
};

/* MONITOR is read all the time, so that Redis does not buffer it. */
static bool
span_has_ended(void *arg)
{
	struct span *s = arg;

	monitor_read(s->monitor);
	return mono_diff_ns(clock_mono(), s->end) >= 0;
}

static void
span_run(struct span *s, int64_t ms)
{
	size_t i;

	s->sum = 0;
	s->end = mono_add_ms(clock_mono(), ms);
	ck_assert(tk_until(span_has_ended, s, (int)ms + STACK_MS));
	for (i = 0; i < NELEM(services); i++) {
		s->n[i] = monitor_count(s->monitor, stack_name(services[i])) -
		    s->before[i];
		s->before[i] += s->n[i];
		s->sum += s->n[i];
	}
}

/* The replicas have divided the buckets and have polled each one time. */
static bool
stack_is_idle(void *arg)
{
	struct span *s = arg;

	span_run(s, STEP_MS);
	return s->sum * 1000 <= (size_t)IDLE_MAX * STEP_MS;
}

TEST_T(an_idle_stack_of_three_replicas_sends_redis_little, 240)
{
	static const char *const timers[] = { NULL };
	struct span s = { 0 };
	size_t i;

	replicas_start();
	(void)client_bound(&stack, STACK_USER, STACK_BODY);
	s.monitor = monitor_new(&stack, timers);
	ck_assert(tk_until(stack_is_idle, &s, 3 * STACK_MS));
	span_run(&s, SPAN_MS);
	for (i = 0; i < NELEM(services); i++) {
		printf("%s: %.1f commands a second of three\n",
		    stack_name(services[i]), (double)s.n[i] * 1e3 / SPAN_MS);
		/* Those of none would mean that they are not counted. */
		ck_assert(s.n[i] > 0 || services[i] == STACK_CHAT_GATEWAY ||
		    services[i] == STACK_INTENT_FILTER ||
		    services[i] == STACK_LLM_ORCHESTRATOR);
	}
	printf("all: %.1f\n", (double)s.sum * 1e3 / SPAN_MS);
	(void)fflush(stdout);
	ck_assert_uint_le(s.sum * 1000, (size_t)IDLE_MAX * SPAN_MS);
	monitor_free(s.monitor);
	replicas_end();
}
