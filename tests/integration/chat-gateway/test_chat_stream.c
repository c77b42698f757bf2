/*
 * Chats whose response is the stream of their turn's events.
 */
#include <signal.h>
#include <stdio.h>

#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"

static struct gw_conversation k;

static const struct {
	const char *accept, *body;
} accept_headers[] = {
	{ "", GW_CHAT_STREAMED },
	{ "Accept: text/event-stream\r\n", GW_CHAT_BODY },
	{ "Accept: application/json, text/event-stream;q=0.5\r\n",
	    GW_CHAT_STREAMED },
};

TEST(a_streamed_turn_has_its_events_from_start_to_end)
{
	struct gw_run other;
	json_t *j;
	size_t i;

	gw_conversation_open(&k);
	/* Events of earlier and of other turns are not part of it. */
	gw_run_begin(&other, &k.b, "s1", "turn_before");
	gw_run_end(&other);
	for (i = 0; i < NELEM(accept_headers); i++) {
		gw_conversation_begin(
		    &k, accept_headers[i].accept, accept_headers[i].body);
		ck_assert(json_is_true(tk_at(k.t.j, "chat.stream")));
		tk_sse_begun(&k.s);
		tk_sse_is(&k.s, k.r.seq, STARTED);
		gw_run_delta(&k.r, "好");
		j = tk_sse_take(&k.s, k.r.seq, DELTA);
		ck_assert_str_eq(tk_text(j, "run_id"), k.r.id);
		ck_assert_str_eq(tk_text(j, "data.text_delta"), "好");
		json_decref(j);
		gw_run_end(&k.r);
		tk_sse_is(&k.s, k.r.seq - 1, FINAL);
		tk_sse_is(&k.s, k.r.seq, COMPLETED);
		gw_turn_complete(&k.b, &k.t);
		gw_conversation_end(&k);
	}
	gw_conversation_close(&k);
}

/* The final reply has the log read to its end, without NATS. */
TEST(the_end_is_sent_without_nats_events)
{
	int i;

	gw_conversation_open(&k);
	for (i = 0; i < 10; i++) {
		gw_conversation_send(&k, "", GW_CHAT_STREAMED);
		gw_conversation_enter(&k);
		k.r.mute = true;
		gw_run_start(&k.r);
		gw_run_deltas(&k.r, 3);
		gw_run_end(&k.r);
		gw_turn_complete(&k.b, &k.t);
		tk_sse_begun(&k.s);
		tk_sse_is(&k.s, k.r.seq - 5, STARTED);
		tk_sse_is(&k.s, k.r.seq - 4, DELTA);
		tk_sse_is(&k.s, k.r.seq - 3, DELTA);
		tk_sse_is(&k.s, k.r.seq - 2, DELTA);
		tk_sse_is(&k.s, k.r.seq - 1, FINAL);
		tk_sse_is(&k.s, k.r.seq, COMPLETED);
		gw_conversation_end(&k);
	}
	/* An error, too, once the stream has started. */
	gw_conversation_begin(&k, "", GW_CHAT_STREAMED);
	k.r.mute = true;
	gw_run_end_as(&k.r, GW_REPLY_FAILED, NULL);
	gw_turn_reply(&k.b, &k.t, "failed", ",\"status\":502");
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, k.r.seq - 1, STARTED);
	tk_sse_is(&k.s, k.r.seq, FAILED);
	gw_conversation_end(&k);
	gw_conversation_close(&k);
}

/* Until the first event, an error is a plain response. */
TEST(an_error_before_the_first_event_is_a_plain_response)
{
	gw_conversation_open(&k);
	gw_conversation_send(&k, "", GW_CHAT_STREAMED);
	gw_turn_reply(&k.b, &k.t, "failed",
	    ",\"status\":429,\"error\":{\"error\":\"too many turns of this "
	    "session are waiting\",\"code\":\"too_many_turns\"}");
	gw_conversation_response(&k, 429);
	gw_check_error(&k.a, 429, "too many turns of this session are waiting");
	gw_conversation_send(&k, "", GW_CHAT_STREAMED);
	gw_conversation_enter(&k);
	gw_turn_reply(&k.b, &k.t, "canceled", NULL);
	gw_conversation_response(&k, 409);
	gw_check_error(&k.a, 409, "the turn was canceled");
	gw_chat_rejects(&k.b, "t1", "\"stream\":true,\"soul_id\":\"x\"", 400,
	    "soul not found");
	gw_turns_unsubscribe(&k.b, k.turns);
	k.turns = NULL;
	gw_chat_rejects(&k.b, "t1", "\"stream\":true", 503,
	    "no llm-orchestrator is running; try again");
	gw_conversation_close(&k);
}

