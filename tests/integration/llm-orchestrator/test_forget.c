/*
 * forget_memory: the request, the reply, what is stored.
 */
#include "testkit/orch_fixture.h"

#define FORGET(query) \
	"[[\"forget_memory\",\"{\\\"query\\\":\\\"" query "\\\"}\"]]"
#define FORGOTTEN                                   \
	"{\"forgotten\":1,\"memory_ids\":[\"m1\"]," \
	"\"texts\":[\"用户喜欢乌龙茶\"]}"
#define NOTHING "{\"forgotten\":0,\"memory_ids\":[]}"
#define NAMED(id)                                                  \
	(&(struct orch_turn_opts){                                 \
	    .inputs = "[{\"type\":\"keyboard_text\",\"input_id\":" \
		      "\"" id "\",\"text\":\"忘掉它\"}]" })

static void
begin(struct orch_fixture *b, const char *answer)
{
	orch_fixture_start(b, 1);
	orch_peers_set(&b->peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b->peers, ready, true);
	orch_peers_set(&b->peers, forget, answer);
}

/* The stored result of forget_memory. */
static void
ck_stored(struct orch_fixture *b, const char *want)
{
	json_t *m = orch_fixture_messages(b, "s1", 2);
	json_t *tool = json_array_get(m, 0);

	ck_assert_str_eq(orch_text(tool, "role"), "tool");
	ck_assert_str_eq(orch_text(tool, "name"), "forget_memory");
	ck_assert_str_eq(orch_text(tool, "content"), want);
	json_decref(m);
}

/* A warning of the turn, or "". */
static void
want_warning(struct orch_turn *t, const char *code)
{
	json_t *events = orch_events(t->b);
	json_t *e = orch_event(events, t->turn_id, "warning", 0);

	ck_assert_str_eq(e != NULL ? orch_text(e, "data.code") : "", code);
	json_decref(events);
}

static void
ck_phase(struct orch_turn *t, const char *outcome)
{
	struct turn_record rec = orch_turn_stored(t->b, t->turn_id);
	json_t *s, *list = json_loadb(rec.timeline.p, rec.timeline.n, 0, NULL);
	size_t i, n = 0;

	json_array_foreach (list, i, s) {
		if (strcmp(orch_text(s, "stage"), "forget") != 0)
			continue;
		ck_assert_str_eq(orch_text(s, "outcome"), outcome);
		n++;
	}
	ck_assert_uint_eq(n, 1);
	json_decref(list);
}

