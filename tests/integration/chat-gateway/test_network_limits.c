/*
 * Configuration of proxies, origins and limits of the network.
 */
#include "core/mem.h"
#include "testkit/gateway_exhaustion.h"

static struct gateway_exhaustion s;
static struct tk_response a;
static char field[256];

static const char *
header(const char *name)
{
	return tk_response_field(&a, name, field, sizeof(field));
}

/* The exit code of --check-config with one variable. */
static int
check_config(struct tk_proc *p, const char *variable)
{
	const char *const argv[] = { tk_bin("chat-gateway"), "--check-config",
		NULL };

	tk_spawn(p, "check", argv, TK_ENV(variable));
	return tk_wait(p, GW_MS);
}

TEST(invalid_addresses_and_lists_are_rejected)
{
	static const char *const rows[][2] = {
		{ "TRUSTED_PROXIES=proxy.example", "TRUSTED_PROXIES: use" },
		{ "TRUSTED_PROXIES=10.0.0.1/8", "TRUSTED_PROXIES: use" },
		{ "CORS_ORIGINS=a.example", "CORS_ORIGINS: use" },
		{ "CORS_ORIGINS=https://a.example/", "CORS_ORIGINS: use" },
		{ "BODY_BROKER=mosquitto", "BODY_BROKER: must be" },
		{ "CORS_ORIGINS=*", "set AUTH_TOKENS or AUTH_JWKS" },
	};
	struct tk_proc p;

	for (size_t i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(check_config(&p, rows[i][0]), 78);
		ck_assert_msg(tk_log_has(&p, rows[i][1]), "%s", rows[i][0]);
	}
	ck_assert_int_eq(
	    check_config(&p, "CORS_ORIGINS=http://localhost:5173"), 0);
	ck_assert_int_eq(
	    check_config(&p, "TRUSTED_PROXIES=10.0.0.0/8, 127.0.0.1"), 0);
}

TEST(without_authentication_rates_are_unlimited)
{
	int64_t ms;

	s = (struct gateway_exhaustion){ 0 };
	gateway_fixture_servers(&s.b);
	gateway_fixture_spawn(&s.b, &s.b.gateway, "chat-gateway",
	    TK_ENV("RATE_ADDRESS_PER_S=1", "RATE_ADDRESS_BURST=1",
		"HTTP_PER_ADDRESS=1"));
	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(gateway_exhaustion_request(s.b.gateway.http,
				     INADDR_LOOPBACK, "", &ms),
		    200);
	gateway_exhaustion_stop(&s);
}

/* A preflight needs no token, and the page can read the rejection. */
TEST(a_cors_preflight_needs_no_token_but_the_request_does)
{
	gateway_exhaustion_start(&s, TK_ENV("CORS_ORIGINS=*"));
	ck_assert_int_eq(
	    tk_http_call(s.b.gateway.http, &a,
		"OPTIONS /v1/chat HTTP/1.1\r\nHost: localhost\r\n"
		"Origin: https://a.example\r\n"
		"Access-Control-Request-Method: POST\r\n"
		"Access-Control-Request-Headers: authorization\r\n\r\n"),
	    204);
	ck_assert_str_eq(header("Access-Control-Allow-Methods"), "POST");
	ck_assert_int_eq(tk_http_call(s.b.gateway.http, &a,
			     "GET /v1/souls HTTP/1.1\r\nHost: localhost\r\n"
			     "Origin: https://a.example\r\n\r\n"),
	    401);
	ck_assert_str_eq(header("Access-Control-Allow-Origin"), "*");
	ck_assert(header("WWW-Authenticate")[0] != '\0');
	tk_response_free(&a);
	gateway_exhaustion_stop(&s);
}
