/*
 * A conversation that gets long before it falls silent is summarised early.
 */
#include "talk.h"

#define HOUR 3600000

static const struct session_length four = { 4, 100000 };

static const struct session_key key = { STR_INIT("u1"), STR_INIT("chat-0") };

static void
say_much(struct bed *b)
{
	bool asked;

	bed_say(b, "chat-0", "我的幸运数字是<0>", HOUR);
	ck_assert_int_eq(session_request_summary(b->db.s, &key, &four, &asked), RC_OK);
	ck_assert(!asked);
	bed_say(b, "chat-0", "我喜欢绿色", HOUR);
	ck_assert_int_eq(session_request_summary(b->db.s, &key, &four, &asked), RC_OK);
	ck_assert(asked);
}

static long
due(struct bed *b)
{
	struct state_reply *r;

	ck_assert_int_eq(state_cmd(b->db.s,
			     STATE_ARGS(STR("ZCOUNT"), STR("soul:idle:1"),
				 state_num(clock_wall().ms + HOUR / 2,
				     (char[STATE_NUM_MAX]){ 0 }),
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

static bool
is_asking(void *arg)
{
	return tk_service_metric(arg, "soul_httpc_active{peer=\"llm\"}") > 0;
}

TEST_T(summarised_before_it_is_idle, 60)
{
	natsSubscription *idle = NULL;
	struct memory_list l;
	natsMsg *m = NULL;
	struct session s;
	struct bed b;

	bed_start(&b, 2);
	ck_assert_int_eq(natsConnection_SubscribeSync(
			     &idle, b.nc, "soul.event.session_idle.*"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b.nc), NATS_OK);
	say_much(&b);
	l = bed_wait(&b, 1);
	ck_assert_uint_eq(
	    bed_with(&l, "\"trigger_source\":\"compression\""), 1);
	ck_assert(tk_until(waits_for_silence, &b, BED_MS));
	s = bed_session(&b, "chat-0");
	ck_assert_int_eq(s.summarised, 4);
	ck_assert_int_gt((int64_t)s.summary.n, 0);
	ck_assert_int_eq(bed_asked(&b), 1);
	/* What is said later is the next summary's, when it falls silent. */
	bed_say(&b, "chat-0", "我养了一只猫<1>", 300);
	l = bed_wait(&b, 2);
	ck_assert_uint_eq(
	    bed_with(&l, "\"trigger_source\":\"idle_timeout\""), 1);
	bed_quiet(&b);
	ck_assert_int_eq(bed_session(&b, "chat-0").summarised, 6);
	ck_assert_int_eq(bed_asked(&b), 2);
	/* Only one of the two was a silence. */
	ck_assert_int_eq(natsSubscription_NextMsg(&m, idle, BED_MS), NATS_OK);
	natsMsg_Destroy(m);
	ck_assert_int_eq(natsSubscription_NextMsg(&m, idle, 50), NATS_TIMEOUT);
	natsSubscription_Destroy(idle);
	bed_stop(&b);
}

/* Whoever dies, and whatever is said meanwhile. */
TEST_T(killed_while_it_is_asked_for, 60)
{
	struct bed b;

	bed_servers(&b);
	b.more[0] = "IDLE_SUMMARY_CLAIM_SECONDS=0.7";
	bed_llm(&b);
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":300}");
	say_much(&b);
	ck_assert(tk_until(is_asking, &b.worker[0], BED_MS));
	tk_service_kill(&b.worker[0]);
	ck_assert_int_eq(bed_session(&b, "chat-0").summarised, 0);
	bed_spawn(&b, 0);
	bed_wait(&b, 1);
	ck_assert(tk_until(waits_for_silence, &b, BED_MS));
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 1);
	ck_assert_int_eq(bed_session(&b, "chat-0").summarised, 4);
	bed_stop(&b);
}

TEST_T(spoken_to_while_it_is_asked_for, 60)
{
	struct memory_list l;
	struct bed b;

	bed_start(&b, 1);
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":300}");
	say_much(&b);
	ck_assert(tk_until(is_asking, &b.worker[0], BED_MS));
	bed_say(&b, "chat-0", "我养了一只猫<1>", 1000);
	l = bed_wait(&b, 1);
	ck_assert_uint_eq(bed_with(&l, "<1>"), 0);
	l = bed_wait(&b, 2);
	ck_assert_uint_eq(bed_with(&l, "<0>"), 1);
	ck_assert_uint_eq(bed_with(&l, "<1>"), 1);
	bed_quiet(&b);
	ck_assert_int_eq(bed_session(&b, "chat-0").summarised, 6);
	bed_stop(&b);
}
