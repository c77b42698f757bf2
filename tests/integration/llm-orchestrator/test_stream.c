/*
 * The events of a turn: in the log, on NATS, piece by piece.
 */
#include "story.h"

#define STREAMED (&(struct talk_opts){ .stream = true })

static void
want_types(json_t *story, const struct talk *t, const char *want, int line)
{
	char types[1024];

	story_types(story, t->turn_id, types, sizeof(types));
	ck_assert_msg(strcmp(types, want) == 0, "line %d: %s", line, types);
}
#define want(story, t, types) want_types((story), (t), (types), __LINE__)

/* Listens to what is published of s1. */
static natsSubscription *
listen_to(struct bed *b)
{
	natsSubscription *sub = NULL;

	ck_assert_int_eq(natsConnection_SubscribeSync(
			     &sub, b->peers.nc, "soul.stream.u1.s1"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->peers.nc), NATS_OK);
	return sub;
}

static json_t *
heard(natsSubscription *sub)
{
	natsMsg *m = NULL;

	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, BED_MS), NATS_OK);
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_ptr_nonnull(j);
	natsMsg_Destroy(m);
	return j;
}

TEST_T(a_turn_that_is_not_streamed, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say(&b.model, "你好呀", NULL);
	natsSubscription *sub = listen_to(&b);
	talk_start(&t, &b, "你好");
	talk_want(&t, .reply = "你好呀", .executed = "", .failed = "");
	json_t *story = story_of(&b);
	want(story, &t, "started final completed");
	json_t *final = story_event(story, t.turn_id, "final", 0);
	ck_assert_str_eq(text_at(final, "data.text"), "你好呀");
	ck_assert_str_eq(
	    text_at(final, "data.structured_payload.reply"), "你好呀");
	json_t *done = story_event(story, t.turn_id, "completed", 0);
	ck_assert_str_eq(text_at(done, "data.reason_code"),
	    "FINAL_STRUCTURED_OUTPUT_SELECTED");
	/* What is published is what the log has. */
	for (size_t i = 0; i < 3; i++) {
		json_t *j = heard(sub);
		ck_assert(json_equal(j, json_array_get(story, i)));
		json_decref(j);
	}
	json_decref(story);
	natsSubscription_Destroy(sub);
	talk_close(&t);
	bed_stop(&b);
}

/* The first piece goes out while the model still speaks. */
TEST_T(pieces_as_they_come, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	bed_no_catalog(&b);
	natsSubscription *sub = listen_to(&b);
	model_hold(&b.model, true);
	model_will_stream(
	    &b.model, "今天|天气|很好| ，我们|出去走走吧。\n ", NULL, 3);
	talk_start_with(&t, &b, "聊聊", STREAMED);
	json_t *j = heard(sub);
	ck_assert_str_eq(story_type(j), "started");
	json_decref(j);
	j = heard(sub);
	struct mono now = clock_mono();
	ck_assert_str_eq(text_at(j, "data.text_delta"), "今天");
	pthread_mutex_lock(&b.model.lock);
	printf("first piece: %.3f ms after the model sent it\n",
	    (double)mono_diff_ns(now, b.model.sent) / 1e6);
	pthread_mutex_unlock(&b.model.lock);
	ck_assert_ptr_null(t.end);
	json_decref(j);
	model_hold(&b.model, false);
	talk_want(&t, .reply = "今天天气很好 ，我们出去走走吧。",
	    .executed = "", .failed = "");
	json_t *story = story_of(&b);
	json_t *final = story_event(story, t.turn_id, "final", 0);
	ck_assert_str_eq(text_at(final, "data.message_id"),
	    text_at(
		story_event(story, t.turn_id, "delta", 0), "data.message_id"));
	ck_assert_ptr_null(story_event(story, t.turn_id, "warning", 0));
	ck_assert_ptr_nonnull(story_event(story, t.turn_id, "delta", 1));
	json_decref(story);
	natsSubscription_Destroy(sub);
	talk_close(&t);
	bed_stop(&b);
}

