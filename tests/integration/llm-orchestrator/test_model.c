/*
 * What the language model is asked, and what becomes of its words.
 */
#include "talk.h"

TEST_T(a_question_is_answered, 60)
{
	struct bed b;
	struct talk t;
	char text[256];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, ready, true);
	model_will_say(&b.model, " 今天上海晴。\n", NULL);
	talk_start(&t, &b, "今天上海天气如何？");
	talk_want(&t, .reply = "今天上海晴。", .executed = "", .failed = "");
	ck_assert_str_eq(
	    text_at(t.end, "response.intent_decision"), "fallback_reasoning");
	json_t *q = model_request(&b.model, 0);
	ck_assert_str_eq(model_roles(q, text, sizeof(text)), "su");
	ck_assert_str_eq(model_tools(q, text, sizeof(text)),
	    "control_light,nod,recall_memory,forget_memory");
	ck_assert_str_eq(model_text(q, 1), "今天上海天气如何？");
	ck_assert_ptr_nonnull(strstr(model_text(q, 0), "小灵"));
	ck_assert_ptr_nonnull(strstr(model_text(q, 0), "INFJ"));
	ck_assert_ptr_nonnull(strstr(model_text(q, 0), "user_joy"));
	ck_assert_ptr_nonnull(strstr(model_text(q, 0), "+08:00"));
	talk_close(&t);
	bed_stop(&b);
}

/* Nothing is to be done: no tools, a few words at most. */
TEST_T(an_exclamation_gets_no_tools, 60)
{
	struct bed b;
	struct talk t;
	char text[256];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, SILENT);
	peers_set(&b.peers, ready, true);
	model_will_say(&b.model, "`<NO_REPLY>`", NULL);
	talk_start(&t, &b, "吓我一跳");
	talk_want(&t, .reply = "", .executed = "", .failed = "");
	ck_assert_str_eq(
	    text_at(t.end, "response.intent_decision"), "no_action");
	json_t *q = model_request(&b.model, 0);
	ck_assert_str_eq(model_tools(q, text, sizeof(text)), "");
	ck_assert_ptr_null(json_object_get(q, "tool_choice"));
	talk_close(&t);

	/* A model that calls a tool nobody offered is not followed. */
	model_will_say(&b.model, "别怕。", "[[\"nod\",\"{}\"]]");
	talk_start(&t, &b, "吓我一跳");
	talk_want(&t, .reply = "别怕。", .executed = "", .failed = "");
	ck_assert_uint_eq(peers_invokes(&b.peers), 0);
	talk_close(&t);
	bed_stop(&b);
}

