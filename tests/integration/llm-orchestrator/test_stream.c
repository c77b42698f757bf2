/*
 * The events of a turn, in the log and on NATS, with streaming.
 */
#include "state/session.h"
#include "testkit/orch_fixture.h"

#define STREAMED (&(struct orch_turn_opts){ .stream = true })

static void
want_types(
    json_t *events, const struct orch_turn *t, const char *want, int line)
{
	char types[1024];

	orch_event_types(events, t->turn_id, types, sizeof(types));
	ck_assert_msg(strcmp(types, want) == 0, "line %d: %s", line, types);
}
#define want(events, t, types) want_types((events), (t), (types), __LINE__)

/* Subscribes to the stream of s1. */
static natsSubscription *
listen_to(struct orch_fixture *b)
{
	natsSubscription *sub = NULL;

	ck_assert_int_eq(natsConnection_SubscribeSync(
			     &sub, b->peers.nc, "soul.stream.u1.s1"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->peers.nc), NATS_OK);
	return sub;
}

static json_t *
received(natsSubscription *sub)
{
	natsMsg *m = NULL;

	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, sub, ORCH_WAIT_MS), NATS_OK);
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_ptr_nonnull(j);
	natsMsg_Destroy(m);
	return j;
}

TEST_T(a_turn_without_streaming_has_no_deltas, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "你好呀", NULL);
	orch_turn_start(&t, &b, "你好");
	orch_ck_completed(&t, .reply = "你好呀", .executed = "", .failed = "");
	json_t *events = orch_events(&b);
	want(events, &t, "started final completed");
	json_t *started = orch_event(events, t.turn_id, "started", 0);
	ck_assert_str_eq(orch_text(started, "data.title"), "你好");
	json_t *final = orch_event(events, t.turn_id, "final", 0);
	ck_assert_str_eq(orch_text(final, "data.text"), "你好呀");
	ck_assert_str_eq(
	    orch_text(final, "data.structured_payload.reply"), "你好呀");
	json_t *done = orch_event(events, t.turn_id, "completed", 0);
	ck_assert_str_eq(orch_text(done, "data.reason_code"),
	    "FINAL_STRUCTURED_OUTPUT_SELECTED");
	json_decref(events);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Of the log, the start of a longer turn and its end are published. */
