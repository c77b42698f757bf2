/*
 * What the model is shown of a long session, and that somebody is asked to
 * summarise it.
 */
#include "talk.h"

static void
chat(struct bed *b, const char *said, const char *reply)
{
	struct talk t;

	model_will_say(&b->model, reply, NULL);
	talk_start(&t, b, said);
	talk_want(&t, .reply = reply, .executed = "", .failed = "");
	talk_close(&t);
}

/* The oldest messages fall out, long ones lose their middle. */
TEST_T(a_budget_of_tokens, 60)
{
	char big[6001], roles[64];
	struct bed b;

	bed_start(&b, 0);
	b.more[0] = "LLM_CONTEXT_TOKENS=2000";
	bed_spawn(&b, 0);
	peers_set(&b.peers, filter, FALLBACK);
	for (size_t i = 0; i < 2000; i++)
		snprintf(big + 3 * i, 4, "好");
	for (int i = 0; i < 8; i++)
		chat(&b, big, "嗯。");
	/* This turn's input is whole, whatever it costs. */
	json_t *q = model_request(&b.model, 7);
	ck_assert_str_eq(model_text(q, -1), big);
	ck_assert_str_eq(model_roles(q, roles, sizeof(roles)), "su");
	chat(&b, "再见", "再见。");
	q = model_request(&b.model, 8);
	ck_assert_str_eq(model_text(q, -1), "再见");
	size_t n = strlen(model_roles(q, roles, sizeof(roles)));
	ck_assert_uint_gt(n, 3);
	ck_assert_uint_lt(n, 18);
	/* An eighth of the budget, and the mark in the middle. */
	ck_assert_str_eq(model_text(q, -2), "嗯。");
	ck_assert_uint_lt(strlen(model_text(q, -3)), 3 * 250 + 10);
	ck_assert_ptr_nonnull(strstr(model_text(q, -3), "……"));
	bed_stop(&b);
}

/* A command done without a model is there for the model to refer to. */
TEST_T(direct_actions_are_history, 60)
{
	struct bed b;
	struct talk t;
	char roles[64];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .executed = "control_light", .failed = "");
	talk_close(&t);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say(&b.model, "好。",
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"off\\\"}\"]]");
	talk_start(&t, &b, "再关掉它");
	talk_want(
	    &t, .reply = "好。", .executed = "control_light", .failed = "");
	talk_close(&t);
	json_t *q = model_request(&b.model, 0);
	ck_assert_str_eq(model_roles(q, roles, sizeof(roles)), "suatau");
	json_t *call = json_array_get(at(model_message(q, 2), "tool_calls"), 0);
	ck_assert_str_eq(text_at(call, "function.name"), "control_light");
	ck_assert_ptr_nonnull(
	    strstr(text_at(call, "function.arguments"), "green"));
	/* Each call has its answer, under an id that providers take. */
	ck_assert_str_eq(
	    text_at(call, "id"), text_at(model_message(q, 3), "tool_call_id"));
	ck_assert_uint_le(strlen(text_at(call, "id")), 40);
	bed_stop(&b);
}

struct waiting {
	struct bed *b;
	size_t claimed;
};

static bool
is_claimed(void *arg)
{
	struct waiting *w = arg;
	struct session_idle_list l;

	arena_reset(w->b->arena);
	ck_assert_int_eq(
	    session_idle_claim(w->b->state, 60000, 10, w->b->arena, &l), RC_OK);
	for (size_t i = 0; i < l.n; i++)
		ck_assert(str_eq(l.idle[i].key.session_id, STR("s1")));
	w->claimed += l.n;
	return w->claimed > 0;
}

/* A long session is due for its summary at once, a short one is not. */
TEST_T(long_sessions_are_due, 60)
{
	struct bed b;
	struct waiting w = { .b = &b };

	bed_start(&b, 0);
	b.more[0] = "SESSION_COMPRESS_MSG_THRESHOLD=6";
	b.more[1] = "SESSION_COMPRESS_CHAR_THRESHOLD=500";
	bed_spawn(&b, 0);
	peers_set(&b.peers, filter, FALLBACK);
	chat(&b, "一", "好。");
	chat(&b, "二", "好。");
	ck_assert(!is_claimed(&w));
	chat(&b, "三", "好。");
	ck_assert(tk_until(is_claimed, &w, BED_MS));
	ck_assert_uint_eq(w.claimed, 1);
	bed_stop(&b);
}

TEST_T(long_words_make_a_long_session, 60)
{
	struct bed b;
	struct waiting w = { .b = &b };
	char big[1501];

	bed_start(&b, 0);
	b.more[0] = "SESSION_COMPRESS_CHAR_THRESHOLD=500";
	bed_spawn(&b, 0);
	peers_set(&b.peers, filter, FALLBACK);
	for (size_t i = 0; i < 500; i++)
		snprintf(big + 3 * i, 4, "好");
	chat(&b, "一", "好。");
	ck_assert(!is_claimed(&w));
	chat(&b, big, "好。");
	ck_assert(tk_until(is_claimed, &w, BED_MS));
	bed_stop(&b);
}
