/* /v1/mcp and /v1/tool-content, with mcp-host. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "state/mcp.h"
#include "testkit/gateway_fixture.h"
#include "tool/own_tool_names.h"

#define NO_HOST                                                              \
	"no mcp-host is running: start one, or see why none is ready, then " \
	"try again"

#define NO_TOOL \
	"tool not found: name one of GET /v1/mcp/tools, or " OWN_TOOL_NAMES_TEXT

static struct gateway_fixture b;
static struct tk_service host;
static struct tk_proc sim;
static int port;

static bool
sim_is_up(void *arg)
{
	(void)arg;
	return tk_port_open(port);
}

static void
start_all(void)
{
	static const char *const more[] = { "MCP_ALLOW_PRIVATE=on",
		"SECRETS_KEY=k:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
		NULL };
	static char at[32];
	const char *const argv[] = { tk_bin("mcp-sim"), at, NULL };

	port = tk_port();
	snprintf(at, sizeof(at), "http=%d", port);
	tk_spawn(&sim, "sim", argv, NULL);
	ck_assert(tk_until(sim_is_up, NULL, GW_MS));
	gateway_fixture_start_alone(&b, NULL);
	gateway_fixture_spawn(&b, &host, "mcp-host", more);
}

static void
stop_all(void)
{
	tk_service_end(&host);
	gateway_fixture_stop(&b);
	tk_signal(&sim, SIGKILL);
	ck_assert_int_ne(tk_wait(&sim, GW_MS), -1);
}

static const char *
settings(void)
{
	static char body[256];

	snprintf(body, sizeof(body),
	    "{\"url\":\"http://127.0.0.1:%d/mcp\",\"headers\":"
	    "{\"Authorization\":\"Bearer secret-7\"}}",
	    port);
	return body;
}

static bool
is_ready(void *arg)
{
	json_t *j = gw_json(&b, "GET", "/v1/mcp/servers/home", NULL);
	bool ready = strcmp(tk_text(j, "state"), "ready") == 0;

	(void)arg;
	json_decref(j);
	return ready;
}

TEST(a_user_adds_uses_and_deletes_a_server)
{
	json_t *j;
	char *text;

	start_all();
	gw_rejects(
	    &b, "GET", "/v1/mcp/servers/home", NULL, 404, "server not found");
	j = gw_json(&b, "PUT", "/v1/mcp/servers/home", settings());
	ck_assert_str_eq(tk_text(j, "name"), "home");
	ck_assert_str_eq(tk_text(j, "policy"), "ask");
	json_decref(j);
	ck_assert(tk_until(is_ready, NULL, GW_MS));
	j = gw_json(&b, "GET", "/v1/mcp/servers", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "servers")), 1);
	ck_assert_int_eq(tk_int(j, "servers.0.tools"), 6);
	text = json_dumps(j, 0);
	ck_assert_ptr_null(strstr(text, "secret-7"));
	ck_assert_ptr_nonnull(strstr(text, "***"));
	free(text);
	json_decref(j);
	j = gw_json(&b, "GET", "/v1/mcp/tools?q=echo&limit=2", NULL);
	ck_assert_str_eq(tk_text(j, "tools.0.name"), "home__echo");
	ck_assert_str_eq(tk_text(j, "tools.0.policy"), "ask");
	ck_assert_int_eq(tk_int(j, "total"), 6);
	json_decref(j);
	gw_rejects(&b, "GET", "/v1/mcp/tools?limit=101", NULL, 400,
	    "limit: must be 1 to 100");
	j = gw_json(&b, "GET", "/v1/mcp/servers?user_id=other", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "servers")), 0);
	json_decref(j);
	gw_ok(&b, "DELETE", "/v1/mcp/servers/home", NULL);
	gw_rejects(&b, "DELETE", "/v1/mcp/servers/home", NULL, 404,
	    "server not found");
	stop_all();
}

/* The error of the server "none" as this caller gets it, once there is one. */
static const char *error_token;
static char error_text[600];

static bool
has_error(void *path)
{
	json_t *j = gw_json_as(&b, error_token, "GET", path, NULL);

	snprintf(error_text, sizeof(error_text), "%s",
	    tk_find(j, "servers") != NULL ? tk_find_text(j, "servers.0.error")
					  : tk_find_text(j, "error"));
	json_decref(j);
	return error_text[0] != '\0';
}

static void
ck_error(const char *token, const char *path, const char *want)
{
	error_token = token;
	ck_assert(tk_until(has_error, (void *)(uintptr_t)path, GW_MS));
	ck_assert_str_eq(error_text, want);
}

/* It names hosts, programs and files of the operator's. */
TEST(why_an_operators_server_does_not_start_is_the_operators)
{
	char config[300];
	const char *const more[] = { config, NULL };

	snprintf(config, sizeof(config), "MCP_CONFIG=%s", tk_path("mcp.json"));
	tk_write_file(tk_path("mcp.json"),
	    "{\"mcpServers\":{\"none\":{\"command\":\"/srv/no-such\"}}}");
	gw_start_with_tokens(&b);
	gateway_fixture_spawn(&b, &host, "mcp-host", more);
	ck_error(TOKEN_OPERATOR, "/v1/mcp/servers?user_id=ann",
	    "/srv/no-such: No such file or directory");
	ck_error(TOKEN_OPERATOR, "/v1/mcp/servers/none?user_id=ann",
	    "/srv/no-such: No such file or directory");
	ck_error(TOKEN_ANN, "/v1/mcp/servers",
	    "not available at the moment: operators see why");
	ck_error(TOKEN_ANN, "/v1/mcp/servers/none",
	    "not available at the moment: operators see why");
	tk_service_end(&host);
	gateway_fixture_stop(&b);
}

