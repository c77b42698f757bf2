/*
 * What 1,000 half-open and idle connections cost everybody else: from one
 * address and from a thousand, with the limits of an address and without, and
 * behind the proxy as it is shipped.
 */
#include "integration/chat-gateway/besieged.h"
#include "testkit/figures.h"

#define MEASURE_MS 5000
#define PAUSE_MS   5
#define ASKS_MAX   (MEASURE_MS / PAUSE_MS)
/* Every so many requests the admin port is asked, too. */
#define HEALTH_EVERY 10

static struct besieged s;

struct figures {
	double ms[ASKS_MAX], health_ms[ASKS_MAX];
	size_t n, nhealth;
	int refused, unanswered, unhealthy;
};

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

static void
ask_health(struct figures *f)
{
	struct tk_answer a = { 0 };
	double start = tk_now_ns();

	if (tk_service_get(&s.b.gateway, &a, "/readyz") != 200)
		f->unhealthy++;
	f->health_ms[f->nhealth++] = (tk_now_ns() - start) / 1e6;
	tk_answer_free(&a);
}

static void
ask_on(struct figures *f, int port)
{
	struct mono end = mono_add_ms(clock_mono(), MEASURE_MS);
	int64_t ms;

	while (f->n < ASKS_MAX && clock_mono().ns < end.ns) {
		double start = tk_now_ns();
		/* From 32 addresses in turn: one would ask too often. */
		int status =
		    besieged_ask(port, BESIEGED_OTHER + f->n % 32, "", &ms);

		f->ms[f->n] = (tk_now_ns() - start) / 1e6;
		if (status == 0)
			f->unanswered++;
		else if (status != 200)
			f->refused++;
		if (f->n++ % HEALTH_EVERY == 0)
			ask_health(f);
		(void)tk_until(never, NULL, PAUSE_MS);
	}
}

static void
print(const char *name, struct figures *f)
{
	tk_sort(f->ms, f->n);
	tk_sort(f->health_ms, f->nhealth);
	printf("  %-42s %5zu asked  p50 %7.1f  p99 %7.1f  max %7.1f ms  "
	       "%d refused  %d unanswered;  health max %.1f ms, %d not ready\n",
	    name, f->n, f->ms[f->n / 2], f->ms[f->n * 99 / 100],
	    f->ms[f->n - 1], f->refused, f->unanswered,
	    f->health_ms[f->nhealth - 1], f->unhealthy);
}

/* Measure with a siege from so many addresses; 0: none. */
static void
measure(const char *name, int port, size_t clients, const char *say)
{
	static struct figures f;
	struct tk_siege *siege = NULL;

	f = (struct figures){ 0 };
	if (clients > 0)
		siege = besieged_siege(port,
		    clients == 1 ? INADDR_LOOPBACK : BESIEGED_MANY, clients,
		    say);
	ask_on(&f, port);
	if (siege != NULL)
		tk_siege_end(siege);
	print(name, &f);
}

/* The same with a gateway of its own. */
static void
measure_direct(const char *name, size_t clients, const char *say)
{
	besieged_start(&s, NULL);
	measure(name, s.b.gateway.http, clients, say);
	besieged_stop(&s);
}

TEST_T(siege, 300)
{
	printf("1,000 connections that say nothing or drip, other clients:\n");
	measure_direct("direct, no siege", 0, NULL);
	measure_direct("direct, one address, headers", 1, BESIEGED_HEADER);
	measure_direct("direct, one address, bodies", 1, BESIEGED_BODY);
	measure_direct("direct, 8 addresses, headers", 8, BESIEGED_HEADER);
	measure_direct("direct, 8 addresses, bodies", 8, BESIEGED_BODY);
	measure_direct(
	    "direct, 1,000 addresses, headers", 1000, BESIEGED_HEADER);
	measure_direct("direct, 1,000 addresses, bodies", 1000, BESIEGED_BODY);
	besieged_start(&s, TK_ENV("TRUSTED_PROXIES=127.0.0.1"));
	besieged_proxy(&s);
	measure("behind haproxy, no siege", s.proxy_port, 0, NULL);
	measure("behind haproxy, one address, headers", s.proxy_port, 1,
	    BESIEGED_HEADER);
	measure("behind haproxy, 1,000 addresses, headers", s.proxy_port, 1000,
	    BESIEGED_HEADER);
	measure("behind haproxy, 1,000 addresses, bodies", s.proxy_port, 1000,
	    BESIEGED_BODY);
	besieged_stop(&s);
}
