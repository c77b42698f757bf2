/*
 * Chats while 200 cycles of other souls run, compared with chats alone: the
 * median of five interleaved rounds; and what a cycle takes beside its call of
 * the model.  The cycles are counted.
 */
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "testkit/figures.h"
#include "testkit/http.h"
#include "testkit/nats.h"
#include "testkit/stack/client.h"

#define ROUNDS   5
#define SOULS    200
#define CHATS    200
#define SINGLE   50
#define MODEL_MS 20
#define WAIT_MS  120000

static const struct stack_opts opts = {
	.no_capture = true,
	.env = { [STACK_LLM_SIM] = { "LLM_SIM_FIRST_MS=20" } },
};
static struct stack st;
static struct stack_proc navigator;
static natsConnection *nc;
static char souls[SOULS][64];
static int events;

static double
metric(const char *name)
{
	struct tk_response a = { 0 };
	char line[128];
	const char *at;
	double v = 0;

	snprintf(line, sizeof(line), "\n%s ", name);
	if (tk_http_request(navigator.admin, &a, "GET", "/metrics", NULL) ==
		200 &&
	    (at = strstr(a.body.p, line)) != NULL)
		v = strtod(at + strlen(line), NULL);
	tk_response_free(&a);
	return v;
}

static double
cycles_done(void)
{
	return metric(
	    "soul_nav_cycles_total{trigger=\"emotion\",end=\"done\"}");
}

static bool
all_done(void *arg)
{
	return cycles_done() >= *(const double *)arg;
}

static void
send_turn(int i)
{
	char subject[TK_SUBJECT], json[1024];
	int n = ++events;

	snprintf(subject, sizeof(subject), "soul.event.turn_completed.b%d", n);
	snprintf(json, sizeof(json),
	    "{\"trace_id\":\"0af76519-16cd-43dd-8448-eb211c80319c\","
	    "\"type\":\"turn_completed\",\"source\":\"llm-orchestrator\","
	    "\"payload\":{\"turn_id\":\"b%d\",\"user_id\":\"bench%d\","
	    "\"session_id\":\"c1\",\"terminal_id\":\"t1\",\"soul_id\":\"%s\","
	    "\"state\":\"completed\",\"executed_skills\":[],\"duration_ms\":1,"
	    "\"user_emotion\":{\"emotion\":\"fear\",\"p\":-0.6,\"a\":0,"
	    "\"d\":0,\"intensity\":0.8}},\"meta\":{\"timestamp\":%lld}}",
	    n, i, souls[i], (long long)(clock_wall().ms / 1000));
	tk_nats_send(nc, subject, json);
}

/* The median of chats, in ms. */
static double
chats_p50(const struct client *c)
{
	double ms[CHATS];

	for (int i = 0; i < CHATS; i++) {
		double began = tk_now_ns();
		json_decref(client_chat(c, "你好"));
		ms[i] = (tk_now_ns() - began) / 1e6;
	}
	return tk_median(ms, CHATS);
}

/* None of them waits for another. */
static void
cycles_one_by_one(double *want)
{
	double sum = metric("soul_nav_cycle_seconds_sum");

	for (int i = 0; i < SINGLE; i++) {
		send_turn(i);
		++*want;
		ck_assert(tk_until(all_done, want, WAIT_MS));
	}
	sum = metric("soul_nav_cycle_seconds_sum") - sum;
	printf("a cycle: %.2f ms beside the model's delay of %d ms\n",
	    sum / SINGLE * 1e3 - MODEL_MS, MODEL_MS);
}

static void
start(struct client *c)
{
	char user[32];

	stack_start(&st, &opts);
	stack_spawn_navigator_plain(&st, &navigator);
	stack_wait_ready(&navigator);
	*c = client_bound(&st, STACK_USER, STACK_BODY);
	nc = tk_nats_connect(st.server[STACK_NATS].url);
	for (int i = 0; i < SOULS; i++) {
		snprintf(user, sizeof(user), "bench%d", i);
		snprintf(souls[i], sizeof(souls[i]), "%s",
		    client_create_soul(&st, user, "s", "INFP"));
	}
}

TEST_T(chats_while_cycles_run, 600)
{
	double alone[ROUNDS], beside[ROUNDS], ratio[ROUNDS], want = 0;
	struct client c;

	start(&c);
	tk_print_load();
	chats_p50(&c);
	for (int r = 0; r < ROUNDS; r++) {
		alone[r] = chats_p50(&c);
		for (int i = 0; i < SOULS; i++)
			send_turn(i);
		beside[r] = chats_p50(&c);
		double during = cycles_done() - want;
		want += SOULS;
		ck_assert(tk_until(all_done, &want, WAIT_MS));
		ratio[r] = beside[r] / alone[r];
		printf("round %d: chats p50 %.2f ms alone, %.2f ms while %.0f "
		       "cycles ran, ratio %.3f\n",
		    r + 1, alone[r], beside[r], during, ratio[r]);
	}
	printf("median ratio %.3f\n", tk_median(ratio, ROUNDS));
	cycles_one_by_one(&want);
	/* Each a single time. */
	ck_assert_double_eq(cycles_done(), want);
	natsConnection_Destroy(nc);
	tk_signal(&navigator.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&navigator.proc, WAIT_MS), 0);
	const char *why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
}