TEST_T(a_turn_without_streaming_is_published_for_followers, 60)
{
	const struct events_key key = { EVENTS_SESSION, STR("u1"), STR("s1") };
	struct orch_fixture b;
	struct orch_turn t;
	int64_t newest;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	natsSubscription *sub = listen_to(&b);
	for (int i = 0; i < 2; i++) {
		orch_model_reply(&b.model, "你好呀", NULL);
		orch_turn_start(&t, &b, i == 0 ? "你好" : "你好吗");
		orch_ck_completed(
		    &t, .reply = "你好呀", .executed = "", .failed = "");
		if (i == 0)
			orch_turn_close(&t);
		ck_assert_int_eq(
		    events_follow(b.state, &key, 60000, &newest), RC_OK);
	}
	/* Nothing of the first one has come. */
	json_t *events = orch_events(&b);
	for (size_t i = 3; i < 6; i += 2) {
		json_t *j = received(sub);
		ck_assert(json_equal(j, json_array_get(events, i)));
		json_decref(j);
	}
	json_decref(events);
	natsSubscription_Destroy(sub);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* The first chunk is published while the model still streams. */
TEST_T(chunks_are_published_as_they_arrive, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_fixture_clear_catalog(&b);
	natsSubscription *sub = listen_to(&b);
	orch_model_hold(&b.model, true);
	orch_model_stream(
	    &b.model, "今天|天气|很好| ，我们|出去走走吧。\n ", NULL, 3);
	orch_turn_start_with(&t, &b, "聊聊", STREAMED);
	json_t *j = received(sub);
	ck_assert_str_eq(orch_event_type(j), "started");
	json_decref(j);
	j = received(sub);
	struct mono now = clock_mono();
	ck_assert_str_eq(orch_text(j, "data.text_delta"), "今天");
	pthread_mutex_lock(&b.model.lock);
	printf("first piece: %.3f ms after the model sent it\n",
	    (double)mono_diff_ns(now, b.model.sent) / 1e6);
	pthread_mutex_unlock(&b.model.lock);
	ck_assert_ptr_null(t.end);
	json_decref(j);
	orch_model_hold(&b.model, false);
	orch_ck_completed(&t, .reply = "今天天气很好 ，我们出去走走吧。",
	    .executed = "", .failed = "");
	json_t *events = orch_events(&b);
	json_t *final = orch_event(events, t.turn_id, "final", 0);
	ck_assert_str_eq(orch_text(final, "data.message_id"),
	    orch_text(
		orch_event(events, t.turn_id, "delta", 0), "data.message_id"));
	ck_assert_ptr_null(orch_event(events, t.turn_id, "warning", 0));
	ck_assert_ptr_nonnull(orch_event(events, t.turn_id, "delta", 1));
	json_decref(events);
	natsSubscription_Destroy(sub);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Latency of the first chunk, measured many times. */
TEST_T(the_first_chunk_is_not_delayed, 90)
{
	struct orch_fixture b;
	struct orch_turn t;
	double ms[24], sum = 0, worst = 0;

	orch_fixture_start(&b, 1);
	orch_fixture_clear_catalog(&b);
	natsSubscription *sub = listen_to(&b);
	for (size_t i = 0; i < NELEM(ms); i++) {
		orch_model_stream(&b.model, "嗯|，好的。", NULL, 10);
		orch_turn_start_with(&t, &b, "聊聊", STREAMED);
		json_decref(received(sub));
		json_decref(received(sub));
		struct mono now = clock_mono();
		orch_turn_end(&t);
		pthread_mutex_lock(&b.model.lock);
		ms[i] = (double)mono_diff_ns(now, b.model.sent) / 1e6;
		pthread_mutex_unlock(&b.model.lock);
		sum += ms[i];
		worst = ms[i] > worst ? ms[i] : worst;
		/* On a busy machine the first chunk may include the second. */
		bool last = false;
		while (!last) {
			json_t *j = received(sub);
			last = strcmp(orch_event_type(j), "completed") == 0;
			json_decref(j);
		}
		orch_turn_close(&t);
	}
	printf("first piece, model to NATS: mean %.3f ms, worst %.3f ms\n",
	    sum / NELEM(ms), worst);
	json_decref(orch_events(&b));
	natsSubscription_Destroy(sub);
	orch_fixture_stop(&b);
}

/* Concurrent streams share the pipeline, but not their chunks. */
TEST_T(many_streams_share_a_pipeline, 60)
{
	static const char words[] = "一|二|三|四|五|六|七|八|九|十";
	struct orch_fixture b;
	struct orch_turn t[24];
	char session[16];

	orch_fixture_start(&b, 1);
	orch_fixture_clear_catalog(&b);
	for (size_t i = 0; i < NELEM(t); i++)
		orch_model_stream(&b.model, words, NULL, 15);
	for (size_t i = 0; i < NELEM(t); i++) {
		snprintf(session, sizeof(session), "s%zu", i);
		orch_turn_start_with(&t[i], &b, "数数",
		    &(struct orch_turn_opts){
			.stream = true, .session = session });
	}
	for (size_t i = 0; i < NELEM(t); i++) {
		snprintf(session, sizeof(session), "s%zu", i);
		orch_ck_completed(&t[i], .reply = "一二三四五六七八九十",
		    .executed = "", .failed = "");
		json_t *events = orch_session_events(&b, session);
		ck_assert_ptr_nonnull(
		    orch_event(events, t[i].turn_id, "delta", 2));
		ck_assert_ptr_null(
		    orch_event(events, t[i].turn_id, "warning", 0));
		json_decref(events);
		orch_turn_close(&t[i]);
	}
	orch_fixture_stop(&b);
}

/* Direct actions are published before the model is called. */
TEST_T(direct_actions_are_the_first_chunk, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, "\"再讲个笑话\""));
	orch_model_stream(&b.model, "从前|有座山", NULL, 5);
	orch_turn_start_with(&t, &b, "把灯变绿，再讲个笑话", STREAMED);
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	json_t *events = orch_events(&b);
	const char *first = orch_text(
	    orch_event(events, t.turn_id, "delta", 0), "data.text_delta");
	ck_assert_ptr_nonnull(strstr(first, "已执行"));
	ck_assert_ptr_null(strstr(first, "从前"));
	ck_assert_ptr_null(orch_event(events, t.turn_id, "warning", 0));
	json_decref(events);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A question has its own final event. */
TEST_T(a_question_ends_in_user_input_required, 60)
{
	static const char requests[] = INTENT_DECISION("execute_intents",
	    "{\"intent_id\":\"i_light\",\"intent_name\":\"控制灯\","
	    "\"confidence\":0.9,\"status\":\"need_clarification\","
	    "\"segment_index\":0,\"span\":{\"text\":\"开灯\","
	    "\"start\":0,\"end\":2},\"parameters\":{},"
	    "\"normalized\":{\"skill\":\"control_light\"},"
	    "\"missing_parameters\":[\"color\"],\"evidence\":[]}",
	    "");
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, requests);
	orch_turn_start(&t, &b, "开灯");
	orch_turn_end(&t);
	ck_assert_str_eq(orch_text(t.end, "state"), "completed");
	json_t *events = orch_events(&b);
	want(events, &t, "started final required");
	json_t *e = orch_event(events, t.turn_id, "required", 0);
	ck_assert_str_eq(orch_text(e, "data.kind"), "free_text");
	ck_assert_str_eq(
	    orch_text(e, "data.prompt"), orch_text(t.end, "response.reply"));
	json_decref(events);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* ---- calls ---- */

/* A claim is held back until the call is confirmed. */
TEST_T(claims_are_held_back_until_confirmed, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_fixture_clear_catalog(&b);
	natsSubscription *sub = listen_to(&b);
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_model_stream(
	    &b.model, "我来|点头|，已经点好了", "[[\"nod\",\"{}\"]]", 1);
	orch_model_stream(&b.model, "点头|没有得到确认", NULL, 1);
	orch_turn_start_with(&t, &b, "点头", STREAMED);
	orch_turn_end(&t);
	json_t *events = orch_events(&b);
	json_t *first = orch_event(events, t.turn_id, "delta", 0);
	json_t *final = orch_event(events, t.turn_id, "final", 0);
	json_t *w = orch_event(events, t.turn_id, "warning", 0);
	char text[1024];
	orch_event_text(
	    events, orch_text(first, "data.message_id"), text, sizeof(text));
	ck_assert_str_eq(text, "我来点头，");
	ck_assert_str_ne(orch_text(first, "data.message_id"),
	    orch_text(final, "data.message_id"));
	ck_assert_str_eq(orch_text(w, "data.code"), "TEXT_WITHDRAWN");
	ck_assert_str_eq(orch_text(w, "data.message_id"),
	    orch_text(first, "data.message_id"));
	ck_assert_ptr_null(strstr(orch_text(final, "data.text"), "点好了"));
	json_decref(events);
	natsSubscription_Destroy(sub);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* If all calls are confirmed, the same message continues. */
TEST_T(confirmed_claims_are_published, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_fixture_clear_catalog(&b);
	orch_model_stream(
	    &b.model, "我来|点头|，已经点好了", "[[\"nod\",\"{}\"]]", 1);
	orch_turn_start_with(&t, &b, "点头", STREAMED);
	orch_ck_completed(&t, .reply = "我来点头，已经点好了",
	    .executed = "nod", .failed = "");
	json_t *events = orch_events(&b);
	ck_assert_ptr_null(orch_event(events, t.turn_id, "warning", 0));
	/* A slow reader of the model's stream has the second chunk, too. */
	const char *first = orch_text(
	    orch_event(events, t.turn_id, "delta", 0), "data.text_delta");
	ck_assert(strcmp(first, "我来") == 0 || strcmp(first, "我来点头") == 0);
	json_decref(events);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* <NO_REPLY> is not streamed. */
TEST_T(no_reply_has_no_chunks, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_NO_ACTION);
	orch_model_stream(&b.model, "<NO|_REPLY|>", NULL, 5);
	orch_turn_start_with(&t, &b, "嗯", STREAMED);
	orch_ck_completed(&t, .reply = "", .executed = "", .failed = "");
	json_t *events = orch_events(&b);
	want(events, &t, "started final completed");
	json_decref(events);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* ---- failures ---- */

TEST_T(failures_are_published, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_fail(&b.model, 401);
	orch_turn_start_with(&t, &b, "你好", STREAMED);
	orch_ck_failed(&t, 502, "llm_unavailable");
	json_t *events = orch_events(&b);
	want(events, &t, "started failed");
	json_t *e = orch_event(events, t.turn_id, "failed", 0);
	ck_assert_str_eq(orch_text(e, "data.error.code"), "LLM_UNAVAILABLE");
	ck_assert_str_eq(orch_text(e, "data.error.category"), "engine");
	ck_assert(json_is_true(tk_find(e, "data.error.retryable")));
	json_decref(events);
	orch_turn_close(&t);

	/* A rejected turn has no events. */
	orch_turn_start_with(&t, &b, "你好",
	    &(struct orch_turn_opts){ .stream = true, .terminal = "t9" });
	orch_ck_failed(&t, 400, "invalid_request");
	events = orch_events(&b);
	want(events, &t, "");
	json_decref(events);
	orch_turn_close(&t);

	/* Warnings name the peer without a reply; the turn goes on. */
	orch_peers_set(&b.peers, exec_mode, NULL);
	orch_peers_set(&b.peers, filter, NULL);
	orch_model_reply(&b.model, "好", NULL);
	orch_turn_start(&t, &b, "你好");
	orch_turn_end(&t);
	events = orch_events(&b);
	want(events, &t, "started warning warning final completed");
	json_decref(events);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A truncated stream: its text is not the reply. */
TEST_T(a_truncated_response_fails_the_turn, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_respond(&b.model, 200, 0, mem_strdup(""));
	b.model.responses[0].gap_ms = 1;
	free(b.model.responses[0].body);
	b.model.responses[0].body = mem_strdup(
	    "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{"
	    "\"index\":0,\"delta\":{\"content\":\"我\"}}]}\n\n"
	    "data: {\"error\":{\"message\":\"boom\"}}\n\n");
	orch_turn_start_with(&t, &b, "你好", STREAMED);
	orch_turn_end(&t);
	ck_assert_str_eq(orch_text(t.end, "state"), "failed");
	json_t *events = orch_events(&b);
	ck_assert_ptr_nonnull(orch_event(events, t.turn_id, "failed", 0));
	json_decref(events);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Events that cannot be appended now are appended later, or at the end. */
TEST_T(redis_goes_down_while_streaming, 90)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_fixture_clear_catalog(&b);
	natsSubscription *sub = listen_to(&b);
	orch_model_hold(&b.model, true);
	orch_model_stream(&b.model, "一|二|三|四|五", NULL, 60);
	orch_turn_start_with(&t, &b, "数数", STREAMED);
	json_decref(received(sub));
	json_decref(received(sub));
	tk_server_stop(&b.redis, SIGKILL);
	orch_model_hold(&b.model, false);
	while (!tk_log_has(&b.orch[0].proc, "turn.events_delayed"))
		(void)orch_turn_next(&t, 20);
	tk_server_restart(&b.redis);
	orch_ck_completed(
	    &t, .reply = "一二三四五", .executed = "", .failed = "");
	orch_fixture_wait_state(&b);
	json_t *events = orch_events(&b);
	ck_assert_ptr_nonnull(orch_event(events, t.turn_id, "final", 0));
	json_decref(events);
	natsSubscription_Destroy(sub);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A killed process: the next turn reports the lost one. */
TEST_T(a_killed_process_is_reported_as_lost, 90)
{
	struct orch_fixture b;
	struct orch_turn dead, next;

	orch_fixture_start(&b, 1);
	orch_fixture_clear_catalog(&b);
	orch_model_hold(&b.model, true);
	orch_model_stream(&b.model, "没|了", NULL, 1);
	orch_turn_start_with(&dead, &b, "一", STREAMED);
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&dead, 20);
	orch_fixture_kill(&b, 0);
	orch_fixture_spawn(&b, 1);
	orch_model_reply(&b.model, "好", NULL);
	orch_turn_start(&next, &b, "二");
	orch_ck_completed(&next, .reply = "好", .executed = "", .failed = "");
	json_t *events = orch_events(&b);
	ck_assert_ptr_nonnull(orch_event(events, dead.turn_id, "lost", 0));
	ck_assert_ptr_null(orch_event(events, dead.turn_id, "completed", 0));
	json_decref(events);
	ck_assert_int_eq(
	    orch_turn_stored(&b, dead.turn_id).state, TURN_STATE_LOST);
	orch_turn_close(&dead);
	orch_turn_close(&next);
	orch_fixture_stop(&b);
}
