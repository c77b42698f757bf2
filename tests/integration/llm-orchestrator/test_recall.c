/*
 * recall_memory: the search, the status to the body, the second completion.
 */
#include "testkit/orch_fixture.h"

#define RECALL                                                          \
	"[[\"recall_memory\",\"{\\\"query\\\":\\\"喜欢的颜色\\\"," \
	"\\\"top_k\\\":\\\"3\\\"}\"]]"
#define FOUND                                                          \
	"{\"items\":[{\"memory_id\":\"m1\",\"text\":\"喜欢绿色\"," \
	"\"score\":0.9,\"created_at\":\"2026-11-01T00:00:00Z\"}],"     \
	"\"backend\":\"builtin\"}"

TEST_T(memories_are_searched, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[1024];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, ready, true);
	orch_peers_set(&b.peers, recall, FOUND);
	orch_model_reply(&b.model, "我想想", RECALL);
	orch_model_reply(&b.model, "你喜欢绿色，灯已经变绿了。",
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"set_color\\\","
	    "\\\"color\\\":\\\"green\\\"}\"]]");
	orch_turn_start(&t, &b, "把灯变成我喜欢的颜色");
	orch_ck_completed(&t, .reply = "你喜欢绿色，灯已经变绿了。",
	    .executed = "recall_memory,control_light", .failed = "");
	/* The requests to intent-filter and emotion-engine have no order. */
	ck_assert_str_eq(
	    strstr(orch_peers_log(&b.peers, text, sizeof(text)), "status"),
	    "status:mem0_searching recall:喜欢的颜色 "
	    "status:mem0_search_done invoke:control_light");
	/* The second completion has all tools but the search. */
	json_t *q = orch_model_request(&b.model, 1);
	ck_assert_str_eq(orch_model_tools(q, text, sizeof(text)),
	    "control_light,nod,forget_memory");
	ck_assert_str_eq(orch_model_roles(q, text, sizeof(text)), "suat");
	ck_assert_ptr_nonnull(strstr(orch_model_text(q, -1), "喜欢绿色"));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(a_failed_search_is_reported, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[1024];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, ready, true);
	orch_model_reply(&b.model, NULL, RECALL);
	orch_model_reply(&b.model, "不记得了。", NULL);
	orch_turn_start(&t, &b, "我喜欢什么颜色");
	orch_ck_completed(&t, .reply = "不记得了。\n以前的事我没能查到。",
	    .executed = "", .failed = "recall_memory",
	    .errors = "the search failed");
	ck_assert_str_eq(
	    strstr(orch_peers_log(&b.peers, text, sizeof(text)), "status"),
	    "status:mem0_searching recall:喜欢的颜色 "
	    "status:mem0_search_failed");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Memory is not ready, or has no responder: no search is offered. */
TEST_T(without_memory_no_search_is_offered, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[256];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "不知道。", NULL);
	orch_turn_start(&t, &b, "我喜欢什么颜色");
	orch_ck_completed(
	    &t, .reply = "不知道。", .executed = "", .failed = "");
	ck_assert_str_eq(orch_model_tools(orch_model_request(&b.model, 0), text,
			     sizeof(text)),
	    "control_light,nod");
	orch_turn_close(&t);

	natsSubscription_Destroy(b.peers.subs[2]);
	b.peers.subs[2] = b.peers.subs[--b.peers.n_subs];
	natsConnection_Flush(b.peers.nc);
	orch_model_reply(&b.model, "不知道。", NULL);
	struct mono start = clock_mono();
	orch_turn_start(&t, &b, "我喜欢什么颜色");
	orch_ck_completed(
	    &t, .reply = "不知道。", .executed = "", .failed = "");
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 1000);
	orch_turn_close(&t);

	/* A command does not wait for memory. */
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	start = clock_mono();
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 1000);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Skills called beside a search are deferred. */
TEST_T(a_search_defers_other_calls, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[1024];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, ready, true);
	orch_peers_set(&b.peers, recall, "{\"items\":[]}");
	orch_model_reply(
	    &b.model, NULL, "[[\"nod\",\"{}\"],[\"recall_memory\",\"{}\"]]");
	orch_model_reply(&b.model, "好的。", NULL);
	orch_turn_start(&t, &b, "点个头，再想想我喜欢什么");
	orch_ck_completed(&t, .reply = "好的。\n点头还没有做。",
	    .executed = "recall_memory", .failed = "nod",
	    .errors = "not carried out");
	/* Without a query the user's text is searched for. */
	ck_assert_ptr_nonnull(
	    strstr(orch_peers_log(&b.peers, text, sizeof(text)),
		"recall:点个头，再想想我喜欢什么"));
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* A memory-worker that hangs delays one turn, not all. */
TEST_T(memory_is_skipped_after_a_timeout, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, memory_hangs, true);
	for (int i = 0; i < 4; i++) {
		struct mono start = clock_mono();
		orch_model_reply(&b.model, "好。", NULL);
		orch_turn_start(&t, &b, "你好");
		orch_ck_completed(
		    &t, .reply = "好。", .executed = "", .failed = "");
		if (i > 0)
			ck_assert_int_lt(
			    mono_diff_ms(clock_mono(), start), 1000);
		orch_turn_close(&t);
	}
	ck_assert_uint_eq(orch_peers_count(&b.peers, "ready"), 1);
	orch_fixture_stop(&b);
}

