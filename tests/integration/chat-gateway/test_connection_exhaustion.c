/*
 * A thousand connections that send too little, and their effect on others.
 */
#include <stdio.h>

#include "core/clock.h"
#include "testkit/gateway_exhaustion.h"

#define SOON_MS 2000

static struct gateway_exhaustion s;

/* Sequential requests of another client, each within that time. */
static void
check_others_within(int port, int n, int64_t most_ms)
{
	int64_t ms;

	for (int i = 0; i < n; i++) {
		int status = gateway_exhaustion_request(
		    port, EXHAUSTION_OTHER_ADDRESS, "", &ms);
		ck_assert_msg(status == 200 && ms < most_ms, "%d: %d in %d ms",
		    i, status, (int)ms);
	}
}

static void
check_others(int port, int n)
{
	check_others_within(port, n, SOON_MS);
}

static void
check_health(int n)
{
	struct tk_response a = { 0 };

	for (int i = 0; i < n; i++) {
		struct mono start = clock_mono();
		ck_assert_int_eq(
		    tk_service_get(&s.b.gateway, &a, "/readyz"), 200);
		ck_assert_int_lt(mono_diff_ms(clock_mono(), start), SOON_MS);
	}
	tk_response_free(&a);
}

TEST(connections_from_one_address_do_not_block_others)
{
	gateway_exhaustion_start(&s, NULL);
	struct tk_exhaustion *attack = gateway_exhaustion_attack(
	    s.b.gateway.http, INADDR_LOOPBACK, 1, EXHAUSTION_SLOW_HEADER);
	check_others(s.b.gateway.http, 50);
	check_health(10);
	tk_exhaustion_end(attack);
	ck_assert_int_gt(tk_service_metric(&s.b.gateway,
			     "soul_http_refused_total{reason=\"connections\"}"),
	    0);
	gateway_exhaustion_stop(&s);
}

/*
 * Without a proxy others wait for a worker, but not for long; without the limit
 * for slow requests it would be 8 s, with bodies 40 s.
 */
static void
check_many_addresses(const char *payload)
{
	gateway_exhaustion_start(&s, NULL);
	struct tk_exhaustion *attack = gateway_exhaustion_attack(
	    s.b.gateway.http, EXHAUSTION_FIRST_ADDRESS, 1000, payload);
	check_others_within(s.b.gateway.http, 3, 6000);
	check_health(10);
	tk_exhaustion_end(attack);
	gateway_exhaustion_stop(&s);
}

TEST(slow_headers_from_many_addresses_delay_others_only)
{
	check_many_addresses(EXHAUSTION_SLOW_HEADER);
}

TEST(slow_bodies_from_many_addresses_delay_others_only)
{
	check_many_addresses(EXHAUSTION_SLOW_BODY);
}

#define PROXY TK_ENV("TRUSTED_PROXIES=127.0.0.1")

static void
check_proxy(uint32_t from, size_t clients, const char *payload)
{
	struct tk_http stream;
	struct tk_exhaustion *attack;

	gateway_exhaustion_start(&s, PROXY);
	gateway_exhaustion_proxy(&s);
	tk_http_open_from(&stream, EXHAUSTION_OTHER_ADDRESS, s.proxy_port);
	ck_assert(tk_http_puts(&stream,
	    "GET /v1/sessions/s1/events?cursor=0 HTTP/1.1\r\n"
	    "Host: localhost\r\n"
	    "Authorization: Bearer " EXHAUSTION_TOKEN "\r\n\r\n"));
	ck_assert(tk_http_has(&stream, "text/event-stream", GW_MS));
	attack =
	    gateway_exhaustion_attack(s.proxy_port, from, clients, payload);
	check_others(s.proxy_port, 50);
	check_health(10);
	/* Nothing of it reaches the gateway. */
	ck_assert_int_lt(
	    tk_service_metric(&s.b.gateway, "soul_http_connections"), 10);
	tk_exhaustion_end(attack);
	ck_assert(!stream.eof && !tk_http_closed(&stream, 0));
	tk_http_close(&stream);
	gateway_exhaustion_stop(&s);
}

