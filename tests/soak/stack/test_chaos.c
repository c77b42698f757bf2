/*
 * The guarantees of ARCHITECTURE.md under faults: clients use a stack of which
 * one part after another is killed, stopped, slowed down or disconnected; then
 * everything that was acknowledged is read back.
 *
 * CHAOS_SECONDS (600) is the time of faults of each test, CHAOS_SEED the seed
 * of their choice (printed), CHAOS_HISTORY a file for the whole history.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "testkit/stack/chaos_load.h"
#include "testkit/stack/chaos_outage.h"
#include "testkit/stack/chaos_redis.h"
#include "testkit/stack/client.h"

/* Twice the time of faults, and what comes before and after it. */
#define TEST_S 3600

static int64_t
chaos_setting(const char *name, int64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL && text[0] != '\0' ? strtoll(text, NULL, 10)
					       : otherwise;
}

static void
chaos_save(struct chaos *h)
{
	const char *path = getenv("CHAOS_HISTORY");
	FILE *f = path != NULL ? fopen(path, "w") : NULL;

	if (f == NULL)
		return;
	chaos_print(h, 0, f);
	(void)fclose(f);
}

/* Run the load with the faults of f, and check what is left. */
static void
chaos_run(struct chaos_outages *f, const int *ports, int brokers)
{
	struct chaos_counts n;
	size_t wrong;

	f->h = chaos_new();
	f->random = (uint64_t)chaos_setting("CHAOS_SEED", time(NULL));
	printf("# CHAOS_SEED=%llu\n", (unsigned long long)f->random);
	(void)fflush(stdout);
	f->load = chaos_load_begin(f->st, f->h, ports, brokers);
	ck_assert(chaos_load_resumes(f->load, STACK_MS));
	chaos_outages_run(f, (int)chaos_setting("CHAOS_SECONDS", 600));
	chaos_load_end(f->load);
	chaos_save(f->h);
	wrong = chaos_check(f->h, stderr);
	chaos_count(f->h, &n);
	printf("# %d faults; %zu inputs, %zu attempts: %zu acknowledged, %zu "
	       "lost, %zu unknown; %zu turns; %zu commands received, %zu of "
	       "them not seen on their way; %zu other writes; %zu wrong\n",
	    f->done, n.inputs, n.attempts, n.done, n.lost, n.open, n.turns,
	    n.commands, n.unassigned, n.writes, wrong);
	(void)fflush(stdout);
	chaos_free(f->h);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_gt(n.done, n.inputs / 2);
	ck_assert_uint_gt(n.commands, n.inputs / 10);
}

/* The nodes of a cluster are servers of their own. */
static void
chaos_add_nodes(struct chaos_outages *f, struct tk_server *node, int n)
{
	int i;

	for (i = 0; i < n; i++)
		f->server[f->n_servers++] = &node[i];
}

/* With any_redis, each server of Redis may be killed or stopped at any time. */
static void
chaos_run_stack(const struct stack_opts *o, bool any_redis)
{
	static struct stack st;
	struct chaos_outages f = { .st = &st };
	struct tk_server *s;
	const char *why;
	size_t i;

	stack_start(&st, o);
	for (i = 0; any_redis && (s = chaos_redis_server(&st, i)) != NULL; i++)
		chaos_add_nodes(&f, s, 1);
	if (o->nats_cluster)
		chaos_add_nodes(&f, st.nats.node, TK_NATS_NODES);
	chaos_run(&f, &st.server[STACK_MQTT].port, 1);
	stack_check(&st);
	why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
}

TEST_T(one_redis, TEST_S)
{
	static const struct stack_opts o = {
		.no_mqtt_capture = true, .metered = true, .env = { CHAOS_ENV }
	};

	chaos_run_stack(&o, false);
}

/* Further variables of the services that use Redis. */
#define CHAOS_REDIS_ENV(setting)                                               \
	[STACK_LLM_ORCHESTRATOR][2] = setting,                                 \
	[STACK_EMOTION_ENGINE][0] = setting,                                   \
	[STACK_MEMORY_WORKER][2] = setting, [STACK_CHAT_GATEWAY][1] = setting, \
	[STACK_MQTT_BRIDGE][2] = setting

/*
 * A replica has what is acknowledged: a failover loses none of it, if the old
 * master comes back after it.
 */
TEST_T(sentinels_one_replica_confirms, TEST_S)
{
	static const struct stack_opts o = { .no_mqtt_capture = true,
		.metered = true,
		.sentinels = true,
		.env = {
		    CHAOS_ENV, CHAOS_REDIS_ENV("REDIS_WAIT_REPLICAS=1") } };

	chaos_run_stack(&o, false);
}

/*
 * All replicas have it: masters may come back at any time, which makes two of
 * them for a while.
 */
TEST_T(sentinels_all_replicas_confirm, TEST_S)
{
	static const struct stack_opts o = { .no_mqtt_capture = true,
		.metered = true,
		.sentinels = true,
		.env = {
		    CHAOS_ENV, CHAOS_REDIS_ENV("REDIS_WAIT_REPLICAS=2") } };

	chaos_run_stack(&o, true);
}

/* Any server may be killed or stopped for any time, and slots move. */
TEST_T(redis_cluster, TEST_S)
{
	static const struct stack_opts o = { .no_mqtt_capture = true,
		.cluster = true,
		.env = {
		    CHAOS_ENV, CHAOS_REDIS_ENV("REDIS_WAIT_REPLICAS=1") } };

	chaos_run_stack(&o, true);
}

TEST_T(nats_cluster, TEST_S)
{
#define CHAOS_COPIES "NATS_REPLICAS=3"
	static const struct stack_opts o = { .no_mqtt_capture = true,
		.nats_cluster = true,
		.env = { CHAOS_ENV, [STACK_LLM_SIM][2] = CHAOS_COPIES,
		    [STACK_INTENT_FILTER][0] = CHAOS_COPIES,
		    CHAOS_REDIS_ENV(CHAOS_COPIES) } };

	chaos_run_stack(&o, false);
}

/* Half of the bodies are at a second broker, and they move. */
TEST_T(two_brokers, TEST_S)
{
	static const struct stack_opts o = {
		.no_mqtt_capture = true, .metered = true, .env = { CHAOS_ENV }
	};
	static const struct stack_opts second_opts = { .no_mqtt_capture = true,
		.env = {
		    CHAOS_ENV, [STACK_MQTT_BRIDGE][2] = "BROKER_ID=second" } };
	static struct stack st, second;
	struct stack_proc bridge = { 0 };
	struct chaos_outages f = { .st = &st,
		.replica = { { "second-bridge", STACK_MQTT_BRIDGE, &bridge,
		    &second } },
		.server = { &second.server[STACK_MQTT] },
		.n_replicas = 1,
		.n_servers = 1 };
	int ports[CHAOS_BROKERS];
	const char *why;

	stack_start(&st, &o);
	/* The servers of the first one, but for its broker. */
	second = st;
	second.opts = &second_opts;
	tk_server_start(&second.server[STACK_MQTT], TK_MOSQUITTO_PERSISTENT);
	stack_spawn(&second, STACK_MQTT_BRIDGE, &bridge, "second-bridge");
	stack_wait_ready(&bridge);
	ports[0] = st.server[STACK_MQTT].port;
	ports[1] = second.server[STACK_MQTT].port;
	chaos_run(&f, ports, CHAOS_BROKERS);
	stack_check(&st);
	tk_signal(&bridge.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&bridge.proc, STACK_MS), 0);
	tk_server_stop(&second.server[STACK_MQTT], SIGTERM);
	why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
}
