/* Replicas share the work without doing any of it twice. */
#include <signal.h>

#include "testkit/memory_fixture.h"

#define SESSIONS 60
/* Timers of a dead worker are taken over within this. */
#define TAKEOVER_MS 5000

static void
converse_all(struct memory_fixture *fx, int first, int n, int64_t idle_ms)
{
	char session[24], text[64];
	int i;

	for (i = first; i < first + n; i++) {
		snprintf(session, sizeof(session), "chat-%d", i);
		snprintf(text, sizeof(text), "我的幸运数字是<%d>", i);
		memory_fixture_converse(fx, session, text, idle_ms);
	}
}

/* Each session made one memory, and its record is consistent. */
static void
ck_each(struct memory_fixture *fx, int n)
{
	struct memory_list l = memory_fixture_memories(fx);
	char session[24], text[64];
	struct session s;
	int i;

	ck_assert_uint_eq(l.n, (size_t)n);
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "<%d>", i);
		ck_assert_uint_eq(memory_fixture_count_text(&l, text), 1);
	}
	for (i = 0; i < n; i++) {
		snprintf(session, sizeof(session), "chat-%d", i);
		s = memory_fixture_session(fx, session);
		ck_assert_int_eq(s.summarised, 2);
		ck_assert_ptr_null(s.job.p);
	}
}

/* User i, whose timers are in a bucket of its own, as most users' are. */
static struct session_key
user(int i)
{
	static char name[SESSIONS][16];

	snprintf(name[i], sizeof(name[i]), "user-%d", i);
	return (struct session_key){ str_of(name[i]), STR("chat") };
}

static void
converse_users(struct memory_fixture *fx, int64_t idle_ms)
{
	char soul[16], text[64];
	int i;

	for (i = 0; i < SESSIONS; i++) {
		snprintf(soul, sizeof(soul), "soul-%d", i);
		snprintf(text, sizeof(text), "我的幸运数字是<%d>", i);
		memory_fixture_soul(fx, soul, user(i).user_id.p);
		memory_fixture_converse_as(fx, user(i), soul, text, idle_ms);
	}
}

static bool
all_summarised(void *arg)
{
	struct memory_fixture *fx = arg;
	struct session_key k;
	struct session s;
	int i;

	for (i = 0; i < SESSIONS; i++) {
		arena_reset(fx->db.arena);
		k = user(i);
		ck_assert_int_eq(
		    session_read(fx->db.s, &k, fx->db.arena, &s), RC_OK);
		if (s.summarised != 2)
			return false;
	}
	return true;
}

static void
ck_users(struct memory_fixture *fx)
{
	struct memory_list l;
	char soul[16], text[64];
	int i;

	memory_fixture_wait_summaries(fx);
	memory_fixture_wait_jobs(fx);
	for (i = 0; i < SESSIONS; i++) {
		snprintf(soul, sizeof(soul), "soul-%d", i);
		snprintf(text, sizeof(text), "<%d>", i);
		l = memory_fixture_memories_of(fx, user(i).user_id.p, soul);
		ck_assert_uint_eq(l.n, 1);
		ck_assert_uint_eq(memory_fixture_count_text(&l, text), 1);
	}
	ck_assert_int_eq(memory_fixture_llm_calls(fx), SESSIONS);
}

struct timer_members {
	struct memory_fixture *fx;
	int64_t n;
};

/* The workers know of each other after the next renewal. */
static bool
has_members(void *arg)
{
	struct timer_members *m = arg;
	struct state_reply *r;
	int64_t n;

	ck_assert_int_eq(
	    state_cmd(m->fx->db.s,
		STATE_ARGS(STR("ZCARD"), STR("soul:timers:{idle}:1")), &r),
	    RC_OK);
	n = state_reply_int(r);
	state_reply_free(r);
	return n == m->n;
}

TEST_T(a_killed_workers_sessions_are_claimed_by_the_others, 90)
{
	struct memory_fixture fx;
	struct timer_members two = { &fx, 2 };
	int64_t began, took;

	memory_fixture_start(&fx, 2);
	ck_assert(tk_until(has_members, &two, MEMORY_FIXTURE_MS));
	tk_service_kill(&fx.worker[0]);
	began = clock_wall().ms;
	converse_users(&fx, 0);
	ck_assert(tk_until(all_summarised, &fx, MEMORY_FIXTURE_MS));
	took = clock_wall().ms - began;
	printf("taken over within %lld ms\n", (long long)took);
	ck_assert_int_le(took, TAKEOVER_MS);
	ck_users(&fx);
	memory_fixture_stop(&fx);
}

TEST_T(replicas_share, 90)
{
	long made[2];
	struct memory_fixture fx;
	struct timer_members two = { &fx, 2 };
	int i;

	memory_fixture_start(&fx, 2);
	ck_assert(tk_until(has_members, &two, MEMORY_FIXTURE_MS));
	converse_users(&fx, 2000);
	ck_assert(tk_until(all_summarised, &fx, MEMORY_FIXTURE_MS));
	ck_users(&fx);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), SESSIONS);
	for (i = 0; i < 2; i++) {
		made[i] = tk_service_metric(
		    &fx.worker[i], "soul_memory_summaries_total");
		ck_assert_int_gt(made[i], 0);
	}
	ck_assert_int_eq(made[0] + made[1], SESSIONS);
	memory_fixture_stop(&fx);
}

TEST_T(a_stopping_worker_hands_over, 60)
{
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	fx.env[0] = "IDLE_SUMMARY_CLAIM_SECONDS=600";
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_llm_script(
	    &fx, "{\"kind\":\"slow\",\"delay_ms\":30000}");
	converse_all(&fx, 0, 1, 0);
	memory_fixture_wait_llm(&fx, 0);
	tk_service_end(&fx.worker[0]);
	memory_fixture_spawn(&fx, 1);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_summaries(&fx);
	ck_each(&fx, 1);
	tk_service_kill(&fx.llm);
	memory_fixture_stop(&fx);
}

TEST_T(a_hanging_worker_is_replaced, 60)
{
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	fx.env[0] = "IDLE_SUMMARY_CLAIM_SECONDS=1";
	/* Jobs are delivered to it too, as long as it seems alive. */
	fx.env[1] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.3";
	fx.env[2] = "MEMORY_JOB_MAX_DELIVERIES=1000";
	memory_fixture_spawn_ready(&fx, 0);
	/* It stops while the model's response is on its way. */
	memory_fixture_llm_script(&fx, "{\"kind\":\"slow\",\"delay_ms\":500}");
	converse_all(&fx, 0, 1, 0);
	memory_fixture_wait_llm(&fx, 0);
	tk_signal(&fx.worker[0].proc, SIGSTOP);
	memory_fixture_spawn(&fx, 1);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_summaries(&fx);
	/* It continues, and its result is discarded. */
	tk_signal(&fx.worker[0].proc, SIGCONT);
	memory_fixture_wait_ready(&fx, 0);
	converse_all(&fx, 1, 1, 0);
	memory_fixture_wait_memories(&fx, 2);
	memory_fixture_wait_summaries(&fx);
	memory_fixture_wait_jobs(&fx);
	ck_each(&fx, 2);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 2);
	memory_fixture_stop(&fx);
}
