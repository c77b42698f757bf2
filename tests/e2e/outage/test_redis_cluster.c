/*
 * Redis is a cluster of six servers: a conversation goes on while the slot of
 * its user moves to another server, and while the server that has it is killed.
 * Nothing that was acknowledged is lost; the client sees at most errors that
 * say to retry.
 */
#include <signal.h>
#include <string.h>

#include "testkit/stack/chatter.h"

static const struct stack_opts opts = { .cluster = true,
	.env = { [STACK_LLM_ORCHESTRATOR] = { "REDIS_WAIT_REPLICAS=1" },
	    [STACK_EMOTION_ENGINE] = { "REDIS_WAIT_REPLICAS=1" },
	    [STACK_MEMORY_WORKER] = { "REDIS_WAIT_REPLICAS=1" },
	    [STACK_CHAT_GATEWAY] = { "REDIS_WAIT_REPLICAS=1" },
	    [STACK_MQTT_BRIDGE] = { "REDIS_WAIT_REPLICAS=1" } } };

/* The hash tag of the user's keys: there is a single user. */
static void
user_tag(const struct tk_cluster *c, char tag[16])
{
	char key[256];

	for (size_t i = 0; i < TK_CLUSTER_MASTERS; i++) {
		tk_redis_do(&c->node[i], key, sizeof(key),
		    "EVAL \"return redis.call('KEYS',ARGV[1])[1] or ''\" 0 "
		    "soul:session:*");
		if (sscanf(key, "soul:session:{%15[^}]}", tag) == 1)
			return;
	}
	ck_abort_msg("no server has a session");
}

static struct chatter chatter;

static void
goes_on(void)
{
	for (int i = 0; i < 10; i++)
		chatter_resumes(&chatter);
}

TEST_T(a_conversation_survives_a_move_and_a_kill, 180)
{
	struct stack st;
	struct client o;
	char tag[16];
	const char *why;
	size_t from, to;
	json_t *j;
	int i;

	stack_start(&st, &opts);
	o = client_bound(&st, STACK_USER, STACK_BODY);
	chatter_start(&chatter, &o);
	goes_on();
	user_tag(&st.cluster, tag);

	from = tk_cluster_serving(&st.cluster, tag);
	to = (from + 1) % TK_CLUSTER_MASTERS;
	tk_cluster_migrate(&st.cluster, tag, to);
	ck_assert_uint_eq(tk_cluster_serving(&st.cluster, tag), to);
	goes_on();

	tk_server_stop(&st.cluster.node[to], SIGKILL);
	tk_redis_wait(
	    &st.cluster.node[to + TK_CLUSTER_MASTERS], "ROLE", "master");
	/* Without a replica nothing is acknowledged. */
	tk_server_restart(&st.cluster.node[to]);
	goes_on();
	ck_assert_uint_eq(
	    tk_cluster_serving(&st.cluster, tag), to + TK_CLUSTER_MASTERS);
	for (i = 0; i < STACK_BODY_SIM; i++)
		stack_wait_ready(&st.service[i]);
	chatter_stop(&chatter);
	chatter_check(&chatter);
	printf("%zu of %zu texts were answered\n",
	    atomic_load(&chatter.responses), atomic_load(&chatter.texts));
	/* What the next turn does is done. */
	j = client_chat(&o, "把灯变成红色");
	ck_assert(
	    tk_json_equals(tk_at(j, "executed_skills"), "[\"control_light\"]"));
	json_decref(j);
	client_wait_sim_state(&st, STACK_BODY, "color", "red");
	why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
}