TEST(settings_are_checked)
{
	start_all();
	gw_rejects(&b, "PUT", "/v1/mcp/servers/home", "{\"url\":\"ftp://a\"}",
	    400, "/url: must begin with https:// or http://");
	gw_rejects(&b, "PUT", "/v1/mcp/servers/home",
	    "{\"url\":\"http://a\",\"headers\":{\"Host\":\"b\"}}", 400,
	    "/headers: has a name that is not valid or not allowed");
	gw_rejects(&b, "POST", "/v1/mcp/servers/home/restart", NULL, 404,
	    "server not found");
	stop_all();
}

TEST(grants_are_set_and_deleted)
{
	json_t *j;

	start_all();
	gw_ok(&b, "PUT", "/v1/mcp/servers/home", settings());
	ck_assert(tk_until(is_ready, NULL, GW_MS));
	gw_rejects(&b, "PUT", "/v1/mcp/grants/home__none",
	    "{\"policy\":\"auto\"}", 404, NO_TOOL);
	j = gw_json(&b, "PUT", "/v1/mcp/grants/home__echo",
	    "{\"policy\":\"never\",\"soul_id\":\"s1\"}");
	ck_assert_str_eq(tk_text(j, "tool"), "echo");
	json_decref(j);
	j = gw_json(&b, "GET", "/v1/mcp/tools?q=echo&limit=1&soul_id=s1", NULL);
	ck_assert_str_eq(tk_text(j, "tools.0.policy"), "never");
	json_decref(j);
	gw_ok(&b, "DELETE", "/v1/mcp/grants/home__echo?soul_id=s1", NULL);
	gw_rejects(&b, "DELETE", "/v1/mcp/grants/home__echo?soul_id=s1", NULL,
	    404, "grant not found");
	stop_all();
}

/* Neither of them runs: what is forbidden would not be listed. */
TEST(grants_of_tools_of_services_are_set_and_deleted)
{
	struct arena *a = arena_new(65536);
	struct mcp_grant *list;
	size_t n;
	json_t *j;

	start_all();
	j = gw_json(&b, "PUT", "/v1/mcp/grants/alarm-clock__set_alarm",
	    "{\"policy\":\"never\",\"user_id\":\"ann\"}");
	ck_assert_str_eq(tk_text(j, "server"), "alarm-clock");
	ck_assert_str_eq(tk_text(j, "tool"), "set_alarm");
	ck_assert_ptr_null(tk_find(j, "definition"));
	json_decref(j);
	json_decref(gw_json(&b, "PUT", "/v1/mcp/grants/run_task",
	    "{\"policy\":\"auto\",\"user_id\":\"ann\"}"));
	ck_assert_int_eq(
	    mcp_grants_read(b.db.s, STR("ann"), a, &list, &n), RC_OK);
	ck_assert_uint_eq(n, 2);
	ck_assert_ptr_nonnull(mcp_grant_find(
	    list, n, STR("s"), STR("engine-runner"), STR("run_task")));
	gw_rejects(&b, "PUT", "/v1/mcp/grants/alarm-clock__set_alrm",
	    "{\"policy\":\"never\"}", 404, NO_TOOL);
	gw_rejects(&b, "PUT", "/v1/mcp/grants/alarm-cloc__set_alarm",
	    "{\"policy\":\"never\"}", 404, NO_TOOL);
	gw_ok(&b, "DELETE", "/v1/mcp/grants/set_alarm?user_id=ann", NULL);
	gw_rejects(&b, "DELETE", "/v1/mcp/grants/set_alarm?user_id=ann", NULL,
	    404, "grant not found");
	gw_rejects(&b, "PUT", "/v1/mcp/servers/alarm-clock", settings(), 409,
	    "a service with tools of its own has that name: take another one");
	stop_all();
	arena_free(a);
}

TEST(all_of_it_is_deleted_with_the_user)
{
	json_t *j;

	start_all();
	gw_ok(&b, "PUT", "/v1/mcp/servers/home?user_id=ann", settings());
	j = gw_json(&b, "DELETE", "/v1/users/ann/data", NULL);
	json_decref(j);
	j = gw_json(&b, "GET", "/v1/mcp/servers?user_id=ann", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "servers")), 0);
	json_decref(j);
	stop_all();
}

TEST(content_is_its_users_alone)
{
	const struct mcp_content c = { STR("0af3"), STR("image/png"),
		STR("QUJD") };
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	ck_assert_int_eq(mcp_content_put(b.db.s, STR("ann"), &c), RC_OK);
	j = gw_json(&b, "GET", "/v1/tool-content/0af3?user_id=ann", NULL);
	ck_assert_str_eq(tk_text(j, "mime_type"), "image/png");
	ck_assert_str_eq(tk_text(j, "data"), "QUJD");
	json_decref(j);
	gw_rejects(&b, "GET", "/v1/tool-content/0af3?user_id=bob", NULL, 404,
	    "content not found, or expired");
	gateway_fixture_stop(&b);
}

TEST(without_mcp_host_the_error_names_it)
{
	gateway_fixture_start_alone(&b, NULL);
	gw_rejects(&b, "GET", "/v1/mcp/servers", NULL, 503, NO_HOST);
	gw_rejects(&b, "PUT", "/v1/mcp/servers/a", "{\"url\":\"https://a\"}",
	    503, NO_HOST);
	gateway_fixture_stop(&b);
}