TEST_T(a_memory_is_forgotten, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[1024];

	begin(&b, FORGOTTEN);
	/* Neither the body nor the gate is involved. */
	orch_peers_set(&b.peers, exec_mode, "blocked");
	orch_model_reply(&b.model, "已经忘掉了。", FORGET("我喜欢乌龙茶"));
	orch_model_reply(&b.model, "你喜欢乌龙茶的事，我忘了。", NULL);
	orch_turn_start(&t, &b, "忘掉这个");
	orch_ck_completed(&t, .reply = "你喜欢乌龙茶的事，我忘了。",
	    .executed = "forget_memory", .failed = "");
	/* One memory, of this user and soul; with session and terminal. */
	json_t *want = json_pack("{s:s,s:s,s:s,s:s,s:s}", "user_id", "u1",
	    "soul_id", "soul_1", "query", "我喜欢乌龙茶", "session_id", "s1",
	    "terminal_id", "t1");
	json_t *got = orch_peers_last(&b.peers, forget);
	ck_assert_msg(
	    json_equal(got, want), "%s", json_dumps(got, JSON_COMPACT));
	json_decref(want);
	ck_assert_ptr_null(
	    strstr(orch_peers_log(&b.peers, text, sizeof(text)), "status"));
	ck_assert_str_eq(orch_model_tools(orch_model_request(&b.model, 0), text,
			     sizeof(text)),
	    "control_light,nod,recall_memory,forget_memory");
	ck_assert_ptr_nonnull(
	    strstr(orch_model_text(orch_model_request(&b.model, 0), 0),
		"forget_memory"));
	json_t *q = orch_model_request(&b.model, 1);
	ck_assert_str_eq(orch_model_text(q, -1),
	    "{\"query\":\"我喜欢乌龙茶\","
	    "\"forgotten\":[\"用户喜欢乌龙茶\"]}");
	ck_stored(&b, orch_model_text(q, -1));
	want_warning(&t, "");
	ck_phase(&t, "ok");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Without the model's text the table of sentences reports it. */
TEST_T(forgotten_texts_are_reported, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	begin(&b, FORGOTTEN);
	orch_model_reply(&b.model, NULL, FORGET("乌龙茶"));
	orch_model_fail(&b.model, 401);
	orch_turn_start(&t, &b, "忘掉这个");
	orch_ck_completed(&t, .reply = "已经忘掉：「用户喜欢乌龙茶」。",
	    .executed = "forget_memory", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Whatever the model claims before and after the result. */
TEST_T(no_memory_matches, 60)
{
	static const char user_text[] =
	    "已经忘掉了。\n没有找到和要忘掉的事相符的记忆。";
	struct orch_fixture b;
	struct orch_turn t;

	begin(&b, NOTHING);
	orch_model_reply(&b.model, "已经忘掉了。", FORGET("我喜欢乌龙茶"));
	orch_model_reply(&b.model, "已经忘掉了。", NULL);
	orch_turn_start_with(
	    &t, &b, "忘掉这个", &(struct orch_turn_opts){ .stream = true });
	orch_ck_completed(&t, .reply = user_text, .executed = "",
	    .failed = "forget_memory", .errors = "nothing fits");
	ck_stored(&b, "{\"query\":\"我喜欢乌龙茶\",\"forgotten\":[]}");
	want_warning(&t, "");
	ck_phase(&t, "nothing_fits");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* It is unknown whether it was done; no more calls are offered. */
TEST_T(an_error_is_not_confirmed, 60)
{
	static const char *const replies[] = { NULL, "{\"forgotten\":\"x\"}",
		/* Something was forgotten, but the texts are missing. */
		"{\"forgotten\":1,\"memory_ids\":[\"m1\"]}" };
	struct orch_fixture b;
	struct orch_turn t;

	begin(&b, NULL);
	for (size_t i = 0; i < NELEM(replies); i++) {
		orch_peers_set(&b.peers, forget, replies[i]);
		orch_model_reply(&b.model, NULL, FORGET("乌龙茶"));
		orch_model_reply(&b.model, "好。", NULL);
		orch_turn_start(&t, &b, "忘掉这个");
		orch_ck_completed(&t,
		    .reply = "好。\n要忘掉的事没有得到确认，"
			     "可能忘掉了，也可能没有。",
		    .executed = "", .failed = "forget_memory",
		    .errors = "not confirmed");
		ck_assert_str_eq(
		    orch_text(
			orch_model_request(&b.model, 2 * i + 1), "tool_choice"),
		    "none");
		ck_stored(&b,
		    "{\"query\":\"乌龙茶\",\"ok\":false,\"error\":"
		    "\"not confirmed\",\"advice\":\"it was sent, but not "
		    "confirmed; it is not known whether it was done\"}");
		want_warning(&t, "MEMORY_FORGET_FAILED");
		ck_phase(&t, "not_confirmed");
		orch_turn_close(&t);
		ck_assert_uint_eq(orch_peers_count(&b.peers, "forget"), i + 1);
	}
	orch_fixture_stop(&b);
}

TEST_T(no_reply_is_not_confirmed, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	begin(&b, NULL);
	orch_peers_set(&b.peers, forget_mute, true);
	orch_model_reply(&b.model, NULL, FORGET("乌龙茶"));
	orch_turn_start_with(&t, &b, "忘掉这个",
	    &(struct orch_turn_opts){ .deadline_ms = 2000 });
	orch_ck_completed(&t,
	    .reply = "要忘掉的事没有得到确认，可能忘掉了，也可能没有。",
	    .executed = "", .failed = "forget_memory",
	    .errors = "not confirmed");
	ck_assert_uint_eq(orch_peers_count(&b.peers, "forget"), 1);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* memory-worker has stopped since it was ready: nothing was forgotten. */
TEST_T(without_a_responder_nothing_is_forgotten, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	begin(&b, FORGOTTEN);
	orch_model_hold(&b.model, true);
	orch_model_stream(&b.model, "嗯", FORGET("乌龙茶"), 1);
	orch_model_stream(&b.model, "好。", NULL, 1);
	orch_turn_start_with(
	    &t, &b, "忘掉这个", &(struct orch_turn_opts){ .stream = true });
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	natsSubscription_Destroy(b.peers.subs[2]);
	b.peers.subs[2] = b.peers.subs[--b.peers.n_subs];
	natsConnection_Flush(b.peers.nc);
	orch_model_hold(&b.model, false);
	orch_ck_completed(&t, .reply = "好。\n要忘掉的事我这次没能忘掉。",
	    .executed = "", .failed = "forget_memory",
	    .errors = "the memory cannot be reached; nothing was forgotten");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Without a query nothing is forgotten, least of all everything. */
TEST_T(a_blank_query_is_not_sent, 60)
{
	static const char *const calls[] = {
		"[[\"forget_memory\",\"{}\"]]",
		FORGET(""),
		FORGET(" \\\\t\\\\n "),
		"[[\"forget_memory\",\"{\\\"query\\\":null}\"]]",
		"[[\"forget_memory\",\"{\\\"memory_id\\\":\\\"m1\\\"}\"]]",
		"[[\"forget_memory\",\"{\\\"query\\\":[]}\"]]",
		"[[\"forget_memory\",\"[]\"]]",
		"[[\"forget_memory\",\"nonsense\"]]",
	};
	struct orch_fixture b;
	struct orch_turn t;

	begin(&b, FORGOTTEN);
	for (size_t i = 0; i < NELEM(calls); i++) {
		orch_model_reply(&b.model, "已经忘掉了。", calls[i]);
		orch_model_reply(&b.model, "忘掉什么？", NULL);
		orch_turn_start(&t, &b, "忘掉这个");
		orch_ck_completed(&t,
		    .reply = "忘掉什么？\n"
			     "忘掉记忆的要求我没弄明白，没有执行。",
		    .executed = "", .failed = "forget_memory");
		json_t *j =
		    tk_find(orch_turn_end(&t), "response.failed_skills");
		ck_assert_ptr_nonnull(
		    strstr(orch_text(json_array_get(j, 0), "error"),
			"invalid arguments"));
		orch_turn_close(&t);
	}
	ck_assert_uint_eq(orch_peers_count(&b.peers, "forget"), 0);
	orch_fixture_stop(&b);
}

/* It is still offered after a search. */
TEST_T(a_search_then_forget, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[1024];

	begin(&b, FORGOTTEN);
	orch_peers_set(&b.peers, recall, "{\"items\":[]}");
	orch_model_reply(&b.model, NULL,
	    "[[\"recall_memory\",\"{\\\"query\\\":\\\"茶\\\"}\"],"
	    "[\"forget_memory\",\"{\\\"query\\\":\\\"茶\\\"}\"]]");
	orch_model_reply(&b.model, NULL, FORGET("我喜欢乌龙茶"));
	orch_model_reply(&b.model, "好了。", NULL);
	orch_turn_start(&t, &b, "忘掉我喜欢的茶");
	orch_ck_completed(&t, .reply = "好了。",
	    .executed = "recall_memory,forget_memory", .failed = "");
	ck_assert_str_eq(
	    strstr(orch_peers_log(&b.peers, text, sizeof(text)), "status"),
	    "status:mem0_searching recall:茶 status:mem0_search_done "
	    "forget:我喜欢乌龙茶");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

static void
want_canceled(struct orch_fixture *b, struct orch_turn *t)
{
	json_decref(orch_turn_query(b, "cancel", t->turn_id));
	ck_assert_str_eq(orch_text(orch_turn_end(t), "state"), "canceled");
}

/* A turn that may have forgotten something is not run again. */
TEST_T(a_canceled_forget_is_not_repeated, 60)
{
	struct orch_fixture b;
	struct orch_turn first, second;

	begin(&b, NULL);
	orch_peers_set(&b.peers, forget_mute, true);
	orch_model_reply(&b.model, NULL, FORGET("乌龙茶"));
	orch_turn_start_with(&first, &b, "", NAMED("i1"));
	while (orch_peers_count(&b.peers, "forget") < 1)
		orch_turn_next(&first, 20);
	want_canceled(&b, &first);
	json_t *m = orch_fixture_messages(&b, "s1", 1);
	ck_assert_ptr_nonnull(strstr(
	    orch_text(json_array_get(m, 0), "content"), "not confirmed"));
	json_decref(m);
	orch_turn_start_with(&second, &b, "", NAMED("i1"));
	ck_assert_str_eq(
	    orch_text(orch_turn_end(&second), "state"), "repeated");
	ck_assert_str_eq(
	    orch_text(orch_turn_end(&second), "first"), first.turn_id);
	orch_turn_close(&second);
	orch_turn_close(&first);
	ck_assert_uint_eq(orch_peers_count(&b.peers, "forget"), 1);

	/* A turn without a match may be. */
	orch_peers_set(&b.peers, forget_mute, false);
	orch_peers_set(&b.peers, forget, NOTHING);
	orch_model_reply(&b.model, NULL, FORGET("乌龙茶"));
	orch_model_reply_after(&b.model, "没有", NULL, ORCH_WAIT_MS);
	orch_turn_start_with(&first, &b, "", NAMED("i2"));
	while (orch_model_requests(&b.model) < 3)
		orch_turn_next(&first, 20);
	want_canceled(&b, &first);
	orch_turn_close(&first);
	orch_model_reply(&b.model, "没有这件事。", NULL);
	orch_turn_start_with(&second, &b, "", NAMED("i2"));
	orch_ck_completed(
	    &second, .reply = "没有这件事。", .executed = "", .failed = "");
	orch_turn_close(&second);
	orch_fixture_stop(&b);
}