TEST_T(the_model_is_away, 90)
{
	static const struct {
		int status, tries, fault;
		const char *code;
	} rows[] = {
		{ 500, 3, 502, "llm_unavailable" },
		{ 401, 1, 502, "llm_unavailable" },
		{ 404, 1, 502, "llm_unavailable" },
		{ 400, 1, 502, "llm_unavailable" },
		{ 429, 3, 503, "overloaded" },
		{ 0, 3, 502, "llm_unavailable" },
	};
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	for (size_t i = 0; i < NELEM(rows); i++) {
		for (int k = 0; k < rows[i].tries; k++)
			model_will_fail(&b.model, rows[i].status);
		talk_start(&t, &b, "你好");
		talk_want_fault(&t, rows[i].fault, rows[i].code);
		talk_close(&t);
		/* The next turn works. */
		model_will_say(&b.model, "在。", NULL);
		talk_start(&t, &b, "你好");
		talk_want(&t, .reply = "在。", .executed = "", .failed = "");
		talk_close(&t);
	}
	/* What is no answer is none. */
	model_will(&b.model, 200, 0, mem_strdup("[1]"));
	talk_start(&t, &b, "你好");
	talk_want_fault(&t, 502, "llm_unavailable");
	talk_close(&t);
	/* The next turn works. */
	model_will_say(&b.model, "在。", NULL);
	talk_start(&t, &b, "你好");
	talk_want(&t, .reply = "在。", .executed = "", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

/* Its own timeout, and that of the whole turn. */
TEST_T(the_model_is_slow, 60)
{
	struct talk_opts o = { .deadline_ms = 2500 };
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "迟了", NULL, 8000);
	talk_start(&t, &b, "你好");
	talk_want_fault(&t, 504, "deadline_exceeded");
	ck_assert_uint_ge(t.running, 1);
	talk_close(&t);
	model_will_say_late(&b.model, "迟了", NULL, 8000);
	talk_start_with(&t, &b, "你好", &o);
	talk_want_fault(&t, 504, "deadline_exceeded");
	talk_close(&t);

	/* Slow after a deed: what was done is told in time. */
	model_will_say(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	model_will_say_late(&b.model, "迟了", NULL, 8000);
	talk_start_with(&t, &b, "点头", &o);
	talk_want(
	    &t, .reply = "好的，点头已执行。", .executed = "nod", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

/* The next turn sees this one, calls and results included. */
TEST_T(what_was_said_is_remembered, 60)
{
	struct bed b;
	struct talk t;
	char text[256];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say(
	    &b.model, "点好了。", "[[\"nod\",\"{\\\"times\\\":2}\"]]");
	talk_start(&t, &b, "点两次头");
	talk_want(&t, .reply = "点好了。", .executed = "nod", .failed = "");
	talk_close(&t);
	model_will_say(&b.model, "<NO_REPLY>", NULL);
	talk_start(&t, &b, "嗯");
	talk_want(&t, .reply = "", .executed = "", .failed = "");
	talk_close(&t);
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .executed = "control_light", .failed = "");
	talk_close(&t);

	peers_set(&b.peers, filter, FALLBACK);
	model_will_say(&b.model, "是的。", NULL);
	talk_start(&t, &b, "灯是绿的吗");
	talk_end(&t);
	json_t *q = model_request(&b.model, 2);
	ck_assert_str_eq(model_roles(q, text, sizeof(text)), "suatauauatau");
	ck_assert_str_eq(model_text(q, 6), "<NO_REPLY>");
	/* Each result follows the call it answers. */
	for (int i = 0; i < 11; i++) {
		json_t *calls =
		    json_object_get(model_message(q, i), "tool_calls");
		if (calls == NULL)
			continue;
		ck_assert_str_eq(json_string_value(json_object_get(
				     json_array_get(calls, 0), "id")),
		    json_string_value(json_object_get(
			model_message(q, i + 1), "tool_call_id")));
	}
	ck_assert_str_eq(
	    model_text(q, 3), "{\"ok\":true,\"output\":\"nod done\"}");
	talk_close(&t);
	bed_stop(&b);
}

/* What the body noticed is kept and shown, one line each. */
TEST_T(observations_are_shown, 60)
{
	static const char inputs[] =
	    "[{\"type\":\"presence\",\"data\":{\"near\":true}},"
	    "{\"type\":\"speech_text\",\"text\":\"你好\"},"
	    "{\"type\":\"keyboard_text\",\"text\":\"在吗\"}]";
	struct talk_opts o = { .inputs = inputs };
	struct bed b;
	struct talk t;
	char text[256];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say(&b.model, "在。", NULL);
	talk_start_with(&t, &b, NULL, &o);
	talk_want(&t, .reply = "在。", .executed = "", .failed = "");
	json_t *q = model_request(&b.model, 0);
	ck_assert_str_eq(model_roles(q, text, sizeof(text)), "suu");
	ck_assert_str_eq(model_text(q, 1), "[presence] data={\"near\":true}");
	ck_assert_str_eq(model_text(q, 2), "你好\n在吗");
	talk_close(&t);

	json_t *m = bed_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 3);
	ck_assert_str_eq(text_at(json_array_get(m, 0), "role"), "observation");
	ck_assert_str_eq(text_at(json_array_get(m, 1), "role"), "user");
	ck_assert_str_eq(
	    text_at(json_array_get(m, 1), "content"), "你好\n在吗");
	ck_assert_str_eq(text_at(json_array_get(m, 2), "role"), "assistant");
	ck_assert_str_eq(text_at(json_array_get(m, 2), "turn_id"), "turn_1");
	json_decref(m);
	bed_stop(&b);
}

/* What a turn cannot begin for. */
TEST_T(refused_turns, 60)
{
	static const struct {
		struct talk_opts o;
		const char *said, *text;
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
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	for (size_t i = 0; i < NELEM(rows); i++) {
		talk_start_with(&t, &b, rows[i].said, &rows[i].o);
		json_t *j = talk_end(&t);
		ck_assert_str_eq(text_at(j, "state"), "failed");
		ck_assert_int_eq(
		    json_integer_value(at(j, "status")), rows[i].status);
		ck_assert_str_eq(text_at(j, "error.error"), rows[i].text);
		talk_close(&t);
	}
	ck_assert_uint_eq(peers_count(&b.peers, "observe"), 0);
	json_t *m = bed_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 0);
	json_decref(m);
	bed_stop(&b);
}
