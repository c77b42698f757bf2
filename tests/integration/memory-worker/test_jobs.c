/*
 * Jobs off the stream: stored once, tried again, put aside, dropped.
 */
#include "talk.h"

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
wait_metric(struct bed *b, const char *name, long long want)
{
	struct metric_is m = { &b->worker[0], name, want };

	ck_assert_msg(tk_until(metric_is, &m, BED_MS), "%s is %lld", name,
	    tk_service_metric(m.p, name));
}

static void
wait_done(struct bed *b)
{
	ck_assert_msg(
	    tk_until(all_done, b, BED_MS), "%ld undone", (long)bed_undone(b));
}

TEST_T(a_job_is_done_once, 60)
{
	struct memory_list l;
	struct bed b;

	bed_start(&b, 1);
	bed_job(&b, "j1", "s1", "喜欢茶");
	/* The stream takes it once; were it there twice, it has one id. */
	bed_job(&b, "j1", "s1", "喜欢茶");
	bed_publish(&b, "another",
	    "{\"job_id\":\"j1\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"喜欢水\",\"type\":\"fact\","
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}");
	bed_job(&b, "j2", "s1", "喜欢猫");
	wait_done(&b);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 3);
	l = bed_wait(&b, 2);
	ck_assert_uint_eq(bed_with(&l, "喜欢茶"), 1);
	ck_assert_uint_eq(bed_with(&l, "喜欢猫"), 1);
	ck_assert_uint_eq(bed_with(&l, "喜欢水"), 0);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	bed_stop(&b);
}

/* The dead letter of that number, as it was published. */
static void
ck_dead(struct bed *b, int seq, const char *payload)
{
	char req[64], code[64], *data;
	size_t n = 4 * ((strlen(payload) + 2) / 3);
	json_t *j;

	snprintf(req, sizeof(req), "{\"seq\":%d}", seq);
	j = tk_nats_ask(b->nc, "$JS.API.STREAM.MSG.GET.SOUL_DEAD", req, code);
	ck_assert_str_eq(json_string_value(json_object_get(
			     json_object_get(j, "message"), "subject")),
	    "soul.dead.memory_store");
	data = (char *)(uintptr_t)json_string_value(
	    json_object_get(json_object_get(j, "message"), "data"));
	ck_assert_ptr_nonnull(data);
	/* As long as base64 makes the payload. */
	ck_assert_uint_eq(strlen(data), n);
	json_decref(j);
}

TEST_T(what_is_no_job_is_put_aside_at_once, 60)
{
	static const char *const bad[] = { "x", "{}",
		"{\"job_id\":\"j\",\"kind\":\"memory_store\",\"user_id\":\"u1\""
		",\"soul_id\":\"s1\",\"text\":\"a\",\"type\":\"dream\","
		"\"created_at\":\"2026-02-22T10:20:30Z\"}" };
	char id[8];
	struct bed b;
	size_t i;

	bed_start(&b, 1);
	for (i = 0; i < NELEM(bad); i++) {
		snprintf(id, sizeof(id), "bad%zu", i);
		bed_publish(&b, id, bad[i]);
	}
	bed_job(&b, "good", "s1", "喜欢茶");
	wait_done(&b);
	bed_wait(&b, 1);
	wait_metric(&b, "soul_memory_jobs_dead_total", NELEM(bad));
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), NELEM(bad));
	for (i = 0; i < NELEM(bad); i++)
		ck_dead(&b, (int)i + 1, bad[i]);
	ck_assert(tk_log_has(&b.worker[0].proc, "ev=job.dead"));
	/* A user's words are not in the log. */
	ck_assert(!tk_log_has(&b.worker[0].proc, "喜欢茶"));
	bed_stop(&b);
}

