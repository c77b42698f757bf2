/*
 * Alarms that are due in one minute (ALARMS, 1,000), the whole path:
 * alarm-clock, llm-orchestrator, mqtt-bridge, and bodies that speak and
 * confirm.  Each is spoken a single time, none is missed; and the lag from its
 * time until the body speaks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/service.h"
#include "testkit/stack/client.h"
#include "testkit/stack/stack.h"

/* A body's state has the last 8 texts. */
#define PER_BODY  4
#define ALARMS    1000
#define WINDOW_MS 60000
#define WAIT_MS   300000

static struct stack st;
static struct stack_proc alarm_clock;
static size_t n_alarms, n_bodies;

/* ---- setting ---- */

static const char *
body_name(size_t i)
{
	static char name[32];

	snprintf(name, sizeof(name), "terminal-%03zu", i + 1);
	return name;
}

static const char *
body_user(size_t i)
{
	static char name[32];

	snprintf(name, sizeof(name), "user-%zu", i);
	return name;
}

static void
alarm_set(size_t i, int64_t at_ms)
{
	char at[WALL_FORMAT_MAX], text[32];

	wall_format((struct wall){ at_ms }, 0, at);
	snprintf(text, sizeof(text), "#%zu", i);
	json_decref(client_ok(&st, "POST", "/v1/alarms",
	    json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "user_id",
		body_user(i % n_bodies), "terminal_id", body_name(i % n_bodies),
		"text", text, "rule", "kind", "once", "instant", at)));
}

/* ---- what the bodies have spoken ---- */

struct spoken {
	unsigned char *times; /* by alarm */
	double *lag_ms;
	size_t n, doubled;
};

static void
spoken_add(struct spoken *s, json_t *one, int64_t first_ms)
{
	const char *text = strchr(tk_find_text(one, "text"), '#');
	struct wall at;
	size_t i;

	if (text == NULL)
		return;
	i = strtoul(text + 1, NULL, 10);
	ck_assert_uint_lt(i, n_alarms);
	ck_assert_int_eq(
	    wall_parse(str_of(tk_find_text(one, "at")), &at), RC_OK);
	if (s->times[i]++ > 0)
		s->doubled++;
	else
		s->lag_ms[s->n++] = (double)(at.ms - first_ms -
		    (int64_t)(i * WINDOW_MS / n_alarms));
}

static void
spoken_read(struct spoken *s, int64_t first_ms)
{
	json_t *j, *one;
	size_t b, i;

	memset(s->times, 0, n_alarms);
	s->n = s->doubled = 0;
	for (b = 0; b < n_bodies; b++) {
		j = client_sim_state(&st, body_name(b));
		json_array_foreach (tk_find(j, "spoken"), i, one)
			spoken_add(s, one, first_ms);
		json_decref(j);
	}
}

static bool
alarms_have_rung(void *arg)
{
	const struct tk_service s = { .admin = alarm_clock.admin };

	(void)arg;
	return tk_service_metric(&s, "soul_alarms_ended_total{end=\"rung\"}") >=
	    (long long)n_alarms;
}

static void
bench_start(void)
{
	static char count[32];
	static struct stack_opts opts = {
		.no_capture = true,
		.env = { [STACK_BODY_SIM] = { count } },
	};
	const char *text = getenv("ALARMS");

	n_alarms = text != NULL ? strtoul(text, NULL, 10) : ALARMS;
	n_bodies = (n_alarms + PER_BODY - 1) / PER_BODY;
	snprintf(count, sizeof(count), "BODY_COUNT=%zu", n_bodies);
	stack_start(&st, &opts);
	stack_spawn_alarm_clock(&st, &alarm_clock);
	stack_wait_ready(&alarm_clock);
	for (size_t i = 0; i < n_bodies; i++)
		(void)client_bound(&st, body_user(i), body_name(i));
}

TEST_T(alarms_of_one_minute_are_spoken, 900)
{
	struct spoken s = { 0 };
	struct tk_service metrics = { 0 };
	int64_t first_ms;
	const char *why;

	bench_start();
	s.times = mem_zalloc(n_alarms);
	s.lag_ms = mem_zalloc(n_alarms * sizeof(*s.lag_ms));
	metrics.admin = alarm_clock.admin;
	/* All are set before the first is due. */
	first_ms = clock_wall().ms + 10000 + (int64_t)n_alarms * 20;
	for (size_t i = 0; i < n_alarms; i++)
		alarm_set(i, first_ms + (int64_t)(i * WINDOW_MS / n_alarms));
	ck_assert_int_lt(clock_wall().ms, first_ms);
	(void)tk_until(alarms_have_rung, NULL, WAIT_MS);
	spoken_read(&s, first_ms);
	tk_sort(s.lag_ms, s.n);
	printf("alarms due in a minute: %zu, on %zu bodies; spoken: %zu, "
	       "doubled: %zu\nlag: p50 %.0f ms, p99 %.0f ms, most %.0f ms\n",
	    n_alarms, n_bodies, s.n, s.doubled,
	    s.n > 0 ? s.lag_ms[s.n / 2] : -1,
	    s.n > 0 ? s.lag_ms[s.n * 99 / 100] : -1,
	    s.n > 0 ? s.lag_ms[s.n - 1] : -1);
	tk_print_load();
	ck_assert_uint_eq(s.n, n_alarms);
	ck_assert_uint_eq(s.doubled, 0);
	ck_assert_int_eq(tk_service_metric(&metrics,
			     "soul_alarms_ended_total{end=\"missed\"}"),
	    0);
	tk_signal(&alarm_clock.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&alarm_clock.proc, STACK_MS), 0);
	why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
	free(s.times);
	free(s.lag_ms);
}
