/*
 * Events of a turn on SOUL_EVENTS.
 */
#include "testkit/orch_fixture.h"
#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* One event of the stream, checked against its schema. */
static json_t *
next_event(natsSubscription *sub, char type[64])
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_event_envelope env;
	struct wire_err err = { "", "" };
	natsMsg *m = NULL;

	if (natsSubscription_NextMsg(&m, sub, 3000) != NATS_OK) {
		arena_free(a);
		return NULL;
	}
	struct str data = { natsMsg_GetData(m),
		(size_t)natsMsg_GetDataLength(m) };
	ck_assert_int_eq(
	    wire_decode(&wire_event_envelope_desc, data, a, &env, &err), RC_OK);
	const struct wire_event *row = wire_event_find(env.type);
	ck_assert_ptr_nonnull(row);
	void *msg = arena_alloc(a, wire_desc_size(row->payload));
	enum rc rc = wire_decode(row->payload, env.payload, a, msg, &err);
	ck_assert_msg(rc == RC_OK, "%s %s", err.path, err.why);
	snprintf(type, 64, "%.*s", STR_ARG(env.type));
	json_t *j = json_loadb(data.p, data.n, 0, NULL);
	natsMsg_Destroy(m);
	arena_free(a);
	return j;
}

/* The events of a turn in order, all with one trace id. */
static void
ck_events(natsSubscription *sub, const struct orch_turn *t, const char *want)
{
	char all[512] = "", type[64], trace[64] = "";
	size_t n = 0;

	while (strlen(all) < strlen(want)) {
		json_t *e = next_event(sub, type);
		ck_assert_msg(e != NULL, "only %s", all);
		ck_assert_str_eq(orch_text(e, "source"), "llm-orchestrator");
		if (trace[0] == '\0')
			snprintf(trace, sizeof(trace), "%s",
			    orch_text(e, "trace_id"));
		ck_assert_str_eq(orch_text(e, "trace_id"), trace);
		if (strcmp(type, "intent_action") != 0)
			ck_assert_str_eq(
			    orch_text(e, "payload.turn_id"), t->turn_id);
		const char *more = strcmp(type, "turn_completed") == 0
		    ? orch_text(e, "payload.state")
		    : orch_text(e, "payload.outcome");
		if (strcmp(type, "driver_response") == 0)
			ck_assert_double_eq_tol(json_number_value(tk_find(
						    e, "meta.psyche_state.p")),
			    0.1, 1e-9);
		n += (size_t)snprintf(
		    all + n, sizeof(all) - n, "%s%s", n > 0 ? " " : "", type);
		if (strcmp(more, "(none)") != 0)
			n += (size_t)snprintf(
			    all + n, sizeof(all) - n, ":%s", more);
		json_decref(e);
	}
	ck_assert_str_eq(all, want);
}

