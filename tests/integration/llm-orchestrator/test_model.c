/*
 * Requests to the language model, and the use of its text.
 */
#include "testkit/orch_fixture.h"

TEST_T(the_model_replies_to_a_question, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[256];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, ready, true);
	orch_model_reply(&b.model, " 今天上海晴。\n", NULL);
	orch_turn_start(&t, &b, "今天上海天气如何？");
	orch_ck_completed(
	    &t, .reply = "今天上海晴。", .executed = "", .failed = "");
	ck_assert_str_eq(
	    orch_text(t.end, "response.intent_decision"), "fallback_reasoning");
	json_t *q = orch_model_request(&b.model, 0);
	ck_assert_str_eq(orch_model_roles(q, text, sizeof(text)), "su");
	ck_assert_str_eq(orch_model_tools(q, text, sizeof(text)),
	    "control_light,nod,recall_memory,forget_memory");
	ck_assert_str_eq(orch_model_text(q, 1), "今天上海天气如何？");
	ck_assert_ptr_nonnull(strstr(orch_model_text(q, 0), "小灵"));
	ck_assert_ptr_nonnull(strstr(orch_model_text(q, 0), "INFJ"));
	ck_assert_ptr_nonnull(strstr(orch_model_text(q, 0), "user_joy"));
	ck_assert_ptr_nonnull(strstr(orch_model_text(q, 0), "+08:00"));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* no_action: no tools, a short reply at most. */
