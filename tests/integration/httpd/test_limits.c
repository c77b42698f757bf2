/* One client's limits: its rate, its requests and connections at a time. */
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

/* The status of a request of a client's own; 0: it was not answered. */
static int
ask_from(uint32_t from, const char *text)
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

TEST(a_client_over_its_rate_waits_and_others_do_not)
{
	struct tk_http c;

	/* So slow that nothing is added while the test runs. */
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
	/* The same connection may go on later; other addresses now. */
	ck_assert_int_eq(ask_from(OTHER, WHO), 200);
	ck_assert(tk_response_has(&a, "127.0.0.2"));
	ck_assert(httpd_fixture_has_metric(
	    &s, "soul_http_refused_total{reason=\"rate\"} "));
	ck_assert(!httpd_fixture_has_metric(
	    &s, "soul_http_refused_total{reason=\"rate\"} 0\n"));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(a_body_over_the_rate_is_not_read)
{
	struct tk_http c;

	open_site((struct httpd_opts){ .rate_per_s = 1, .rate_burst = 1 });
	ck_assert_int_eq(ask_from(INADDR_LOOPBACK, WHO), 200);
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
held_is(void *arg)
{
	return ever_held == *(size_t *)arg;
}

TEST(a_client_with_enough_in_hand_is_refused_and_others_are_not)
{
	struct tk_http c[4];
	size_t n = NELEM(c);

	open_site((struct httpd_opts){ .per_address = NELEM(c) });
	for (size_t i = 0; i < n; i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i], HOLD));
	}
	ck_assert(tk_until(held_is, &n, 5000));
	/* Answered, or cut before that. */
	int status = ask_from(INADDR_LOOPBACK, WHO);
	ck_assert_msg(status == 429 || status == 0, "%d", status);
	if (status == 429)
		ck_assert(tk_response_has(&a, "\"too_many_connections\""));
	ck_assert_int_eq(ask_from(OTHER, WHO), 200);
	tk_loop_call(&s.k, release, NULL);
	for (size_t i = 0; i < n; i++) {
		ck_assert(tk_http_read(&c[i], &a, 5000));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&c[i]);
	}
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	ck_assert_int_eq(ask_from(INADDR_LOOPBACK, WHO), 200);
	httpd_fixture_close(&s);
}

struct both {
	struct tk_exhaustion *siege;
	size_t n;
};

static bool
all_open(void *arg)
{
	struct both *b = arg;

	return tk_exhaustion_open(b->siege) + tk_exhaustion_closed(b->siege) >=
	    b->n;
}

/* Longest time in ms in which a client from there is answered, of n. */
static int64_t
longest_of(uint32_t from, int n)
{
	int64_t most = 0;

	for (int i = 0; i < n; i++) {
		struct mono start = clock_mono();
		ck_assert_int_eq(ask_from(from, WHO), 200);
		int64_t ms = mono_diff_ms(clock_mono(), start);
		if (ms > most)
			most = ms;
	}
	return most;
}

TEST(connections_that_say_nothing_are_cut_where_they_are_too_many)
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
	ck_assert_uint_gt(tk_exhaustion_closed(b.siege), 0);
	tk_exhaustion_end(b.siege);
	ck_assert(!httpd_fixture_has_metric(
	    &s, "soul_http_refused_total{reason=\"connections\"} 0\n"));
	httpd_fixture_close(&s);
}

/* Far fewer of each than one address may have, and more than workers. */
static void
others_go_on_under(const char *say)
{
	struct tk_exhaustion_opts o = { .n = 200,
		.from = INADDR_LOOPBACK + 256,
		.clients = 100,
		.send = say,
		.drip_ms = 100,
		.opens_per_s = 500 };

	open_site(
	    (struct httpd_opts){ .per_address = HTTPD_FIXTURE_WORKERS / 2 });
	o.port = s.port;
	struct both b = { tk_exhaustion_begin(&o), o.n };
	ck_assert(tk_until(all_open, &b, 10000));
	/* The 200 would hold 32 workers for 12 s, with bodies for a minute. */
	int64_t ms = longest_of(OTHER, 3);
	ck_assert_msg(ms < 5000, "%d", (int)ms);
	tk_exhaustion_end(b.siege);
	httpd_fixture_close(&s);
}

TEST(headers_that_drip_from_many_addresses_are_ended_in_time)
{
	others_go_on_under("GET /who HTTP/1.1\r\nHost: t\r\nX: ");
}

TEST(bodies_that_drip_from_many_addresses_are_ended_in_time)
{
	others_go_on_under("POST /who HTTP/1.1\r\nHost: t\r\n"
			   "Content-Length: 1000\r\n\r\n{");
}

TEST(a_request_in_hand_is_not_cut)
{
	struct tk_http c[4];
	size_t n = NELEM(c);

	open_site((struct httpd_opts){ .per_address = NELEM(c) });
	for (size_t i = 0; i < n; i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i], HOLD));
	}
	ck_assert(tk_until(held_is, &n, 5000));
	struct both b = { tk_exhaustion_begin(
			      &(struct tk_exhaustion_opts){ .port = s.port,
				  .n = 40,
				  .from = INADDR_LOOPBACK,
				  .opens_per_s = 200 }),
		120 };
	ck_assert(tk_until(all_open, &b, 10000));
	tk_exhaustion_end(b.siege);
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

TEST(behind_a_trusted_proxy_the_client_is_whom_it_names)
{
	open_site((struct httpd_opts){ .rate_per_s = 1,
	    .rate_burst = 1,
	    .per_address = 1,
	    .trusted_proxies = "127.0.0.2" });
	ck_assert_int_eq(ask_from(OTHER, FOR("192.0.2.1")), 200);
	ck_assert(tk_response_has(&a, "192.0.2.1"));
	ck_assert_int_eq(ask_from(OTHER, FOR("192.0.2.1")), 429);
	ck_assert_int_eq(ask_from(OTHER, FOR("192.0.2.2")), 200);
	ck_assert_int_eq(ask_from(OTHER, FOR("2001:db8::1")), 200);
	ck_assert(tk_response_has(&a, "2001:db8::1"));
	ck_assert_int_eq(ask_from(OTHER, FOR("2001:db8::2")), 429);
	/* Anybody else is who he is, whatever he says. */
	ck_assert_int_eq(ask_from(INADDR_LOOPBACK, FOR("192.0.2.3")), 200);
	ck_assert(tk_response_has(&a, "127.0.0.1"));
	ck_assert_int_eq(ask_from(INADDR_LOOPBACK, FOR("192.0.2.4")), 429);
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
	ck_assert(tk_until(held_is, &n, 5000));
	tk_loop_call(&s.k, release, NULL);
	for (size_t i = 0; i < n; i++) {
		ck_assert(tk_http_read(&c[i], &a, 5000));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&c[i]);
	}
	httpd_fixture_close(&s);
}

TEST(lists_that_cannot_be_read_are_refused)
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
