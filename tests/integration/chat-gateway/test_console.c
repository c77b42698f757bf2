/* The console's files, and who the caller is. */
#include <string.h>

#include "testkit/gateway_fixture.h"

static struct gateway_fixture b;
static struct tk_response a;
static char field[1024];

static const char *
header(const char *name)
{
	return tk_response_field(&a, name, field, sizeof(field));
}

/* The path of the page's module, which it names. */
static void
find_module(char *path, size_t size)
{
	const char *at = strstr(a.body.p, "src=\"/console/");

	ck_assert_ptr_nonnull(at);
	at += strlen("src=\"");
	size_t n = strcspn(at, "\"");
	ck_assert_uint_lt(n, size);
	memcpy(path, at, n);
	path[n] = '\0';
}

TEST(the_console_is_served_without_a_token)
{
	char path[256];

	gw_start_with_tokens(&b);
	ck_assert_int_eq(gw_request(&b, &a, "GET", "/", NULL), 200);
	ck_assert_str_eq(header("Content-Type"), "text/html; charset=utf-8");
	ck_assert_ptr_nonnull(strstr(
	    header("Content-Security-Policy"), "require-trusted-types-for"));
	find_module(path, sizeof(path));
	ck_assert_int_eq(gw_request(&b, &a, "GET", path, NULL), 200);
	ck_assert_str_eq(
	    header("Content-Type"), "text/javascript; charset=utf-8");
	ck_assert_ptr_nonnull(strstr(header("Cache-Control"), "immutable"));
	path[strlen("/console/")] ^= 1;
	ck_assert_int_eq(gw_request(&b, &a, "GET", path, NULL), 404);
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

TEST(without_the_console_the_api_stays)
{
	gateway_fixture_start_alone(&b, TK_ENV("CONSOLE=off"));
	ck_assert_int_eq(gw_request(&b, &a, "GET", "/", NULL), 404);
	gw_ok(&b, "GET", "/v1/me", NULL);
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

static void
check_me(const char *token, const char *want)
{
	json_t *j = gw_json_as(&b, token, "GET", "/v1/me", NULL);

	ck_assert_ptr_nonnull(json_object_get(j, "version"));
	(void)json_object_del(j, "version");
	char *text = json_dumps(j, JSON_SORT_KEYS | JSON_COMPACT);
	ck_assert_str_eq(text, want);
	free(text);
	json_decref(j);
}

TEST(me_is_the_caller)
{
	gw_start_with_tokens(&b);
	check_me(TOKEN_ANN,
	    "{\"authenticated\":true,\"role\":\"owner\","
	    "\"user_id\":\"ann\"}");
	check_me(TOKEN_ACME_ANN,
	    "{\"authenticated\":true,\"role\":\"owner\","
	    "\"tenant\":\"acme\",\"user_id\":\"acme/ann\"}");
	check_me(TOKEN_LAMP,
	    "{\"authenticated\":true,\"role\":\"terminal\","
	    "\"terminal_id\":\"lamp\"}");
	check_me(TOKEN_ACME_PROVISIONER,
	    "{\"authenticated\":true,\"role\":\"provisioner\","
	    "\"tenant\":\"acme\"}");
	check_me(
	    TOKEN_OPERATOR, "{\"authenticated\":true,\"role\":\"operator\"}");
	gateway_fixture_stop(&b);
}

TEST(where_no_token_is_needed_me_is_an_operator)
{
	gateway_fixture_start_alone(&b, TK_ENV("USER_ID=zoe"));
	json_t *j = gw_json(&b, "GET", "/v1/me", NULL);

	ck_assert(json_is_false(json_object_get(j, "authenticated")));
	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "role")), "operator");
	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "user_id")), "zoe");
	json_decref(j);
	gateway_fixture_stop(&b);
}

static int
upgrade(const char *host)
{
	return tk_http_call(b.gateway.http, &a,
	    "GET /mqtt HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
	    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
	    "Sec-WebSocket-Protocol: mqtt\r\n\r\n",
	    host);
}

TEST(browsers_reach_the_broker_of_bodies_if_it_is_configured)
{
	gateway_fixture_start_alone(&b, TK_ENV("USER_ID=zoe"));
	ck_assert_int_eq(upgrade("127.0.0.1"), 404);
	gateway_fixture_stop(&b);
	/* Nothing listens there. */
	gateway_fixture_start_alone(&b, TK_ENV("BODY_BROKER=127.0.0.1:1"));
	ck_assert_int_eq(upgrade("127.0.0.1"), 502);
	/* The name of a page that resolves to this machine. */
	ck_assert_int_eq(upgrade("rebound.example"), 403);
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}
