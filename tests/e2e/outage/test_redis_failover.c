/*
 * Redis fails over during a conversation: its clients get an error that says to
 * retry, or a reply that says what failed, and then go on with the same
 * session, soul and device.
 */
#include <signal.h>

#include "testkit/stack/client.h"

#define FAILOVER_MS 40000

struct chat {
	struct client o;
	int status;
	int errors;
};

/* An answer may say that the light was not switched: no service acts without
 * the state it depends on. */
static bool
chat_succeeds(void *arg)
{
	struct chat *c = arg;
	json_t *j = client_call(c->o.st->service[STACK_CHAT_GATEWAY].http,
	    "POST", "/v1/chat", client_chat_request(&c->o, "把灯变成红色"),
	    &c->status);
	bool replied = c->status == 200,
	     done =
		 replied && tk_list_has(j, "executed_skills", "control_light");

	if (replied && !done)
		ck_assert_str_eq(
		    tk_text(j, "failed_skills.0.skill"), "control_light");
	json_decref(j);
	if (replied)
		return done;
	ck_assert_msg(c->status == 502 || c->status == 503 || c->status == 504,
	    "%d", c->status);
	c->errors++;
	return false;
}

TEST_T(a_conversation_survives_a_failover_of_redis, 180)
{
	static const struct stack_opts o = { .sentinels = true,
		.env = { [STACK_LLM_ORCHESTRATOR] = { "REDIS_WAIT_REPLICAS=1" },
		    [STACK_EMOTION_ENGINE] = { "REDIS_WAIT_REPLICAS=1" },
		    [STACK_CHAT_GATEWAY] = { "REDIS_WAIT_REPLICAS=1" },
		    [STACK_MQTT_BRIDGE] = { "REDIS_WAIT_REPLICAS=1" } } };
	struct stack st;
	struct chat c;
	const char *why;
	int i;

	stack_start(&st, &o);
	c = (struct chat){ .o = client_bound(&st, STACK_USER, STACK_BODY) };
	json_decref(client_chat(&c.o, "把灯变成绿色"));
	tk_redis_wait_replica(&st.redis.server[0], &st.redis.server[1]);
	tk_server_stop(&st.redis.server[0], SIGKILL);
	ck_assert(tk_until(chat_succeeds, &c, FAILOVER_MS));
	ck_assert_int_gt(c.errors, 0);
	ck_assert_uint_ne(tk_sentinels_master(&st.redis), 0);
	for (i = 0; i < STACK_BODY_SIM; i++)
		stack_wait_ready(&st.service[i]);
	client_wait_sim_state(&st, STACK_BODY, "color", "red");
	why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
}
