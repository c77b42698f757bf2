/*
 * Redis and NATS come and go; wrong configuration is said.
 */
#include "bed.h"

struct gate_asked {
	struct bed *b;
	char code[64];
};

static bool
gate_answers(void *arg)
{
	struct gate_asked *q = arg;
	json_t *j = tk_nats_ask(q->b->nc, "soul.rpc.emotion.gate",
	    "{\"soul_id\":\"soul_a\"}", q->code);

	json_decref(j);
	return q->code[0] == '\0';
}

static bool
gate_refuses(void *arg)
{
	return !gate_answers(arg);
}

TEST_T(redis_goes_and_comes, 60)
{
	struct gate_asked q;
	struct bed b;

	q.b = &b;
	bed_start(&b, 1, NULL);
	bed_soul(&b, "soul_a", "INFP");
	ck_assert(gate_answers(&q));
	tk_server_stop(&b.redis, SIGKILL);
	ck_assert(tk_until(gate_refuses, &q, BED_MS));
	ck_assert(tk_until(gate_refuses, &q, BED_MS));
	ck_assert_str_eq(q.code, "unavailable");
	ck_assert(!tk_service_ready(&b.engine[0]));
	tk_server_restart(&b.redis);
	ck_assert(tk_until(gate_answers, &q, BED_MS));
	tk_service_wait(&b.engine[0]);
	bed_stop(&b);
}

TEST_T(nats_goes_and_comes, 60)
{
	natsSubscription *sub;
	char subject[256];
	struct bed b;
	json_t *u;

	bed_start(&b, 1, NULL);
	bed_soul(&b, "soul_a", "INFP");
	bed_body(&b, "t-1", "soul_a", true);
	tk_server_stop(&b.nats, SIGKILL);
	natsConnection_Destroy(b.nc);
	tk_server_restart(&b.nats);
	b.nc = tk_nats_connect(b.nats.url);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	u = tk_nats_next(sub, BED_MS, subject);
	ck_assert_ptr_nonnull(u);
	ck_assert_str_eq(tk_text(u, "session_id"), "system_decay_tick");
	json_decref(u);
	tk_service_wait(&b.engine[0]);
	u = bed_say(&b, "soul_a", "t-1", "谢谢");
	json_decref(u);
	natsSubscription_Destroy(sub);
	bed_stop(&b);
}

TEST(a_wrong_gate_is_said)
{
	struct bed b;

	bed_servers(&b);
	bed_spawn(&b, 0, "EXEC_GATE=maybe");
	ck_assert_int_eq(tk_wait(&b.engine[0].proc, BED_MS), 78);
	ck_assert(
	    tk_log_has(&b.engine[0].proc, "EXEC_GATE: it must be continuous"));
	b.engine[0].proc.pid = 0;
	bed_stop(&b);
}

TEST(wrong_weights_are_said)
{
	char file[300];
	struct bed b;

	bed_servers(&b);
	tk_write_file(tk_path("weights"), "none");
	(void)snprintf(
	    file, sizeof(file), "EMOTION_WEIGHTS=%s", tk_path("weights"));
	bed_spawn(&b, 0, file);
	ck_assert_int_eq(tk_wait(&b.engine[0].proc, BED_MS), 78);
	ck_assert(tk_log_has(&b.engine[0].proc, "EMOTION_WEIGHTS: cannot use"));
	ck_assert(tk_log_has(&b.engine[0].proc, "it is shorter than its head"));
	b.engine[0].proc.pid = 0;
	bed_stop(&b);
}
