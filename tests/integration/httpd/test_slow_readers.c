/* Clients that send many requests and read few responses. */
#include <stdlib.h>
#include <string.h>

#include "testkit/httpd_fixture.h"

#define BIG ((size_t)HTTPD_RESPONSE_MAX - 1024)

static _Atomic size_t handled;

static void
on_big(void *arg, struct httpd_req *r)
{
	char *p = mem_alloc(BIG);

	(void)arg;
	memset(p, 'x', BIG);
	httpd_respond(r, 200, "text/plain", (struct str){ p, BIG });
	free(p);
}

static void
on_ok(void *arg, struct httpd_req *r)
{
	(void)arg;
	handled++;
	httpd_respond(r, 200, "application/json", STR("{}"));
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/big", .fn = on_big },
	{ .method = "GET", .path = "/ok", .fn = on_ok },
};

#define OK "GET /ok HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"

static struct httpd_fixture s;
static struct tk_response a;

static void
open_site(int64_t burst)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.rate_per_s = burst > 0 ? 1 : 0,
		.rate_burst = burst });
}

TEST(responses_that_are_not_read_time_out)
{
	struct tk_http c[6];

	open_site(0);
	for (size_t i = 0; i < NELEM(c); i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(
		    &c[i], "GET /big HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
	}
	/* Other clients are served meanwhile. */
	ck_assert_int_eq(tk_http_call(s.port, &a, OK), 200);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 15000));
	for (size_t i = 0; i < NELEM(c); i++)
		tk_http_close(&c[i]);
	httpd_fixture_close(&s);
}

/* Pipeline n requests; return how many responses have that status. */
static size_t
flood(size_t n, int status)
{
	struct buf b = BUF_INIT(1024 * 1024);
	struct tk_http c;
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		buf_puts(&b, OK);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_send(&c, b.p, b.n));
	for (size_t i = 0; i < n; i++) {
		ck_assert(tk_http_read(&c, &a, 10000));
		if (a.status == status)
			found++;
	}
	tk_http_close(&c);
	buf_free(&b);
	return found;
}

TEST(pipelined_requests_get_a_response_each)
{
	open_site(0);
	ck_assert_uint_eq(flood(2000, 200), 2000);
	ck_assert_uint_eq(handled, 2000);
	httpd_fixture_close(&s);
}

TEST(pipelined_requests_are_rate_limited_each)
{
	open_site(50);
	ck_assert_uint_ge(flood(2000, 429), 1900);
	ck_assert_uint_ge(handled, 50);
	httpd_fixture_close(&s);
}