/* top_k from 1 to 10; the query of the model or the user's text. */
TEST_T(query_and_top_k_of_a_search, 60)
{
	static const struct {
		const char *args, *query;
		json_int_t top_k;
	} rows[] = {
		{ "{\\\"query\\\":\\\"x\\\"}", "recall:x", 5 },
		{ "{\\\"query\\\":\\\"x\\\",\\\"top_k\\\":3}", "recall:x", 3 },
		{ "{\\\"query\\\":\\\"x\\\",\\\"top_k\\\":50}", "recall:x",
		    10 },
		{ "{\\\"query\\\":\\\"x\\\",\\\"top_k\\\":0}", "recall:x", 1 },
		{ "{\\\"query\\\":\\\" \\\",\\\"top_k\\\":\\\"7\\\"}",
		    "recall:我说过什么", 7 },
		{ "{\\\"top_k\\\":2}", "recall:我说过什么", 2 },
		{ "{}", "recall:我说过什么", 5 },
	};
	char call[128], text[1024];
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, ready, true);
	orch_peers_set(&b.peers, recall, "{\"items\":[],\"degraded\":true}");
	for (size_t i = 0; i < NELEM(rows); i++) {
		orch_peers_clear(&b.peers);
		snprintf(call, sizeof(call), "[[\"recall_memory\",\"%s\"]]",
		    rows[i].args);
		orch_model_reply(&b.model, NULL, call);
		orch_model_reply(&b.model, "没有。", NULL);
		orch_turn_start(&t, &b, "我说过什么");
		/* A search without a match is a success. */
		orch_ck_completed(&t, .reply = "没有。",
		    .executed = "recall_memory", .failed = "");
		orch_turn_close(&t);
		ck_assert_msg(
		    strstr(orch_peers_log(&b.peers, text, sizeof(text)),
			rows[i].query) != NULL,
		    "row %zu: %s", i, text);
		ck_assert_int_eq(b.peers.top_k, rows[i].top_k);
		ck_assert_ptr_nonnull(strstr(text, "status:mem0_search_done"));
		ck_assert_ptr_nonnull(
		    strstr(orch_model_text(
			       orch_model_request(&b.model, 2 * i + 1), -1),
			"\"incomplete\":true"));
	}
	orch_fixture_stop(&b);
}

/* A search does not count: with one round there is still one for skills. */
TEST_T(a_search_does_not_count_as_a_round, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 0);
	b.more[0] = "TOOL_MAX_ROUNDS=1";
	orch_fixture_spawn(&b, 0);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, ready, true);
	orch_peers_set(&b.peers, recall, FOUND);
	orch_model_reply(&b.model, NULL, RECALL);
	orch_model_reply(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	orch_model_reply(&b.model, "点头了。", NULL);
	orch_turn_start(&t, &b, "像上次那样点头");
	orch_ck_completed(&t, .reply = "点头了。",
	    .executed = "recall_memory,nod", .failed = "");
	ck_assert_str_eq(
	    orch_text(orch_model_request(&b.model, 1), "tool_choice"),
	    "(none)");
	ck_assert_str_eq(
	    orch_text(orch_model_request(&b.model, 2), "tool_choice"), "none");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}
