/*
 * Servers that stop and restart during a turn.
 */
#include "testkit/orch_fixture.h"
#include "testkit/terminal_fixture.h"

/* A turn waits for peers that start late; no request is sent twice. */
TEST_T(a_turn_waits_for_restarting_peers, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	for (int i = 0; i < 2; i++)
		natsSubscription_Destroy(b.peers.subs[i]);
	natsConnection_Flush(b.peers.nc);
	orch_turn_start(&t, &b, "把灯变绿");
	orch_turn_wait_entered(&t);
	ck_assert(!orch_turn_next(&t, 300));
	b.peers.n_subs = 0;
	natsSubscription *rest[] = { b.peers.subs[2], b.peers.subs[3] };
	orch_peers_serve(
	    &b.peers, "soul.rpc.emotion.observe", orch_peers_on_observe);
	orch_peers_serve(
	    &b.peers, "soul.rpc.intent.filter", orch_peers_on_intents);
	b.peers.subs[b.peers.n_subs++] = rest[0];
	b.peers.subs[b.peers.n_subs++] = rest[1];
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	ck_assert_uint_eq(orch_peers_count(&b.peers, "observe"), 1);
	ck_assert_uint_eq(orch_peers_count(&b.peers, "filter"), 1);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

static bool
replied(void *arg)
{
	struct orch_turn *t = arg;

	orch_turn_next(t, 10);
	return t->end != NULL;
}

/* Redis stops during the model call, and is back when it ends. */
TEST_T(redis_restarts_during_a_turn, 90)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "还在。", NULL, 1500);
	orch_turn_start(&t, &b, "在吗");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	tk_server_stop(&b.redis, SIGKILL);
	/* The reply is not returned before it is stored. */
	ck_assert(!tk_until(replied, &t, 2000));
	tk_server_restart(&b.redis);
	orch_ck_completed(&t, .reply = "还在。", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_wait_state(&b);
	json_t *m = orch_fixture_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 2);
	json_decref(m);

	orch_model_reply(&b.model, "好。", NULL);
	orch_turn_start(&t, &b, "好吗");
	orch_ck_completed(&t, .reply = "好。", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

static bool
state_is_down(void *arg)
{
	return tk_log_has(arg, "ev=state.down");
}

/*
 * Redis hangs during the commit and may execute it after the timeout: the turn
 * is neither lost nor stored twice.
 */
TEST_T(redis_hangs_during_a_turn, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	/* So soon that Redis gets no other command in between. */
	orch_model_reply_after(&b.model, "还在。", NULL, 100);
	orch_turn_start(&t, &b, "在吗");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 5);
	ck_assert_int_eq(kill(b.redis.proc.pid, SIGSTOP), 0);
	ck_assert(tk_until(state_is_down, &b.orch[0].proc, ORCH_WAIT_MS));
	/* The retry is not even sent. */
	ck_assert(!tk_until(replied, &t, 500));
	ck_assert_int_eq(kill(b.redis.proc.pid, SIGCONT), 0);
	orch_ck_completed(&t, .reply = "还在。", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_wait_state(&b);
	json_t *m = orch_fixture_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 2);
	json_decref(m);
	orch_fixture_stop(&b);
}

/* It stays down: the turn fails, and the next one is rejected at once. */
TEST_T(a_turn_fails_when_redis_stays_down, 90)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "好。", NULL, 500);
	orch_turn_start(&t, &b, "在吗");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	tk_server_stop(&b.redis, SIGKILL);
	orch_ck_failed(&t, 503, "unavailable");
	orch_turn_close(&t);
	orch_turn_start(&t, &b, "在吗");
	orch_ck_failed(&t, 503, "unavailable");
	orch_turn_close(&t);
	/* The queue slot is released later. */
	tk_server_restart(&b.redis);
	orch_fixture_wait_state(&b);
	ck_assert(tk_until(orch_fixture_ready, &b.orch[0], ORCH_WAIT_MS));
	orch_model_reply(&b.model, "回来了。", NULL);
	orch_turn_start(&t, &b, "在吗");
	orch_ck_completed(
	    &t, .reply = "回来了。", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Deleting a session ends its turns. */
TEST_T(the_session_is_deleted_during_a_turn, 60)
{
	struct session_key k = { STR("u1"), STR("s1") };
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "好。", NULL, 700);
	orch_turn_start(&t, &b, "在吗");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	ck_assert_int_eq(session_delete(b.state, &k), RC_OK);
	orch_ck_failed(&t, 502, "turn_lost");
	orch_turn_close(&t);
	json_t *m = orch_fixture_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 0);
	json_decref(m);
	orch_fixture_stop(&b);
}

/* An evicted turn sends nothing more. */
TEST_T(an_evicted_turn_sends_nothing, 60)
{
	struct session_key k = { STR("u1"), STR("s1") };
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "好。", "[[\"nod\",\"{}\"]]", 700);
	orch_turn_start(&t, &b, "点头");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	ck_assert_int_eq(session_delete(b.state, &k), RC_OK);
	orch_ck_failed(&t, 502, "turn_lost");
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* SIGTERM: running turns are finished, including results. */
TEST_T(a_drain_finishes_running_turns, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char id[64], json[256];
	bool first;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_model_reply(&b.model, "点好了。", "[[\"nod\",\"{}\"]]");
	orch_turn_start(&t, &b, "点头");
	while (orch_peers_invokes(&b.peers) < 1)
		orch_turn_next(&t, 20);
	tk_signal(&b.orch[0].proc, SIGTERM);
	/* The bridge stores results; the subscription has ended. */
	snprintf(id, sizeof(id), "%s",
	    orch_text(orch_peers_last(&b.peers, invoke), "request_id"));
	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",\"ok\":true}", id);
	ck_assert_int_eq(terminal_fixture_put_result(b.state, STR("t1"),
			     str_of(id), str_of(json), &first),
	    RC_OK);
	orch_ck_completed(
	    &t, .reply = "点好了。", .executed = "nod", .failed = "");
	orch_turn_close(&t);
	ck_assert_int_eq(tk_wait(&b.orch[0].proc, ORCH_WAIT_MS), 0);
	b.orch[0].proc.pid = 0;
	orch_fixture_stop(&b);
}

static bool
peers_up(void *arg)
{
	struct orch_peers *p = arg;

	return natsConnection_Status(p->nc) == NATS_CONN_STATUS_CONNECTED;
}

/* NATS restarts; the running turn is lost, the next one works. */
TEST_T(nats_restarts_during_a_turn, 90)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "好。", NULL, 800);
	orch_turn_start(&t, &b, "在吗");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	tk_server_stop(&b.nats, SIGKILL);
	tk_server_restart(&b.nats);
	ck_assert(tk_until(peers_up, &b.peers, ORCH_WAIT_MS));
	ck_assert(tk_until(orch_fixture_ready, &b.orch[0], ORCH_WAIT_MS));
	orch_turn_close(&t);
	orch_model_reply(&b.model, "在。", NULL);
	orch_turn_start(&t, &b, "还在吗");
	orch_ck_completed(&t, .reply = "在。", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}