/* How soon a first piece goes out, many times. */
TEST_T(first_pieces_are_quick, 90)
{
	struct bed b;
	struct talk t;
	double ms[24], sum = 0, worst = 0;

	bed_start(&b, 1);
	bed_no_catalog(&b);
	natsSubscription *sub = listen_to(&b);
	for (size_t i = 0; i < NELEM(ms); i++) {
		model_will_stream(&b.model, "嗯|，好的。", NULL, 10);
		talk_start_with(&t, &b, "聊聊", STREAMED);
		json_decref(heard(sub));
		json_decref(heard(sub));
		struct mono now = clock_mono();
		talk_end(&t);
		pthread_mutex_lock(&b.model.lock);
		ms[i] = (double)mono_diff_ns(now, b.model.sent) / 1e6;
		pthread_mutex_unlock(&b.model.lock);
		sum += ms[i];
		worst = ms[i] > worst ? ms[i] : worst;
		/* On a busy machine the second piece may be in the first. */
		bool last = false;
		while (!last) {
			json_t *j = heard(sub);
			last = strcmp(story_type(j), "completed") == 0;
			json_decref(j);
		}
		talk_close(&t);
	}
	printf("first piece, model to NATS: mean %.3f ms, worst %.3f ms\n",
	    sum / NELEM(ms), worst);
	json_decref(story_of(&b));
	natsSubscription_Destroy(sub);
	bed_stop(&b);
}

/* Many at one time share the pipeline, and not their pieces. */
TEST_T(many_at_once, 60)
{
	static const char words[] = "一|二|三|四|五|六|七|八|九|十";
	struct bed b;
	struct talk t[24];
	char session[16];

	bed_start(&b, 1);
	bed_no_catalog(&b);
	for (size_t i = 0; i < NELEM(t); i++)
		model_will_stream(&b.model, words, NULL, 15);
	for (size_t i = 0; i < NELEM(t); i++) {
		snprintf(session, sizeof(session), "s%zu", i);
		talk_start_with(&t[i], &b, "数数",
		    &(struct talk_opts){ .stream = true, .session = session });
	}
	for (size_t i = 0; i < NELEM(t); i++) {
		snprintf(session, sizeof(session), "s%zu", i);
		talk_want(&t[i], .reply = "一二三四五六七八九十",
		    .executed = "", .failed = "");
		json_t *story = story_of_session(&b, session);
		ck_assert_ptr_nonnull(
		    story_event(story, t[i].turn_id, "delta", 2));
		ck_assert_ptr_null(
		    story_event(story, t[i].turn_id, "warning", 0));
		json_decref(story);
		talk_close(&t[i]);
	}
	bed_stop(&b);
}

/* What was done at once is said before the model is asked for the rest. */
TEST_T(direct_actions_come_first, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter,
	    DECIDES("execute_intents", GREEN, "\"再讲个笑话\""));
	model_will_stream(&b.model, "从前|有座山", NULL, 5);
	talk_start_with(&t, &b, "把灯变绿，再讲个笑话", STREAMED);
	talk_want(&t, .executed = "control_light", .failed = "");
	json_t *story = story_of(&b);
	const char *first = text_at(
	    story_event(story, t.turn_id, "delta", 0), "data.text_delta");
	ck_assert_ptr_nonnull(strstr(first, "已执行"));
	ck_assert_ptr_null(strstr(first, "从前"));
	ck_assert_ptr_null(story_event(story, t.turn_id, "warning", 0));
	json_decref(story);
	talk_close(&t);
	bed_stop(&b);
}

