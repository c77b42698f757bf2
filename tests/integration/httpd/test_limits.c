/* Limits of one client: rate, concurrent requests and connections. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "testkit/exhaustion.h"
#include "testkit/httpd_fixture.h"

#define OTHER (INADDR_LOOPBACK + 1) /* 127.0.0.2 */

static struct httpd_req *held[HTTPD_FIXTURE_WORKERS];
static size_t n_held;
static _Atomic size_t ever_held;

static void
on_hold(void *arg, struct httpd_req *r)
{
	(void)arg;
	if (n_held == NELEM(held))
		abort();
	held[n_held++] = r;
	ever_held++;
}

static void
release(void *arg)
{
	(void)arg;
	while (n_held > 0)
		httpd_respond(
		    held[--n_held], 200, "application/json", STR("{}"));
}

static void
on_who(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond(r, 200, "text/plain", httpd_req_address(r));
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/who", .fn = on_who },
	{ .method = "POST", .path = "/who", .fn = on_who },
	{ .method = "GET", .path = "/hold", .fn = on_hold },
};

static struct httpd_fixture s;
static struct tk_response a;
static char field[256];

static void
open_site(struct httpd_opts o)
{
	o.routes = routes;
	o.nroutes = NELEM(routes);
	httpd_fixture_open(&s, o);
}

/* The status of one request on a new connection; 0: no response. */
static int
status_from(uint32_t from, const char *text)
{
	struct tk_http c;
	int status = 0;

	tk_http_open_from(&c, from, s.port);
	if (tk_http_puts(&c, text) && tk_http_read(&c, &a, 5000))
		status = a.status;
	tk_http_close(&c);
	return status;
}

#define WHO  "GET /who HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"
#define HOLD "GET /hold HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"

TEST(a_client_over_its_rate_is_limited_and_others_are_not)
{
	struct tk_http c;

	/* A rate so low that no token is added during the test. */
	open_site((struct httpd_opts){ .rate_per_s = 1, .rate_burst = 30 });
	tk_http_open(&c, s.port);
	for (int i = 0; i < 40; i++) {
		ck_assert(tk_http_puts(&c, WHO));
		ck_assert(tk_http_read(&c, &a, 5000));
		if (a.status == 429)
			break;
		ck_assert_int_eq(a.status, 200);
	}
	ck_assert_int_eq(a.status, 429);
	ck_assert(tk_response_has(&a, "\"code\":\"rate_limited\""));
	ck_assert_str_eq(
	    tk_response_field(&a, "Retry-After", field, sizeof(field)), "1");
	/* The same connection works later; other addresses work now. */
	ck_assert_int_eq(status_from(OTHER, WHO), 200);
	ck_assert(tk_response_has(&a, "127.0.0.2"));
	ck_assert(httpd_fixture_has_metric(
	    &s, "soul_http_refused_total{reason=\"rate\"} "));
	ck_assert(!httpd_fixture_has_metric(
	    &s, "soul_http_refused_total{reason=\"rate\"} 0\n"));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(the_body_of_a_request_over_the_rate_is_not_read)
{
	struct tk_http c;

	open_site((struct httpd_opts){ .rate_per_s = 1, .rate_burst = 1 });
	ck_assert_int_eq(status_from(INADDR_LOOPBACK, WHO), 200);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c,
	    "POST /who HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
	    "Content-Length: 100\r\n\r\n"));
	ck_assert(tk_http_read(&c, &a, HTTPD_FIXTURE_SOON_MS));
	ck_assert_int_eq(a.status, 429);
	ck_assert(tk_http_closed(&c, HTTPD_FIXTURE_DISCARD_MS));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

static bool
held_has_reached(void *arg)
{
	return ever_held == *(size_t *)arg;
}