/* An orchestrator that logs no events. */
TEST(a_turn_without_events_is_rebuilt_from_its_reply)
{
	struct tk_sse_event e;

	gw_conversation_open(&k);
	gw_conversation_send(&k, "", GW_CHAT_STREAMED);
	gw_turn_complete(&k.b, &k.t);
	tk_sse_begun(&k.s);
	tk_sse_warns(&k.s, 1);
	ck_assert(tk_sse_next(&k.s, GW_MS, &e));
	ck_assert_str_eq(tk_text(e.j, "type"), FINAL);
	ck_assert_str_eq(tk_text(e.j, "data.text"), "好的。");
	json_decref(e.j);
	ck_assert(tk_sse_next(&k.s, GW_MS, &e));
	ck_assert_str_eq(tk_text(e.j, "type"), COMPLETED);
	ck_assert_str_eq(tk_text(e.j, "run_id"), tk_text(k.t.j, "turn_id"));
	json_decref(e.j);
	gw_conversation_end(&k);
	gw_conversation_close(&k);
}

/* Silence does not end a live turn; the death of its process does. */
TEST_T(a_stream_ends_with_the_loss_of_its_turn, 60)
{
	json_t *j;

	gw_conversation_open(&k);
	gw_conversation_begin(&k, "", GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	ck_assert(!tk_http_fill(&k.s.c, 7000));
	gw_run_delta(&k.r, "x");
	tk_sse_is(&k.s, 2, DELTA);
	gw_run_kill(&k.r);
	j = tk_sse_take(&k.s, 3, FAILED);
	ck_assert_str_eq(tk_text(j, "data.error.code"), "TURN_LOST");
	ck_assert_str_eq(tk_text(j, "run_id"), k.r.id);
	json_decref(j);
	gw_conversation_end(&k);
	gw_conversation_close(&k);
}

/* During a NATS outage, log and record are read. */
TEST_T(a_stream_completes_during_a_nats_outage, 60)
{
	gw_conversation_open(&k);
	gw_conversation_begin(&k, "", GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	tk_server_stop(&k.b.nats, SIGKILL);
	k.r.mute = true;
	gw_run_deltas(&k.r, 2);
	tk_sse_is(&k.s, 2, DELTA);
	tk_sse_is(&k.s, 3, DELTA);
	gw_run_end(&k.r);
	tk_sse_is(&k.s, 4, FINAL);
	tk_sse_is(&k.s, 5, COMPLETED);
	gw_conversation_end(&k);
	tk_server_restart(&k.b.nats);
	gw_conversation_close(&k);
}

/* SIGTERM: the running turn is streamed to its end. */
TEST(an_open_stream_is_finished_while_draining)
{
	gw_conversation_open(&k);
	gw_conversation_begin(&k, "", GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, 1, STARTED);
	tk_signal(&k.b.gateway.proc, SIGTERM);
	ck_assert(!tk_http_fill(&k.s.c, 200));
	gw_run_delta(&k.r, "x");
	tk_sse_is(&k.s, 2, DELTA);
	gw_run_end(&k.r);
	gw_turn_complete(&k.b, &k.t);
	tk_sse_is(&k.s, 3, FINAL);
	tk_sse_is(&k.s, 4, COMPLETED);
	gw_conversation_end(&k);
	ck_assert_int_eq(tk_wait(&k.b.gateway.proc, GW_MS), 0);
	k.b.gateway.proc.pid = 0;
	gw_conversation_close(&k);
}

/* ---- clients that disconnect ---- */

/* Subscribe in place of the turn's process. */
static natsSubscription *
listen_cancel(void)
{
	natsSubscription *sub = NULL;
	char subject[128];

	snprintf(
	    subject, sizeof(subject), "soul.rpc.turn.cancel.%s", k.r.instance);
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, k.b.nc, subject), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(k.b.nc), NATS_OK);
	return sub;
}

