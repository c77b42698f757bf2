/*
 * The effect of 1,000 half-open and idle connections on other clients: from one
 * address and from a thousand, with and without limits per address, and behind
 * the shipped proxy.
 */
#include <stdio.h>

#include "core/clock.h"
#include "testkit/figures.h"
#include "testkit/gateway_exhaustion.h"

#define MEASURE_MS   5000
#define PAUSE_MS     5
#define REQUESTS_MAX (MEASURE_MS / PAUSE_MS)
/* Interval of health requests, in requests. */
#define HEALTH_EVERY 10

static struct gateway_exhaustion s;

struct figures {
	double ms[REQUESTS_MAX], health_ms[REQUESTS_MAX];
	size_t n, nhealth;
	int gw_rejects, unanswered, unhealthy;
};

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

static void
request_health(struct figures *f)
{
	struct tk_response a = { 0 };
	double start = tk_now_ns();

	if (tk_service_get(&s.b.gateway, &a, "/readyz") != 200)
		f->unhealthy++;
	f->health_ms[f->nhealth++] = (tk_now_ns() - start) / 1e6;
	tk_response_free(&a);
}

static void
run_requests(struct figures *f, int port)
{
	struct mono end = mono_add_ms(clock_mono(), MEASURE_MS);
	int64_t ms;

	while (f->n < REQUESTS_MAX && clock_mono().ns < end.ns) {
		double start = tk_now_ns();
		/* From 32 addresses in turn, to stay below the rate limit. */
		int status = gateway_exhaustion_request(
		    port, EXHAUSTION_OTHER_ADDRESS + f->n % 32, "", &ms);

		f->ms[f->n] = (tk_now_ns() - start) / 1e6;
		if (status == 0)
			f->unanswered++;
		else if (status != 200)
			f->gw_rejects++;
		if (f->n++ % HEALTH_EVERY == 0)
			request_health(f);
		(void)tk_until(never, NULL, PAUSE_MS);
	}
}

static void
print(const char *name, struct figures *f)
{
	tk_sort(f->ms, f->n);
	tk_sort(f->health_ms, f->nhealth);
	printf("  %-42s %5zu sent  p50 %7.1f  p99 %7.1f  max %7.1f ms  "
	       "%d rejected  %d without response;  health max %.1f ms, "
	       "%d not ready\n",
	    name, f->n, f->ms[f->n / 2], f->ms[f->n * 99 / 100],
	    f->ms[f->n - 1], f->gw_rejects, f->unanswered,
	    f->health_ms[f->nhealth - 1], f->unhealthy);
}

/* Measure under attack from so many addresses; 0: none. */
static void
measure(const char *name, int port, size_t clients, const char *payload)
{
	static struct figures f;
	struct tk_exhaustion *attack = NULL;

	f = (struct figures){ 0 };
	if (clients > 0)
		attack = gateway_exhaustion_attack(port,
		    clients == 1 ? INADDR_LOOPBACK : EXHAUSTION_FIRST_ADDRESS,
		    clients, payload);
	run_requests(&f, port);
	if (attack != NULL)
		tk_exhaustion_end(attack);
	print(name, &f);
}

/* The same with a gateway of its own. */
static void
measure_direct(const char *name, size_t clients, const char *payload)
{
	gateway_exhaustion_start(&s, NULL);
	measure(name, s.b.gateway.http, clients, payload);
	gateway_exhaustion_stop(&s);
}

TEST_T(connection_exhaustion, 300)
{
	printf("1,000 connections that are silent or drip, other clients:\n");
	measure_direct("direct, no attack", 0, NULL);
	measure_direct(
	    "direct, one address, headers", 1, EXHAUSTION_SLOW_HEADER);
	measure_direct("direct, one address, bodies", 1, EXHAUSTION_SLOW_BODY);
	measure_direct(
	    "direct, 8 addresses, headers", 8, EXHAUSTION_SLOW_HEADER);
	measure_direct("direct, 8 addresses, bodies", 8, EXHAUSTION_SLOW_BODY);
	measure_direct(
	    "direct, 1,000 addresses, headers", 1000, EXHAUSTION_SLOW_HEADER);
	measure_direct(
	    "direct, 1,000 addresses, bodies", 1000, EXHAUSTION_SLOW_BODY);
	gateway_exhaustion_start(&s, TK_ENV("TRUSTED_PROXIES=127.0.0.1"));
	gateway_exhaustion_proxy(&s);
	measure("behind haproxy, no attack", s.proxy_port, 0, NULL);
	measure("behind haproxy, one address, headers", s.proxy_port, 1,
	    EXHAUSTION_SLOW_HEADER);
	measure("behind haproxy, 1,000 addresses, headers", s.proxy_port, 1000,
	    EXHAUSTION_SLOW_HEADER);
	measure("behind haproxy, 1,000 addresses, bodies", s.proxy_port, 1000,
	    EXHAUSTION_SLOW_BODY);
	gateway_exhaustion_stop(&s);
}