TEST(concurrent_requests_of_one_client_are_limited)
{
	struct tk_http c[4];
	size_t n = NELEM(c);

	open_site((struct httpd_opts){ .per_address = NELEM(c) });
	for (size_t i = 0; i < n; i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i], HOLD));
	}
	ck_assert(tk_until(held_has_reached, &n, 5000));
	/* Responded to, or closed before. */
	int status = status_from(INADDR_LOOPBACK, WHO);
	ck_assert_msg(status == 429 || status == 0, "%d", status);
	if (status == 429)
		ck_assert(tk_response_has(&a, "\"too_many_connections\""));
	ck_assert_int_eq(status_from(OTHER, WHO), 200);
	tk_loop_call(&s.k, release, NULL);
	for (size_t i = 0; i < n; i++) {
		ck_assert(tk_http_read(&c[i], &a, 5000));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&c[i]);
	}
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	ck_assert_int_eq(status_from(INADDR_LOOPBACK, WHO), 200);
	httpd_fixture_close(&s);
}

struct both {
	struct tk_exhaustion *attack;
	size_t n;
};

static bool
all_open(void *arg)
{
	struct both *b = arg;

	return tk_exhaustion_open(b->attack) +
	    tk_exhaustion_closed(b->attack) >=
	    b->n;
}

/* The longest of n response times of a client from there, in ms. */
static int64_t
longest_of(uint32_t from, int n)
{
	int64_t most = 0;

	for (int i = 0; i < n; i++) {
		struct mono start = clock_mono();
		ck_assert_int_eq(status_from(from, WHO), 200);
		int64_t ms = mono_diff_ms(clock_mono(), start);
		if (ms > most)
			most = ms;
	}
	return most;
}

TEST(idle_connections_over_the_limit_are_closed)
{
	struct tk_exhaustion_opts o = { .n = 400,
		.from = INADDR_LOOPBACK,
		.send = "GET /who HTTP/1.1\r\nHost: t\r\n",
		.drip_ms = 100,
		.opens_per_s = 1000 };

	open_site(
	    (struct httpd_opts){ .per_address = HTTPD_FIXTURE_WORKERS / 2 });
	o.port = s.port;
	struct both b = { tk_exhaustion_begin(&o), o.n };
	ck_assert(tk_until(all_open, &b, 10000));
	int64_t ms = longest_of(OTHER, 50);
	ck_assert_msg(ms < HTTPD_FIXTURE_SOON_MS, "%d", (int)ms);
	ck_assert_uint_gt(tk_exhaustion_closed(b.attack), 0);
	tk_exhaustion_end(b.attack);
	ck_assert(!httpd_fixture_has_metric(
	    &s, "soul_http_refused_total{reason=\"connections\"} 0\n"));
	httpd_fixture_close(&s);
}

/* Few of each address, but more than there are workers. */
static void
others_are_served_during(const char *request)
{
	struct tk_exhaustion_opts o = { .n = 200,
		.from = INADDR_LOOPBACK + 256,
		.clients = 100,
		.send = request,
		.drip_ms = 100,
		.opens_per_s = 500 };

	open_site(
	    (struct httpd_opts){ .per_address = HTTPD_FIXTURE_WORKERS / 2 });
	o.port = s.port;
	struct both b = { tk_exhaustion_begin(&o), o.n };
	ck_assert(tk_until(all_open, &b, 10000));
	/* Otherwise the 200 would hold 32 workers for 12 s, with bodies for a
	 * minute. */
	int64_t ms = longest_of(OTHER, 3);
	ck_assert_msg(ms < 5000, "%d", (int)ms);
	tk_exhaustion_end(b.attack);
	httpd_fixture_close(&s);
}

TEST(slow_headers_from_many_addresses_are_closed_in_time)
{
	others_are_served_during("GET /who HTTP/1.1\r\nHost: t\r\nX: ");
}

TEST(slow_bodies_from_many_addresses_are_closed_in_time)
{
	others_are_served_during("POST /who HTTP/1.1\r\nHost: t\r\n"
				 "Content-Length: 1000\r\n\r\n{");
}

