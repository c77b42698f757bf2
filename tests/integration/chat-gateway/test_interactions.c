/*
 * Questions whether a tool may be used, over HTTP, with a real orchestrator and
 * the test in place of the provider and the model; and those of runs.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/gateway_fixture.h"
#include "testkit/orch_model.h"
#include "testkit/run_fixture.h"
#include "testkit/tool_provider.h"

#define WAITING "/v1/interactions?state=waiting"
#define LIST                                                        \
	"\"tools\":[" TOOL_PROVIDER_TOOL("fs", "write_file", "ask", \
	    "false") "],\"left_out\":[],\"notes\":[]"
#define PROMPT                                   \
	"要用 fs 的工具「write_file」，" \
	"参数是 {\"path\":\"a.txt\"}。"      \
	"可以吗？（这次可以 / 一直可以 / 不要）"

static struct gateway_fixture b;
static struct tk_service orch;
static struct orch_model model;
static struct tool_provider provider;

static void
start(void)
{
	char llm[64];
	const char *const env[] = { llm, NULL };
	char soul[GW_SOUL_ID];

	gateway_fixture_start(&b, NULL);
	orch_model_start(&model);
	snprintf(llm, sizeof(llm), "OPENAI_BASE_URL=http://127.0.0.1:%d/v1",
	    model.port);
	gateway_fixture_spawn(&b, &orch, "llm-orchestrator", env);
	tool_provider_start(&provider, b.nats.url, "mcp-host");
	tool_provider_set(&provider, list, LIST);
	gw_soul(&b, NULL, "小星", soul);
	gw_bind_ok(&b, "demo-user", "t1", soul);
}

static void
stop(void)
{
	tool_provider_stop(&provider);
	tk_service_end(&orch);
	orch_model_stop(&model);
	gateway_fixture_stop(&b);
}

/* A chat that ends with a question; its id. */
static void
ask(char id[64])
{
	orch_model_reply(&model, "",
	    "[[\"fs__write_file\",\"{\\\"path\\\":\\\"a.txt\\\"}\"]]");
	json_t *j = gw_json(&b, "POST", "/v1/chat",
	    "{\"session_id\":\"s1\",\"terminal_id\":\"t1\",\"inputs\":[{"
	    "\"type\":\"keyboard_text\",\"text\":\"写到 a.txt\"}]}");
	ck_assert_str_eq(tk_text(j, "reply"), PROMPT);
	json_decref(j);
	j = gw_json(&b, "GET", WAITING, NULL);
	json_t *list = json_object_get(j, "interactions");
	ck_assert_uint_eq(json_array_size(list), 1);
	json_t *one = json_array_get(list, 0);
	ck_assert_str_eq(tk_text(one, "session_id"), "s1");
	ck_assert_str_eq(tk_text(one, "kind"), "single_choice");
	ck_assert_str_eq(tk_text(one, "prompt"), PROMPT);
	ck_assert_str_eq(tk_text(one, "tool.server"), "fs");
	ck_assert_str_eq(tk_text(one, "tool.arguments.path"), "a.txt");
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_find(one, "options"), 1), "label"),
	    "一直可以");
	snprintf(id, 64, "%s", tk_text(one, "interaction_id"));
	json_decref(j);
}

static void
put_reply(char body[512], const char *id, const char *content, const char *key)
{
	snprintf(body, 512,
	    "{\"interaction_id\":\"%s\",\"content\":\"%s\"%s%s%s}", id, content,
	    key != NULL ? ",\"idempotency_key\":\"" : "",
	    key != NULL ? key : "", key != NULL ? "\"" : "");
}

#define REPLY "/v1/sessions/s1/reply"

static void
rejects(const char *path, const char *id, const char *content, int status,
    const char *text)
{
	char body[512];

	put_reply(body, id, content, NULL);
	gw_rejects(&b, "POST", path, body, status, text);
}

static size_t
waiting(const char *query)
{
	char path[128];

	snprintf(path, sizeof(path), WAITING "%s", query);
	json_t *j = gw_json(&b, "GET", path, NULL);
	size_t n = json_array_size(json_object_get(j, "interactions"));
	json_decref(j);
	return n;
}

