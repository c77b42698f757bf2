/* Jobs of the stream: stored, retried, dead-lettered, dropped. */
#include <signal.h>

#include "core/mem.h"
#include "testkit/memory_fixture.h"

struct metric_is {
	struct tk_service *p;
	const char *name;
	long long want;
};

static bool
metric_is(void *arg)
{
	struct metric_is *m = arg;

	return tk_service_metric(m->p, m->name) == m->want;
}

static void
wait_metric(struct memory_fixture *fx, const char *name, long long want)
{
	struct metric_is m = { &fx->worker[0], name, want };

	ck_assert_msg(tk_until(metric_is, &m, MEMORY_FIXTURE_MS), "%s is %lld",
	    name, tk_service_metric(m.p, name));
}

TEST_T(a_job_has_one_effect, 60)
{
	struct memory_list l;
	struct memory_fixture fx;

	memory_fixture_start(&fx, 1);
	memory_fixture_publish_fact(&fx, "j1", "s1", "喜欢茶");
	/*
	 * The stream stores it once; the memory's id makes a second one
	 * harmless.
	 */
	memory_fixture_publish_fact(&fx, "j1", "s1", "喜欢茶");
	memory_fixture_publish_job(&fx, "another",
	    "{\"job_id\":\"j1\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"喜欢水\",\"type\":\"fact\","
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}");
	memory_fixture_publish_fact(&fx, "j2", "s1", "喜欢猫");
	memory_fixture_wait_jobs(&fx);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 3);
	l = memory_fixture_wait_memories(&fx, 2);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "喜欢茶"), 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "喜欢猫"), 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "喜欢水"), 0);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	memory_fixture_stop(&fx);
}

/* The dead letter of that number has the published payload. */
static void
ck_dead_letter(struct memory_fixture *fx, int seq, const char *payload)
{
	char req[64], code[64], *data;
	size_t n = 4 * ((strlen(payload) + 2) / 3);
	json_t *j;

	snprintf(req, sizeof(req), "{\"seq\":%d}", seq);
	j = tk_nats_request(
	    fx->nc, "$JS.API.STREAM.MSG.GET.SOUL_DEAD", req, code);
	ck_assert_str_eq(json_string_value(json_object_get(
			     json_object_get(j, "message"), "subject")),
	    "soul.dead.memory_store");
	data = (char *)(uintptr_t)json_string_value(
	    json_object_get(json_object_get(j, "message"), "data"));
	ck_assert_ptr_nonnull(data);
	/* The length of the payload in base64. */
	ck_assert_uint_eq(strlen(data), n);
	json_decref(j);
}

TEST_T(a_malformed_job_is_dead_lettered_immediately, 60)
{
	static const char *const bad[] = { "x", "{}",
		"{\"job_id\":\"j\",\"kind\":\"memory_store\",\"user_id\":\"u1\""
		",\"soul_id\":\"s1\",\"text\":\"a\",\"type\":\"dream\","
		"\"created_at\":\"2026-02-22T10:20:30Z\"}" };
	char id[8];
	struct memory_fixture fx;
	size_t i;

	memory_fixture_start(&fx, 1);
	for (i = 0; i < NELEM(bad); i++) {
		snprintf(id, sizeof(id), "bad%zu", i);
		memory_fixture_publish_job(&fx, id, bad[i]);
	}
	memory_fixture_publish_fact(&fx, "good", "s1", "喜欢茶");
	memory_fixture_wait_jobs(&fx);
	memory_fixture_wait_memories(&fx, 1);
	wait_metric(&fx, "soul_work_dead_total{consumer=\"memory-worker\"}",
	    NELEM(bad));
	ck_assert_int_eq(
	    memory_fixture_stream_len(&fx, "SOUL_DEAD"), NELEM(bad));
	for (i = 0; i < NELEM(bad); i++)
		ck_dead_letter(&fx, (int)i + 1, bad[i]);
	ck_assert(tk_log_has(&fx.worker[0].proc, "ev=work.dead"));
	/* Users' texts are not logged. */
	ck_assert(!tk_log_has(&fx.worker[0].proc, "喜欢茶"));
	memory_fixture_stop(&fx);
}