TEST_T(a_job_that_fails_is_tried_and_put_aside, 60)
{
	struct bed b;

	bed_servers(&b);
	b.more[0] = "MEMORY_JOB_MAX_DELIVERIES=2";
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	/* A record of a format that this program does not know. */
	ck_assert_int_eq(state_cmd(b.db.s,
			     STATE_ARGS(STR("HSET"), STR("soul:memory:{u1:s1}"),
				 STR("v"), STR("99")),
			     NULL),
	    RC_OK);
	bed_soul(&b, "s2", "u1");
	bed_job(&b, "poison", "s1", "喜欢茶");
	bed_job(&b, "fine", "s2", "喜欢猫");
	wait_done(&b);
	wait_metric(&b, "soul_memory_jobs_dead_total", 1);
	ck_assert_int_eq(
	    tk_service_metric(&b.worker[0], "soul_memory_jobs_retried_total"),
	    1);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 1);
	ck_assert_uint_eq(bed_memories_of(&b, "u1", "s2").n, 1);
	bed_stop(&b);
}

static natsSubscription *
listen(struct bed *b, const char *subject, const char *queue)
{
	natsSubscription *sub = NULL;

	if (queue == NULL)
		ck_assert_int_eq(
		    natsConnection_SubscribeSync(&sub, b->nc, subject),
		    NATS_OK);
	else
		ck_assert_int_eq(natsConnection_QueueSubscribeSync(
				     &sub, b->nc, subject, queue),
		    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
	return sub;
}

/*
 * A job that kills who works on it is counted too: here a member that takes it
 * and says nothing.
 */
TEST_T(a_job_that_was_delivered_too_often, 60)
{
	natsSubscription *sub;
	natsMsg *m;
	struct bed b;
	int i;

	bed_servers(&b);
	b.more[0] = "MEMORY_JOB_MAX_DELIVERIES=2";
	b.more[1] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.5";
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	bed_job(&b, "fine", "s1", "喜欢猫");
	bed_wait(&b, 1);
	wait_done(&b);
	tk_service_end(&b.worker[0]);
	sub =
	    listen(&b, "soul.deliver.SOUL_JOBS.memory-worker", "memory-worker");
	bed_job(&b, "killer", "s1", "喜欢茶");
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, BED_MS), NATS_OK);
		natsMsg_Destroy(m);
	}
	natsSubscription_Destroy(sub);
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	wait_done(&b);
	wait_metric(&b, "soul_memory_jobs_dead_total", 1);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 1);
	bed_wait(&b, 1);
	bed_stop(&b);
}

/* ---- what is no fault of the job's ------------------------------------------
 */

static bool
not_ready(void *arg)
{
	return !tk_service_ready(arg);
}

TEST_T(while_redis_is_away_a_job_is_kept, 60)
{
	natsSubscription *acks;
	natsMsg *m;
	struct bed b;
	int working = 0;

	bed_servers(&b);
	b.more[0] = "MEMORY_JOB_MAX_DELIVERIES=1";
	b.more[1] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.5";
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	acks = listen(&b, "$JS.ACK.SOUL_JOBS.memory-worker.>", NULL);
	tk_server_stop(&b.redis, SIGKILL);
	ck_assert(tk_until(not_ready, &b.worker[0], BED_MS));
	bed_job(&b, "j1", "s1", "喜欢茶");
	/* For longer than the wait for its end, it says that it is at it. */
	while (working < 6) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, acks, BED_MS), NATS_OK);
		ck_assert_str_eq(natsMsg_GetData(m), "+WPI");
		natsMsg_Destroy(m);
		working++;
	}
	wait_metric(&b, "soul_memory_jobs_waiting", 1);
	tk_server_restart(&b.redis);
	tk_state_wait(&b.db);
	wait_done(&b);
	bed_wait(&b, 1);
	wait_metric(&b, "soul_memory_jobs_waiting", 0);
	wait_metric(&b, "soul_memory_jobs_retried_total", 0);
	/* It was delivered once. */
	do {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, acks, BED_MS), NATS_OK);
		working = strcmp(natsMsg_GetData(m), "+WPI") == 0;
		if (!working)
			ck_assert_msg(
			    strncmp(natsMsg_GetSubject(m),
				"$JS.ACK.SOUL_JOBS.memory-worker.1.", 34) == 0,
			    "%s", natsMsg_GetSubject(m));
		natsMsg_Destroy(m);
	} while (working);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	natsSubscription_Destroy(acks);
	bed_stop(&b);
}

