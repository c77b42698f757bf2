/* /v1/evolutions, with mcp-host. */
#include <stdio.h>
#include <string.h>

#include "testkit/gateway_fixture.h"

#define NO_HOST                                                              \
	"no mcp-host is running: start one, or see why none is ready, then " \
	"try again"

static struct gateway_fixture b;
static struct tk_service host;

static void
start(void)
{
	char config[300];
	const char *const more[] = { config, NULL };

	snprintf(
	    config, sizeof(config), "MCP_CATALOGUE=%s", tk_path("cat.json"));
	tk_write_file(tk_path("cat.json"),
	    "{\"mcpServers\":{\"weather\":{\"command\":\"/srv/no-such\","
	    "\"description\":\"查询天气\"}}}");
	gw_start_with_tokens(&b);
	gateway_fixture_spawn(&b, &host, "mcp-host", more);
}

static void
stop(void)
{
	tk_service_end(&host);
	gateway_fixture_stop(&b);
}

/* What a soul of ann's asks for; its path. */
static const char *
ask(const char *soul, const char *cycle)
{
	static char path[128];
	char body[512], code[TK_CODE];
	json_t *j;

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"ann\",\"soul_id\":\"%s\",\"cycle_id\":\"%s\","
	    "\"need\":\"查天气\"}",
	    soul, cycle);
	j = tk_nats_request(b.nc, "soul.rpc.evolution.request", body, code);
	ck_assert_str_eq(code, "");
	snprintf(path, sizeof(path), "/v1/evolutions/%s",
	    tk_text(j, "evolution_id"));
	json_decref(j);
	return path;
}

static const char *
with(const char *path, const char *action)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s%s", path, action);
	return text;
}

static void
acts(const char *token, const char *path, const char *action, const char *state)
{
	json_t *j = gw_json_as(&b, token, "POST", with(path, action), NULL);

	ck_assert_str_eq(tk_text(j, "state"), state);
	json_decref(j);
}

static size_t
listed(const char *token, const char *query)
{
	json_t *j =
	    gw_json_as(&b, token, "GET", with("/v1/evolutions", query), NULL);
	size_t n = json_array_size(tk_at(j, "evolutions"));

	json_decref(j);
	return n;
}

/* That of mcp-host, for which nobody has called. */
static void
ck_asked(natsSubscription *sub, const char *path)
{
	json_t *j = tk_nats_next(sub, GW_MS, NULL);

	ck_assert_str_eq(tk_text(j, "source"), "mcp-host");
	ck_assert_str_eq(tk_text(j, "payload.action"), "evolution_asked");
	ck_assert_str_eq(tk_text(j, "payload.evolution_id"),
	    path + strlen("/v1/evolutions/"));
	ck_assert_str_eq(tk_text(j, "payload.reason"), "proposed");
	json_decref(j);
}

static void
ck_audit(natsSubscription *sub, const char *action, const char *path,
    const char *role)
{
	json_t *j = gw_audit_next(sub, action);

	ck_assert_str_eq(tk_find_text(j, "payload.evolution_id"),
	    path + strlen("/v1/evolutions/"));
	ck_assert_str_eq(tk_find_text(j, "payload.user_id"), "ann");
	ck_assert_str_eq(tk_find_text(j, "payload.role"), role);
	json_decref(j);
}

TEST(the_owner_sees_and_decides)
{
	char soul[GW_SOUL_ID], path[128];
	natsSubscription *audit;
	json_t *j;

	start();
	gw_soul_as(&b, TOKEN_ANN, "friendly", soul);
	audit = gw_audit_subscribe(&b);
	ck_assert_uint_eq(listed(TOKEN_ANN, ""), 0);
	snprintf(path, sizeof(path), "%s", ask(soul, "c1"));
	ck_asked(audit, path);
	ck_assert_uint_eq(listed(TOKEN_ANN, "?state=proposed"), 1);
	ck_assert_uint_eq(listed(TOKEN_ANN, "?state=refused"), 0);
	ck_assert_uint_eq(listed(TOKEN_ANN, "?soul_id=other"), 0);
	gw_rejects_as(&b, TOKEN_ANN, "GET", "/v1/evolutions?state=x", NULL,
	    "400 state: is not known");
	j = gw_json_as(&b, TOKEN_ANN, "GET", path, NULL);
	ck_assert_str_eq(tk_text(j, "need"), "查天气");
	ck_assert_str_eq(tk_text(j, "proposal.name"), "weather");
	json_decref(j);
	acts(TOKEN_ANN, path, "/approve", "enabled");
	ck_audit(audit, "evolution_approved", path, "owner");
	gw_rejects_as(&b, TOKEN_ANN, "POST", with(path, "/refuse"), NULL,
	    "409 it is enabled: it can be disabled");
	j = gw_json_as(&b, TOKEN_ANN, "GET", "/v1/mcp/servers/weather", NULL);
	ck_assert_str_eq(tk_text(j, "owner"), "user");
	ck_assert_str_eq(tk_text(j, "policy"), "ask");
	json_decref(j);
	gw_rejects_as(&b, TOKEN_ANN, "DELETE", "/v1/mcp/servers/weather", NULL,
	    "409 the server is of the operator's catalogue");
	gw_rejects_as(&b, TOKEN_ANN, "PUT", "/v1/mcp/servers/weather",
	    "{\"url\":\"https://a.example/\"}",
	    "409 the server is of the operator's catalogue");
	acts(TOKEN_ANN, path, "/disable", "disabled");
	ck_audit(audit, "evolution_disabled", path, "owner");
	gw_rejects_as(&b, TOKEN_ANN, "GET", "/v1/mcp/servers/weather", NULL,
	    "404 server not found");
	acts(TOKEN_ANN, path, "/enable", "enabled");
	ck_audit(audit, "evolution_enabled", path, "owner");
	natsSubscription_Destroy(audit);
	stop();
}