/* A question ends a turn in another way. */
TEST_T(a_question_is_asked, 60)
{
	static const char asks[] = DECIDES("execute_intents",
	    "{\"intent_id\":\"i_light\",\"intent_name\":\"控制灯\","
	    "\"confidence\":0.9,\"status\":\"need_clarification\","
	    "\"segment_index\":0,\"span\":{\"text\":\"开灯\","
	    "\"start\":0,\"end\":2},\"parameters\":{},"
	    "\"normalized\":{\"skill\":\"control_light\"},"
	    "\"missing_parameters\":[\"color\"],\"evidence\":[]}",
	    "");
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, asks);
	talk_start(&t, &b, "开灯");
	talk_end(&t);
	ck_assert_str_eq(text_at(t.end, "state"), "completed");
	json_t *story = story_of(&b);
	want(story, &t, "started final required");
	json_t *e = story_event(story, t.turn_id, "required", 0);
	ck_assert_str_eq(text_at(e, "data.kind"), "free_text");
	ck_assert_str_eq(
	    text_at(e, "data.prompt"), text_at(t.end, "response.reply"));
	json_decref(story);
	talk_close(&t);
	bed_stop(&b);
}

/* ---- calls ------------------------------------------------------------- */

/* What claims a deed is held until the deed is confirmed. */
TEST_T(claims_wait_for_their_deeds, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	bed_no_catalog(&b);
	natsSubscription *sub = listen_to(&b);
	peers_set(&b.peers, body, BODY_MUTE);
	model_will_stream(
	    &b.model, "我来|点头|，已经点好了", "[[\"nod\",\"{}\"]]", 1);
	model_will_stream(&b.model, "点头|没有得到确认", NULL, 1);
	talk_start_with(&t, &b, "点头", STREAMED);
	talk_end(&t);
	json_t *story = story_of(&b);
	json_t *first = story_event(story, t.turn_id, "delta", 0);
	json_t *final = story_event(story, t.turn_id, "final", 0);
	json_t *w = story_event(story, t.turn_id, "warning", 0);
	char text[1024];
	story_text(
	    story, text_at(first, "data.message_id"), text, sizeof(text));
	ck_assert_str_eq(text, "我来点头，");
	ck_assert_str_ne(text_at(first, "data.message_id"),
	    text_at(final, "data.message_id"));
	ck_assert_str_eq(text_at(w, "data.code"), "TEXT_WITHDRAWN");
	ck_assert_str_eq(
	    text_at(w, "data.message_id"), text_at(first, "data.message_id"));
	ck_assert_ptr_null(strstr(text_at(final, "data.text"), "点好了"));
	json_decref(story);
	natsSubscription_Destroy(sub);
	talk_close(&t);
	bed_stop(&b);
}

/* If all is confirmed, the same message goes on. */
TEST_T(confirmed_claims_are_said, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	bed_no_catalog(&b);
	model_will_stream(
	    &b.model, "我来|点头|，已经点好了", "[[\"nod\",\"{}\"]]", 1);
	talk_start_with(&t, &b, "点头", STREAMED);
	talk_want(&t, .reply = "我来点头，已经点好了", .executed = "nod",
	    .failed = "");
	json_t *story = story_of(&b);
	ck_assert_ptr_null(story_event(story, t.turn_id, "warning", 0));
	ck_assert_str_eq(text_at(story_event(story, t.turn_id, "delta", 0),
			     "data.text_delta"),
	    "我来");
	json_decref(story);
	talk_close(&t);
	bed_stop(&b);
}

/* Silence is not said piece by piece. */
TEST_T(silence_has_no_pieces, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, SILENT);
	model_will_stream(&b.model, "<NO|_REPLY|>", NULL, 5);
	talk_start_with(&t, &b, "嗯", STREAMED);
	talk_want(&t, .reply = "", .executed = "", .failed = "");
	json_t *story = story_of(&b);
	want(story, &t, "started final completed");
	json_decref(story);
	talk_close(&t);
	bed_stop(&b);
}

/* ---- faults ------------------------------------------------------------ */