TEST_T(no_action_offers_no_tools, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[256];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_NO_ACTION);
	orch_peers_set(&b.peers, ready, true);
	orch_model_reply(&b.model, "`<NO_REPLY>`", NULL);
	orch_turn_start(&t, &b, "吓我一跳");
	orch_ck_completed(&t, .reply = "", .executed = "", .failed = "");
	ck_assert_str_eq(
	    orch_text(t.end, "response.intent_decision"), "no_action");
	json_t *q = orch_model_request(&b.model, 0);
	ck_assert_str_eq(orch_model_tools(q, text, sizeof(text)), "");
	ck_assert_ptr_null(json_object_get(q, "tool_choice"));
	orch_turn_close(&t);

	/* Calls of tools that were not offered are ignored. */
	orch_model_reply(&b.model, "别怕。", "[[\"nod\",\"{}\"]]");
	orch_turn_start(&t, &b, "吓我一跳");
	orch_ck_completed(&t, .reply = "别怕。", .executed = "", .failed = "");
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(the_model_is_unavailable, 90)
{
	static const struct {
		int status, tries, failure;
		const char *code;
	} rows[] = {
		{ 500, 3, 502, "llm_unavailable" },
		{ 401, 1, 502, "llm_unavailable" },
		{ 404, 1, 502, "llm_unavailable" },
		{ 400, 1, 502, "llm_unavailable" },
		{ 429, 3, 503, "overloaded" },
		{ 0, 3, 502, "llm_unavailable" },
	};
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	for (size_t i = 0; i < NELEM(rows); i++) {
		for (int k = 0; k < rows[i].tries; k++)
			orch_model_fail(&b.model, rows[i].status);
		orch_turn_start(&t, &b, "你好");
		orch_ck_failed(&t, rows[i].failure, rows[i].code);
		orch_turn_close(&t);
		/* The next turn works. */
		orch_model_reply(&b.model, "在。", NULL);
		orch_turn_start(&t, &b, "你好");
		orch_ck_completed(
		    &t, .reply = "在。", .executed = "", .failed = "");
		orch_turn_close(&t);
	}
	/* An invalid response is a failure. */
	orch_model_respond(&b.model, 200, 0, mem_strdup("[1]"));
	orch_turn_start(&t, &b, "你好");
	orch_ck_failed(&t, 502, "llm_unavailable");
	orch_turn_close(&t);
	/* The next turn works. */
	orch_model_reply(&b.model, "在。", NULL);
	orch_turn_start(&t, &b, "你好");
	orch_ck_completed(&t, .reply = "在。", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Its own timeout, and that of the whole turn. */
TEST_T(the_model_times_out, 60)
{
	struct orch_turn_opts o = { .deadline_ms = 2500 };
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "迟了", NULL, 8000);
	orch_turn_start(&t, &b, "你好");
	orch_ck_failed(&t, 504, "deadline_exceeded");
	ck_assert_uint_ge(t.running, 1);
	orch_turn_close(&t);
	orch_model_reply_after(&b.model, "迟了", NULL, 8000);
	orch_turn_start_with(&t, &b, "你好", &o);
	orch_ck_failed(&t, 504, "deadline_exceeded");
	orch_turn_close(&t);

	/* A timeout after an action: what was done is reported in time. */
	orch_model_reply(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	orch_model_reply_after(&b.model, "迟了", NULL, 8000);
	orch_turn_start_with(&t, &b, "点头", &o);
	orch_ck_completed(
	    &t, .reply = "好的，点头已执行。", .executed = "nod", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* The next turn sees this one, calls and results included. */
TEST_T(earlier_messages_are_shown, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char text[256];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(
	    &b.model, "点好了。", "[[\"nod\",\"{\\\"times\\\":2}\"]]");
	orch_turn_start(&t, &b, "点两次头");
	orch_ck_completed(
	    &t, .reply = "点好了。", .executed = "nod", .failed = "");
	orch_turn_close(&t);
	orch_model_reply(&b.model, "<NO_REPLY>", NULL);
	orch_turn_start(&t, &b, "嗯");
	orch_ck_completed(&t, .reply = "", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	orch_turn_close(&t);

	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "是的。", NULL);
	orch_turn_start(&t, &b, "灯是绿的吗");
	orch_turn_end(&t);
	json_t *q = orch_model_request(&b.model, 2);
	ck_assert_str_eq(
	    orch_model_roles(q, text, sizeof(text)), "suatauauatau");
	ck_assert_str_eq(orch_model_text(q, 6), "<NO_REPLY>");
	/* Each result follows its call. */
	for (int i = 0; i < 11; i++) {
		json_t *calls =
		    json_object_get(orch_model_message(q, i), "tool_calls");
		if (calls == NULL)
			continue;
		ck_assert_str_eq(json_string_value(json_object_get(
				     json_array_get(calls, 0), "id")),
		    json_string_value(json_object_get(
			orch_model_message(q, i + 1), "tool_call_id")));
	}
	ck_assert_str_eq(
	    orch_model_text(q, 3), "{\"ok\":true,\"output\":\"nod done\"}");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Observations are stored and shown, one line each. */
TEST_T(observations_are_shown, 60)
{
	static const char inputs[] =
	    "[{\"type\":\"presence\",\"data\":{\"near\":true}},"
	    "{\"type\":\"speech_text\",\"text\":\"你好\"},"
	    "{\"type\":\"keyboard_text\",\"text\":\"在吗\"}]";
	struct orch_turn_opts o = { .inputs = inputs };
	struct orch_fixture b;
	struct orch_turn t;
	char text[256];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "在。", NULL);
	orch_turn_start_with(&t, &b, NULL, &o);
	orch_ck_completed(&t, .reply = "在。", .executed = "", .failed = "");
	json_t *q = orch_model_request(&b.model, 0);
	ck_assert_str_eq(orch_model_roles(q, text, sizeof(text)), "suu");
	ck_assert_str_eq(
	    orch_model_text(q, 1), "[presence] data={\"near\":true}");
	ck_assert_str_eq(orch_model_text(q, 2), "你好\n在吗");
	orch_turn_close(&t);

	json_t *m = orch_fixture_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 3);
	ck_assert_str_eq(
	    orch_text(json_array_get(m, 0), "role"), "observation");
	ck_assert_str_eq(orch_text(json_array_get(m, 1), "role"), "user");
	ck_assert_str_eq(
	    orch_text(json_array_get(m, 1), "content"), "你好\n在吗");
	ck_assert_str_eq(orch_text(json_array_get(m, 2), "role"), "assistant");
	ck_assert_str_eq(orch_text(json_array_get(m, 2), "turn_id"), "turn_1");
	json_decref(m);
	orch_fixture_stop(&b);
}

/* Requests that are rejected. */
TEST_T(invalid_turns_are_rejected, 60)
{
	static const struct {
		struct orch_turn_opts o;
		const char *user_text, *text;
		int status;
	} rows[] = {
		{ { .inputs = "[{\"type\":\"presence\",\"data\":1}]" }, NULL,
		    "currently only input.type=keyboard_text|speech_text with "
		    "non-empty text is supported",
		    400 },
		{ { .terminal = "t9" }, "你好",
		    "soul selection is required before chat", 400 },
		{ { .soul = "soul_2" }, "你好",
		    "the terminal is bound to another soul", 400 },
		{ { .user = "u2" }, "你好",
		    "the terminal is bound by another user", 409 },
	};
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	for (size_t i = 0; i < NELEM(rows); i++) {
		orch_turn_start_with(&t, &b, rows[i].user_text, &rows[i].o);
		json_t *j = orch_turn_end(&t);
		ck_assert_str_eq(orch_text(j, "state"), "failed");
		ck_assert_int_eq(
		    json_integer_value(tk_find(j, "status")), rows[i].status);
		ck_assert_str_eq(orch_text(j, "error.error"), rows[i].text);
		orch_turn_close(&t);
	}
	ck_assert_uint_eq(orch_peers_count(&b.peers, "observe"), 0);
	json_t *m = orch_fixture_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 0);
	json_decref(m);
	orch_fixture_stop(&b);
}
