/*
 * besieged: a gateway that knows its callers, perhaps behind the proxy as it is
 * shipped, and clients from other addresses than those that beset it.
 */
#ifndef BESIEGED_H
#define BESIEGED_H

#include <netinet/in.h>

#include "bed.h"
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/siege.h"

/* 127.0.0.2 asks; the siege comes from 127.0.0.1, or from 127.1.0.0 on. */
#define BESIEGED_OTHER (INADDR_LOOPBACK + 1)
#define BESIEGED_MANY  0x7f010000u

#define BESIEGED_TOKEN "t-owner"
#define BESIEGED_SHA256 \
	"21dbb7c264bd513586b476efdaba864ddaca753c85a4b2adc6a188279160a816"

struct besieged {
	struct bed b;
	struct tk_proc proxy;
	int proxy_port, mqtt_port;
};

/* Start it; more are further variables of the gateway, NULL: none. */
static inline void
besieged_start(struct besieged *s, const char *const more[])
{
	struct tk_env e = { 0 };

	*s = (struct besieged){ 0 };
	bed_servers(&s->b);
	tk_write_file(tk_path("tokens.json"),
	    "{\"tokens\":[{\"sha256\":\"" BESIEGED_SHA256 "\","
	    "\"role\":\"owner\",\"user\":\"u1\"}]}");
	tk_env_list(&e, more);
	tk_env_put(&e, "AUTH_TOKENS=%s", tk_path("tokens.json"));
	/* The limits of an address are tried, not those of the token. */
	tk_env_put(&e, "RATE_TOKEN_PER_S=1000000");
	tk_env_put(&e, "RATE_TOKEN_BURST=1000000");
	bed_spawn(&s->b, &s->b.gateway, "chat-gateway", e.v);
}

static inline bool
besieged_proxy_serves(void *arg)
{
	struct besieged *s = arg;
	struct tk_answer a = { 0 };
	int status = 0;

	if (tk_port_open(s->proxy_port))
		status =
		    tk_http_ask(s->proxy_port, &a, "GET", "/v1/nothing", NULL);
	tk_answer_free(&a);
	return status == 404;
}

/* Put the shipped proxy before it, without TLS. */
static inline void
besieged_proxy(struct besieged *s)
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
	ck_assert(tk_until(besieged_proxy_serves, s, BED_MS));
}

static inline void
besieged_stop(struct besieged *s)
{
	if (s->proxy.pid != 0) {
		tk_signal(&s->proxy, SIGTERM);
		ck_assert_int_ge(tk_wait(&s->proxy, BED_MS), 0);
	}
	tk_service_end(&s->b.gateway);
	natsConnection_Destroy(s->b.nc);
	tk_state_close(&s->b.db);
	nats_Close();
}

/* The status of a request from there, 0 without an answer; *ms it took. */
static inline int
besieged_ask(int port, uint32_t from, const char *fields, int64_t *ms)
{
	struct mono start = clock_mono();
	struct tk_answer a = { 0 };
	struct tk_http c;
	int status = 0;

	tk_http_open_from(&c, from, port);
	if (tk_http_puts(&c,
		"GET /v1/terminals HTTP/1.1\r\nHost: localhost\r\n"
		"Connection: close\r\n"
		"Authorization: Bearer " BESIEGED_TOKEN "\r\n") &&
	    tk_http_puts(&c, fields) && tk_http_puts(&c, "\r\n") &&
	    tk_http_read(&c, &a, 10000))
		status = a.status;
	tk_http_close(&c);
	tk_answer_free(&a);
	*ms = mono_diff_ms(clock_mono(), start);
	return status;
}

struct besieged_siege {
	struct tk_siege *siege;
	size_t n;
};

static inline bool
besieged_all_came(void *arg)
{
	struct besieged_siege *s = arg;

	return tk_siege_open(s->siege) + tk_siege_ended(s->siege) +
	    tk_siege_failed(s->siege) >=
	    s->n;
}

#define BESIEGED_HEADER "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
#define BESIEGED_BODY                                   \
	"POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n" \
	"Content-Length: 1000\r\n\r\n{"

/*
 * 1,000 connections that begin with that and drip, or say nothing, opened again
 * and again.
 */
static inline struct tk_siege *
besieged_siege(int port, uint32_t from, size_t clients, const char *say)
{
	struct besieged_siege s = { .n = 1000 };

	s.siege = tk_siege_begin(&(struct tk_siege_opts){ .port = port,
	    .n = s.n,
	    .from = from,
	    .clients = clients,
	    .say = say,
	    .drip_ms = 200,
	    .opens_per_s = 2000 });
	ck_assert(tk_until(besieged_all_came, &s, BED_MS));
	return s.siege;
}

#endif /* !BESIEGED_H */