TEST(a_request_in_progress_is_not_closed)
{
	struct tk_http c[4];
	size_t n = NELEM(c);

	open_site((struct httpd_opts){ .per_address = NELEM(c) });
	for (size_t i = 0; i < n; i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i], HOLD));
	}
	ck_assert(tk_until(held_has_reached, &n, 5000));
	struct both b = { tk_exhaustion_begin(
			      &(struct tk_exhaustion_opts){ .port = s.port,
				  .n = 40,
				  .from = INADDR_LOOPBACK,
				  .opens_per_s = 200 }),
		120 };
	ck_assert(tk_until(all_open, &b, 10000));
	tk_exhaustion_end(b.attack);
	tk_loop_call(&s.k, release, NULL);
	for (size_t i = 0; i < n; i++) {
		ck_assert(tk_http_read(&c[i], &a, 5000));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&c[i]);
	}
	httpd_fixture_close(&s);
}

#define FOR(who)                                   \
	"GET /who HTTP/1.1\r\n" HTTPD_FIXTURE_HOST \
	"X-Forwarded-For: 6.6.6.6\r\n"             \
	"X-Forwarded-For: " who "\r\n\r\n"

TEST(a_trusted_proxy_names_the_client)
{
	open_site((struct httpd_opts){ .rate_per_s = 1,
	    .rate_burst = 1,
	    .per_address = 1,
	    .trusted_proxies = "127.0.0.2" });
	ck_assert_int_eq(status_from(OTHER, FOR("192.0.2.1")), 200);
	ck_assert(tk_response_has(&a, "192.0.2.1"));
	ck_assert_int_eq(status_from(OTHER, FOR("192.0.2.1")), 429);
	ck_assert_int_eq(status_from(OTHER, FOR("192.0.2.2")), 200);
	ck_assert_int_eq(status_from(OTHER, FOR("2001:db8::1")), 200);
	ck_assert(tk_response_has(&a, "2001:db8::1"));
	ck_assert_int_eq(status_from(OTHER, FOR("2001:db8::2")), 429);
	/* The header of any other client is ignored. */
	ck_assert_int_eq(status_from(INADDR_LOOPBACK, FOR("192.0.2.3")), 200);
	ck_assert(tk_response_has(&a, "127.0.0.1"));
	ck_assert_int_eq(status_from(INADDR_LOOPBACK, FOR("192.0.2.4")), 429);
	httpd_fixture_close(&s);
}

TEST(connections_of_a_trusted_proxy_are_not_counted)
{
	struct tk_http c[8];
	size_t n = NELEM(c);

	open_site((struct httpd_opts){
	    .per_address = 2, .trusted_proxies = "127.0.0.0/30" });
	for (size_t i = 0; i < n; i++) {
		char text[256];
		snprintf(text, sizeof(text),
		    "GET /hold HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		    "X-Forwarded-For: 192.0.2.%zu\r\n\r\n",
		    i);
		tk_http_open_from(&c[i], OTHER, s.port);
		ck_assert(tk_http_puts(&c[i], text));
	}
	ck_assert(tk_until(held_has_reached, &n, 5000));
	tk_loop_call(&s.k, release, NULL);
	for (size_t i = 0; i < n; i++) {
		ck_assert(tk_http_read(&c[i], &a, 5000));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&c[i]);
	}
	httpd_fixture_close(&s);
}

TEST(invalid_lists_are_rejected)
{
	struct httpd *h = NULL;
	struct httpd_opts o;

	open_site((struct httpd_opts){ 0 });
	o = (struct httpd_opts){ .loop = s.k.l,
		.addr = "127.0.0.1:0",
		.workers = 17,
		.timeout_ms = 1000 };
	o.trusted_proxies = "proxy.example";
	ck_assert_int_eq(httpd_new(&o, &h), RC_INVALID);
	o.trusted_proxies = "";
	o.cors_origins = "example";
	ck_assert_int_eq(httpd_new(&o, &h), RC_INVALID);
	o.cors_origins = "";
	o.rate_per_s = 1;
	ck_assert_int_eq(httpd_new(&o, &h), RC_INVALID);
	ck_assert_ptr_null(h);
	httpd_fixture_close(&s);
}
