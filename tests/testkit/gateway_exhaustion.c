/*
 * Connection exhaustion against the gateway, with and without a proxy.
 */
#include "testkit/gateway_exhaustion.h"

#include <signal.h>

#include "core/clock.h"

void
gateway_exhaustion_start(struct gateway_exhaustion *s, const char *const more[])
{
	struct tk_env e = { 0 };

	*s = (struct gateway_exhaustion){ 0 };
	gateway_fixture_servers(&s->b);
	tk_write_file(tk_path("tokens.json"),
	    "{\"tokens\":[{\"sha256\":\"" EXHAUSTION_TOKEN_SHA256 "\","
	    "\"role\":\"owner\",\"user\":\"u1\"}]}");
	tk_env_list(&e, more);
	tk_env_put(&e, "AUTH_TOKENS=%s", tk_path("tokens.json"));
	/* The limits of an address are under test, not those of the token. */
	tk_env_put(&e, "RATE_TOKEN_PER_S=1000000");
	tk_env_put(&e, "RATE_TOKEN_BURST=1000000");
	gateway_fixture_spawn(&s->b, &s->b.gateway, "chat-gateway", e.v);
}

static bool
gateway_exhaustion_proxy_serves(void *arg)
{
	struct gateway_exhaustion *s = arg;
	struct tk_response a = { 0 };
	int status = 0;

	if (tk_port_open(s->proxy_port))
		status = tk_http_request(
		    s->proxy_port, &a, "GET", "/v1/nothing", NULL);
	tk_response_free(&a);
	return status == 404;
}

void
gateway_exhaustion_proxy(struct gateway_exhaustion *s)
{
	const char *const argv[] = { "haproxy", "-f", "deploy/haproxy.cfg",
		NULL };
	struct tk_env e = { 0 };

	s->proxy_port = tk_port();
	s->mqtt_port = tk_port();
	tk_env_put(&e, "SOUL_TLS=off");
	tk_env_put(&e, "SOUL_MAXCONN=4000");
	tk_env_put(&e, "SOUL_HTTP_BIND=127.0.0.1:%d", s->proxy_port);
	tk_env_put(&e, "SOUL_MQTT_BIND=127.0.0.1:%d", s->mqtt_port);
	tk_env_put(&e, "SOUL_GATEWAY=127.0.0.1:%d", s->b.gateway.http);
	tk_env_put(&e, "SOUL_GATEWAY_ADMIN=%d", s->b.gateway.admin);
	tk_spawn(&s->proxy, "haproxy", argv, e.v);
	ck_assert(tk_until(gateway_exhaustion_proxy_serves, s, GW_MS));
}

void
gateway_exhaustion_stop(struct gateway_exhaustion *s)
{
	if (s->proxy.pid != 0) {
		tk_signal(&s->proxy, SIGTERM);
		ck_assert_int_ge(tk_wait(&s->proxy, GW_MS), 0);
	}
	tk_service_end(&s->b.gateway);
	natsConnection_Destroy(s->b.nc);
	tk_state_close(&s->b.db);
	nats_Close();
}

int
gateway_exhaustion_request(
    int port, uint32_t from, const char *fields, int64_t *ms)
{
	struct mono start = clock_mono();
	struct tk_response a = { 0 };
	struct tk_http c;
	int status = 0;

	tk_http_open_from(&c, from, port);
	if (tk_http_puts(&c,
		"GET /v1/terminals HTTP/1.1\r\nHost: localhost\r\n"
		"Connection: close\r\n"
		"Authorization: Bearer " EXHAUSTION_TOKEN "\r\n") &&
	    tk_http_puts(&c, fields) && tk_http_puts(&c, "\r\n") &&
	    tk_http_read(&c, &a, 10000))
		status = a.status;
	tk_http_close(&c);
	tk_response_free(&a);
	*ms = mono_diff_ms(clock_mono(), start);
	return status;
}

struct attack_progress {
	struct tk_exhaustion *attack;
	size_t n;
};

static bool
gateway_exhaustion_all_open(void *arg)
{
	struct attack_progress *s = arg;

	return tk_exhaustion_open(s->attack) + tk_exhaustion_closed(s->attack) +
	    tk_exhaustion_failed(s->attack) >=
	    s->n;
}

struct tk_exhaustion *
gateway_exhaustion_attack(
    int port, uint32_t from, size_t clients, const char *text)
{
	struct attack_progress s = { .n = 1000 };

	s.attack =
	    tk_exhaustion_begin(&(struct tk_exhaustion_opts){ .port = port,
		.n = s.n,
		.from = from,
		.clients = clients,
		.send = text,
		.drip_ms = 200,
		.opens_per_s = 2000 });
	ck_assert(tk_until(gateway_exhaustion_all_open, &s, GW_MS));
	return s.attack;
}
