/*
 * Turns whose response comes from their record: retries, and lost replies.
 */
#include <signal.h>

#include "core/clock.h"
#include "testkit/gateway_turn_fixture.h"

static struct gw_conversation k;
static struct gw_run first;

/* The first turn, which has started. */
static void
start_first_turn(void)
{
	gw_conversation_open(&k);
	gw_run_begin(&first, &k.b, "s1", "turn_first");
}

/* Send the same chat; the orchestrator detects the retry. */
static void
send_retry(const char *body)
{
	gw_conversation_send(&k, "", body);
	gw_turn_reply(&k.b, &k.t, "repeated", ",\"first\":\"turn_first\"");
}

TEST(a_retry_gets_the_first_response)
{
	start_first_turn();
	gw_run_end(&first);
	send_retry(GW_CHAT_BODY);
	gw_conversation_response(&k, 200);
	ck_assert_str_eq(k.a.body.p, GW_RESPONSE);
	gw_conversation_close(&k);
}

TEST(a_retry_gets_the_first_error)
{
	start_first_turn();
	gw_run_end_as(&first, GW_REPLY_FAILED, NULL);
	send_retry(GW_CHAT_BODY);
	gw_conversation_response(&k, 502);
	gw_check_error(&k.a, 502, "the language model is unavailable");
	ck_assert(tk_response_has(&k.a, "\"code\":\"llm_unavailable\""));
	gw_conversation_close(&k);

	start_first_turn();
	gw_run_end_as(&first, GW_REPLY_CANCELED, NULL);
	send_retry(GW_CHAT_BODY);
	gw_conversation_response(&k, 409);
	gw_check_error(&k.a, 409, "the turn was canceled");
	gw_conversation_close(&k);
}

TEST(a_retry_waits_for_the_first_turn)
{
	natsMsg *m;

	start_first_turn();
	send_retry(GW_CHAT_BODY);
	ck_assert(!tk_http_fill(&k.s.c, 700));
	gw_run_end(&first);
	gw_conversation_response(&k, 200);
	ck_assert_str_eq(k.a.body.p, GW_RESPONSE);
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, k.turns, 1), NATS_TIMEOUT);
	gw_conversation_close(&k);
}

TEST(a_retry_of_a_lost_turn_is_lost)
{
	start_first_turn();
	send_retry(GW_CHAT_BODY);
	ck_assert(!tk_http_fill(&k.s.c, 300));
	gw_run_kill(&first);
	gw_conversation_response(&k, 502);
	gw_check_error(&k.a, 502, GW_LOST_TEXT);
	/* A first turn without a record. */
	gw_conversation_send(&k, "", GW_CHAT_BODY);
	gw_turn_reply(&k.b, &k.t, "repeated", ",\"first\":\"turn_x\"");
	gw_conversation_response(&k, 502);
	gw_conversation_send(&k, "", GW_CHAT_BODY);
	gw_turn_reply(&k.b, &k.t, "repeated", NULL);
	gw_conversation_response(&k, 502);
	gw_check_error(&k.a, 502, GW_LOST_TEXT);
	gw_conversation_close(&k);
}