TEST(others_do_not_but_operators_do)
{
	char soul[GW_SOUL_ID], path[128];
	natsSubscription *audit;

	start();
	gw_soul_as(&b, TOKEN_ANN, "friendly", soul);
	audit = gw_audit_subscribe(&b);
	snprintf(path, sizeof(path), "%s", ask(soul, "c1"));
	ck_asked(audit, path);
	ck_assert_uint_eq(listed(TOKEN_BOB, ""), 0);
	gw_rejects_as(
	    &b, TOKEN_BOB, "GET", path, NULL, "404 evolution not found");
	gw_rejects_as(&b, TOKEN_BOB, "POST", with(path, "/approve"), NULL,
	    "404 evolution not found");
	gw_rejects_as(&b, TOKEN_BOB, "POST", with(path, "/approve?user_id=ann"),
	    NULL, "403 ");
	gw_rejects_as(&b, TOKEN_LAMP, "POST",
	    with(path, "/approve?user_id=ann"), NULL, "403 ");
	gw_rejects_as(&b, TOKEN_ACME_OPERATOR, "GET",
	    with(path, "?user_id=ann"), NULL, "404 evolution not found");
	ck_assert_uint_eq(listed(TOKEN_OPERATOR, "?user_id=ann"), 1);
	acts(TOKEN_OPERATOR, path, "/refuse?user_id=ann", "refused");
	for (int i = 0; i < 2; i++)
		json_decref(gw_audit_next(audit, "access_denied"));
	ck_audit(audit, "evolution_refused", path, "operator");
	natsSubscription_Destroy(audit);
	ck_assert_str_eq(ask(soul, "c2"), path);
	stop();
}

TEST(a_name_that_the_user_has_is_not_taken_over)
{
	char soul[GW_SOUL_ID], path[128];
	json_t *j;

	start();
	gw_soul_as(&b, TOKEN_ANN, "friendly", soul);
	snprintf(path, sizeof(path), "%s", ask(soul, "c1"));
	gw_ok_as(&b, TOKEN_ANN, "PUT", "/v1/mcp/servers/weather",
	    "{\"url\":\"https://a.example/\"}");
	gw_rejects_as(&b, TOKEN_ANN, "POST", with(path, "/approve"), NULL,
	    "409 the user has a server of the name weather: delete it first");
	j = gw_json_as(&b, TOKEN_ANN, "GET", "/v1/mcp/servers/weather", NULL);
	ck_assert_str_eq(tk_text(j, "url"), "https://a.example/");
	json_decref(j);
	gw_ok_as(&b, TOKEN_ANN, "DELETE", "/v1/mcp/servers/weather", NULL);
	acts(TOKEN_ANN, path, "/approve", "enabled");
	stop();
}

TEST(all_of_it_is_exported_and_deleted_with_the_user)
{
	char soul[GW_SOUL_ID], path[128];
	struct gateway_memory_fixture r;
	struct tk_response a = { 0 };
	char config[300];
	const char *const more[] = { config, NULL };

	snprintf(
	    config, sizeof(config), "MCP_CATALOGUE=%s", tk_path("cat.json"));
	tk_write_file(tk_path("cat.json"),
	    "{\"mcpServers\":{\"weather\":{\"command\":\"/srv/no-such\","
	    "\"description\":\"查询天气\"}}}");
	gw_memory_start(&r);
	b = r.b;
	gateway_fixture_spawn(&r.b, &host, "mcp-host", more);
	gw_soul(&r.b, "ann", "friendly", soul);
	snprintf(path, sizeof(path), "%s", ask(soul, "c1"));
	gw_ok(&r.b, "POST", with(path, "/approve?user_id=ann"), NULL);
	ck_assert_int_eq(gw_request(&r.b, &a, "GET",
			     "/v1/memories/export?user_id=ann", NULL),
	    200);
	ck_assert_ptr_nonnull(strstr(a.body.p,
	    "{\"mcp_server\":{\"name\":\"weather\",\"catalogue\":"
	    "\"weather\"}}\n"));
	ck_assert_ptr_nonnull(strstr(a.body.p, "{\"evolution\":{"));
	ck_assert_ptr_nonnull(strstr(a.body.p, "查天气"));
	gw_ok(&r.b, "DELETE", "/v1/users/ann/data", NULL);
	gw_rejects(&r.b, "GET", with(path, "?user_id=ann"), NULL, 404,
	    "evolution not found");
	gw_rejects(&r.b, "GET", "/v1/mcp/servers/weather?user_id=ann", NULL,
	    404, "server not found");
	tk_response_free(&a);
	tk_service_end(&host);
	gw_memory_stop(&r);
}

TEST(without_mcp_host_the_error_names_it)
{
	gateway_fixture_start_alone(&b, NULL);
	gw_rejects(&b, "GET", "/v1/evolutions", NULL, 503, NO_HOST);
	gw_rejects(
	    &b, "POST", "/v1/evolutions/evo_1/approve", NULL, 503, NO_HOST);
	gateway_fixture_stop(&b);
}
