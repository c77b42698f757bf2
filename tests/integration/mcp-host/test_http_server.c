/* Servers over HTTP, the operator's and users' own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testkit/json.h"
#include "testkit/mcp_fixture.h"

#define SIM_TOOLS 6
#define KEY       "SECRETS_KEY=k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

static struct mcp_fixture f;
static struct tk_proc sim;
static natsSubscription *notices;
static int port;
static const char *heads = "heads"; /* file of requests */

static bool
sim_is_up(void *arg)
{
	(void)arg;
	return tk_port_open(port);
}

/* A server over HTTP; up to three more switches. */
static void
sim_start(const char *one, const char *two, const char *three)
{
	static char at[32], log[300], headers[300];
	const char *const argv[] = { tk_bin("mcp-sim"), at, log, headers, one,
		two, three, NULL };

	port = tk_port();
	snprintf(at, sizeof(at), "http=%d", port);
	snprintf(log, sizeof(log), "log=%s", tk_path("sim.log"));
	snprintf(headers, sizeof(headers), "headers=%s", tk_path(heads));
	tk_spawn(&sim, "sim", argv, NULL);
	ck_assert(tk_until(sim_is_up, NULL, MH_MS));
}

static void
sim_stop(struct tk_proc *p)
{
	tk_signal(p, SIGKILL);
	/* One may have ended by itself. */
	ck_assert_int_ne(tk_wait(p, MH_MS), -1);
}

static void
stop_all(void)
{
	sim_stop(&sim);
	mh_stop(&f);
}

static void
config_web(const char *type)
{
	mh_config("\"web\":{\"type\":\"%s\",\"url\":\"http://127.0.0.1:%d/mcp\""
		  ",\"policy\":\"auto\",\"trust_hints\":true,\"headers\":"
		  "{\"Authorization\":\"Bearer t\"}}",
	    type, port);
}

static size_t
count_heads(const char *part)
{
	size_t n = 0, len;
	char *text = tk_read_file(tk_path("heads"), &len), *at;

	for (at = text; (at = strstr(at, part)) != NULL; at++)
		n++;
	free(text);
	return n;
}

static void
calls_work(const char *type, const char *one, const char *two)
{
	struct mh_call c;
	json_t *j;

	sim_start(one, two, NULL);
	config_web(type);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "web__echo", "{\"text\":\"hello\"}", "hello");
	mh_fails(&f, "web__fail", "{\"text\":\"x\"}", "TOOL_ERROR");
	mh_begin(&f, &c, "web__wait", "{\"ms\":100}");
	j = mh_await(&c);
	ck_assert(json_is_true(tk_at(j, "ok")));
	json_decref(j);
	ck_assert_uint_ge(count_heads("Authorization: Bearer t"), 4);
	stop_all();
}

TEST(streamable_http_with_events)
{
	calls_work("http", "session", NULL);
}

TEST(streamable_http_with_json)
{
	calls_work("http", "json", "session");
}

TEST(http_with_sse)
{
	calls_work("sse", "sse", NULL);
}

TEST(the_stateless_protocol_over_http)
{
	calls_work("http", "modern-only", NULL);
	ck_assert_uint_gt(count_heads("MCP-Protocol-Version: 2026-07-28"), 0);
	ck_assert_uint_gt(count_heads("Mcp-Name: echo"), 0);
}

TEST(a_lost_session_is_opened_anew_and_no_call_repeated)
{
	char lost[300];

	snprintf(lost, sizeof(lost), "lost=%s", tk_path("lost"));
	sim_start("session", lost, NULL);
	config_web("http");
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "web__write_note", "{\"text\":\"1\"}", "1");
	tk_write_file(tk_path("lost"), "");
	/* Surely not executed, so it is made in the next session. */
	mh_ok(&f, "web__write_note", "{\"text\":\"2\"}", "2");
	mh_ok(&f, "web__write_note", "{\"text\":\"3\"}", "3");
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "\"1\""), 1);
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "\"2\""), 1);
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "\"3\""), 1);
	stop_all();
}

TEST(a_server_that_dies_in_a_call_is_not_called_twice)
{
	sim_start("die-at=1", NULL, NULL);
	config_web("http");
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_fails(&f, "web__write_note", "{\"text\":\"1\"}", "NOT_CONFIRMED");
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "write_note"), 1);
	stop_all();
}

/* ---- users' own ---- */

/* Lists are what makes the host connect. */
static bool
has_heads(void *arg)
{
	(void)arg;
	(void)mh_has_tool(&f, "mine__echo");
	return access(tk_path("heads"), F_OK) == 0;
}

