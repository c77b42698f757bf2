/*
 * SIGKILL between the steps, of the worker, of Redis, of nats-server: each
 * silence makes one memory, each job has its effect once.
 */
#include "talk.h"

static void
say_number(struct bed *b, int i, int64_t idle_ms)
{
	char session[24], text[64];

	snprintf(session, sizeof(session), "chat-%d", i);
	snprintf(text, sizeof(text), "我的幸运数字是<%d>", i);
	bed_say(b, session, text, idle_ms);
}

/* n memories, one of each number; nothing is left to be done. */
static void
ck_numbers(struct bed *b, size_t n)
{
	struct memory_list l;
	char text[24];
	size_t i;

	bed_wait(b, n);
	bed_quiet(b);
	ck_assert(tk_until(all_done, b, BED_MS));
	l = bed_wait(b, n);
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "<%zu>", i);
		ck_assert_msg(bed_with(&l, text) == 1, "%zu of %s",
		    bed_with(&l, text), text);
	}
}

static void
crash_start(struct bed *b)
{
	bed_servers(b);
	b->more[0] = "IDLE_SUMMARY_CLAIM_SECONDS=0.7";
	b->more[1] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.7";
	b->more[2] = "MEMORY_JOB_MAX_DELIVERIES=1000";
	bed_llm(b);
	bed_spawn(b, 0);
	bed_ready(b, 0);
}

/* ---- at each step -----------------------------------------------------------
 */

static bool
has_job(void *arg)
{
	return bed_session(arg, "chat-0").job.p != NULL;
}

static bool
is_asking(void *arg)
{
	return tk_service_metric(arg, "soul_httpc_active{peer=\"llm\"}") > 0;
}

/* While the model thinks: nothing is stored yet. */
TEST_T(killed_before_the_summary, 60)
{
	struct bed b;

	crash_start(&b);
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":300}");
	say_number(&b, 0, 0);
	ck_assert(tk_until(is_asking, &b.worker[0], BED_MS));
	tk_service_kill(&b.worker[0]);
	ck_assert_int_eq(bed_session(&b, "chat-0").summarised, 0);
	bed_spawn(&b, 0);
	ck_numbers(&b, 1);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 1);
	bed_stop(&b);
}

/*
 * With the summary stored and its job not acknowledged: the server is stopped,
 * so the job is in its socket, and comes when it goes on.
 */
TEST_T(killed_before_the_job_is_acknowledged, 60)
{
	struct bed b;

	crash_start(&b);
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":300}");
	say_number(&b, 0, 0);
	ck_assert(tk_until(is_asking, &b.worker[0], BED_MS));
	tk_signal(&b.nats.proc, SIGSTOP);
	ck_assert(tk_until(has_job, &b, BED_MS));
	tk_service_kill(&b.worker[0]);
	tk_signal(&b.nats.proc, SIGCONT);
	bed_spawn(&b, 0);
	ck_numbers(&b, 1);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 1);
	ck_assert_int_eq(bed_asked(&b), 1);
	bed_stop(&b);
}

/* The same, and the user speaks before anybody goes on. */
TEST_T(spoken_to_before_the_job_is_published, 60)
{
	struct bed b;

	crash_start(&b);
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":300}");
	say_number(&b, 0, 0);
	ck_assert(tk_until(is_asking, &b.worker[0], BED_MS));
	tk_server_stop(&b.nats, SIGKILL);
	natsConnection_Destroy(b.nc);
	ck_assert(tk_until(has_job, &b, BED_MS));
	tk_service_kill(&b.worker[0]);
	/* Another stretch of the same session, and its words are another's. */
	bed_say(&b, "chat-0", "我的幸运数字也是<1>", 0);
	tk_server_restart(&b.nats);
	b.nc = tk_nats_connect(b.nats.url);
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	ck_numbers(&b, 2);
	ck_assert_int_eq(bed_session(&b, "chat-0").summarised, 4);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 2);
	bed_stop(&b);
}

static void
publish(struct bed *b, int i)
{
	char id[24], text[24];

	snprintf(id, sizeof(id), "job-%d", i);
	snprintf(text, sizeof(text), "<%d>", i);
	bed_job(b, id, "s1", text);
}

static bool
in_hand(void *arg)
{
	struct bed *b = arg;
	char code[64];
	json_t *j = tk_nats_ask(
	    b->nc, "$JS.API.CONSUMER.INFO.SOUL_JOBS.memory-worker", "", code);
	bool is = json_integer_value(json_object_get(j, "num_ack_pending")) > 0;

	json_decref(j);
	return is;
}

