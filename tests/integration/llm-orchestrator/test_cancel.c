/*
 * Cancel in each phase: pending work stops, the end is published and stored.
 */
#include "testkit/orch_fixture.h"

struct scene {
	struct orch_fixture b;
	struct orch_turn t;
};

/* Cancel the turn; its end is published and stored, and is the last event. */
static void
want_canceled(struct scene *s, const char *types, int line)
{
	char got[256];

	json_t *j = orch_turn_query(&s->b, "cancel", s->t.turn_id);
	ck_assert_msg(json_is_true(json_object_get(j, "canceled")),
	    "line %d: not canceled", line);
	json_decref(j);
	ck_assert_str_eq(orch_text(orch_turn_end(&s->t), "state"), "canceled");
	json_t *events = orch_events(&s->b);
	orch_event_types(events, s->t.turn_id, got, sizeof(got));
	ck_assert_msg(strcmp(got, types) == 0, "line %d: %s", line, got);
	json_t *e = orch_event(events, s->t.turn_id, "failed", 0);
	ck_assert_str_eq(orch_text(e, "data.error.code"), "CANCELED");
	ck_assert(json_is_false(tk_find(e, "data.error.retryable")));
	json_decref(events);
	struct turn_record rec = orch_turn_stored(&s->b, s->t.turn_id);
	ck_assert_int_eq(rec.state, TURN_STATE_ENDED);
	j = json_loadb(rec.reply.p, rec.reply.n, 0, NULL);
	ck_assert_str_eq(orch_text(j, "state"), "canceled");
	json_decref(j);
	ck_assert_uint_gt(rec.timeline.n, 2);
	orch_turn_close(&s->t);
}
#define canceled(s, types) want_canceled((s), (types), __LINE__)

static void
begin(struct scene *s)
{
	orch_fixture_start(&s->b, 1);
	orch_fixture_clear_catalog(&s->b);
	orch_peers_set(&s->b.peers, ready, true);
}

static void
start(struct scene *s)
{
	orch_turn_start_with(
	    &s->t, &s->b, "嗯", &(struct orch_turn_opts){ .stream = true });
}

/* The session is free, and the canceled turn publishes nothing more. */
static void
end(struct scene *s)
{
	orch_model_hold(&s->b.model, false);
	orch_model_reply(&s->b.model, "好", NULL);
	start(s);
	orch_ck_completed(&s->t, .reply = "好", .executed = "", .failed = "");
	json_decref(orch_events(&s->b));
	orch_turn_close(&s->t);
	orch_fixture_stop(&s->b);
}

TEST_T(a_cancel_while_the_model_is_called_or_queued, 60)
{
	struct scene s;
	struct orch_turn first;

	begin(&s);
	orch_model_hold(&s.b.model, true);
	orch_model_stream(&s.b.model, "很|久", NULL, 1);
	start(&s);
	while (orch_model_requests(&s.b.model) < 1)
		orch_turn_next(&s.t, 20);
	first = s.t;
	start(&s);
	while (!s.t.accepted)
		ck_assert(orch_turn_next(&s.t, ORCH_WAIT_MS));
	canceled(&s, "failed");
	s.t = first;
	json_t *e = NULL;
	while (e == NULL) {
		json_t *events = orch_events(&s.b);
		e = orch_event(events, s.t.turn_id, "delta", 0);
		json_decref(events);
	}
	canceled(&s, "started delta failed");
	end(&s);
}

TEST_T(a_cancel_while_perceiving, 60)
{
	struct scene s;

	begin(&s);
	orch_peers_set(&s.b.peers, exec_mode, NULL);
	start(&s);
	while (orch_peers_count(&s.b.peers, "observe") < 1)
		orch_turn_next(&s.t, 20);
	canceled(&s, "started failed");
	orch_peers_set(&s.b.peers, exec_mode, "auto_execute");
	end(&s);
}

TEST_T(a_cancel_while_invoking, 60)
{
	struct scene s;

	begin(&s);
	orch_peers_set(&s.b.peers, body, BODY_MUTE);
	orch_model_stream(&s.b.model, "已经点头", "[[\"nod\",\"{}\"]]", 1);
	start(&s);
	while (orch_peers_invokes(&s.b.peers) < 1)
		orch_turn_next(&s.t, 20);
	canceled(&s, "started failed");
	/* Calls already sent are stored with their outcome. */
	json_t *m = orch_fixture_messages(&s.b, "s1", 1);
	ck_assert_ptr_nonnull(strstr(
	    orch_text(json_array_get(m, 0), "content"), "not confirmed"));
	json_decref(m);
	orch_peers_set(&s.b.peers, body, BODY_OK);
	end(&s);
}