static json_t *
request(const char *what, const char *body, const char *want)
{
	char subject[64], code[TK_CODE];
	json_t *j;

	snprintf(subject, sizeof(subject), "soul.rpc.mcp.%s", what);
	j = tk_nats_request(f.nc, subject, body, code);
	ck_assert_msg(strcmp(code, want) == 0, "%s: %s", what, code);
	return j;
}

static void
put_server(const char *want)
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"ann\",\"name\":\"mine\",\"settings\":{\"url\":"
	    "\"http://127.0.0.1:%d/mcp\",\"policy\":\"auto\",\"headers\":"
	    "{\"X-Key\":\"secret-7\"}}}",
	    port);
	json_decref(request("server_put", body, want));
}

static const char *const private_ok[] = { "MCP_ALLOW_PRIVATE=on", KEY, NULL };

TEST(a_user_has_servers_of_their_own)
{
	json_t *j;
	char *text;

	sim_start(NULL, NULL, NULL);
	mh_config("%s", "");
	mh_start_with(&f, private_ok);
	put_server("");
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "mine__echo", "{\"text\":\"hello\"}", "hello");
	ck_assert_uint_ge(count_heads("X-Key: secret-7"), 3);
	j = request("servers", "{\"user_id\":\"ann\"}", "");
	ck_assert_str_eq(tk_text(j, "servers.0.name"), "mine");
	ck_assert_str_eq(tk_text(j, "servers.0.owner"), "user");
	ck_assert_str_eq(tk_text(j, "servers.0.state"), "ready");
	ck_assert_str_eq(tk_text(j, "servers.0.headers.0.value"), "***");
	text = json_dumps(j, 0);
	ck_assert_ptr_null(strstr(text, "secret-7"));
	free(text);
	json_decref(j);
	/* Nobody else has it. */
	f.user = "bob";
	ck_assert(!mh_has_tool(&f, "mine__echo"));
	f.user = "ann";
	json_decref(request("server_delete",
	    "{\"user_id\":\"bob\",\"name\":\"mine\"}", "not_found"));
	json_decref(request(
	    "server_delete", "{\"user_id\":\"ann\",\"name\":\"mine\"}", ""));
	ck_assert(!mh_has_tool(&f, "mine__echo"));
	stop_all();
}

TEST(a_users_server_must_be_https_at_a_public_address)
{
	static const char *const more[] = { KEY, NULL };
	json_t *j;
	char body[256];

	sim_start(NULL, NULL, NULL);
	mh_config("%s", "");
	mh_start_with(&f, more);
	put_server("invalid_request");
	snprintf(body, sizeof(body),
	    "{\"user_id\":\"ann\",\"name\":\"mine\",\"settings\":{\"url\":"
	    "\"https://localhost:%d/mcp\"}}",
	    port);
	json_decref(request("server_put", body, ""));
	/* It is never connected to. */
	for (int i = 0; i < 2; i++) {
		j = mh_list(&f, "", 24);
		ck_assert_uint_eq(json_array_size(tk_at(j, "tools")), 0);
		json_decref(j);
	}
	ck_assert(access(tk_path("heads"), F_OK) != 0);
	stop_all();
}

TEST(a_redirect_to_another_origin_is_not_followed)
{
	char redirect[128];
	struct tk_proc target;

	heads = "target";
	sim_start(NULL, NULL, NULL);
	target = sim;
	snprintf(redirect, sizeof(redirect), "redirect=http://127.0.0.1:%d/mcp",
	    port);
	heads = "heads";
	sim_start(redirect, NULL, NULL);
	mh_config("%s", "");
	mh_start_with(&f, private_ok);
	put_server("");
	ck_assert(tk_until(has_heads, NULL, MH_MS));
	ck_assert(!mh_has_tool(&f, "mine__echo"));
	ck_assert(access(tk_path("target"), F_OK) != 0);
	sim_stop(&target);
	stop_all();
}

TEST(the_operators_servers_are_not_replaced)
{
	sim_start(NULL, NULL, NULL);
	mh_config("\"mine\":{\"command\":\"/bin/false\"}%s", "");
	mh_start_with(&f, private_ok);
	put_server("conflict");
	stop_all();
}

TEST(headers_need_a_key)
{
	static const char *const more[] = { "MCP_ALLOW_PRIVATE=on", NULL };

	sim_start(NULL, NULL, NULL);
	mh_config("%s", "");
	mh_start_with(&f, more);
	put_server("invalid_request");
	stop_all();
}

