/*
 * Servers that go and come back in the middle of a turn.
 */
#include "talk.h"

/* A service that starts late is waited for; nothing is asked twice. */
TEST_T(services_that_restart_are_waited_for, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	for (int i = 0; i < 2; i++)
		natsSubscription_Destroy(b.peers.subs[i]);
	natsConnection_Flush(b.peers.nc);
	talk_start(&t, &b, "把灯变绿");
	while (!t.accepted)
		ck_assert(talk_next(&t, BED_MS));
	ck_assert(!talk_next(&t, 300));
	b.peers.n_subs = 0;
	natsSubscription *rest[] = { b.peers.subs[2], b.peers.subs[3] };
	peers_serve(&b.peers, "soul.rpc.emotion.observe", on_observe);
	peers_serve(&b.peers, "soul.rpc.intent.filter", on_intents);
	b.peers.subs[b.peers.n_subs++] = rest[0];
	b.peers.subs[b.peers.n_subs++] = rest[1];
	talk_want(&t, .executed = "control_light", .failed = "");
	ck_assert_uint_eq(peers_count(&b.peers, "observe"), 1);
	ck_assert_uint_eq(peers_count(&b.peers, "filter"), 1);
	talk_close(&t);
	bed_stop(&b);
}

static bool
answered(void *arg)
{
	struct talk *t = arg;

	talk_next(t, 10);
	return t->end != NULL;
}

/* Redis goes while the model thinks, and is back when it has answered. */
TEST_T(redis_restarts_in_a_turn, 90)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "还在。", NULL, 1500);
	talk_start(&t, &b, "在吗");
	while (model_asked(&b.model) < 1)
		talk_next(&t, 20);
	tk_server_stop(&b.redis, SIGKILL);
	/* The reply is not given before it is stored. */
	ck_assert(!tk_until(answered, &t, 2000));
	tk_server_restart(&b.redis);
	talk_want(&t, .reply = "还在。", .executed = "", .failed = "");
	talk_close(&t);
	bed_state_wait(&b);
	json_t *m = bed_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 2);
	json_decref(m);

	model_will_say(&b.model, "好。", NULL);
	talk_start(&t, &b, "好吗");
	talk_want(&t, .reply = "好。", .executed = "", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

static bool
state_is_down(void *arg)
{
	return tk_log_has(arg, "ev=state.down");
}

/*
 * Redis stands still when the turn is to be stored, and may do in the end what
 * nobody waits for any more: the turn is neither lost nor stored twice.
 */
TEST_T(redis_stands_still_in_a_turn, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	/* So soon after the question that nothing else is asked of Redis. */
	model_will_say_late(&b.model, "还在。", NULL, 100);
	talk_start(&t, &b, "在吗");
	while (model_asked(&b.model) < 1)
		talk_next(&t, 5);
	ck_assert_int_eq(kill(b.redis.proc.pid, SIGSTOP), 0);
	ck_assert(tk_until(state_is_down, &b.orch[0].proc, BED_MS));
	/* It is tried again, and not even sent. */
	ck_assert(!tk_until(answered, &t, 500));
	ck_assert_int_eq(kill(b.redis.proc.pid, SIGCONT), 0);
	talk_want(&t, .reply = "还在。", .executed = "", .failed = "");
	talk_close(&t);
	bed_state_wait(&b);
	json_t *m = bed_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 2);
	json_decref(m);
	bed_stop(&b);
}

/* It stays away: the turn fails, and the next one is refused at once. */
TEST_T(redis_stays_away, 90)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "好。", NULL, 500);
	talk_start(&t, &b, "在吗");
	while (model_asked(&b.model) < 1)
		talk_next(&t, 20);
	tk_server_stop(&b.redis, SIGKILL);
	talk_want_fault(&t, 503, "unavailable");
	talk_close(&t);
	talk_start(&t, &b, "在吗");
	talk_want_fault(&t, 503, "unavailable");
	talk_close(&t);
	/* The place that could not be given up is given up later. */
	tk_server_restart(&b.redis);
	bed_state_wait(&b);
	ck_assert(tk_until(orch_ready, &b.orch[0], BED_MS));
	model_will_say(&b.model, "回来了。", NULL);
	talk_start(&t, &b, "在吗");
	talk_want(&t, .reply = "回来了。", .executed = "", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

/* A deleted session takes its turns with it. */
TEST_T(the_session_is_deleted, 60)
{
	struct session_key k = { STR("u1"), STR("s1") };
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "好。", NULL, 700);
	talk_start(&t, &b, "在吗");
	while (model_asked(&b.model) < 1)
		talk_next(&t, 20);
	ck_assert_int_eq(session_delete(b.state, &k), RC_OK);
	talk_want_fault(&t, 502, "turn_lost");
	talk_close(&t);
	json_t *m = bed_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 0);
	json_decref(m);
	bed_stop(&b);
}

/* An evicted turn does nothing any more. */
TEST_T(an_evicted_turn_moves_nothing, 60)
{
	struct session_key k = { STR("u1"), STR("s1") };
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "好。", "[[\"nod\",\"{}\"]]", 700);
	talk_start(&t, &b, "点头");
	while (model_asked(&b.model) < 1)
		talk_next(&t, 20);
	ck_assert_int_eq(session_delete(b.state, &k), RC_OK);
	talk_want_fault(&t, 502, "turn_lost");
	ck_assert_uint_eq(peers_invokes(&b.peers), 0);
	talk_close(&t);
	bed_stop(&b);
}

/* SIGTERM: turns in hand are ended, results included. */
TEST_T(turns_end_before_the_process, 60)
{
	struct bed b;
	struct talk t;
	char id[64], json[256];
	bool first;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, body, BODY_MUTE);
	model_will_say(&b.model, "点好了。", "[[\"nod\",\"{}\"]]");
	talk_start(&t, &b, "点头");
	while (peers_invokes(&b.peers) < 1)
		talk_next(&t, 20);
	tk_signal(&b.orch[0].proc, SIGTERM);
	/* The bridge keeps results too; nobody listens for them any more. */
	snprintf(id, sizeof(id), "%s",
	    text_at(peers_last(&b.peers, invoke), "request_id"));
	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",\"ok\":true}", id);
	ck_assert_int_eq(terminal_fixture_put_result(b.state, STR("t1"),
			     str_of(id), str_of(json), &first),
	    RC_OK);
	talk_want(&t, .reply = "点好了。", .executed = "nod", .failed = "");
	talk_close(&t);
	ck_assert_int_eq(tk_wait(&b.orch[0].proc, BED_MS), 0);
	b.orch[0].proc.pid = 0;
	bed_stop(&b);
}

static bool
peers_up(void *arg)
{
	struct peers *p = arg;

	return natsConnection_Status(p->nc) == NATS_CONN_STATUS_CONNECTED;
}

/* NATS restarts; the turn in hand is lost, the next one works. */
TEST_T(nats_restarts_in_a_turn, 90)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "好。", NULL, 800);
	talk_start(&t, &b, "在吗");
	while (model_asked(&b.model) < 1)
		talk_next(&t, 20);
	tk_server_stop(&b.nats, SIGKILL);
	tk_server_restart(&b.nats);
	ck_assert(tk_until(peers_up, &b.peers, BED_MS));
	ck_assert(tk_until(orch_ready, &b.orch[0], BED_MS));
	talk_close(&t);
	model_will_say(&b.model, "在。", NULL);
	talk_start(&t, &b, "还在吗");
	talk_want(&t, .reply = "在。", .executed = "", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}
