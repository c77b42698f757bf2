/* A long conversation is summarised before it is idle. */
#include "testkit/memory_fixture.h"

#define HOUR 3600000

static const struct session_length four = { 4, 100000 };

static const struct session_key key = { STR_INIT("u1"), STR_INIT("chat-0") };

static void
converse_long(struct memory_fixture *fx)
{
	bool due_early;

	memory_fixture_converse(fx, "chat-0", "我的幸运数字是<0>", HOUR);
	ck_assert_int_eq(
	    session_request_summary(fx->db.s, &key, &four, &due_early), RC_OK);
	ck_assert(!due_early);
	memory_fixture_converse(fx, "chat-0", "我喜欢绿色", HOUR);
	ck_assert_int_eq(
	    session_request_summary(fx->db.s, &key, &four, &due_early), RC_OK);
	ck_assert(due_early);
}

static long
due(struct memory_fixture *fx)
{
	struct state_reply *r;

	ck_assert_int_eq(
	    state_cmd(fx->db.s,
		STATE_ARGS(STR("ZCOUNT"), STR("soul:idle:{b0478}:1"),
		    str_num(
			clock_wall().ms + HOUR / 2, (char[STR_NUM_MAX]){ 0 }),
		    STR("+inf")),
		&r),
	    RC_OK);
	long n = (long)state_reply_int(r);
	state_reply_free(r);
	return n;
}

static bool
waits_for_silence(void *arg)
{
	return due(arg) == 1;
}

TEST_T(a_long_session_is_summarised_early, 60)
{
	natsSubscription *idle = NULL;
	struct memory_list l;
	natsMsg *m = NULL;
	struct session s;
	struct memory_fixture fx;

	memory_fixture_start(&fx, 2);
	ck_assert_int_eq(natsConnection_SubscribeSync(
			     &idle, fx.nc, "soul.event.session_idle.*"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(fx.nc), NATS_OK);
	converse_long(&fx);
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(
	    memory_fixture_count_text(&l, "\"trigger_source\":\"compression\""),
	    1);
	ck_assert(tk_until(waits_for_silence, &fx, MEMORY_FIXTURE_MS));
	s = memory_fixture_session(&fx, "chat-0");
	ck_assert_int_eq(s.summarised, 4);
	ck_assert_int_gt((int64_t)s.summary.n, 0);
	ck_assert_int_eq(memory_fixture_llm_calls(&fx), 1);
	/* Later messages are summarised when the session is idle. */
	memory_fixture_converse(&fx, "chat-0", "我养了一只猫<1>", 300);
	l = memory_fixture_wait_memories(&fx, 2);
	ck_assert_uint_eq(memory_fixture_count_text(
			      &l, "\"trigger_source\":\"idle_timeout\""),
	    1);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(memory_fixture_session(&fx, "chat-0").summarised, 6);
	ck_assert_int_eq(memory_fixture_llm_calls(&fx), 2);
	/* Only one of the two was an idle session. */
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, idle, MEMORY_FIXTURE_MS), NATS_OK);
	natsMsg_Destroy(m);
	ck_assert_int_eq(natsSubscription_NextMsg(&m, idle, 50), NATS_TIMEOUT);
	natsSubscription_Destroy(idle);
	memory_fixture_stop(&fx);
}

/* The worker dies during the call. */
TEST_T(killed_during_an_early_summary, 60)
{
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	fx.env[0] = "IDLE_SUMMARY_CLAIM_SECONDS=0.7";
	memory_fixture_llm_start(&fx);
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_llm_script(&fx, "{\"kind\":\"slow\",\"delay_ms\":300}");
	converse_long(&fx);
	memory_fixture_wait_llm(&fx, 0);
	tk_service_kill(&fx.worker[0]);
	ck_assert_int_eq(memory_fixture_session(&fx, "chat-0").summarised, 0);
	memory_fixture_spawn(&fx, 0);
	memory_fixture_wait_memories(&fx, 1);
	ck_assert(tk_until(waits_for_silence, &fx, MEMORY_FIXTURE_MS));
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 1);
	ck_assert_int_eq(memory_fixture_session(&fx, "chat-0").summarised, 4);
	memory_fixture_stop(&fx);
}

TEST_T(a_message_during_an_early_summary, 60)
{
	struct memory_list l;
	struct memory_fixture fx;

	memory_fixture_start(&fx, 1);
	memory_fixture_llm_script(&fx, "{\"kind\":\"slow\",\"delay_ms\":300}");
	converse_long(&fx);
	memory_fixture_wait_llm(&fx, 0);
	memory_fixture_converse(&fx, "chat-0", "我养了一只猫<1>", 1000);
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "<1>"), 0);
	l = memory_fixture_wait_memories(&fx, 2);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "<0>"), 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "<1>"), 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(memory_fixture_session(&fx, "chat-0").summarised, 6);
	memory_fixture_stop(&fx);
}
