/*
 * Replicas: they share the work, and nothing is done twice.
 */
#include "talk.h"

#define SESSIONS 60

static void
all_say(struct bed *b, int first, int n, int64_t idle_ms)
{
	char session[24], text[64];
	int i;

	for (i = first; i < first + n; i++) {
		snprintf(session, sizeof(session), "chat-%d", i);
		snprintf(text, sizeof(text), "我的幸运数字是<%d>", i);
		bed_say(b, session, text, idle_ms);
	}
}

/* Each session's words are in one memory, and its record is in order. */
static void
ck_each(struct bed *b, int n)
{
	struct memory_list l = bed_memories(b);
	char session[24], text[64];
	struct session s;
	int i;

	ck_assert_uint_eq(l.n, (size_t)n);
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "<%d>", i);
		ck_assert_uint_eq(bed_with(&l, text), 1);
	}
	for (i = 0; i < n; i++) {
		snprintf(session, sizeof(session), "chat-%d", i);
		s = bed_session(b, session);
		ck_assert_int_eq(s.summarised, 2);
		ck_assert_ptr_null(s.job.p);
	}
}

TEST_T(replicas_share, 90)
{
	long made[2];
	struct bed b;
	int i;

	bed_start(&b, 2);
	all_say(&b, 0, SESSIONS, 500);
	bed_wait(&b, SESSIONS);
	bed_quiet(&b);
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_each(&b, SESSIONS);
	ck_assert_int_eq(bed_asked(&b), SESSIONS);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), SESSIONS);
	for (i = 0; i < 2; i++) {
		made[i] = tk_service_metric(
		    &b.worker[i], "soul_memory_summaries_total");
		ck_assert_int_gt(made[i], 0);
	}
	ck_assert_int_eq(made[0] + made[1], SESSIONS);
	bed_stop(&b);
}

static bool
is_claimed(void *arg)
{
	return tk_service_metric(arg, "soul_httpc_active{peer=\"llm\"}") > 0;
}

TEST_T(who_leaves_hands_over, 60)
{
	struct bed b;

	bed_servers(&b);
	bed_llm(&b);
	b.more[0] = "IDLE_SUMMARY_CLAIM_SECONDS=600";
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":30000}");
	all_say(&b, 0, 1, 0);
	ck_assert(tk_until(is_claimed, &b.worker[0], BED_MS));
	tk_service_end(&b.worker[0]);
	bed_spawn(&b, 1);
	bed_wait(&b, 1);
	bed_quiet(&b);
	ck_each(&b, 1);
	tk_service_kill(&b.llm);
	bed_stop(&b);
}

TEST_T(who_hangs_is_replaced_and_does_no_harm, 60)
{
	struct bed b;

	bed_servers(&b);
	bed_llm(&b);
	b.more[0] = "IDLE_SUMMARY_CLAIM_SECONDS=1";
	/* Jobs are dealt out to it too, as long as it is thought to live. */
	b.more[1] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.3";
	b.more[2] = "MEMORY_JOB_MAX_DELIVERIES=1000";
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	/* It stops with the model's answer on its way to it. */
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":500}");
	all_say(&b, 0, 1, 0);
	ck_assert(tk_until(is_claimed, &b.worker[0], BED_MS));
	tk_signal(&b.worker[0].proc, SIGSTOP);
	bed_spawn(&b, 1);
	bed_wait(&b, 1);
	bed_quiet(&b);
	/* It wakes up, and what it has is no more wanted. */
	tk_signal(&b.worker[0].proc, SIGCONT);
	bed_ready(&b, 0);
	all_say(&b, 1, 1, 0);
	bed_wait(&b, 2);
	bed_quiet(&b);
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_each(&b, 2);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 2);
	bed_stop(&b);
}