TEST_T(a_failing_job_is_retried_then_dead_lettered, 60)
{
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	fx.env[0] = "MEMORY_JOB_MAX_DELIVERIES=2";
	memory_fixture_spawn_ready(&fx, 0);
	/* A record format that this version does not know. */
	ck_assert_int_eq(
	    state_cmd(fx.db.s,
		STATE_ARGS(STR("HSET"), STR("soul:memory:{b0478}:u1:s1"),
		    STR("v"), STR("99")),
		NULL),
	    RC_OK);
	memory_fixture_soul(&fx, "s2", "u1");
	memory_fixture_publish_fact(&fx, "poison", "s1", "喜欢茶");
	memory_fixture_publish_fact(&fx, "fine", "s2", "喜欢猫");
	memory_fixture_wait_jobs(&fx);
	wait_metric(&fx, "soul_work_dead_total{consumer=\"memory-worker\"}", 1);
	ck_assert_int_eq(
	    tk_service_metric(&fx.worker[0],
		"soul_work_retried_total{consumer=\"memory-worker\"}"),
	    1);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 1);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u1", "s2").n, 1);
	memory_fixture_stop(&fx);
}

/*
 * A job that crashes its worker counts: here a consumer that never
 * acknowledges.
 */
TEST_T(a_job_without_an_outcome_is_dead_lettered, 60)
{
	natsSubscription *sub;
	natsMsg *m;
	struct memory_fixture fx;
	int i;

	memory_fixture_servers(&fx);
	fx.env[0] = "MEMORY_JOB_MAX_DELIVERIES=2";
	fx.env[1] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.5";
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_publish_fact(&fx, "fine", "s1", "喜欢猫");
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_jobs(&fx);
	tk_service_end(&fx.worker[0]);
	sub = memory_fixture_consume(&fx);
	memory_fixture_publish_fact(&fx, "killer", "s1", "喜欢茶");
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, MEMORY_FIXTURE_MS),
		    NATS_OK);
		natsMsg_Destroy(m);
	}
	natsSubscription_Destroy(sub);
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_wait_jobs(&fx);
	wait_metric(&fx, "soul_work_dead_total{consumer=\"memory-worker\"}", 1);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 1);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_stop(&fx);
}

/* ---- outages ---- */

static bool
not_ready(void *arg)
{
	return !tk_service_ready(arg);
}

TEST_T(a_job_is_deferred_while_redis_is_down, 60)
{
	natsSubscription *acks;
	natsMsg *m;
	struct memory_fixture fx;
	int working = 0;

	memory_fixture_servers(&fx);
	fx.env[0] = "MEMORY_JOB_MAX_DELIVERIES=1";
	fx.env[1] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.5";
	memory_fixture_spawn_ready(&fx, 0);
	acks = tk_nats_listen(fx.nc, "$JS.ACK.SOUL_JOBS.memory-worker.>");
	tk_server_stop(&fx.redis, SIGKILL);
	ck_assert(tk_until(not_ready, &fx.worker[0], MEMORY_FIXTURE_MS));
	memory_fixture_publish_fact(&fx, "j1", "s1", "喜欢茶");
	/* The worker extends the deadline longer than the ack wait. */
	while (working < 6) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, acks, MEMORY_FIXTURE_MS),
		    NATS_OK);
		ck_assert_str_eq(natsMsg_GetData(m), "+WPI");
		natsMsg_Destroy(m);
		working++;
	}
	wait_metric(&fx, "soul_work_waiting{consumer=\"memory-worker\"}", 1);
	tk_server_restart(&fx.redis);
	tk_state_wait(&fx.db);
	memory_fixture_wait_jobs(&fx);
	memory_fixture_wait_memories(&fx, 1);
	wait_metric(&fx, "soul_work_waiting{consumer=\"memory-worker\"}", 0);
	wait_metric(
	    &fx, "soul_work_retried_total{consumer=\"memory-worker\"}", 0);
	/* It was delivered once. */
	do {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, acks, MEMORY_FIXTURE_MS),
		    NATS_OK);
		working = strcmp(natsMsg_GetData(m), "+WPI") == 0;
		if (!working)
			ck_assert_msg(
			    strncmp(natsMsg_GetSubject(m),
				"$JS.ACK.SOUL_JOBS.memory-worker.1.", 34) == 0,
			    "%s", natsMsg_GetSubject(m));
		natsMsg_Destroy(m);
	} while (working);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	natsSubscription_Destroy(acks);
	memory_fixture_stop(&fx);
}

