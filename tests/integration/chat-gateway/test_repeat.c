/*
 * Turns whose answer comes from what is kept of them: retries, and those whose
 * answer was lost on its way.
 */
#include "talk.h"

static struct talk k;
static struct run first;

/* The first turn, which has begun. */
static void
open_first(void)
{
	talk_open(&k);
	run_begin(&first, &k.b, "s1", "turn_first");
}

/* Say it again; the orchestrator knows that. */
static void
say_again(const char *body)
{
	talk_say(&k, "", body);
	turn_say(&k.b, &k.t, "repeated", ",\"first\":\"turn_first\"");
}

TEST(a_retry_gets_the_first_answer)
{
	open_first();
	run_end(&first);
	say_again(SAID);
	talk_answer(&k, 200);
	ck_assert_str_eq(k.a.body.p, RESPONSE);
	talk_close(&k);
}

TEST(a_retry_gets_the_first_error)
{
	open_first();
	run_end_as(&first, REPLY_FAILED, NULL);
	say_again(SAID);
	talk_answer(&k, 502);
	answer_refuses(&k.a, 502, "the language model is unavailable");
	ck_assert(tk_answer_has(&k.a, "\"code\":\"llm_unavailable\""));
	talk_close(&k);

	open_first();
	run_end_as(&first, REPLY_CANCELED, NULL);
	say_again(SAID);
	talk_answer(&k, 409);
	answer_refuses(&k.a, 409, "the turn was canceled");
	talk_close(&k);
}

TEST(a_retry_waits_for_the_first)
{
	natsMsg *m;

	open_first();
	say_again(SAID);
	ck_assert(!tk_http_fill(&k.s.c, 700));
	run_end(&first);
	talk_answer(&k, 200);
	ck_assert_str_eq(k.a.body.p, RESPONSE);
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, k.turns, 1), NATS_TIMEOUT);
	talk_close(&k);
}

TEST(a_first_that_is_lost_is_lost_again)
{
	open_first();
	say_again(SAID);
	ck_assert(!tk_http_fill(&k.s.c, 300));
	run_die(&first);
	talk_answer(&k, 502);
	answer_refuses(&k.a, 502, LOST);
	/* Of one that nobody knows nothing can be said. */
	talk_say(&k, "", SAID);
	turn_say(&k.b, &k.t, "repeated", ",\"first\":\"turn_x\"");
	talk_answer(&k, 502);
	talk_say(&k, "", SAID);
	turn_say(&k.b, &k.t, "repeated", NULL);
	talk_answer(&k, 502);
	answer_refuses(&k.a, 502, LOST);
	talk_close(&k);
}

TEST(a_streamed_retry_gets_the_first_events)
{
	json_t *j;

	open_first();
	run_delta(&first, "x");
	say_again(STREAMED);
	tk_sse_begun(&k.s);
	j = tk_sse_take(&k.s, 1, STARTED);
	ck_assert_str_eq(tk_text(j, "run_id"), "turn_first");
	json_decref(j);
	tk_sse_is(&k.s, 2, DELTA);
	run_delta(&first, "y");
	tk_sse_is(&k.s, 3, DELTA);
	run_end(&first);
	tk_sse_is(&k.s, 4, FINAL);
	tk_sse_is(&k.s, 5, COMPLETED);
	talk_over(&k);
	/* Once more, now that it has ended. */
	say_again(STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	tk_sse_is(&k.s, 2, DELTA);
	tk_sse_is(&k.s, 3, DELTA);
	tk_sse_is(&k.s, 4, FINAL);
	tk_sse_is(&k.s, 5, COMPLETED);
	talk_over(&k);
	talk_close(&k);
}

static void
forget_log(void)
{
	ck_assert_int_eq(state_cmd(k.b.db.s,
			     STATE_ARGS(STR("DEL"),
				 STR("soul:session:{demo-user:s1}:events:1")),
			     NULL),
	    RC_OK);
}

TEST(events_that_are_gone_are_rebuilt)
{
	struct run other;
	json_t *j;

	open_first();
	run_end(&first);
	forget_log();
	run_begin(&other, &k.b, "s1", "turn_other");
	run_end(&other);
	say_again(STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_warns(&k.s, 4);
	j = tk_sse_take(&k.s, 5, FINAL);
	ck_assert_str_eq(tk_text(j, "run_id"), "turn_first");
	ck_assert_str_eq(tk_text(j, "data.text"), "好的。");
	json_decref(j);
	j = tk_sse_take(&k.s, 6, COMPLETED);
	ck_assert_str_eq(tk_text(j, "run_id"), "turn_first");
	json_decref(j);
	talk_over(&k);
	talk_close(&k);
}

TEST(a_streamed_retry_of_a_lost_turn_says_so)
{
	open_first();
	say_again(STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	run_die(&first);
	tk_sse_is(&k.s, 2, FAILED);
	talk_over(&k);
	talk_close(&k);
}

/* ---- answers that were lost on their way --------------------------------- */

/* Six seconds of silence, and then a look at what is kept. */
TEST_T(a_lost_answer_is_found, 60)
{
	struct mono start;

	talk_open(&k);
	talk_begin(&k, "", SAID);
	start = clock_mono();
	run_end(&k.r);
	talk_answer(&k, 200);
	ck_assert_str_eq(k.a.body.p, RESPONSE);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), 5500);
	talk_close(&k);
}

/* A turn that its orchestrator has not ended is lost all the same. */
TEST_T(a_silent_turn_that_runs_is_lost, 60)
{
	talk_open(&k);
	talk_begin(&k, "", SAID);
	talk_answer(&k, 502);
	answer_refuses(&k.a, 502, LOST);
	talk_close(&k);
}

TEST_T(a_turn_outlives_nats, 60)
{
	talk_open(&k);
	talk_begin(&k, "", SAID);
	tk_server_stop(&k.b.nats, SIGKILL);
	ck_assert(!tk_http_fill(&k.s.c, 1000));
	k.r.mute = true;
	run_end(&k.r);
	talk_answer(&k, 200);
	ck_assert_str_eq(k.a.body.p, RESPONSE);
	tk_server_restart(&k.b.nats);
	talk_close(&k);
}

TEST_T(a_turn_that_dies_while_nats_is_away_is_lost, 60)
{
	talk_open(&k);
	talk_begin(&k, "", SAID);
	tk_server_stop(&k.b.nats, SIGKILL);
	ck_assert(!tk_http_fill(&k.s.c, 500));
	run_die(&k.r);
	talk_answer(&k, 502);
	answer_refuses(&k.a, 502, LOST);
	tk_server_restart(&k.b.nats);
	talk_close(&k);
}
