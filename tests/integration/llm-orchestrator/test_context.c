/*
 * What the model is shown of a long session, and the request for its summary.
 */
#include "testkit/orch_fixture.h"

static void
chat(struct orch_fixture *b, const char *text, const char *reply)
{
	struct orch_turn t;

	orch_model_reply(&b->model, reply, NULL);
	orch_turn_start(&t, b, text);
	orch_ck_completed(&t, .reply = reply, .executed = "", .failed = "");
	orch_turn_close(&t);
}

/* The oldest messages are dropped, long ones lose their middle. */
TEST_T(the_history_obeys_the_token_budget, 60)
{
	char big[6001], roles[64];
	struct orch_fixture b;

	orch_fixture_start(&b, 0);
	b.more[0] = "LLM_CONTEXT_TOKENS=2000";
	orch_fixture_spawn(&b, 0);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	for (size_t i = 0; i < 2000; i++)
		snprintf(big + 3 * i, 4, "好");
	for (int i = 0; i < 8; i++)
		chat(&b, big, "嗯。");
	/* This turn's input is never shortened. */
	json_t *q = orch_model_request(&b.model, 7);
	ck_assert_str_eq(orch_model_text(q, -1), big);
	ck_assert_str_eq(orch_model_roles(q, roles, sizeof(roles)), "su");
	chat(&b, "再见", "再见。");
	q = orch_model_request(&b.model, 8);
	ck_assert_str_eq(orch_model_text(q, -1), "再见");
	size_t n = strlen(orch_model_roles(q, roles, sizeof(roles)));
	ck_assert_uint_gt(n, 3);
	ck_assert_uint_lt(n, 18);
	/* An eighth of the budget, and the mark in the middle. */
	ck_assert_str_eq(orch_model_text(q, -2), "嗯。");
	ck_assert_uint_lt(strlen(orch_model_text(q, -3)), 3 * 250 + 10);
	ck_assert_ptr_nonnull(strstr(orch_model_text(q, -3), "……"));
	orch_fixture_stop(&b);
}

/* The model sees commands that ran without it. */
TEST_T(direct_actions_are_in_the_history, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char roles[64];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	orch_turn_close(&t);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "好。",
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"off\\\"}\"]]");
	orch_turn_start(&t, &b, "再关掉它");
	orch_ck_completed(
	    &t, .reply = "好。", .executed = "control_light", .failed = "");
	orch_turn_close(&t);
	json_t *q = orch_model_request(&b.model, 0);
	ck_assert_str_eq(orch_model_roles(q, roles, sizeof(roles)), "suatau");
	json_t *call =
	    json_array_get(tk_find(orch_model_message(q, 2), "tool_calls"), 0);
	ck_assert_str_eq(orch_text(call, "function.name"), "control_light");
	ck_assert_ptr_nonnull(
	    strstr(orch_text(call, "function.arguments"), "green"));
	/* Each call has its result, under an id that providers accept. */
	ck_assert_str_eq(orch_text(call, "id"),
	    orch_text(orch_model_message(q, 3), "tool_call_id"));
	ck_assert_uint_le(strlen(orch_text(call, "id")), 40);
	orch_fixture_stop(&b);
}

struct waiting {
	struct orch_fixture *b;
	size_t claimed;
};

static bool
is_claimed(void *arg)
{
	struct waiting *w = arg;
	struct session_idle_list l;
	struct session_idle_claim claim = { .lease_ms = 60000, .max = 10 };

	arena_reset(w->b->arena);
	ck_assert_int_eq(state_bucket(STR("u1"), &claim.bucket), RC_OK);
	ck_assert_int_eq(
	    session_idle_claim(w->b->state, &claim, w->b->arena, &l), RC_OK);
	for (size_t i = 0; i < l.n; i++)
		ck_assert(str_eq(l.idle[i].key.session_id, STR("s1")));
	w->claimed += l.n;
	return w->claimed > 0;
}

/* A long session is due for its summary immediately, a short one is not. */
TEST_T(a_long_session_is_due_for_a_summary, 60)
{
	struct orch_fixture b;
	struct waiting w = { .b = &b };

	orch_fixture_start(&b, 0);
	b.more[0] = "SESSION_COMPRESS_MSG_THRESHOLD=6";
	b.more[1] = "SESSION_COMPRESS_CHAR_THRESHOLD=500";
	orch_fixture_spawn(&b, 0);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	chat(&b, "一", "好。");
	chat(&b, "二", "好。");
	ck_assert(!is_claimed(&w));
	chat(&b, "三", "好。");
	ck_assert(tk_until(is_claimed, &w, ORCH_WAIT_MS));
	ck_assert_uint_eq(w.claimed, 1);
	orch_fixture_stop(&b);
}

TEST_T(long_messages_make_a_session_long, 60)
{
	struct orch_fixture b;
	struct waiting w = { .b = &b };
	char big[1501];

	orch_fixture_start(&b, 0);
	b.more[0] = "SESSION_COMPRESS_CHAR_THRESHOLD=500";
	orch_fixture_spawn(&b, 0);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	for (size_t i = 0; i < 500; i++)
		snprintf(big + 3 * i, 4, "好");
	chat(&b, "一", "好。");
	ck_assert(!is_claimed(&w));
	chat(&b, big, "好。");
	ck_assert(tk_until(is_claimed, &w, ORCH_WAIT_MS));
	orch_fixture_stop(&b);
}