TEST_T(a_job_survives_redis_and_nats_outages, 90)
{
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	fx.env[0] = "MEMORY_JOB_ACK_WAIT_SECONDS=1";
	memory_fixture_spawn_ready(&fx, 0);
	tk_server_stop(&fx.redis, SIGKILL);
	ck_assert(tk_until(not_ready, &fx.worker[0], MEMORY_FIXTURE_MS));
	memory_fixture_publish_fact(&fx, "j1", "s1", "喜欢茶");
	wait_metric(&fx, "soul_work_waiting{consumer=\"memory-worker\"}", 1);
	tk_server_stop(&fx.nats, SIGKILL);
	natsConnection_Destroy(fx.nc);
	/*
	 * Without NATS deferred jobs are discarded; they are delivered again.
	 */
	wait_metric(&fx, "soul_work_waiting{consumer=\"memory-worker\"}", 0);
	tk_server_restart(&fx.nats);
	fx.nc = tk_nats_connect(fx.nats.url);
	tk_server_restart(&fx.redis);
	tk_state_wait(&fx.db);
	memory_fixture_wait_ready(&fx, 0);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_jobs(&fx);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	memory_fixture_stop(&fx);
}

/* ---- dropped jobs ---- */

TEST_T(an_old_job_does_not_restore_a_memory, 60)
{
	static const char old_job[] =
	    "{\"job_id\":\"%s\",\"kind\":\"memory_store\","
	    "\"user_id\":\"u1\",\"soul_id\":\"s1\",\"text\":\"%s\","
	    "\"type\":\"fact\",\"created_at\":\"%s\"}";
	char json[512], before[WALL_FORMAT_MAX];
	struct memory_list l;
	struct memory_fixture fx;

	memory_fixture_start(&fx, 1);
	wall_format(clock_wall(), 0, before);
	memory_fixture_publish_fact(&fx, "j1", "s1", "喜欢茶");
	memory_fixture_publish_fact(&fx, "j2", "s1", "喜欢猫");
	memory_fixture_wait_memories(&fx, 2);
	json_decref(
	    memory_fixture_forget_reply(&fx, "u1", "s1", "memory_id", "j1"));
	/* The same job again, as after a crash. */
	snprintf(json, sizeof(json), old_job, "j1", "喜欢茶", before);
	memory_fixture_publish_job(&fx, "again", json);
	memory_fixture_wait_jobs(&fx);
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "喜欢猫"), 1);
	/* Forget everything, including jobs in progress. */
	json_decref(memory_fixture_forget_reply(&fx, "u1", "s1", NULL, NULL));
	snprintf(json, sizeof(json), old_job, "j3", "喜欢狗", before);
	memory_fixture_publish_job(&fx, "late", json);
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, 0);
	memory_fixture_publish_fact(&fx, "j4", "s1", "喜欢鸟");
	memory_fixture_wait_memories(&fx, 1);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	memory_fixture_stop(&fx);
}

TEST_T(a_job_without_its_soul_is_dropped, 60)
{
	struct memory_fixture fx;

	memory_fixture_start(&fx, 1);
	memory_fixture_soul(&fx, "theirs", "u2");
	memory_fixture_publish_fact(&fx, "j1", "theirs", "喜欢茶");
	memory_fixture_publish_fact(&fx, "j2", "unknown", "喜欢猫");
	memory_fixture_publish_fact(&fx, "j3", "s1", "喜欢鸟");
	memory_fixture_wait_jobs(&fx);
	memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u1", "theirs").n, 0);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u2", "theirs").n, 0);
	ck_assert_uint_eq(
	    memory_fixture_memories_of(&fx, "u1", "unknown").n, 0);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	memory_fixture_stop(&fx);
}
