/*
 * Two thousand turns in one orchestrator that wait for a slow language model:
 * their memory and threads, and whether each one completes.
 */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "testkit/http.h"
#include "testkit/nats.h"
#include "testkit/stack/client.h"

#define TURNS 2000
/* Delay of the model; all turns must be waiting before the first one ends. */
#define SLOW_S     "20"
#define PATIENCE_S 120

static const struct stack_opts opts = {
	.no_capture = true,
	.env = { [STACK_LLM_SIM] = { "LLM_SIM_FIRST_MS=" SLOW_S "000",
		     "HTTP_WORKERS=2200" } },
};
static struct stack st;

static double
metric(const char *name)
{
	struct tk_response a = { 0 };
	char line[128];
	const char *at;
	double v = -1;

	snprintf(line, sizeof(line), "\n%s ", name);
	if (tk_http_request(st.service[STACK_LLM_ORCHESTRATOR].admin, &a, "GET",
		"/metrics", NULL) == 200 &&
	    (at = strstr(a.body.p, line)) != NULL)
		v = strtod(at + strlen(line), NULL);
	tk_response_free(&a);
	return v;
}

static bool
all_wait(void *arg)
{
	(void)arg;
	return metric("soul_turn_thoughts_total") >= TURNS;
}

static void
start(natsConnection *nc, const char *inbox, int i)
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"turn_id\":\"turn_%d\",\"user_id\":\"" STACK_USER
	    "\",\"chat\":{\"session_id\":\"s%d\",\"terminal_id\":\"" STACK_BODY
	    "\",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":"
	    "\"今天上海天气如何？\"}]}}",
	    i, i);
	ck_assert_int_eq(natsConnection_PublishRequestString(
			     nc, "soul.rpc.turn.start", inbox, body),
	    NATS_OK);
}

/* Count the turns that end as expected, and the others. */
static void
count_ends(natsSubscription *sub, size_t *good, size_t *bad)
{
	struct mono end = mono_add_ms(clock_mono(), PATIENCE_S * 1000);

	*good = *bad = 0;
	while (*good + *bad < TURNS && mono_diff_ns(end, clock_mono()) > 0) {
		json_t *j = tk_nats_next(sub, 1000, NULL);
		const char *state =
		    json_string_value(json_object_get(j, "state"));
		if (state != NULL && strcmp(state, "completed") == 0)
			++*good;
		else if (state == NULL ? j != NULL
				       : strcmp(state, "accepted") != 0 &&
			    strcmp(state, "running") != 0)
			++*bad;
		json_decref(j);
	}
}

static void
show(const char *what)
{
	pid_t pid = st.service[STACK_LLM_ORCHESTRATOR].proc.pid;

	printf("%-28s %5.0f turns  %6.1f MiB resident  %ld threads\n", what,
	    metric("soul_turns_running"),
	    (double)tk_proc_status(pid, "VmRSS") / 1024,
	    tk_proc_status(pid, "Threads"));
}

TEST_T(two_thousand_turns_wait, 300)
{
	struct mono began;
	natsSubscription *sub;
	natsInbox *inbox;
	natsConnection *nc;
	size_t good, bad;

	stack_start(&st, &opts);
	client_wait_terminal(&st, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	client_select_soul(&st, STACK_USER, STACK_BODY,
	    client_create_soul(&st, STACK_USER, "小元", "ENFP"));
	show("idle");
	nc = tk_nats_connect(st.server[STACK_NATS].url);
	ck_assert_int_eq(natsInbox_Create(&inbox), NATS_OK);
	sub = tk_nats_listen(nc, inbox);
	natsSubscription_SetPendingLimits(sub, -1, -1);
	began = clock_mono();
	for (int i = 0; i < TURNS; i++)
		start(nc, inbox, i);
	ck_assert(tk_until(all_wait, NULL, PATIENCE_S * 1000));
	printf("all wait after %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), began));
	show("waiting (budget 200 MiB)");
	count_ends(sub, &good, &bad);
	printf("%zu completed, %zu failed, after %lld ms; the model takes "
	       "%s000 ms\n",
	    good, bad, (long long)mono_diff_ms(clock_mono(), began), SLOW_S);
	show("after them");
	natsSubscription_Destroy(sub);
	natsInbox_Destroy(inbox);
	natsConnection_Destroy(nc);
	nats_Close();
	ck_assert_ptr_null(stack_end(&st));
}
