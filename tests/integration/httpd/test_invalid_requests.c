/* Requests that are malformed, too large, too slow, or ambiguous. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "testkit/httpd_fixture.h"

static _Atomic int handled;

static void
on_count(void *arg, struct httpd_req *r)
{
	(void)arg;
	handled++;
	httpd_respond(r, 200, "application/json", STR("{}"));
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/a/{id}", .fn = on_count },
	{ .method = "POST", .path = "/a", .fn = on_count },
};

static struct httpd_fixture s;
static struct tk_response a;

static void
open_site(int64_t timeout_ms)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.timeout_ms = timeout_ms });
}

#define POST "POST /a HTTP/1.1\r\n" HTTPD_FIXTURE_HOST

TEST(ambiguous_requests_are_rejected)
{
	static const char *const bad[] = {
		POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		POST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		POST "Content-Length: 2\r\n"
		     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		POST "Content-Length: 2x\r\n\r\n{}",
		POST "Content-Length: +2\r\n\r\n{}",
		POST "Content-Length: 0x2\r\n\r\n{}",
		POST "Content-Length: 2, 2\r\n\r\n{}",
		POST "Content-Length : 2\r\n\r\n{}",
		POST "Transfer-Encoding: chunked\r\n"
		     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding: identity\r\n\r\n",
		POST "Transfer-Encoding: gzip\r\n\r\n",
		/* A length after a line at which civetweb stops. */
		POST "X: y\r\n folded\r\nContent-Length: 2\r\n\r\n{}",
		POST "X: y\r\n:\r\nContent-Length: 2\r\n\r\n{}",
		POST "X: y\n\r\nContent-Length: 2\r\n\r\n{}",
		POST "X: y\r\n\rContent-Length: 2\r\n\r\n{}",
		"POST /a HTTP/1.1\nHost: t\nContent-Length: 2\n\n{}",
		"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
		"POST /a HTTP/1.1\r\nHost: t\r\nHost: u\r\n"
		"Content-Length: 2\r\n\r\n{}",
		"GET /a/%00 HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET /a/x%00y HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET /a/%4 HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET /a/%zz HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET /a/%ff HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET /a/\xff HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET /a/b?q=%00 HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET /a/b?%q HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		/* Rejected by civetweb itself. */
		"NONSENSE /a HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"get /a/b HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET a HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		"GET /a/b\r\n\r\n",
		"GET\r\n\r\n",
		"\x16\x03\x01\x02\x01\r\n\r\n",
		"GET /a/b HTTP/1.1\r\nbroken\r\n\r\n",
		POST "Content-Length: -2\r\n\r\n{}",
		POST "Content-Length:\r\n\r\n{}",
	};

	open_site(0);
	for (size_t i = 0; i < NELEM(bad); i++) {
		int status = tk_http_call(s.port, &a, "%s", bad[i]);
		/* 411 is civetweb's status for an unreadable length. */
		ck_assert_msg(
		    status == 400 || status == 411, "%d: %s", status, bad[i]);
		ck_assert_msg(
		    tk_response_has(&a, "\"trace_id\":\""), "%s", bad[i]);
		ck_assert_msg(
		    tk_response_has(&a, "\"error\":\""), "%s", bad[i]);
	}
	ck_assert_int_eq(handled, 0);
	httpd_fixture_close(&s);
}

TEST(nothing_is_read_after_rejected_framing)
{
	static const char *const framings[] = {
		"Content-Length: 2\r\nContent-Length: 0\r\n",
		"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
		"X: y\r\n z\r\nContent-Length: 44\r\n",
	};
	struct tk_http c;

	open_site(0);
	for (size_t i = 0; i < NELEM(framings); i++) {
		tk_http_open(&c, s.port);
		ck_assert(tk_http_puts(&c, POST));
		ck_assert(tk_http_puts(&c, framings[i]));
		ck_assert(tk_http_puts(
		    &c, "\r\nGET /a/smuggled HTTP/1.1\r\nHost: t\r\n\r\n"));
		ck_assert(tk_http_read(&c, &a, 5000));
		ck_assert_int_eq(a.status, 400);
		ck_assert(tk_http_closed(&c, HTTPD_FIXTURE_SOON_MS));
		ck_assert_uint_eq(c.in.n, 0);
		tk_http_close(&c);
	}
	ck_assert_int_eq(handled, 0);
	httpd_fixture_close(&s);
}