TEST_T(a_cancel_while_sending_intents, 60)
{
	struct scene s;

	orch_fixture_start(&s.b, 1);
	orch_peers_set(&s.b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_peers_set(&s.b.peers, delivery, NULL);
	start(&s);
	while (orch_peers_count(&s.b.peers, "intent_action") < 1)
		orch_turn_next(&s.t, 20);
	canceled(&s, "started failed");
	orch_peers_set(&s.b.peers, delivery, "delivered");
	orch_peers_set(&s.b.peers, filter, INTENT_FALLBACK);
	end(&s);
}

TEST_T(a_cancel_while_searching, 60)
{
	struct scene s;

	begin(&s);
	orch_model_hold(&s.b.model, true);
	orch_model_stream(&s.b.model, "嗯",
	    "[[\"recall_memory\",\"{\\\"query\\\":\\\"x\\\"}\"]]", 1);
	start(&s);
	while (orch_model_requests(&s.b.model) < 1)
		orch_turn_next(&s.t, 20);
	orch_peers_set(&s.b.peers, memory_hangs, true);
	orch_model_hold(&s.b.model, false);
	while (orch_peers_count(&s.b.peers, "status:mem0_searching") < 1)
		orch_turn_next(&s.t, 20);
	canceled(&s, "started delta failed");
	orch_peers_set(&s.b.peers, memory_hangs, false);
	end(&s);
}

/* While Redis is down: the end is written when it is back. */
TEST_T(a_cancel_while_redis_is_down, 90)
{
	struct scene s;
	char got[256] = "", instance[64];

	begin(&s);
	orch_model_hold(&s.b.model, true);
	orch_model_stream(&s.b.model, "很|久", NULL, 1);
	start(&s);
	while (orch_model_requests(&s.b.model) < 1)
		orch_turn_next(&s.t, 20);
	snprintf(instance, sizeof(instance), "%s",
	    orch_turn_stored(&s.b, s.t.turn_id).instance.p);
	tk_server_stop(&s.b.redis, SIGKILL);
	json_decref(orch_turn_query_at(&s.b, instance, "cancel", s.t.turn_id));
	ck_assert_str_eq(orch_text(orch_turn_end(&s.t), "state"), "canceled");
	tk_server_restart(&s.b.redis);
	orch_fixture_wait_state(&s.b);
	struct mono by = mono_add_ms(clock_mono(), ORCH_WAIT_MS);
	while (strstr(got, "failed") == NULL) {
		json_t *events = orch_events(&s.b);
		orch_event_types(events, s.t.turn_id, got, sizeof(got));
		json_decref(events);
		ck_assert_int_gt(mono_diff_ms(by, clock_mono()), 0);
		(void)orch_model_pause(&s.b.model, 20);
	}
	struct turn_record rec = orch_turn_stored(&s.b, s.t.turn_id);
	ck_assert_int_eq(rec.state, TURN_STATE_ENDED);
	orch_turn_close(&s.t);
	end(&s);
}

/* Errors of requests about a turn have their caller's trace, or one. */
TEST_T(errors_have_a_trace, 60)
{
	static const char trace[] = "0af7651916cd43dd8448eb211c80319c";
	static const struct {
		const char *what, *body, *code;
	} rows[] = {
		{ "cancel", "{\"turn_id\":\"none\"}", "not_found" },
		{ "cancel", "{}", "invalid_request" },
		{ "show", "{\"turn_id\":\"none\"}", "not_found" },
		{ "show", "{", "invalid_request" },
	};
	char subject[128], parent[64], instance[64];
	struct orch_fixture b;
	struct orch_turn t;
	natsMsg *m, *reply;
	json_t *j;

	orch_fixture_start(&b, 1);
	orch_model_reply(&b.model, "好", NULL);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_turn_start(&t, &b, "你好");
	snprintf(instance, sizeof(instance), "%s",
	    orch_text(orch_turn_end(&t), "instance"));
	orch_turn_close(&t);
	snprintf(parent, sizeof(parent), "00-%s-b7ad6b7169203331-01", trace);
	for (size_t i = 0; i < 2 * NELEM(rows); i++) {
		bool traced = i < NELEM(rows);
		size_t k = i % NELEM(rows);

		snprintf(subject, sizeof(subject), "soul.rpc.turn.%s.%s",
		    rows[k].what, instance);
		ck_assert_int_eq(natsMsg_Create(&m, subject, NULL, rows[k].body,
				     (int)strlen(rows[k].body)),
		    NATS_OK);
		if (traced)
			natsMsgHeader_Set(m, "traceparent", parent);
		ck_assert_int_eq(natsConnection_RequestMsg(
				     &reply, b.peers.nc, m, ORCH_WAIT_MS),
		    NATS_OK);
		j = json_loadb(natsMsg_GetData(reply),
		    (size_t)natsMsg_GetDataLength(reply), 0, NULL);
		ck_assert_str_eq(orch_text(j, "code"), rows[k].code);
		if (traced)
			ck_assert_str_eq(orch_text(j, "trace_id"), trace);
		else
			ck_assert_uint_eq(strlen(orch_text(j, "trace_id")), 32);
		json_decref(j);
		natsMsg_Destroy(m);
		natsMsg_Destroy(reply);
	}
	orch_fixture_stop(&b);
}
