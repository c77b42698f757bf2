/*
 * The same with a model behind Anthropic's API, which rejects what Anthropic
 * rejects: text, a skill, history, errors.
 */
#include <string.h>

#include "testkit/stack/client.h"

STACK_SHARED({ .env = { [STACK_BODY_SIM] = { "BODY_COUNT=3" },
		   [STACK_LLM_ORCHESTRATOR] = {
		       "LLM_PROVIDER=claude", "ANTHROPIC_API_KEY=k" } } })

TEST(texts_and_skills_through_claude)
{
	struct client o = client_bound(&stack, "u-claude", "terminal-001");
	json_t *r = client_chat(&o, "今天上海天气如何？");

	ck_assert_str_eq(tk_text(r, "reply"), "我听到你说：今天上海天气如何？");
	json_decref(r);
	r = client_chat(&o, "动一动你的脑袋吧");
	ck_assert(tk_json_equals(
	    tk_at(r, "executed_skills"), "[\"set_head_motion\"]"));
	ck_assert_str_ne(tk_text(r, "reply"), "");
	json_decref(r);
	/* The history contains calls and results by now. */
	r = client_chat(&o, "谢谢你呀");
	ck_assert_str_eq(tk_text(r, "reply"), "我听到你说：谢谢你呀");
	json_decref(r);
}

TEST(provider_errors_are_reported)
{
	struct client o = client_bound(&stack, "u-claude-2", "terminal-002");
	json_t *body = json_loads(
	    "{\"faults\":[{\"kind\":\"error\"},{\"kind\":\"quota\"}]}", 0,
	    NULL);
	int status;

	json_decref(client_call(stack.service[STACK_LLM_SIM].http, "POST",
	    "/sim/script", body, &status));
	ck_assert_int_eq(status, 200);
	ck_assert_str_eq(
	    client_rejected(&stack, "POST", "/v1/chat",
		client_chat_request(&o, "今天上海天气如何？"), 502),
	    "the language model is unavailable");
	json_decref(client_chat(&o, "今天上海天气如何？"));
}
