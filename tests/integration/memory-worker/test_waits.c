/*
 * The loop goes on while something waits for Redis: others are served, and what
 * must come one after the other still does.
 */
#include <signal.h>

#include "core/mem.h"
#include "testkit/memory_fixture.h"

#define JOBS 12

/* Send a request whose reply goes to an inbox. */
static void
send_recall(struct memory_fixture *fx, const char *inbox)
{
	ck_assert_int_eq(
	    natsConnection_PublishRequestString(fx->nc,
		"soul.rpc.memory.recall", inbox,
		"{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"tea\","
		"\"top_k\":5}"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(fx->nc), NATS_OK);
}

static void
ck_alive(struct memory_fixture *fx)
{
	struct tk_response a = { 0 };

	ck_assert_int_eq(tk_service_get(&fx->worker[0], &a, "/livez"), 200);
	tk_response_free(&a);
}

/* A request that is rejected without Redis, after those sent before. */
static void
ck_serves(struct memory_fixture *fx)
{
	char code[TK_CODE];
	json_t *j;

	j = tk_nats_request(fx->nc, "soul.rpc.memory.list",
	    "{\"user_id\":\"u1\",\"limit\":5,\"after\":\"nonsense\"}", code);
	ck_assert_str_eq(code, "invalid_request");
	json_decref(j);
}

TEST_T(a_redis_that_hangs_delays_only_who_needs_it, 60)
{
	struct memory_fixture fx;
	natsSubscription *replies;
	uint64_t n = 0;
	json_t *j;

	memory_fixture_start(&fx, 1);
	memory_fixture_remember(&fx, "u1", "s1", "tea", "用户喜欢 tea");
	replies = tk_nats_listen(fx.nc, "recalled");
	tk_signal(&fx.redis.proc, SIGSTOP);
	send_recall(&fx, "recalled");
	ck_serves(&fx);
	ck_alive(&fx);
	ck_assert_int_eq(natsSubscription_QueuedMsgs(replies, &n), NATS_OK);
	ck_assert_uint_eq(n, 0);
	tk_signal(&fx.redis.proc, SIGCONT);
	j = tk_nats_next(replies, MEMORY_FIXTURE_MS, NULL);
	ck_assert_ptr_nonnull(j);
	ck_assert_uint_eq(memory_fixture_hits(j), 1);
	json_decref(j);
	natsSubscription_Destroy(replies);
	memory_fixture_stop(&fx);
}

TEST_T(a_worker_stops_while_redis_hangs, 60)
{
	struct memory_fixture fx;

	memory_fixture_start(&fx, 1);
	memory_fixture_llm_script(
	    &fx, "{\"kind\":\"slow\",\"delay_ms\":30000}");
	memory_fixture_converse(&fx, "chat", "我喜欢<茶>", 0);
	memory_fixture_wait_llm(&fx, 0);
	tk_signal(&fx.redis.proc, SIGSTOP);
	send_recall(&fx, "recalled");
	memory_fixture_publish_fact(&fx, "j1", "s1", "用户有一只<猫>");
	ck_serves(&fx);
	tk_service_end(&fx.worker[0]);
	tk_signal(&fx.redis.proc, SIGCONT);
	/* Nothing of it is lost. */
	tk_service_kill(&fx.llm);
	memory_fixture_llm_start(&fx);
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_jobs(&fx);
	memory_fixture_stop(&fx);
}

static bool
all_jobs_are_delivered(void *arg)
{
	struct memory_fixture *fx = arg;
	char code[TK_CODE];
	json_t *j = tk_nats_request(
	    fx->nc, "$JS.API.CONSUMER.INFO.SOUL_JOBS.memory-worker", "", code);
	int64_t n = tk_int(j, "num_ack_pending");

	json_decref(j);
	return n == JOBS;
}

/* Jobs of one user and soul see what those before them have stored. */
TEST_T(equal_memories_that_come_together_make_one_record, 60)
{
	struct memory_fixture fx;
	struct memory_list l;
	char id[16], url[96];
	int i;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", fx.llm_url);
	fx.env[0] = url;
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_soul(&fx, "s2", "u1");
	tk_signal(&fx.redis.proc, SIGSTOP);
	for (i = 0; i < JOBS; i++) {
		snprintf(id, sizeof(id), "j%d", i);
		memory_fixture_publish_fact(
		    &fx, id, i % 2 == 0 ? "s1" : "s2", "用户喜欢<茶>");
	}
	ck_assert(tk_until(all_jobs_are_delivered, &fx, MEMORY_FIXTURE_MS));
	tk_signal(&fx.redis.proc, SIGCONT);
	memory_fixture_wait_jobs(&fx);
	l = memory_fixture_memories_of(&fx, "u1", "s1");
	ck_assert_uint_eq(l.n, 1);
	l = memory_fixture_memories_of(&fx, "u1", "s2");
	ck_assert_uint_eq(l.n, 1);
	ck_assert_int_eq(
	    tk_service_metric(&fx.worker[0],
		"soul_work_done_total{consumer=\"memory-worker\"}"),
	    JOBS);
	memory_fixture_stop(&fx);
}

struct claims {
	struct memory_fixture *fx;
	int64_t n;
};

static bool
session_was_claimed(void *arg)
{
	struct claims *c = arg;
	struct state_reply *r = NULL;
	int64_t n = -1;

	ck_assert_int_eq(
	    state_cmd(c->fx->db.s,
		STATE_ARGS(STR("HGET"), STR("soul:session:{b0478}:u1:chat"),
		    STR("claims")),
		&r),
	    RC_OK);
	if (state_reply_kind(r) == STATE_STR)
		ck_assert_int_eq(
		    str_to_i64(state_reply_str(r), 0, INT64_MAX, &n), RC_OK);
	state_reply_free(r);
	return n >= c->n;
}

/*
 * Its claim expires while the model works, and the user goes on talking: each
 * time the worker claims the session again.
 */
TEST_T(a_session_has_one_summary_at_a_time, 60)
{
	struct memory_fixture fx;
	struct claims c = { &fx, 3 };
	struct session s;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	fx.env[0] = "IDLE_SUMMARY_CLAIM_SECONDS=0.1";
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_llm_script(&fx, "{\"kind\":\"slow\",\"delay_ms\":1500}");
	memory_fixture_converse(&fx, "chat", "我喜欢<茶>", 0);
	memory_fixture_wait_llm(&fx, 0);
	ck_assert(tk_until(session_was_claimed, &c, MEMORY_FIXTURE_MS));
	memory_fixture_converse(&fx, "chat", "我有一只<猫>", 0);
	ck_assert(tk_until(session_was_claimed, &c, MEMORY_FIXTURE_MS));
	ck_assert_int_eq(
	    tk_service_metric(&fx.worker[0], "soul_httpc_active{peer=\"llm\"}"),
	    1);
	memory_fixture_wait_memories(&fx, 2);
	memory_fixture_wait_summaries(&fx);
	memory_fixture_wait_jobs(&fx);
	ck_assert_int_eq(memory_fixture_llm_calls(&fx), 2);
	s = memory_fixture_session(&fx, "chat");
	ck_assert_int_eq(s.summarised, 4);
	ck_assert_ptr_null(s.job.p);
	memory_fixture_stop(&fx);
}