TEST(a_streamed_retry_gets_the_first_events)
{
	json_t *j;

	start_first_turn();
	gw_run_delta(&first, "x");
	send_retry(GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	j = tk_sse_take(&k.s, 1, STARTED);
	ck_assert_str_eq(tk_text(j, "run_id"), "turn_first");
	json_decref(j);
	tk_sse_is(&k.s, 2, DELTA);
	gw_run_delta(&first, "y");
	tk_sse_is(&k.s, 3, DELTA);
	gw_run_end(&first);
	tk_sse_is(&k.s, 4, FINAL);
	tk_sse_is(&k.s, 5, COMPLETED);
	gw_conversation_end(&k);
	/* Retry after the end. */
	send_retry(GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	tk_sse_is(&k.s, 2, DELTA);
	tk_sse_is(&k.s, 3, DELTA);
	tk_sse_is(&k.s, 4, FINAL);
	tk_sse_is(&k.s, 5, COMPLETED);
	gw_conversation_end(&k);
	gw_conversation_close(&k);
}

static void
delete_log(void)
{
	ck_assert_int_eq(state_cmd(k.b.db.s,
			     STATE_ARGS(STR("DEL"),
				 STR("soul:events:{b0619}:demo-user:s1:1")),
			     NULL),
	    RC_OK);
}

TEST(expired_events_are_rebuilt_from_the_record)
{
	struct gw_run other;
	json_t *j;

	start_first_turn();
	gw_run_end(&first);
	delete_log();
	gw_run_begin(&other, &k.b, "s1", "turn_other");
	gw_run_end(&other);
	send_retry(GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_warns(&k.s, 4);
	j = tk_sse_take(&k.s, 5, FINAL);
	ck_assert_str_eq(tk_text(j, "run_id"), "turn_first");
	ck_assert_str_eq(tk_text(j, "data.text"), "好的。");
	json_decref(j);
	j = tk_sse_take(&k.s, 6, COMPLETED);
	ck_assert_str_eq(tk_text(j, "run_id"), "turn_first");
	json_decref(j);
	gw_conversation_end(&k);
	gw_conversation_close(&k);
}

TEST(a_streamed_retry_of_a_lost_turn_reports_it)
{
	start_first_turn();
	send_retry(GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	gw_run_kill(&first);
	tk_sse_is(&k.s, 2, FAILED);
	gw_conversation_end(&k);
	gw_conversation_close(&k);
}

/* The event of the lost turn says so, as the error of a response does. */
TEST(a_stream_tells_that_a_lost_turn_may_have_acted)
{
	json_t *j;

	start_first_turn();
	ck_assert_int_eq(turn_mark_acting(k.b.db.s, &first.p), RC_OK);
	send_retry(GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	gw_run_kill(&first);
	j = tk_sse_take(&k.s, 2, FAILED);
	ck_assert_str_eq(tk_text(j, "data.error.message"),
	    "the turn was lost; an action may have been carried out");
	json_decref(j);
	gw_conversation_end(&k);
	gw_conversation_close(&k);
}

/* ---- lost replies ---- */

/* After 6 s of silence the record is read. */
TEST_T(a_lost_reply_is_recovered_from_the_record, 60)
{
	struct mono start;

	gw_conversation_open(&k);
	gw_conversation_begin(&k, "", GW_CHAT_BODY);
	start = clock_mono();
	gw_run_end(&k.r);
	gw_conversation_response(&k, 200);
	ck_assert_str_eq(k.a.body.p, GW_RESPONSE);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), 5500);
	gw_conversation_close(&k);
}

/* A turn without an outcome is lost. */
TEST_T(a_silent_running_turn_is_lost, 60)
{
	gw_conversation_open(&k);
	gw_conversation_begin(&k, "", GW_CHAT_BODY);
	gw_conversation_response(&k, 502);
	gw_check_error(&k.a, 502, GW_LOST_TEXT);
	gw_conversation_close(&k);
}

TEST_T(a_turn_completes_during_a_nats_outage, 60)
{
	gw_conversation_open(&k);
	gw_conversation_begin(&k, "", GW_CHAT_BODY);
	tk_server_stop(&k.b.nats, SIGKILL);
	ck_assert(!tk_http_fill(&k.s.c, 1000));
	k.r.mute = true;
	gw_run_end(&k.r);
	gw_conversation_response(&k, 200);
	ck_assert_str_eq(k.a.body.p, GW_RESPONSE);
	tk_server_restart(&k.b.nats);
	gw_conversation_close(&k);
}

TEST_T(a_turn_that_dies_during_a_nats_outage_is_lost, 60)
{
	gw_conversation_open(&k);
	gw_conversation_begin(&k, "", GW_CHAT_BODY);
	tk_server_stop(&k.b.nats, SIGKILL);
	ck_assert(!tk_http_fill(&k.s.c, 500));
	gw_run_kill(&k.r);
	gw_conversation_response(&k, 502);
	gw_check_error(&k.a, 502, GW_LOST_TEXT);
	tk_server_restart(&k.b.nats);
	gw_conversation_close(&k);
}