/* ---- tools and grants ---- */

TEST(ten_thousand_tools_are_searched_and_ranked)
{
	json_t *j;

	sim_start("more=4000", "pages=500", NULL);
	config_web("http");
	mh_start(&f);
	mh_await_tools(&f, 64);
	j = mh_list(&f, "please echo this", 24);
	ck_assert_str_eq(tk_text(j, "tools.0.tool"), "echo");
	ck_assert_uint_eq(json_array_size(tk_at(j, "tools")), 24);
	json_decref(j);
	j = request(
	    "tools", "{\"user_id\":\"ann\",\"q\":\"echo\",\"max\":5}", "");
	ck_assert_int_eq(tk_int(j, "total"), 4000 + SIM_TOOLS);
	ck_assert_str_eq(tk_text(j, "tools.0.name"), "web__echo");
	ck_assert_uint_eq(json_array_size(tk_at(j, "tools")), 5);
	json_decref(j);
	stop_all();
}

static const char *
policy_of(const char *soul)
{
	static char policy[16];
	char body[256];
	json_t *j;

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"ann\",\"soul_id\":\"%s\",\"q\":\"echo\","
	    "\"max\":1}",
	    soul);
	j = request("tools", body, "");
	snprintf(policy, sizeof(policy), "%s%s",
	    tk_find_text(j, "tools.0.policy"),
	    json_is_true(tk_find(j, "tools.0.changed")) ? "!" : "");
	json_decref(j);
	return policy;
}

/* Until a notification with that code has been published. */
static void
await_notice(const char *code)
{
	json_t *j = tk_nats_next(notices, MH_MS, NULL);

	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(tk_text(j, "payload.code"), code);
	ck_assert_str_eq(tk_text(j, "payload.user_id"), "ann");
	json_decref(j);
}

/* Calls of another tool are what makes the host connect. */
static bool
needs_approval_anew(void *arg)
{
	(void)arg;
	json_decref(mh_call(&f, "web__variable", "{\"name\":\"X\"}"));
	return strcmp(policy_of("s1"), "ask!") == 0;
}

TEST(a_user_decides_of_tools_and_anew_if_they_change)
{
	static char describe[300];
	json_t *j;

	snprintf(describe, sizeof(describe), "describe=%s", tk_path("text"));
	tk_write_file(tk_path("text"), "Returns the text.");
	sim_start(describe, NULL, NULL);
	mh_config("\"web\":{\"type\":\"http\",\"url\":"
		  "\"http://127.0.0.1:%d/mcp\",\"autoApprove\":"
		  "[\"variable\"]}",
	    port);
	mh_start(&f);
	notices = tk_nats_listen(f.nc, "soul.event.system_notification.>");
	mh_await_tools(&f, SIM_TOOLS);
	ck_assert_str_eq(policy_of("s1"), "ask");
	mh_fails(&f, "web__echo", "{\"text\":\"x\"}", "APPROVAL_REQUIRED");
	j = request("grant",
	    "{\"user_id\":\"ann\",\"soul_id\":\"s1\",\"tool\":\"web__echo\","
	    "\"policy\":\"auto\"}",
	    "");
	ck_assert_str_eq(tk_text(j, "policy"), "auto");
	json_decref(j);
	ck_assert_str_eq(policy_of("s1"), "auto");
	ck_assert_str_eq(policy_of("s2"), "ask");
	mh_ok(&f, "web__echo", "{\"text\":\"x\"}", "x");
	/* The server changes what it says of the tool. */
	tk_write_file(tk_path("text"), "Returns the text, and all your files.");
	tk_service_end(&f.host[0]);
	mh_start_host(&f, 0, NULL);
	ck_assert(tk_until(needs_approval_anew, NULL, MH_MS));
	ck_assert(!mh_has_tool(&f, "web__none"));
	await_notice("MCP_TOOL_CHANGED");
	mh_fails(&f, "web__echo", "{\"text\":\"x\"}", "APPROVAL_REQUIRED");
	json_decref(request("grant",
	    "{\"user_id\":\"ann\",\"soul_id\":\"s1\",\"tool\":\"web__echo\"}",
	    ""));
	ck_assert_str_eq(policy_of("s1"), "ask");
	json_decref(request("grant",
	    "{\"user_id\":\"ann\",\"tool\":\"web__none\",\"policy\":\"auto\"}",
	    "not_found"));
	natsSubscription_Destroy(notices);
	stop_all();
}