TEST_T(a_turn_publishes_its_events, 60)
{
	natsSubscription *sub = NULL;
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, b.peers.nc, "soul.event.>"),
	    NATS_OK);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "好。", "[[\"nod\",\"{}\"]]");
	orch_turn_start(&t, &b, "点头");
	orch_ck_completed(&t, .executed = "nod", .failed = "");
	ck_events(sub, &t,
	    "user_input invoke driver_response turn_completed:completed");
	orch_turn_close(&t);

	/* A missing result is published by the orchestrator. */
	orch_peers_set(&b.peers, delivery, "offline");
	orch_model_reply(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	orch_model_reply(&b.model, "没点成。", NULL);
	orch_turn_start(&t, &b, "点头");
	orch_ck_completed(&t, .executed = "", .failed = "nod");
	ck_events(sub, &t,
	    "user_input invoke invoke_result:not_delivered driver_response "
	    "turn_completed:completed");
	orch_turn_close(&t);
	orch_peers_set(&b.peers, delivery, "delivered");
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_model_reply(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	orch_model_reply(&b.model, "没点成。", NULL);
	orch_turn_start(&t, &b, "点头");
	orch_ck_completed(&t, .executed = "", .failed = "nod");
	ck_events(sub, &t,
	    "user_input invoke invoke_result:not_confirmed driver_response "
	    "turn_completed:completed");
	orch_turn_close(&t);

	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	ck_events(sub, &t,
	    "user_input intent_action driver_response "
	    "turn_completed:completed");
	orch_turn_close(&t);

	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_fail(&b.model, 500);
	orch_turn_start(&t, &b, "你好");
	orch_ck_failed(&t, 502, "llm_unavailable");
	ck_events(sub, &t, "user_input turn_completed:failed");
	orch_turn_close(&t);
	natsSubscription_Destroy(sub);
	orch_fixture_stop(&b);
}

#define TRACE_A "0af7651916cd43dd8448eb211c80319c"
#define TRACE_B "4bf92f3577b34da6a3ce929d0e0e4736"
#define EVENTS  8

/* Events of turns at one time leave in one write, but are not mixed up. */
TEST_T(each_event_has_its_own_id_trace_and_time, 60)
{
	static const char *const trace[] = { TRACE_A, TRACE_B };
	struct orch_turn_opts opts[] = {
		{ .session = "a",
		    .trace = "00-" TRACE_A "-b7ad6b7169203331-01" },
		{ .session = "b",
		    .trace = "00-" TRACE_B "-b7ad6b7169203331-01" },
	};
	char ids[EVENTS][128], uuid[64];
	double from = (double)clock_wall().ms / 1000, at;
	size_t n, i, of[2] = { 0, 0 };
	natsSubscription *sub = NULL;
	const char *parent, *id;
	struct orch_turn t[2];
	struct orch_fixture b;
	natsMsg *m;
	json_t *e;

	orch_fixture_start(&b, 1);
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, b.peers.nc, "soul.event.>"),
	    NATS_OK);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	for (i = 0; i < 2; i++)
		orch_turn_start_with(&t[i], &b, "把灯变绿", &opts[i]);
	for (i = 0; i < 2; i++) {
		orch_ck_completed(
		    &t[i], .executed = "control_light", .failed = "");
		orch_turn_close(&t[i]);
	}
	for (n = 0; n < EVENTS; n++) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, ORCH_WAIT_MS), NATS_OK);
		ck_assert_int_eq(
		    natsMsgHeader_Get(m, "traceparent", &parent), NATS_OK);
		ck_assert_int_eq(
		    natsMsgHeader_Get(m, "Nats-Msg-Id", &id), NATS_OK);
		snprintf(ids[n], sizeof(ids[n]), "%s", id);
		for (i = 0; i < n; i++)
			ck_assert_str_ne(ids[i], ids[n]);
		i = strstr(parent, TRACE_B) != NULL;
		ck_assert_ptr_nonnull(strstr(parent, trace[i]));
		e = json_loadb(natsMsg_GetData(m),
		    (size_t)natsMsg_GetDataLength(m), 0, NULL);
		snprintf(uuid, sizeof(uuid), "%.8s-%.4s-%.4s-%.4s-%.12s",
		    trace[i], trace[i] + 8, trace[i] + 12, trace[i] + 16,
		    trace[i] + 20);
		ck_assert_str_eq(orch_text(e, "trace_id"), uuid);
		ck_assert_str_eq(
		    orch_text(e, "payload.session_id"), opts[i].session);
		at = json_number_value(tk_find(e, "meta.timestamp"));
		ck_assert_double_ge(at, from);
		ck_assert_double_le(at, (double)clock_wall().ms / 1000);
		of[i]++;
		json_decref(e);
		natsMsg_Destroy(m);
	}
	ck_assert_uint_eq(of[0], EVENTS / 2);
	ck_assert_uint_eq(of[1], EVENTS / 2);
	natsSubscription_Destroy(sub);
	orch_fixture_stop(&b);
}

/* The idle timer starts with the user's last input. */
TEST_T(a_turn_resets_the_idle_timer, 60)
{
	struct session_key k = { STR("u1"), STR("s1") };
	struct session s;
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	struct wall before = clock_wall();
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	ck_assert_int_eq(session_read(b.state, &k, b.arena, &s), RC_OK);
	ck_assert(s.known);
	ck_assert(str_eq(s.soul_id, STR("soul_1")));
	ck_assert_int_ge(s.active.ms, before.ms - 1000);
	orch_turn_close(&t);

	/* The session's summary is shown to the model and the client. */
	ck_assert_int_eq(
	    session_summarise(b.state, &k,
		&(struct session_summary){
		    .text = STR("主人喜欢绿色"), .after = 0, .number = 1 }),
	    RC_OK);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "好。", NULL);
	orch_turn_start(&t, &b, "你好");
	orch_ck_completed(&t, .reply = "好。", .executed = "", .failed = "");
	ck_assert_str_eq(
	    orch_text(t.end, "response.context_summary"), "主人喜欢绿色");
	ck_assert_ptr_nonnull(
	    strstr(orch_model_text(orch_model_request(&b.model, 0), 0),
		"主人喜欢绿色"));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}