TEST(other_invalid_requests_get_their_status)
{
	static const struct {
		const char *text;
		int status;
	} rows[] = {
		{ "GET /a/b HTTP/2.0\r\n" HTTPD_FIXTURE_HOST "\r\n", 505 },
		{ "GET /a/b HTTP/0.9\r\n\r\n", 505 },
		{ POST "Expect: fire\r\nContent-Length: 2\r\n\r\n{}", 417 },
		{ POST "Content-Length: 1048577\r\n\r\n", 413 },
		{ POST "Content-Length: 9223372036854775807\r\n\r\n", 413 },
		{ POST "Content-Length: 99999999999999999999\r\n\r\n", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n-1\r\n", 400 },
		{ POST
		    "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
		    400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n"
		       "\r\n",
		    400 },
	};

	open_site(0);
	for (size_t i = 0; i < NELEM(rows); i++) {
		int status = tk_http_call(s.port, &a, "%s", rows[i].text);
		ck_assert_msg(
		    status == rows[i].status, "%d: %s", status, rows[i].text);
		ck_assert(tk_response_has(&a, "\"trace_id\":\""));
	}
	ck_assert_int_eq(handled, 0);
	httpd_fixture_close(&s);
}

TEST(large_headers_are_rejected)
{
	char *big = mem_zalloc(40001);

	open_site(0);
	memset(big, 'x', 40000);
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"GET /a/b HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "X-A: %.*s\r\n\r\n",
		15000, big),
	    200);
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"GET /a/b HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "X-A: %.*s\r\n\r\n",
		16000, big),
	    431);
	ck_assert(tk_response_has(&a, "\"code\":\"header_too_large\""));
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"GET /a/b HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "X-A: %.*s\r\n\r\n",
		40000, big),
	    400);
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"GET /a/%.*s HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n", 16000,
		big),
	    431);
	free(big);
	httpd_fixture_close(&s);
}

TEST(too_many_header_fields_are_rejected)
{
	struct buf b = BUF_INIT(16384);

	open_site(0);
	for (int i = 0; i < 62; i++)
		buf_printf(&b, "X-%d: %d\r\n", i, i);
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"GET /a/b HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "%s\r\n", b.p),
	    200);
	/* civetweb ignores fields after the 64th. */
	buf_puts(&b, "X-62: 0\r\nX-63: 0\r\n");
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"GET /a/b HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "%s\r\n", b.p),
	    431);
	ck_assert_int_eq(tk_http_call(s.port, &a,
			     "POST /a HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
			     "%sContent-Length: 2\r\n\r\n{}",
			     b.p),
	    431);
	buf_free(&b);
	httpd_fixture_close(&s);
}

TEST(bodies_over_the_limit_are_rejected)
{
	char *big = mem_zalloc(HTTPD_BODY_MAX + 1);
	struct tk_http c;

	open_site(0);
	memset(big, ' ', HTTPD_BODY_MAX);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, POST "Content-Length: 1048576\r\n\r\n"));
	ck_assert(tk_http_send(&c, big, HTTPD_BODY_MAX));
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	tk_http_close(&c);

	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, POST "Transfer-Encoding: chunked\r\n\r\n"));
	for (int i = 0; i < HTTPD_BODY_MAX / 65536; i++)
		ck_assert(tk_http_puts(&c, "10000\r\n") &&
		    tk_http_send(&c, big, 65536) && tk_http_puts(&c, "\r\n"));
	ck_assert(tk_http_puts(&c, "0\r\n\r\n"));
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	tk_http_close(&c);

	/* The size of a chunked body is known only when it is exceeded. */
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, POST "Transfer-Encoding: chunked\r\n\r\n"));
	for (int i = 0; i < 20; i++) {
		if (!tk_http_puts(&c, "10000\r\n") ||
		    !tk_http_send(&c, big, 65536) || !tk_http_puts(&c, "\r\n"))
			break;
	}
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 413);
	ck_assert(tk_http_closed(&c, HTTPD_FIXTURE_DISCARD_MS));
	tk_http_close(&c);
	ck_assert_int_eq(handled, 2);
	free(big);
	httpd_fixture_close(&s);
}

