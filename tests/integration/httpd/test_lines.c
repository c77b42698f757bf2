/* JSON lines: delivery and truncation. */
#include <stdio.h>
#include <string.h>

#include "testkit/httpd_fixture.h"

static struct httpd_req *streams[2];
static _Atomic size_t opened;

static void
on_lines(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_lines_start(r);
	streams[opened] = r;
	opened++;
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/lines", .fn = on_lines },
};

static struct httpd_fixture s;

static bool
opened_has_reached(void *arg)
{
	return opened == *(size_t *)arg;
}

/* Request lines and wait until the n-th response has begun. */
static void
request_lines(struct tk_http *c, size_t n)
{
	ck_assert(tk_http_puts(
	    c, "GET /lines HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
	ck_assert(tk_until(opened_has_reached, &n, 5000));
}

/* Run on the loop with the newest response. */
static void
run_send(void *arg)
{
	ck_assert_int_eq(
	    httpd_lines_send(streams[opened - 1], str_of(arg)), RC_OK);
}

static void
run_end(void *arg)
{
	(void)arg;
	httpd_stream_end(streams[opened - 1]);
}

static void
run_truncate(void *arg)
{
	httpd_lines_truncate(streams[opened - 1]);
	run_end(arg);
}

static void
send_lines(const char *lines)
{
	tk_loop_call(&s.k, run_send, (void *)(uintptr_t)lines);
}

TEST(lines_end_complete_or_truncated)
{
	struct tk_response a = { 0 };
	struct tk_http c;
	char type[64];

	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.timeout_ms = 1000,
		.comment_ms = 50 });
	tk_http_open(&c, s.port);
	request_lines(&c, 1);
	send_lines("{}\n[]\n");
	ck_assert(tk_http_has(&c, "[]\n", 5000));
	/* There are no comments between them. */
	ck_assert(!tk_http_fill(&c, 200));
	send_lines("1\n");
	tk_loop_call(&s.k, run_end, NULL);
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_str_eq(a.body.p, "{}\n[]\n1\n");
	ck_assert_str_eq(
	    tk_response_field(&a, "Content-Type", type, sizeof(type)),
	    "application/x-ndjson");
	/* The connection serves another one, which is truncated. */
	request_lines(&c, 2);
	send_lines("{}\n");
	tk_loop_call(&s.k, run_truncate, NULL);
	ck_assert(tk_http_closed(&c, 5000));
	ck_assert(tk_http_has(&c, "{}\n", 0));
	ck_assert(!tk_http_has(&c, "0\r\n\r\n", 0));
	tk_http_close(&c);
	tk_response_free(&a);
	httpd_fixture_close(&s);
}
