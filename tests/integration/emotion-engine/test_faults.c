/*
 * Outages of Redis and NATS, and invalid configuration.
 */
#include <signal.h>
#include <stdio.h>

#include "testkit/emotion_fixture.h"

struct gate_query {
	struct emotion_fixture *b;
	char code[64];
};

static bool
gate_replies(void *arg)
{
	struct gate_query *q = arg;
	json_t *j = tk_nats_request(q->b->nc, "soul.rpc.emotion.gate",
	    "{\"user_id\":\"u1\",\"soul_id\":\"soul_a\"}", q->code);

	json_decref(j);
	return q->code[0] == '\0';
}

static bool
gate_fails(void *arg)
{
	return !gate_replies(arg);
}

TEST_T(an_engine_recovers_from_a_redis_restart, 60)
{
	struct gate_query q;
	struct emotion_fixture b;

	q.b = &b;
	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	ck_assert(gate_replies(&q));
	tk_server_stop(&b.redis, SIGKILL);
	ck_assert(tk_until(gate_fails, &q, EMOTION_FIXTURE_MS));
	ck_assert(tk_until(gate_fails, &q, EMOTION_FIXTURE_MS));
	ck_assert_str_eq(q.code, "unavailable");
	ck_assert(!tk_service_ready(&b.engine[0]));
	tk_server_restart(&b.redis);
	ck_assert(tk_until(gate_replies, &q, EMOTION_FIXTURE_MS));
	tk_service_wait(&b.engine[0]);
	emotion_fixture_stop(&b);
}

TEST_T(an_engine_recovers_from_a_nats_restart, 60)
{
	natsSubscription *sub;
	char subject[256];
	struct emotion_fixture b;
	json_t *u;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", true);
	tk_server_stop(&b.nats, SIGKILL);
	natsConnection_Destroy(b.nc);
	tk_server_restart(&b.nats);
	b.nc = tk_nats_connect(b.nats.url);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	u = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject);
	ck_assert_ptr_nonnull(u);
	ck_assert_str_eq(tk_text(u, "session_id"), "system_decay_tick");
	json_decref(u);
	tk_service_wait(&b.engine[0]);
	u = emotion_fixture_observe(&b, "soul_a", "t-1", "谢谢");
	json_decref(u);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

TEST(an_invalid_gate_is_reported_at_start)
{
	struct emotion_fixture b;

	emotion_fixture_servers(&b);
	emotion_fixture_spawn(&b, 0, "EXEC_GATE=maybe");
	ck_assert_int_eq(tk_wait(&b.engine[0].proc, EMOTION_FIXTURE_MS), 78);
	ck_assert(
	    tk_log_has(&b.engine[0].proc, "EXEC_GATE: must be continuous"));
	b.engine[0].proc.pid = 0;
	emotion_fixture_stop(&b);
}

TEST(invalid_weights_are_reported_at_start)
{
	char file[300];
	struct emotion_fixture b;

	emotion_fixture_servers(&b);
	tk_write_file(tk_path("weights"), "none");
	(void)snprintf(
	    file, sizeof(file), "EMOTION_WEIGHTS=%s", tk_path("weights"));
	emotion_fixture_spawn(&b, 0, file);
	ck_assert_int_eq(tk_wait(&b.engine[0].proc, EMOTION_FIXTURE_MS), 78);
	ck_assert(tk_log_has(&b.engine[0].proc, "EMOTION_WEIGHTS: cannot use"));
	ck_assert(tk_log_has(&b.engine[0].proc, "it is shorter than its head"));
	b.engine[0].proc.pid = 0;
	emotion_fixture_stop(&b);
}