/* With the job in hand, and Redis not answering. */
TEST_T(killed_before_the_memory_is_stored, 60)
{
	struct bed b;

	crash_start(&b);
	tk_signal(&b.redis.proc, SIGSTOP);
	publish(&b, 0);
	ck_assert(tk_until(in_hand, &b, BED_MS));
	tk_service_kill(&b.worker[0]);
	tk_signal(&b.redis.proc, SIGCONT);
	bed_spawn(&b, 0);
	ck_numbers(&b, 1);
	bed_stop(&b);
}

/* The memory is stored, and its job is delivered to another. */
TEST_T(killed_before_the_job_is_done, 60)
{
	struct memory_scope scope = { STR("u1"), STR("s1") };
	struct memory_item item = { .id = STR("job-0"),
		.json = STR("{\"text\":\"<0>\",\"type\":\"fact\","
			    "\"created_at\":\"2026-02-22T10:20:30Z\"}") };
	natsSubscription *sub = NULL;
	natsMsg *m;
	struct bed b;

	crash_start(&b);
	tk_service_end(&b.worker[0]);
	/* What a worker does that dies before its last step. */
	ck_assert_int_eq(
	    natsConnection_QueueSubscribeSync(&sub, b.nc,
		"soul.deliver.SOUL_JOBS.memory-worker", "memory-worker"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b.nc), NATS_OK);
	publish(&b, 0);
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, BED_MS), NATS_OK);
	natsMsg_Destroy(m);
	natsSubscription_Destroy(sub);
	ck_assert_int_eq(
	    memory_put(b.db.s, &scope, &item, clock_wall()), RC_OK);
	bed_spawn(&b, 0);
	ck_numbers(&b, 1);
	bed_stop(&b);
}

/* ---- anywhere ---------------------------------------------------------------
 */

#define SESSIONS 60
#define ROUNDS   30

struct until {
	struct mono at;
};

static bool
is_past(void *arg)
{
	return mono_diff_ns(clock_mono(), ((struct until *)arg)->at) >= 0;
}

/* Let them work for a moment whose end is the luck of the seed. */
static void
let_work(unsigned *seed, int max_ms)
{
	struct until u = { mono_add_ms(clock_mono(), rand_r(seed) % max_ms) };

	(void)tk_until(is_past, &u, BED_MS);
}

/*
 * Two workers, killed again and again at any moment, while sessions fall idle
 * one after the other.
 */
TEST_T(killed_anywhere, 120)
{
	unsigned seed = 20260222;
	struct bed b;
	int i, said = 0;

	crash_start(&b);
	bed_spawn(&b, 1);
	bed_ready(&b, 1);
	for (i = 0; i < ROUNDS; i++) {
		while (said < (i + 1) * SESSIONS / ROUNDS) {
			say_number(&b, said, rand_r(&seed) % 40);
			said++;
		}
		let_work(&seed, 120);
		tk_service_kill(&b.worker[i % 2]);
		bed_spawn(&b, i % 2);
	}
	ck_numbers(&b, SESSIONS);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), SESSIONS);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	bed_ready(&b, 0);
	bed_ready(&b, 1);
	bed_stop(&b);
}

#define JOBS 100

static void
restart_nats(struct bed *b)
{
	tk_server_stop(&b->nats, SIGKILL);
	natsConnection_Destroy(b->nc);
	tk_server_restart(&b->nats);
	b->nc = tk_nats_connect(b->nats.url);
}

static void
restart_redis(struct bed *b)
{
	tk_server_stop(&b->redis, SIGKILL);
	tk_server_restart(&b->redis);
	tk_state_wait(&b->db);
}

/* Everything is killed in turn: worker, Redis, nats-server, twice. */
TEST_T(everything_is_killed, 120)
{
	unsigned seed = 20260220;
	struct bed b;
	int i, k = 0;

	crash_start(&b);
	/* Jobs and sessions make one set of numbers. */
	for (i = 0; i < JOBS; i++)
		if (i % 2 == 0)
			say_number(&b, i, rand_r(&seed) % 3000);
		else
			publish(&b, i);
	for (k = 0; k < 6; k++) {
		let_work(&seed, 700);
		switch (k % 3) {
		case 0:
			tk_service_kill(&b.worker[0]);
			bed_spawn(&b, 0);
			break;
		case 1:
			restart_redis(&b);
			break;
		default:
			restart_nats(&b);
		}
		bed_ready(&b, 0);
	}
	ck_numbers(&b, JOBS);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), JOBS);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	bed_stop(&b);
}
