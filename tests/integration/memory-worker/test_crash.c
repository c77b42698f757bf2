/*
 * SIGKILL at every step, of the worker, of Redis, of nats-server: each idle
 * session makes one memory, each job has one effect.
 */
#include <signal.h>

#include "testkit/memory_fixture.h"

static void
converse_number(struct memory_fixture *fx, int i, int64_t idle_ms)
{
	char session[24], text[64];

	snprintf(session, sizeof(session), "chat-%d", i);
	snprintf(text, sizeof(text), "我的幸运数字是<%d>", i);
	memory_fixture_converse(fx, session, text, idle_ms);
}

/* n memories, one of each number; nothing is pending. */
static void
ck_numbers(struct memory_fixture *fx, size_t n)
{
	struct memory_list l;
	char text[24];
	size_t i;

	memory_fixture_wait_memories(fx, n);
	memory_fixture_wait_summaries(fx);
	memory_fixture_wait_jobs(fx);
	l = memory_fixture_wait_memories(fx, n);
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "<%zu>", i);
		ck_assert_msg(memory_fixture_count_text(&l, text) == 1,
		    "%zu of %s", memory_fixture_count_text(&l, text), text);
	}
}

static void
crash_start(struct memory_fixture *fx)
{
	memory_fixture_servers(fx);
	fx->env[0] = "IDLE_SUMMARY_CLAIM_SECONDS=0.7";
	fx->env[1] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.7";
	fx->env[2] = "MEMORY_JOB_MAX_DELIVERIES=1000";
	memory_fixture_llm_start(fx);
	memory_fixture_spawn_ready(fx, 0);
}

/* ---- at each step ---- */

static bool
has_job(void *arg)
{
	return memory_fixture_session(arg, "chat-0").job.p != NULL;
}

/* During the call of the model: nothing is stored yet. */
TEST_T(killed_before_the_summary, 60)
{
	struct memory_fixture fx;

	crash_start(&fx);
	memory_fixture_llm_script(&fx, "{\"kind\":\"slow\",\"delay_ms\":300}");
	converse_number(&fx, 0, 0);
	memory_fixture_wait_llm(&fx, 0);
	tk_service_kill(&fx.worker[0]);
	ck_assert_int_eq(memory_fixture_session(&fx, "chat-0").summarised, 0);
	memory_fixture_spawn(&fx, 0);
	ck_numbers(&fx, 1);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 1);
	memory_fixture_stop(&fx);
}

/*
 * With the summary stored and its job not acknowledged: nats-server is stopped,
 * so the job is in its socket, and arrives when it continues.
 */
TEST_T(killed_before_the_job_is_acknowledged, 60)
{
	struct memory_fixture fx;

	crash_start(&fx);
	memory_fixture_llm_script(&fx, "{\"kind\":\"slow\",\"delay_ms\":300}");
	converse_number(&fx, 0, 0);
	memory_fixture_wait_llm(&fx, 0);
	tk_signal(&fx.nats.proc, SIGSTOP);
	ck_assert(tk_until(has_job, &fx, MEMORY_FIXTURE_MS));
	tk_service_kill(&fx.worker[0]);
	tk_signal(&fx.nats.proc, SIGCONT);
	memory_fixture_spawn(&fx, 0);
	ck_numbers(&fx, 1);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 1);
	ck_assert_int_eq(memory_fixture_llm_calls(&fx), 1);
	memory_fixture_stop(&fx);
}

/* The same, and the user sends a message before another worker continues. */
TEST_T(a_message_before_the_job_is_published, 60)
{
	struct memory_fixture fx;

	crash_start(&fx);
	memory_fixture_llm_script(&fx, "{\"kind\":\"slow\",\"delay_ms\":300}");
	converse_number(&fx, 0, 0);
	memory_fixture_wait_llm(&fx, 0);
	memory_fixture_stop_nats(&fx);
	ck_assert(tk_until(has_job, &fx, MEMORY_FIXTURE_MS));
	tk_service_kill(&fx.worker[0]);
	/* Messages of the same session for another summary. */
	memory_fixture_converse(&fx, "chat-0", "我的幸运数字也是<1>", 0);
	memory_fixture_restart_nats(&fx);
	memory_fixture_spawn_ready(&fx, 0);
	ck_numbers(&fx, 2);
	ck_assert_int_eq(memory_fixture_session(&fx, "chat-0").summarised, 4);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 2);
	memory_fixture_stop(&fx);
}

static void
publish(struct memory_fixture *fx, int i)
{
	char id[24], text[24];

	snprintf(id, sizeof(id), "job-%d", i);
	snprintf(text, sizeof(text), "<%d>", i);
	memory_fixture_publish_fact(fx, id, "s1", text);
}