TEST(expect_100_continue_is_responded_to)
{
	struct tk_http c;

	open_site(0);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(
	    &c, POST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
	ck_assert(tk_http_has(&c, "HTTP/1.1 100 Continue\r\n\r\n", 5000));
	ck_assert(tk_http_puts(&c, "{}"));
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	/* Rejected: no "100 Continue". */
	ck_assert(tk_http_puts(&c,
	    "POST /b HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
	    "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 404);
	ck_assert(str_find(buf_str(&a.head), STR("100 Continue")) < 0);
	ck_assert(tk_http_closed(&c, HTTPD_FIXTURE_SOON_MS));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

/* The time until the server responds or disconnects. */
static int64_t
end_of(struct tk_http *c, int ms)
{
	struct mono start = clock_mono();

	a.status = 0;
	(void)tk_http_read(c, &a, ms);
	return mono_diff_ms(clock_mono(), start);
}

TEST(a_slow_header_times_out)
{
	struct tk_http c;

	open_site(0);
	tk_http_open(&c, s.port);
	struct mono start = clock_mono();
	/* Single bytes do not extend the time-out. */
	while (mono_diff_ms(clock_mono(), start) < 8000 &&
	    tk_http_puts(&c, "G") && !tk_http_fill(&c, 100) && !c.eof)
		continue;
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 408);
	ck_assert(tk_response_has(&a, "\"code\":\"request_timeout\""));
	int64_t ms = mono_diff_ms(clock_mono(), start);
	ck_assert_msg(ms >= 1900 && ms < 4000, "%d", (int)ms);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(a_body_in_single_bytes_times_out)
{
	struct tk_http c;

	open_site(1500);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, POST "Content-Length: 1000\r\n\r\n"));
	struct mono start = clock_mono();
	while (mono_diff_ms(clock_mono(), start) < 8000 &&
	    tk_http_puts(&c, "x") && !tk_http_fill(&c, 100) && !c.eof)
		continue;
	int64_t ms = mono_diff_ms(clock_mono(), start);
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 408);
	ck_assert_msg(ms >= 1400 && ms < 3000, "%d", (int)ms);
	tk_http_close(&c);

	/* The same in chunks. */
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, POST "Transfer-Encoding: chunked\r\n\r\n"));
	start = clock_mono();
	while (mono_diff_ms(clock_mono(), start) < 8000 &&
	    tk_http_puts(&c, "1\r\nx\r\n") && !tk_http_fill(&c, 100) && !c.eof)
		continue;
	ms = mono_diff_ms(clock_mono(), start);
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 408);
	ck_assert_msg(ms >= 1400 && ms < 3000, "%d", (int)ms);
	tk_http_close(&c);
	ck_assert_int_eq(handled, 0);
	httpd_fixture_close(&s);
}

TEST(incomplete_bodies_are_rejected)
{
	struct tk_http c;

	open_site(1500);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, POST "Content-Length: 10\r\n\r\nabc"));
	ck_assert_int_lt(end_of(&c, 8000), 5000);
	ck_assert_int_eq(a.status, 408);
	tk_http_close(&c);

	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, POST "Content-Length: 10\r\n\r\nabc"));
	ck_assert_int_eq(shutdown(c.fd, SHUT_WR), 0);
	ck_assert_int_lt(end_of(&c, 8000), HTTPD_FIXTURE_SOON_MS);
	ck_assert_int_eq(a.status, 400);
	tk_http_close(&c);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	ck_assert_int_eq(handled, 0);
	httpd_fixture_close(&s);
}
