/*
 * A chat that is answered by the events of its turn.
 */
#include "talk.h"

static struct talk k;

static const struct {
	const char *accept, *body;
} asks[] = {
	{ "", STREAMED },
	{ "Accept: text/event-stream\r\n", SAID },
	{ "Accept: application/json, text/event-stream;q=0.5\r\n", STREAMED },
};

TEST(a_turn_is_told_from_its_begin_to_its_end)
{
	struct run other;
	json_t *j;
	size_t i;

	talk_open(&k);
	/* What was before it, and beside it, is not of it. */
	run_begin(&other, &k.b, "s1", "turn_before");
	run_end(&other);
	for (i = 0; i < NELEM(asks); i++) {
		talk_begin(&k, asks[i].accept, asks[i].body);
		ck_assert(json_is_true(tk_at(k.t.j, "chat.stream")));
		tk_sse_begun(&k.s);
		tk_sse_is(&k.s, k.r.seq, STARTED);
		run_delta(&k.r, "好");
		j = tk_sse_take(&k.s, k.r.seq, DELTA);
		ck_assert_str_eq(tk_text(j, "run_id"), k.r.id);
		ck_assert_str_eq(tk_text(j, "data.text_delta"), "好");
		json_decref(j);
		run_end(&k.r);
		tk_sse_is(&k.s, k.r.seq - 1, FINAL);
		tk_sse_is(&k.s, k.r.seq, COMPLETED);
		turn_complete(&k.b, &k.t);
		talk_over(&k);
	}
	talk_close(&k);
}

/* NATS may say nothing of it: the last reply has the log read to its end. */
TEST(the_end_is_always_told)
{
	int i;

	talk_open(&k);
	for (i = 0; i < 10; i++) {
		talk_say(&k, "", STREAMED);
		talk_enter(&k);
		k.r.mute = true;
		run_start(&k.r);
		run_deltas(&k.r, 3);
		run_end(&k.r);
		turn_complete(&k.b, &k.t);
		tk_sse_begun(&k.s);
		tk_sse_is(&k.s, k.r.seq - 5, STARTED);
		tk_sse_is(&k.s, k.r.seq - 4, DELTA);
		tk_sse_is(&k.s, k.r.seq - 3, DELTA);
		tk_sse_is(&k.s, k.r.seq - 2, DELTA);
		tk_sse_is(&k.s, k.r.seq - 1, FINAL);
		tk_sse_is(&k.s, k.r.seq, COMPLETED);
		talk_over(&k);
	}
	/* A failure too, in the stream since that has begun. */
	talk_begin(&k, "", STREAMED);
	k.r.mute = true;
	run_end_as(&k.r, REPLY_FAILED, NULL);
	turn_say(&k.b, &k.t, "failed", ",\"status\":502");
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, k.r.seq - 1, STARTED);
	tk_sse_is(&k.s, k.r.seq, FAILED);
	talk_over(&k);
	talk_close(&k);
}

/* Until the first event an error is an answer as ever. */
TEST(what_never_began_is_answered_as_ever)
{
	talk_open(&k);
	talk_say(&k, "", STREAMED);
	turn_say(&k.b, &k.t, "failed",
	    ",\"status\":429,\"error\":{\"error\":\"too many turns of this "
	    "session are waiting\",\"code\":\"too_many_turns\"}");
	talk_answer(&k, 429);
	answer_refuses(&k.a, 429, "too many turns of this session are waiting");
	talk_say(&k, "", STREAMED);
	talk_enter(&k);
	turn_say(&k.b, &k.t, "canceled", NULL);
	talk_answer(&k, 409);
	answer_refuses(&k.a, 409, "the turn was canceled");
	chat_refused(&k.b, "t1", "\"stream\":true,\"soul_id\":\"x\"", 400,
	    "soul not found");
	turns_leave(&k.b, k.turns);
	k.turns = NULL;
	chat_refused(&k.b, "t1", "\"stream\":true", 503,
	    "no llm-orchestrator is running; try again");
	talk_close(&k);
}

/* An orchestrator that tells no events is told for. */
TEST(a_turn_without_events_is_rebuilt_from_its_reply)
{
	struct tk_sse_event e;

	talk_open(&k);
	talk_say(&k, "", STREAMED);
	turn_complete(&k.b, &k.t);
	tk_sse_begun(&k.s);
	tk_sse_warns(&k.s, 1);
	ck_assert(tk_sse_next(&k.s, BED_MS, &e));
	ck_assert_str_eq(tk_text(e.j, "type"), FINAL);
	ck_assert_str_eq(tk_text(e.j, "data.text"), "好的。");
	json_decref(e.j);
	ck_assert(tk_sse_next(&k.s, BED_MS, &e));
	ck_assert_str_eq(tk_text(e.j, "type"), COMPLETED);
	ck_assert_str_eq(tk_text(e.j, "run_id"), tk_text(k.t.j, "turn_id"));
	json_decref(e.j);
	talk_over(&k);
	talk_close(&k);
}