static void
is_canceled(void)
{
	natsSubscription *sub = listen_cancel();
	char text[128];
	natsMsg *m;
	json_t *j;

	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, GW_MS), NATS_OK);
	j = tk_nats_json(m);
	ck_assert_str_eq(tk_text(j, "turn_id"), tk_text(k.t.j, "turn_id"));
	ck_assert_str_eq(tk_text(j, "user_id"), "demo-user");
	json_decref(j);
	snprintf(text, sizeof(text), "{\"turn_id\":\"%s\",\"canceled\":true}",
	    tk_text(k.t.j, "turn_id"));
	tk_nats_send(k.b.nc, natsMsg_GetReply(m), text);
	natsMsg_Destroy(m);
	/* Only once. */
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, 400), NATS_TIMEOUT);
	natsSubscription_Destroy(sub);
}

TEST(a_disconnect_cancels_the_turn_if_requested)
{
	gw_conversation_open(&k);
	/* A plain chat, before the orchestrator subscribes. */
	gw_conversation_send(
	    &k, "", GW_CHAT_WITH("\"cancel_on_disconnect\":true,"));
	gw_conversation_enter(&k);
	tk_sse_close(&k.s);
	is_canceled();
	gw_run_end_as(&k.r, GW_REPLY_CANCELED, NULL);
	gw_turn_free(&k.t);
	/* A streamed chat, before and after its first event. */
	gw_conversation_send(&k, "",
	    GW_CHAT_WITH("\"stream\":true,\"cancel_on_disconnect\":true,"));
	gw_conversation_enter(&k);
	tk_sse_close(&k.s);
	is_canceled();
	gw_run_end_as(&k.r, GW_REPLY_CANCELED, NULL);
	gw_turn_free(&k.t);
	gw_conversation_begin(&k, "",
	    GW_CHAT_WITH("\"stream\":true,\"cancel_on_disconnect\":true,"));
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, k.r.seq, STARTED);
	tk_sse_close(&k.s);
	gw_run_delta(&k.r, "x");
	is_canceled();
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(a_disconnect_leaves_other_turns_running)
{
	natsSubscription *sub;
	struct tk_sse s;
	natsMsg *m;
	int i;

	gw_conversation_open(&k);
	for (i = 0; i < 2; i++) {
		gw_conversation_begin(
		    &k, "", i == 0 ? GW_CHAT_BODY : GW_CHAT_STREAMED);
		sub = listen_cancel();
		tk_sse_close(&k.s);
		gw_run_delta(&k.r, "x");
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, 1500), NATS_TIMEOUT);
		natsSubscription_Destroy(sub);
		gw_run_end(&k.r);
		gw_turn_complete(&k.b, &k.t);
		gw_turn_free(&k.t);
	}
	/* Its events can be read later. */
	tk_sse_open(&s, k.b.gateway.http, "/v1/sessions/s1/events?cursor=4");
	tk_sse_is(&s, 5, STARTED);
	tk_sse_is(&s, 6, DELTA);
	tk_sse_is(&s, 7, FINAL);
	tk_sse_is(&s, 8, COMPLETED);
	tk_sse_close(&s);
	gw_conversation_close(&k);
}

/* However long the turn takes. */
TEST(a_connected_client_is_never_canceled)
{
	natsSubscription *sub;
	natsMsg *m;

	gw_conversation_open(&k);
	gw_conversation_begin(
	    &k, "", GW_CHAT_WITH("\"cancel_on_disconnect\":true,"));
	sub = listen_cancel();
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, 1500), NATS_TIMEOUT);
	gw_turn_complete(&k.b, &k.t);
	gw_conversation_response(&k, 200);
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, 500), NATS_TIMEOUT);
	natsSubscription_Destroy(sub);
	gw_conversation_close(&k);
}
