/*
 * A soul as an MCP server.
 */
#include <stdio.h>
#include <string.h>

#include "state/soul.h"
#include "testkit/gateway_turn_fixture.h"

static struct gw_conversation k;
static char path[128];

static void
open_all(void)
{
	struct soul *list;
	size_t n;

	gw_conversation_open(&k);
	ck_assert_int_eq(
	    soul_list(k.b.db.s, STR("demo-user"), k.b.db.arena, &list, &n),
	    RC_OK);
	ck_assert_uint_eq(n, 1);
	snprintf(path, sizeof(path), "/v1/souls/%.*s/mcp", STR_ARG(list[0].id));
}

static json_t *
rpc(const char *method, const char *params)
{
	char body[2048];

	snprintf(body, sizeof(body),
	    "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"%s\","
	    "\"params\":%s}",
	    method, params);
	return gw_json(&k.b, "POST", path, body);
}

static json_t *
call(const char *tool, const char *arguments)
{
	char params[1024];

	snprintf(params, sizeof(params), "{\"name\":\"%s\",\"arguments\":%s}",
	    tool, arguments);
	return rpc("tools/call", params);
}

static void
fails(const char *tool, const char *arguments, const char *why)
{
	json_t *j = call(tool, arguments);

	ck_assert(json_is_true(tk_at(j, "result.isError")));
	ck_assert_msg(strstr(tk_text(j, "result.content.0.text"), why) != NULL,
	    "%s: %s", tool, tk_text(j, "result.content.0.text"));
	json_decref(j);
}

TEST(a_soul_is_an_mcp_server)
{
	struct tk_response a = { 0 };
	json_t *j;

	open_all();
	j = rpc("initialize",
	    "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}");
	ck_assert_str_eq(tk_text(j, "id"), "a");
	ck_assert_str_eq(tk_text(j, "result.protocolVersion"), "2025-06-18");
	ck_assert_str_eq(tk_text(j, "result.serverInfo.title"), "friendly");
	json_decref(j);
	j = rpc("initialize", "{\"protocolVersion\":\"2099-01-01\"}");
	ck_assert_str_eq(tk_text(j, "result.protocolVersion"), "2025-11-25");
	json_decref(j);
	j = rpc("tools/list", "{}");
	ck_assert_uint_eq(json_array_size(tk_at(j, "result.tools")), 5);
	json_decref(j);
	json_decref(rpc("ping", "{}"));
	j = rpc("server/discover", "{}");
	ck_assert_int_eq(tk_int(j, "error.code"), -32601);
	json_decref(j);
	j = call("no_such", "{}");
	ck_assert_int_eq(tk_int(j, "error.code"), -32602);
	json_decref(j);
	ck_assert_int_eq(gw_request(&k.b, &a, "POST", path,
			     "{\"jsonrpc\":\"2.0\",\"method\":"
			     "\"notifications/initialized\"}"),
	    202);
	ck_assert_uint_eq(a.body.n, 0);
	gw_rejects(&k.b, "POST", "/v1/souls/soul_x/mcp",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 404,
	    "soul not found");
	tk_response_free(&a);
	gw_conversation_close(&k);
}

TEST(a_chat_is_a_turn)
{
	struct tk_http c = { 0 };
	char body[512];

	open_all();
	snprintf(body, sizeof(body),
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"chat\",\"arguments\":{\"text\":\"hi\","
	    "\"session_id\":\"s1\"}}}");
	tk_http_begin(&c, k.b.gateway.http, "POST", path, body);
	gw_turn_next(k.turns, &k.t);
	ck_assert_str_eq(tk_text(k.t.j, "chat.inputs.0.text"), "hi");
	ck_assert_str_eq(tk_text(k.t.j, "chat.session_id"), "s1");
	gw_turn_complete(&k.b, &k.t);
	ck_assert(tk_http_has(&c, "\"isError\":false", GW_MS));
	ck_assert_ptr_nonnull(strstr(c.in.p, "\"id\":7"));
	tk_http_close(&c);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(what_a_tool_cannot_do_is_its_result)
{
	open_all();
	fails("chat", "{\"text\":\" \"}", "/text: must not be empty");
	fails("chat", "{\"text\":7}", "/text");
	fails("invoke_skill", "{}", "/skill: is missing");
	fails("invoke_skill", "{\"skill\":\"fly\"}",
	    "emotion-engine does not answer");
	fails("recall", "{}", "/query: is missing");
	fails("say", "{}", "/text or /about");
	fails("say", "{\"text\":\"hi\"}", "no alarm-clock is running");
	fails("alarms", "{}", "no alarm-clock is running");
	fails("alarms", "{\"action\":\"set\"}", "/when or /rule");
	gw_conversation_close(&k);
}