static bool
has_unacked_job(void *arg)
{
	struct memory_fixture *fx = arg;
	char code[64];
	json_t *j = tk_nats_request(
	    fx->nc, "$JS.API.CONSUMER.INFO.SOUL_JOBS.memory-worker", "", code);
	bool is = tk_int(j, "num_ack_pending") > 0;

	json_decref(j);
	return is;
}

/* With the job delivered, and Redis not responding. */
TEST_T(killed_before_the_memory_is_stored, 60)
{
	struct memory_fixture fx;

	crash_start(&fx);
	tk_signal(&fx.redis.proc, SIGSTOP);
	publish(&fx, 0);
	ck_assert(tk_until(has_unacked_job, &fx, MEMORY_FIXTURE_MS));
	tk_service_kill(&fx.worker[0]);
	tk_signal(&fx.redis.proc, SIGCONT);
	memory_fixture_spawn(&fx, 0);
	ck_numbers(&fx, 1);
	memory_fixture_stop(&fx);
}

/* The memory is stored, and its job is delivered to another worker. */
TEST_T(killed_before_the_job_is_done, 60)
{
	struct memory_scope scope = { STR("u1"), STR("s1") };
	struct memory_item item = { .id = STR("job-0"),
		.json = STR("{\"text\":\"<0>\",\"type\":\"fact\","
			    "\"created_at\":\"2026-02-22T10:20:30Z\"}") };
	natsSubscription *sub;
	natsMsg *m;
	struct memory_fixture fx;

	crash_start(&fx);
	tk_service_end(&fx.worker[0]);
	/* A worker that dies before its last step. */
	sub = memory_fixture_consume(&fx);
	publish(&fx, 0);
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, sub, MEMORY_FIXTURE_MS), NATS_OK);
	natsMsg_Destroy(m);
	natsSubscription_Destroy(sub);
	ck_assert_int_eq(
	    memory_put(fx.db.s, &scope, &item, clock_wall()), RC_OK);
	memory_fixture_spawn(&fx, 0);
	ck_numbers(&fx, 1);
	memory_fixture_stop(&fx);
}

/* ---- at any time ---- */

#define SESSIONS 60
#define ROUNDS   30

struct deadline {
	struct mono at;
};

static bool
has_elapsed(void *arg)
{
	return mono_diff_ns(clock_mono(), ((struct deadline *)arg)->at) >= 0;
}

/* Let them run for a pseudo-random time. */
static void
let_work(unsigned *seed, int max_ms)
{
	struct deadline u = { mono_add_ms(
	    clock_mono(), rand_r(seed) % max_ms) };

	(void)tk_until(has_elapsed, &u, MEMORY_FIXTURE_MS);
}

/*
 * Two workers are killed repeatedly at any time, while sessions become idle one
 * after the other.
 */
TEST_T(killed_at_any_time, 120)
{
	unsigned seed = 20260222;
	struct memory_fixture fx;
	int i, sent = 0;

	crash_start(&fx);
	memory_fixture_spawn_ready(&fx, 1);
	for (i = 0; i < ROUNDS; i++) {
		while (sent < (i + 1) * SESSIONS / ROUNDS) {
			converse_number(&fx, sent, rand_r(&seed) % 40);
			sent++;
		}
		let_work(&seed, 120);
		tk_service_kill(&fx.worker[i % 2]);
		memory_fixture_spawn(&fx, i % 2);
	}
	ck_numbers(&fx, SESSIONS);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), SESSIONS);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	memory_fixture_wait_ready(&fx, 0);
	memory_fixture_wait_ready(&fx, 1);
	memory_fixture_stop(&fx);
}

#define JOBS 100

/* Worker, Redis and nats-server are killed in turn, twice. */
TEST_T(all_servers_are_killed, 120)
{
	unsigned seed = 20260220;
	struct memory_fixture fx;
	int i, k = 0;

	crash_start(&fx);
	/* Jobs and sessions form one set of numbers. */
	for (i = 0; i < JOBS; i++)
		if (i % 2 == 0)
			converse_number(&fx, i, rand_r(&seed) % 3000);
		else
			publish(&fx, i);
	for (k = 0; k < 6; k++) {
		let_work(&seed, 700);
		switch (k % 3) {
		case 0:
			tk_service_kill(&fx.worker[0]);
			memory_fixture_spawn(&fx, 0);
			break;
		case 1:
			memory_fixture_restart_redis(&fx);
			break;
		default:
			memory_fixture_restart_nats(&fx);
		}
		memory_fixture_wait_ready(&fx, 0);
	}
	ck_numbers(&fx, JOBS);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), JOBS);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	memory_fixture_stop(&fx);
}