TEST_T(failures_are_told, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_fail(&b.model, 401);
	talk_start_with(&t, &b, "你好", STREAMED);
	talk_want_fault(&t, 502, "llm_unavailable");
	json_t *story = story_of(&b);
	want(story, &t, "started failed");
	json_t *e = story_event(story, t.turn_id, "failed", 0);
	ck_assert_str_eq(text_at(e, "data.error.code"), "LLM_UNAVAILABLE");
	ck_assert_str_eq(text_at(e, "data.error.category"), "engine");
	json_decref(story);
	talk_close(&t);

	/* One that never began is not in the log. */
	talk_start_with(&t, &b, "你好",
	    &(struct talk_opts){ .stream = true, .terminal = "t9" });
	talk_want_fault(&t, 400, "invalid_request");
	story = story_of(&b);
	want(story, &t, "");
	json_decref(story);
	talk_close(&t);

	/* Who did not answer is named; the turn goes on. */
	peers_set(&b.peers, exec_mode, NULL);
	peers_set(&b.peers, filter, NULL);
	model_will_say(&b.model, "好", NULL);
	talk_start(&t, &b, "你好");
	talk_end(&t);
	story = story_of(&b);
	want(story, &t, "started warning warning final completed");
	json_decref(story);
	talk_close(&t);
	bed_stop(&b);
}

/* A model that breaks off after some words: they are not the reply. */
TEST_T(a_broken_answer_fails, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will(&b.model, 200, 0, mem_strdup(""));
	b.model.answers[0].gap_ms = 1;
	free(b.model.answers[0].body);
	b.model.answers[0].body = mem_strdup(
	    "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{"
	    "\"index\":0,\"delta\":{\"content\":\"我\"}}]}\n\n"
	    "data: {\"error\":{\"message\":\"boom\"}}\n\n");
	talk_start_with(&t, &b, "你好", STREAMED);
	talk_end(&t);
	ck_assert_str_eq(text_at(t.end, "state"), "failed");
	json_t *story = story_of(&b);
	ck_assert_ptr_nonnull(story_event(story, t.turn_id, "failed", 0));
	json_decref(story);
	talk_close(&t);
	bed_stop(&b);
}

/* What cannot be told now is told later, or in the end. */
TEST_T(redis_goes_away_while_it_speaks, 90)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	bed_no_catalog(&b);
	natsSubscription *sub = listen_to(&b);
	model_hold(&b.model, true);
	model_will_stream(&b.model, "一|二|三|四|五", NULL, 60);
	talk_start_with(&t, &b, "数数", STREAMED);
	json_decref(heard(sub));
	json_decref(heard(sub));
	tk_server_stop(&b.redis, SIGKILL);
	model_hold(&b.model, false);
	while (!tk_log_has(&b.orch[0].proc, "turn.events_delayed"))
		(void)talk_next(&t, 20);
	tk_server_restart(&b.redis);
	talk_want(&t, .reply = "一二三四五", .executed = "", .failed = "");
	bed_state_wait(&b);
	json_t *story = story_of(&b);
	ck_assert_ptr_nonnull(story_event(story, t.turn_id, "final", 0));
	json_decref(story);
	natsSubscription_Destroy(sub);
	talk_close(&t);
	bed_stop(&b);
}

/* A process that dies: who comes next says that its turn is lost. */
TEST_T(a_killed_process_is_told_of, 90)
{
	struct bed b;
	struct talk dead, next;

	bed_start(&b, 1);
	bed_no_catalog(&b);
	model_hold(&b.model, true);
	model_will_stream(&b.model, "没|了", NULL, 1);
	talk_start_with(&dead, &b, "一", STREAMED);
	while (model_asked(&b.model) < 1)
		talk_next(&dead, 20);
	bed_kill(&b, 0);
	bed_spawn(&b, 1);
	model_will_say(&b.model, "好", NULL);
	talk_start(&next, &b, "二");
	talk_want(&next, .reply = "好", .executed = "", .failed = "");
	json_t *story = story_of(&b);
	ck_assert_ptr_nonnull(story_event(story, dead.turn_id, "lost", 0));
	ck_assert_ptr_null(story_event(story, dead.turn_id, "completed", 0));
	json_decref(story);
	ck_assert_int_eq(story_record(&b, dead.turn_id).state, TURN_STATE_LOST);
	talk_close(&dead);
	talk_close(&next);
	bed_stop(&b);
}