TEST_T(a_reply_sends_the_call_of_the_question, 60)
{
	char id[64], body[512];

	start();
	gw_rejects(&b, "GET", "/v1/interactions?state=all", NULL, 400,
	    "state: must be waiting");
	ask(id);
	/* Neither another question, session, user, nor other words. */
	rejects(REPLY, "ix_other", "once", 409,
	    "the session waits for the reply to another question");
	rejects("/v1/sessions/s2/reply", id, "once", 404, "session not found");
	rejects(
	    REPLY, id, "maybe", 400, "/content: expected once, always or no");
	snprintf(body, sizeof(body),
	    "{\"user_id\":\"bob\",\"interaction_id\":\"%s\",\"content\":"
	    "\"once\"}",
	    id);
	gw_rejects(&b, "POST", REPLY, body, 404, "session not found");
	ck_assert_uint_eq(waiting("&user_id=bob"), 0);
	ck_assert_uint_eq(waiting(""), 1);
	ck_assert_uint_eq(tool_provider_calls(&provider), 0);

	orch_model_reply(&model, "写好了。", NULL);
	put_reply(body, id, "always", "k1");
	for (int i = 0; i < 2; i++) {
		/* The second is a retry. */
		json_t *j = gw_json(&b, "POST", REPLY, body);
		ck_assert_str_eq(tk_text(j, "reply"), "写好了。");
		ck_assert_str_eq(json_string_value(json_array_get(
				     json_object_get(j, "executed_skills"), 0)),
		    "fs__write_file");
		json_decref(j);
	}
	ck_assert_uint_eq(tool_provider_calls(&provider), 1);
	json_t *call = tool_provider_call(&provider, 0);
	ck_assert_str_eq(tk_text(call, "approval.interaction_id"), id);
	ck_assert_str_eq(tk_text(call, "approval.scope"), "always");
	ck_assert_str_eq(tk_text(call, "arguments.path"), "a.txt");
	ck_assert_uint_eq(waiting(""), 0);
	rejects(REPLY, id, "once", 409, "the session waits for no reply");
	ck_assert_uint_eq(tool_provider_calls(&provider), 1);
	stop();
}

TEST_T(a_denied_call_is_not_sent, 60)
{
	char id[64], body[512];

	start();
	ask(id);
	put_reply(body, id, "no", NULL);
	json_t *j = gw_json(&b, "POST", REPLY, body);
	ck_assert_str_eq(tk_text(j, "reply"), "好的，write_file没有做。");
	json_decref(j);
	ck_assert_uint_eq(waiting(""), 0);
	ck_assert_uint_eq(tool_provider_calls(&provider), 0);
	stop();
}

/* A session that is deleted asks no more. */
TEST_T(a_deleted_session_does_not_wait, 60)
{
	char id[64];

	start();
	ask(id);
	gw_ok(&b, "DELETE", "/v1/sessions/s1", NULL);
	ck_assert_uint_eq(waiting(""), 0);
	rejects(REPLY, id, "once", 404, "session not found");
	stop();
}

TEST(runs_that_wait_are_listed)
{
	struct run_record rec;
	char id[RUN_ID_MAX];

	gateway_fixture_start(&b, NULL);
	run_fixture_create(b.db.s, id);
	rec = run_fixture_claim(b.db.s, id, b.db.arena);
	ck_assert_uint_eq(waiting("&user_id=ann"), 0);
	ck_assert_int_eq(
	    run_fixture_publish(b.db.s, &rec, RUN_IS_WAITING, 1, 0), RC_OK);
	json_t *j = gw_json(&b, "GET", WAITING "&user_id=ann", NULL);
	json_t *list = json_object_get(j, "interactions");
	ck_assert_uint_eq(json_array_size(list), 1);
	json_t *one = json_array_get(list, 0);
	ck_assert_str_eq(tk_text(one, "run_id"), id);
	ck_assert_str_eq(tk_text(one, "interaction_id"), "ix_1");
	ck_assert_ptr_null(json_object_get(one, "session_id"));
	json_decref(j);
	gateway_fixture_stop(&b);
}