TEST(the_proxy_isolates_one_attacking_address)
{
	check_proxy(INADDR_LOOPBACK, 1, EXHAUSTION_SLOW_HEADER);
}

TEST(the_proxy_isolates_many_attacking_addresses)
{
	check_proxy(EXHAUSTION_FIRST_ADDRESS, 1000, EXHAUSTION_SLOW_BODY);
}

TEST(the_proxy_replaces_forwarded_addresses)
{
	int status = 200;
	int64_t ms;

	gateway_exhaustion_start(&s,
	    TK_ENV("TRUSTED_PROXIES=127.0.0.1", "RATE_ADDRESS_PER_S=1",
		"RATE_ADDRESS_BURST=20"));
	gateway_exhaustion_proxy(&s);
	for (int i = 0; i < 40 && status == 200; i++) {
		char fields[128];
		snprintf(fields, sizeof(fields),
		    "X-Forwarded-For: 192.0.2.%d\r\nX-Real-IP: 1.1.1.1\r\n", i);
		status = gateway_exhaustion_request(
		    s.proxy_port, EXHAUSTION_OTHER_ADDRESS, fields, &ms);
	}
	ck_assert_int_eq(status, 429);
	status = gateway_exhaustion_request(
	    s.proxy_port, EXHAUSTION_OTHER_ADDRESS + 1, "", &ms);
	ck_assert_int_eq(status, 200);
	gateway_exhaustion_stop(&s);
}

TEST(errors_of_the_proxy_have_the_gateways_format)
{
	struct tk_response a = { 0 };
	struct tk_http c;

	gateway_exhaustion_start(&s, PROXY);
	gateway_exhaustion_proxy(&s);
	ck_assert_int_eq(tk_http_call(s.proxy_port, &a,
			     "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n"
			     "Content-Length: 1048577\r\n\r\n"),
	    413);
	ck_assert(tk_response_has(&a, "\"code\":"));
	/* A slow header is rejected when its time is over. */
	tk_http_open(&c, s.proxy_port);
	struct mono start = clock_mono();
	while (mono_diff_ms(clock_mono(), start) < 8000 &&
	    tk_http_puts(&c, "G") && !tk_http_fill(&c, 100) && !c.eof)
		continue;
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_int_eq(a.status, 408);
	tk_http_close(&c);
	/* Without a gateway. */
	tk_service_kill(&s.b.gateway);
	ck_assert_int_eq(
	    tk_http_request(s.proxy_port, &a, "GET", "/v1/souls", NULL), 503);
	ck_assert(tk_response_has(&a, "\"code\":\"overloaded\""));
	ck_assert(str_find(buf_str(&a.head), STR("erver:")) < 0);
	tk_response_free(&a);
	gateway_exhaustion_stop(&s);
}

TEST(the_proxy_configuration_is_valid_with_tls)
{
	const char *pem = tk_path("soul.pem");
	const char *const make[] = { "openssl", "req", "-x509", "-newkey",
		"rsa:2048", "-nodes", "-subj", "/CN=soul", "-days", "2",
		"-keyout", pem, "-out", pem, NULL };
	const char *const check[] = { "haproxy", "-c", "-f",
		"deploy/haproxy.cfg", NULL };
	struct tk_env e = { 0 };
	struct tk_proc p;

	tk_spawn(&p, "req", make, NULL);
	ck_assert_int_eq(tk_wait(&p, GW_MS), 0);
	tk_env_put(&e, "SOUL_CERTIFICATE=%s", pem);
	tk_spawn(&p, "check", check, e.v);
	ck_assert_int_eq(tk_wait(&p, GW_MS), 0);
	ck_assert(!tk_log_has(&p, "WARNING"));
}