/* Silence is no end while the turn lives; its death is. */
TEST_T(a_stream_ends_with_the_loss_of_its_turn, 60)
{
	json_t *j;

	talk_open(&k);
	talk_begin(&k, "", STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	ck_assert(!tk_http_fill(&k.s.c, 7000));
	run_delta(&k.r, "x");
	tk_sse_is(&k.s, 2, DELTA);
	run_die(&k.r);
	j = tk_sse_take(&k.s, 3, FAILED);
	ck_assert_str_eq(tk_text(j, "data.error.code"), "TURN_LOST");
	ck_assert_str_eq(tk_text(j, "run_id"), k.r.id);
	json_decref(j);
	talk_over(&k);
	talk_close(&k);
}

/* NATS goes away: the log and the record say the rest. */
TEST_T(a_stream_outlives_nats, 60)
{
	talk_open(&k);
	talk_begin(&k, "", STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	tk_server_stop(&k.b.nats, SIGKILL);
	k.r.mute = true;
	run_deltas(&k.r, 2);
	tk_sse_is(&k.s, 2, DELTA);
	tk_sse_is(&k.s, 3, DELTA);
	run_end(&k.r);
	tk_sse_is(&k.s, 4, FINAL);
	tk_sse_is(&k.s, 5, COMPLETED);
	talk_over(&k);
	tk_server_restart(&k.b.nats);
	talk_close(&k);
}

/* SIGTERM: the turn in hand is told to its end. */
TEST(a_stream_in_hand_is_finished)
{
	talk_open(&k);
	talk_begin(&k, "", STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	tk_signal(&k.b.gateway.proc, SIGTERM);
	ck_assert(!tk_http_fill(&k.s.c, 200));
	run_delta(&k.r, "x");
	tk_sse_is(&k.s, 2, DELTA);
	run_end(&k.r);
	turn_complete(&k.b, &k.t);
	tk_sse_is(&k.s, 3, FINAL);
	tk_sse_is(&k.s, 4, COMPLETED);
	talk_over(&k);
	ck_assert_int_eq(tk_wait(&k.b.gateway.proc, BED_MS), 0);
	k.b.gateway.proc.pid = 0;
	talk_close(&k);
}

/* ---- clients that hang up ------------------------------------------------ */

/* Who has the turn hears that it is to be stopped, or does not. */
static natsSubscription *
listen_cancel(const char *turn)
{
	natsSubscription *sub = NULL;
	char subject[128];

	snprintf(subject, sizeof(subject), "soul.rpc.turn.cancel.%s", turn);
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, k.b.nc, subject), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(k.b.nc), NATS_OK);
	return sub;
}

static void
is_canceled(void)
{
	natsSubscription *sub = listen_cancel(tk_text(k.t.j, "turn_id"));
	char text[128];
	natsMsg *m;
	json_t *j;

	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, BED_MS), NATS_OK);
	j = tk_nats_json(m);
	ck_assert_str_eq(tk_text(j, "turn_id"), tk_text(k.t.j, "turn_id"));
	ck_assert_str_eq(tk_text(j, "user_id"), "demo-user");
	json_decref(j);
	snprintf(text, sizeof(text), "{\"turn_id\":\"%s\",\"canceled\":true}",
	    tk_text(k.t.j, "turn_id"));
	tk_nats_send(k.b.nc, natsMsg_GetReply(m), text);
	natsMsg_Destroy(m);
	/* Once. */
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, 400), NATS_TIMEOUT);
	natsSubscription_Destroy(sub);
}

TEST(a_client_that_hangs_up_cancels_if_it_said_so)
{
	talk_open(&k);
	/* Plain, and before the orchestrator listens. */
	talk_say(&k, "", SAID_WITH("\"cancel_on_disconnect\":true,"));
	talk_enter(&k);
	tk_sse_close(&k.s);
	is_canceled();
	run_end_as(&k.r, REPLY_CANCELED, NULL);
	turn_end(&k.t);
	/* Streamed, before its first event and behind it. */
	talk_say(&k, "",
	    SAID_WITH("\"stream\":true,\"cancel_on_disconnect\":true,"));
	talk_enter(&k);
	tk_sse_close(&k.s);
	is_canceled();
	run_end_as(&k.r, REPLY_CANCELED, NULL);
	turn_end(&k.t);
	talk_begin(&k, "",
	    SAID_WITH("\"stream\":true,\"cancel_on_disconnect\":true,"));
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, k.r.seq, STARTED);
	tk_sse_close(&k.s);
	run_delta(&k.r, "x");
	is_canceled();
	turn_end(&k.t);
	talk_close(&k);
}

TEST(otherwise_the_turn_goes_on)
{
	natsSubscription *sub;
	struct tk_sse s;
	natsMsg *m;
	int i;

	talk_open(&k);
	for (i = 0; i < 2; i++) {
		talk_begin(&k, "", i == 0 ? SAID : STREAMED);
		sub = listen_cancel(k.r.id);
		tk_sse_close(&k.s);
		run_delta(&k.r, "x");
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, 1500), NATS_TIMEOUT);
		natsSubscription_Destroy(sub);
		run_end(&k.r);
		turn_complete(&k.b, &k.t);
		turn_end(&k.t);
	}
	/* Its events can be read later. */
	tk_sse_open(&s, k.b.gateway.http, "/v1/sessions/s1/events?cursor=4");
	tk_sse_is(&s, 5, STARTED);
	tk_sse_is(&s, 6, DELTA);
	tk_sse_is(&s, 7, FINAL);
	tk_sse_is(&s, 8, COMPLETED);
	tk_sse_close(&s);
	talk_close(&k);
}

/* Who stays is not canceled, however long it takes. */
TEST(a_client_that_stays_is_answered)
{
	natsSubscription *sub;
	natsMsg *m;

	talk_open(&k);
	talk_begin(&k, "", SAID_WITH("\"cancel_on_disconnect\":true,"));
	sub = listen_cancel(k.r.id);
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, 1500), NATS_TIMEOUT);
	turn_complete(&k.b, &k.t);
	talk_answer(&k, 200);
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, 500), NATS_TIMEOUT);
	natsSubscription_Destroy(sub);
	talk_close(&k);
}
