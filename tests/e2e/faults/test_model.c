/*
 * A language model that is overloaded, broken, slow, disconnecting or
 * inconsistent.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/conversation.h"
#include "testkit/stack/peer.h"

STACK_SHARED({ .env = { [STACK_BODY_SIM] = { "BODY_COUNT=9" },
		   [STACK_LLM_ORCHESTRATOR] = { "LLM_TIMEOUT_MS=3000" } } })

/* Set the faults of the next requests to the model. */
static void
script(const char *faults)
{
	json_t *body = json_loads(faults, 0, NULL);
	int status;

	ck_assert_ptr_nonnull(body);
	json_decref(client_call(stack.service[STACK_LLM_SIM].http, "POST",
	    "/sim/script", body, &status));
	ck_assert_int_eq(status, 200);
}

TEST(an_overloaded_model_fails_one_turn_only)
{
	struct client o = client_bound(&stack, "u-429", "terminal-001");

	/* Retries help, up to a limit. */
	script("{\"faults\":[{\"kind\":\"rate_limit\"}]}");
	json_decref(client_chat(&o, "今天上海天气如何？"));
	script("{\"faults\":[{\"kind\":\"rate_limit\"},"
	       "{\"kind\":\"rate_limit\"},{\"kind\":\"rate_limit\"}]}");
	ck_assert_str_eq(
	    client_rejected(&stack, "POST", "/v1/chat",
		client_chat_request(&o, "今天上海天气如何？"), 503),
	    "the language model is overloaded");
	json_decref(client_chat(&o, "今天上海天气如何？"));
}

static const char broken[] = "{\"faults\":[{\"kind\":\"error\"},"
			     "{\"kind\":\"error\"},{\"kind\":\"error\"},"
			     "{\"kind\":\"error\"},{\"kind\":\"error\"}]}";

TEST(a_failing_model_is_reported_unavailable)
{
	struct client o = client_bound(&stack, "u-500", "terminal-002");
	json_t *r;

	script(broken);
	ck_assert_str_eq(
	    client_rejected(&stack, "POST", "/v1/chat",
		client_chat_request(&o, "今天上海天气如何？"), 502),
	    "the language model is unavailable");
	/* Direct actions need no model. */
	script(broken);
	r = client_chat(&o, "把灯变成绿色");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"control_light\"]"));
	json_decref(r);
	script("{\"faults\":[]}");
	json_decref(client_chat(&o, "今天上海天气如何？"));
}

TEST(skills_executed_before_a_model_failure_are_reported)
{
	struct client o = client_bound(&stack, "u-late", "terminal-003");
	json_t *r;

	/* The first response has a tool call; the second never arrives. */
	script("{\"faults\":[{\"kind\":\"none\"},{\"kind\":\"error\"},"
	       "{\"kind\":\"error\"},{\"kind\":\"error\"},"
	       "{\"kind\":\"error\"},{\"kind\":\"error\"}]}");
	r = client_chat(&o, "动一动你的脑袋吧");
	ck_assert(tk_json_equals(
	    tk_at(r, "executed_skills"), "[\"set_head_motion\"]"));
	ck_assert_str_ne(tk_text(r, "reply"), "");
	json_decref(r);
	script("{\"faults\":[]}");
}

TEST(a_slow_model_times_out)
{
	struct client o = client_bound(&stack, "u-slow", "terminal-004");
	int status;
	json_t *r;

	script("{\"faults\":[{\"kind\":\"slow\",\"delay_ms\":5000},"
	       "{\"kind\":\"slow\",\"delay_ms\":5000},"
	       "{\"kind\":\"slow\",\"delay_ms\":5000}]}");
	r = client_call(stack.service[STACK_CHAT_GATEWAY].http, "POST",
	    "/v1/chat", client_chat_request(&o, "今天上海天气如何？"), &status);
	ck_assert_int_eq(status, 504);
	ck_assert_str_eq(tk_text(r, "code"), "deadline_exceeded");
	json_decref(r);
	script("{\"faults\":[]}");
}

TEST(a_truncated_stream_is_no_reply)
{
	struct client o = client_bound(&stack, "u-cut", "terminal-005");
	int status;
	json_t *r;

	script("{\"faults\":[{\"kind\":\"cut\"}]}");
	r = client_call(stack.service[STACK_CHAT_GATEWAY].http, "POST",
	    "/v1/chat", client_chat_request(&o, "今天上海天气如何？"), &status);
	/* Retried or rejected; a partial response is not used. */
	if (status == 200)
		ck_assert_str_eq(
		    tk_text(r, "reply"), "我听到你说：今天上海天气如何？");
	else
		ck_assert_int_eq(status, 502);
	json_decref(r);
	script("{\"faults\":[]}");
}

TEST(invalid_arguments_cause_no_action)
{
	struct client o = client_bound(&stack, "u-args", "terminal-006");
	struct peer *w = peer_new(&stack, NULL);
	json_t *m, *r;

	peer_subscribe(w, "soul/terminal/terminal-006/#");
	script("{\"faults\":[{\"kind\":\"bad_arguments\"}]}");
	r = client_chat(&o, "动一动你的脑袋吧");
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	ck_assert_str_eq(
	    tk_text(r, "failed_skills.0.skill"), "set_head_motion");
	while ((m = peer_next(w, "", 0)) != NULL) {
		ck_assert(!tk_text_has(m, "topic", "/invoke/"));
		json_decref(m);
	}
	json_decref(r);
	script("{\"faults\":[]}");
	peer_free(w);
}

TEST(turns_of_a_session_wait_for_each_other)
{
	struct client o = client_bound(&stack, "u-queue", "terminal-008");
	struct conversation *t[12];
	json_t *r;
	int status, ok = 0, refused = 0;
	size_t i;

	/* One turn runs, eight wait, further ones are rejected. */
	script("{\"faults\":[{\"kind\":\"slow\",\"delay_ms\":1000}]}");
	for (i = 0; i < 12; i++)
		t[i] = conversation_begin(&o, "你好");
	for (i = 0; i < 12; i++) {
		r = conversation_end(t[i], &status);
		ok += status == 200;
		refused += status == 429;
		json_decref(r);
	}
	ck_assert_int_eq(ok, 9);
	ck_assert_int_eq(refused, 3);
	r = client_ok(
	    &stack, "GET", "/v1/sessions/s1/messages?user_id=u-queue", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(r, "items")), 18);
	for (i = 0; i < 18; i++)
		ck_assert_str_eq(
		    tk_text(json_array_get(tk_at(r, "items"), i), "role"),
		    i % 2 > 0 ? "assistant" : "user");
	json_decref(r);
}