TEST_T(both_go_and_come, 90)
{
	struct bed b;

	bed_servers(&b);
	b.more[0] = "MEMORY_JOB_ACK_WAIT_SECONDS=1";
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	tk_server_stop(&b.redis, SIGKILL);
	ck_assert(tk_until(not_ready, &b.worker[0], BED_MS));
	bed_job(&b, "j1", "s1", "喜欢茶");
	wait_metric(&b, "soul_memory_jobs_waiting", 1);
	tk_server_stop(&b.nats, SIGKILL);
	natsConnection_Destroy(b.nc);
	/* Without the bus there is nobody to say it to. */
	wait_metric(&b, "soul_memory_jobs_waiting", 0);
	tk_server_restart(&b.nats);
	b.nc = tk_nats_connect(b.nats.url);
	tk_server_restart(&b.redis);
	tk_state_wait(&b.db);
	bed_ready(&b, 0);
	bed_wait(&b, 1);
	wait_done(&b);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	bed_stop(&b);
}

/* ---- what is not to be stored
 * ------------------------------------------------ */

TEST_T(what_was_forgotten_does_not_come_back, 60)
{
	static const char late[] =
	    "{\"job_id\":\"%s\",\"kind\":\"memory_store\","
	    "\"user_id\":\"u1\",\"soul_id\":\"s1\",\"text\":\"%s\","
	    "\"type\":\"fact\",\"created_at\":\"%s\"}";
	char json[512], before[WALL_FORMAT_MAX];
	struct memory_list l;
	struct bed b;

	bed_start(&b, 1);
	wall_format(clock_wall(), 0, before);
	bed_job(&b, "j1", "s1", "喜欢茶");
	bed_job(&b, "j2", "s1", "喜欢猫");
	bed_wait(&b, 2);
	json_decref(bed_rpc(&b, "soul.rpc.memory.forget",
	    json_pack("{ssssss}", "user_id", "u1", "soul_id", "s1", "memory_id",
		"j1")));
	/* The same job again, as after a crash. */
	snprintf(json, sizeof(json), late, "j1", "喜欢茶", before);
	bed_publish(&b, "again", json);
	wait_done(&b);
	l = bed_wait(&b, 1);
	ck_assert_uint_eq(bed_with(&l, "喜欢猫"), 1);
	/* All of it, also what was on its way. */
	json_decref(bed_rpc(&b, "soul.rpc.memory.forget",
	    json_pack("{ssss}", "user_id", "u1", "soul_id", "s1")));
	snprintf(json, sizeof(json), late, "j3", "喜欢狗", before);
	bed_publish(&b, "late", json);
	wait_done(&b);
	ck_assert_uint_eq(bed_memories(&b).n, 0);
	bed_job(&b, "j4", "s1", "喜欢鸟");
	bed_wait(&b, 1);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	bed_stop(&b);
}

TEST_T(no_memory_without_its_soul, 60)
{
	struct bed b;

	bed_start(&b, 1);
	bed_soul(&b, "theirs", "u2");
	bed_job(&b, "j1", "theirs", "喜欢茶");
	bed_job(&b, "j2", "nobody", "喜欢猫");
	bed_job(&b, "j3", "s1", "喜欢鸟");
	wait_done(&b);
	bed_wait(&b, 1);
	ck_assert_uint_eq(bed_memories_of(&b, "u1", "theirs").n, 0);
	ck_assert_uint_eq(bed_memories_of(&b, "u2", "theirs").n, 0);
	ck_assert_uint_eq(bed_memories_of(&b, "u1", "nobody").n, 0);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	bed_stop(&b);
}
