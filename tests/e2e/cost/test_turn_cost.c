/*
 * What a turn costs in round trips, which depends on no machine: commands to
 * Redis and messages to NATS, by each service, of one turn at a time.
 *
 * Timers send some as well, so a turn's cost is what most turns have cost.  Who
 * changes a number below has meant to, and says why in the commit.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/stack/client.h"

#define WARM_UP 10
/* Longer sessions are summarised. */
#define SESSION_TURNS 10
#define TURNS         40
#define MOST          64 /* more a turn than any service sends */
#define MS            20000
/* The orchestrator may reply to nobody else. */
#define INBOX "_INBOX.chat-gateway.cost"

STACK_SHARED({ .no_capture = true,
    .env = { [STACK_MQTT_BRIDGE] = {
		 "RATE_TERMINAL_BURST=1000", "RATE_TERMINAL_PER_S=1000" } } })

#define REDIS "state_commands_total"
#define NATS  "soul_bus_published_total"

static const struct cost {
	int service;
	const char *metric;
	const char *what;
	size_t direct; /* a turn by an intent */
	size_t model;  /* a turn by the model */
	/*
	 * Its timer sends often, and all of its turn is sent before the reply:
	 * the least counts, without waiting for what follows.
	 */
	bool least;
} costs[] = {
	/* Slot, terminal, session; input; action or soul, history; end. */
	{ STACK_LLM_ORCHESTRATOR, REDIS, "orchestrator to Redis", 6, 7, false },
	{ STACK_EMOTION_ENGINE, REDIS, "emotion-engine to Redis", 1, 1, true },
	{ STACK_MQTT_BRIDGE, REDIS, "mqtt-bridge to Redis", 0, 0, false },
	{ STACK_INTENT_FILTER, REDIS, "intent-filter to Redis", 0, 0, false },
	{ STACK_MEMORY_WORKER, REDIS, "memory-worker to Redis", 0, 0, false },
	/* Of requests and replies; events have a connection of their own. */
	{ STACK_LLM_ORCHESTRATOR, NATS, "orchestrator to NATS", 7, 6, false },
	{ STACK_EMOTION_ENGINE, NATS, "emotion-engine to NATS", 1, 1, false },
	{ STACK_MQTT_BRIDGE, NATS, "mqtt-bridge to NATS", 1, 0, false },
	{ STACK_INTENT_FILTER, NATS, "intent-filter to NATS", 1, 1, false },
	{ STACK_MEMORY_WORKER, NATS, "memory-worker to NATS", 1, 1, false },
};

static long long
read_cost(size_t i)
{
	const struct tk_service s = {
		.admin = stack.service[costs[i].service].admin
	};
	long long v = tk_service_metric(&s, costs[i].metric);

	ck_assert_int_ge(v, 0);
	return v;
}

/* Those with least, or the others. */
static void
read_costs(bool least, long long v[NELEM(costs)])
{
	size_t i;

	for (i = 0; i < NELEM(costs); i++)
		if (costs[i].least == least)
			v[i] = read_cost(i);
}

/* Straight to an orchestrator; it must complete. */
static void
turn(natsConnection *nc, const char *text)
{
	static int number;
	natsSubscription *sub;
	char body[512];
	natsMsg *m;
	bool completed;

	number++;
	snprintf(body, sizeof(body),
	    "{\"turn_id\":\"cost_%d\",\"user_id\":\"" STACK_USER
	    "\",\"chat\":{\"session_id\":\"cost%d\","
	    "\"terminal_id\":\"" STACK_BODY
	    "\",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"%s\"}]}}",
	    number, number / SESSION_TURNS, text);
	sub = tk_nats_listen(nc, INBOX);
	ck_assert_int_eq(natsConnection_PublishRequestString(
			     nc, "soul.rpc.turn.start", INBOX, body),
	    NATS_OK);
	do {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, MS), NATS_OK);
		ck_assert_msg(strstr(natsMsg_GetData(m), "\"failed\"") == NULL,
		    "%s", natsMsg_GetData(m));
		completed = strstr(natsMsg_GetData(m), "\"completed\"") != NULL;
		natsMsg_Destroy(m);
	} while (!completed);
	natsSubscription_Destroy(sub);
}

struct steady {
	long long v[NELEM(costs)];
	int rounds;
};

/* What follows a turn has been sent: nothing has changed for a while. */
static bool
is_steady(void *arg)
{
	struct steady *s = arg;
	long long was[NELEM(costs)];

	memcpy(was, s->v, sizeof(was));
	read_costs(false, s->v);
	s->rounds = memcmp(was, s->v, sizeof(was)) == 0 ? s->rounds + 1 : 0;
	return s->rounds >= 2;
}

static void
wait_steady(struct steady *s)
{
	s->rounds = 0;
	(void)tk_until(is_steady, s, 500);
}

static void
measure(natsConnection *nc, const char *text, size_t cost[NELEM(costs)])
{
	static size_t count[NELEM(costs)][MOST];
	struct steady before = { .rounds = 0 }, after = { .rounds = 0 };
	size_t i, k, n;

	memset(count, 0, sizeof(count));
	for (n = 0; n < TURNS; n++) {
		wait_steady(&before);
		read_costs(true, before.v);
		turn(nc, text);
		read_costs(true, after.v);
		wait_steady(&after);
		for (i = 0; i < NELEM(costs); i++) {
			k = (size_t)(after.v[i] - before.v[i]);
			count[i][k < MOST ? k : MOST - 1]++;
		}
	}
	for (i = 0; i < NELEM(costs); i++) {
		for (k = 0; count[i][k] == 0; k++)
			continue;
		cost[i] = k;
		for (; !costs[i].least && k < MOST; k++)
			if (count[i][k] > count[i][cost[i]])
				cost[i] = k;
	}
}

TEST_T(a_turn_costs_what_is_listed, 120)
{
	size_t direct[NELEM(costs)], model[NELEM(costs)], i;
	natsConnection *nc;
	int warm;

	client_wait_terminal(
	    &stack, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	client_select_soul(&stack, STACK_USER, STACK_BODY,
	    client_create_soul(&stack, STACK_USER, "小元", "ENFP"));
	nc = tk_nats_connect(stack.server[STACK_NATS].url);
	for (warm = 0; warm < WARM_UP; warm++)
		turn(nc, "把灯变成绿色");
	measure(nc, "把灯变成绿色", direct);
	measure(nc, "今天上海天气如何？", model);
	for (i = 0; i < NELEM(costs); i++)
		printf("%s: %zu direct, %zu by the model\n", costs[i].what,
		    direct[i], model[i]);
	(void)fflush(stdout);
	for (i = 0; i < NELEM(costs); i++) {
		ck_assert_msg(direct[i] == costs[i].direct,
		    "%s: %zu in a direct turn", costs[i].what, direct[i]);
		ck_assert_msg(model[i] == costs[i].model,
		    "%s: %zu in a turn by the model", costs[i].what, model[i]);
	}
	natsConnection_Destroy(nc);
}
