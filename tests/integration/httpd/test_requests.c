/* Valid requests and their responses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/httpd_fixture.h"

/* "<path>|<first parameter>|<query q>|<header X-A>|<body>" */
static void
on_echo(void *arg, struct httpd_req *r)
{
	struct buf b = BUF_INIT(HTTPD_RESPONSE_MAX);
	struct str q = httpd_req_query(r, "q");

	(void)arg;
	buf_put_str(&b, httpd_req_path(r));
	buf_putc(&b, '|');
	buf_put_str(&b, httpd_req_param(r, 0));
	buf_puts(&b, q.p == NULL ? "|-" : "|");
	buf_put_str(&b, q);
	buf_putc(&b, '|');
	buf_put_str(&b, httpd_req_header(r, "x-a"));
	buf_putc(&b, '|');
	buf_put_str(&b, httpd_req_body(r));
	httpd_respond(r, 200, "text/plain", buf_str(&b));
	buf_free(&b);
}

static void
on_error(void *arg, struct httpd_req *r)
{
	(void)arg;
	int64_t rc = 0;
	if (str_to_i64(httpd_req_param(r, 0), 0, RC_N - 1, &rc) != RC_OK)
		abort();
	httpd_respond_error(r, (enum rc)rc, "it \"said\"\xff\x01 no");
}

static void
on_empty(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond(r, 204, NULL, STR(""));
}

static void
on_big(void *arg, struct httpd_req *r)
{
	int64_t n = 0;

	(void)arg;
	if (str_to_i64(httpd_req_param(r, 0), 0, 1 << 30, &n) != RC_OK)
		abort();
	char *p = mem_alloc((size_t)n + 1);
	memset(p, 'x', (size_t)n);
	httpd_respond(r, 200, "text/plain", (struct str){ p, (size_t)n });
	free(p);
}

/* Without a loop, unless the body says so. */
static bool
on_worker(void *arg, struct httpd_req *r)
{
	(void)arg;
	if (str_eq(httpd_req_body(r), STR("{\"loop\":1}")))
		return false;
	httpd_respond(r, 200, "text/plain", STR("worker"));
	return true;
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/echo/{id}", .fn = on_echo },
	{ .method = "POST", .path = "/echo/{id}", .fn = on_echo },
	{ .method = "GET", .path = "/error/{rc}", .fn = on_error },
	{ .method = "DELETE", .path = "/empty", .fn = on_empty },
	{ .method = "GET", .path = "/big/{n}", .fn = on_big },
	{ .method = "POST", .path = "/direct", .fn = on_echo, .direct = true },
	{ .method = "POST",
	    .path = "/worker",
	    .fn = on_echo,
	    .on_worker = on_worker },
};

static struct httpd_fixture s;
static struct tk_response a;
static char field[256];

static void
open_site(void)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes, .nroutes = NELEM(routes) });
}

static void
check_body(const char *want)
{
	ck_assert_msg(str_eq(buf_str(&a.body), str_of(want)), "%s", a.body.p);
}

TEST(a_worker_may_respond_or_leave_it_to_the_loop)
{
	open_site();
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(
		    tk_http_call(s.port, &a,
			"POST /worker HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
			"Content-Length: 2\r\n\r\n{}"),
		    200);
		check_body("worker");
		ck_assert_int_eq(
		    tk_http_call(s.port, &a,
			"POST /worker HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
			"Content-Length: 10\r\n\r\n{\"loop\":1}"),
		    200);
		check_body("/worker||-||{\"loop\":1}");
	}
	httpd_fixture_close(&s);
}

TEST(parts_of_a_request_reach_the_handler)
{
	open_site();
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"GET /echo/%%e4%%bd%%a0%%2Fx?p=1&q=a+%%26b "
		"HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "X-A: v w\r\n\r\n"),
	    200);
	check_body("/echo/%e4%bd%a0%2Fx|\xe4\xbd\xa0/x|a &b|v w|");
	ck_assert_int_eq(tk_http_call(s.port, &a,
			     "POST /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
			     "Content-Type: application/json\r\n"
			     "Content-Length: 7\r\n\r\n{\"a\":1}"),
	    200);
	check_body("/echo/i|i|-||{\"a\":1}");
	ck_assert_str_eq(
	    tk_response_field(&a, "Content-Type", field, sizeof(field)),
	    "text/plain");
	ck_assert_str_eq(
	    tk_response_field(&a, "Content-Length", field, sizeof(field)),
	    "20");
	tk_response_field(&a, "Date", field, sizeof(field));
	ck_assert_uint_eq(
	    strlen(field), strlen("Sun, 06 Nov 1994 08:49:37 GMT"));
	ck_assert_int_eq(tk_http_call(s.port, &a,
			     "POST /direct HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
			     "Content-Length: 2\r\n\r\n{}"),
	    200);
	check_body("/direct||-||{}");
	httpd_fixture_close(&s);
}

TEST(chunked_bodies_are_joined)
{
	open_site();
	ck_assert_int_eq(tk_http_call(s.port, &a,
			     "POST /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
			     "Transfer-Encoding: chunked\r\n\r\n"
			     "3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"),
	    200);
	check_body("/echo/i|i|-||abc0123456789");
	ck_assert_int_eq(tk_http_call(s.port, &a,
			     "POST /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
			     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	    200);
	check_body("/echo/i|i|-||");
	httpd_fixture_close(&s);
}

TEST(a_request_may_arrive_in_two_packets)
{
	static const char text[] =
	    "POST /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
	    "Content-Length: 10\r\n\r\n0123456789";
	struct tk_http c;

	open_site();
	/* Split at every byte; the halves are two packets. */
	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		tk_http_open(&c, s.port);
		ck_assert(tk_http_send(&c, text, cut));
		(void)tk_http_fill(&c, 1);
		ck_assert(tk_http_send(&c, text + cut, sizeof(text) - 1 - cut));
		ck_assert_msg(tk_http_read(&c, &a, 5000), "cut at %zu", cut);
		ck_assert_int_eq(a.status, 200);
		check_body("/echo/i|i|-||0123456789");
		tk_http_close(&c);
	}
	httpd_fixture_close(&s);
}

TEST(connections_are_persistent_and_pipelined)
{
	struct tk_http c;

	open_site();
	tk_http_open(&c, s.port);
	for (int i = 0; i < 50; i++) {
		ck_assert(tk_http_puts(&c,
		    "POST /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		    "Content-Length: 3\r\n\r\none"
		    "GET /echo/j HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"
		    "POST /echo/k HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		    "Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n"));
		ck_assert(tk_http_read(&c, &a, 5000));
		check_body("/echo/i|i|-||one");
		ck_assert_str_eq(
		    tk_response_field(&a, "Connection", field, sizeof(field)),
		    "keep-alive");
		ck_assert(tk_http_read(&c, &a, 5000));
		check_body("/echo/j|j|-||");
		ck_assert(tk_http_read(&c, &a, 5000));
		check_body("/echo/k|k|-||two");
	}
	ck_assert(tk_http_puts(&c,
	    "GET /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
	    "Connection: close\r\n\r\n"));
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_str_eq(
	    tk_response_field(&a, "Connection", field, sizeof(field)), "close");
	ck_assert(tk_http_closed(&c, HTTPD_FIXTURE_SOON_MS));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(an_http_1_0_connection_closes_after_the_response)
{
	struct tk_http c;

	open_site();
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, "GET /echo/i HTTP/1.0\r\n\r\n"));
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	ck_assert(tk_http_closed(&c, HTTPD_FIXTURE_SOON_MS));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(responses_of_all_sizes_are_sent)
{
	static const int sizes[] = { 0, 1, 65535, 65536, 65537, 1000000,
		HTTPD_RESPONSE_MAX };

	open_site();
	for (size_t i = 0; i < NELEM(sizes); i++) {
		ck_assert_int_eq(
		    tk_http_call(s.port, &a,
			"GET /big/%d HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
			sizes[i]),
		    200);
		ck_assert_uint_eq(a.body.n, (size_t)sizes[i]);
	}
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"GET /big/%d HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n",
		HTTPD_RESPONSE_MAX + 1),
	    500);
	ck_assert(tk_response_has(&a, "\"code\":\"internal\""));
	ck_assert_int_eq(
	    tk_http_call(s.port, &a,
		"DELETE /empty HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"),
	    204);
	ck_assert_str_eq(
	    tk_response_field(&a, "Content-Length", field, sizeof(field)), "");
	httpd_fixture_close(&s);
}

TEST(error_responses_have_text_code_and_trace)
{
	open_site();
	for (enum rc rc = RC_RETRY; rc < RC_N; rc++) {
		char want[256];
		ck_assert_int_eq(
		    tk_http_call(s.port, &a,
			"GET /error/%d HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
			"traceparent: 00-0af7651916cd43dd8448eb211c"
			"80319c-b7ad6b7169203331-01\r\n\r\n",
			(int)rc),
		    rc_http_status(rc));
		snprintf(want, sizeof(want),
		    "{\"error\":\"it \\\"said\\\"\xef\xbf\xbd\\u0001 no\","
		    "\"code\":\"%s\","
		    "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\"}",
		    rc_name(rc));
		check_body(want);
		ck_assert_str_eq(
		    tk_response_field(&a, "Content-Type", field, sizeof(field)),
		    "application/json");
		ck_assert_str_eq(
		    tk_response_field(&a, "Retry-After", field, sizeof(field)),
		    rc_http_status(rc) == 503 ? "1" : "");
	}
	httpd_fixture_close(&s);
}

TEST(a_trace_is_continued_or_started)
{
	static const char given[] =
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
	char first[256];

	open_site();
	tk_http_call(s.port, &a,
	    "GET /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
	    "traceparent: %s\r\n\r\n",
	    given);
	tk_response_field(&a, "traceparent", field, sizeof(field));
	ck_assert(strncmp(field, given, 36) == 0);
	tk_http_call(s.port, &a,
	    "GET /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
	    "traceparent: 00-x\r\n\r\n");
	tk_response_field(&a, "traceparent", first, sizeof(first));
	ck_assert_uint_eq(strlen(first), strlen(given));
	tk_http_call(
	    s.port, &a, "GET /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n");
	tk_response_field(&a, "traceparent", field, sizeof(field));
	ck_assert_uint_eq(strlen(field), strlen(given));
	ck_assert_str_ne(first, field);
	httpd_fixture_close(&s);
}

TEST(unknown_paths_methods_and_types_are_rejected)
{
	static const struct {
		const char *text;
		int status;
		const char *code;
		const char *allow;
	} rows[] = {
		{ "GET /nothing HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n", 404,
		    "not_found", "" },
		{ "GET /echo/i/ HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n", 404,
		    "not_found", "" },
		{ "GET /echo/ HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n", 404,
		    "not_found", "" },
		{ "POST /nothing HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		  "Content-Length: 2\r\n\r\n{}",
		    404, "not_found", "" },
		{ "DELETE /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n", 405,
		    "method_not_allowed", "GET, POST" },
		{ "OPTIONS /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		  "Origin: http://x\r\n"
		  "Access-Control-Request-Method: POST\r\n\r\n",
		    405, "method_not_allowed", "GET, POST" },
		{ "POST /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		  "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
		    415, "unsupported_media_type", "" },
		{ "POST /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		  "Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n",
		    200, NULL, "" },
		{ "POST /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		  "Content-Type: application/json;charset=utf-8\r\n"
		  "Content-Length: 2\r\n\r\n{}",
		    200, NULL, "" },
	};
	struct tk_http c;

	open_site();
	tk_http_open(&c, s.port);
	/* All on one connection: a rejection does not close it. */
	for (size_t i = 0; i < NELEM(rows); i++) {
		char code[64];
		ck_assert(tk_http_puts(&c, rows[i].text));
		ck_assert_msg(tk_http_read(&c, &a, 5000), "%s", rows[i].text);
		ck_assert_msg(a.status == rows[i].status, "%s", rows[i].text);
		ck_assert_str_eq(
		    tk_response_field(&a, "Allow", field, sizeof(field)),
		    rows[i].allow);
		if (rows[i].code == NULL)
			continue;
		snprintf(code, sizeof(code), "\"code\":\"%s\"", rows[i].code);
		ck_assert_msg(tk_response_has(&a, code), "%s", a.body.p);
	}
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(the_response_to_a_head_has_no_body)
{
	struct tk_http c;

	open_site();
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c,
	    "HEAD /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"
	    "GET /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
	ck_assert(tk_http_has(&c, "\r\n\r\nHTTP/1.1 200 OK\r\n", 5000));
	ck_assert(str_starts(buf_str(&c.in), STR("HTTP/1.1 405 ")));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

static bool
all_counted(void *arg)
{
	return httpd_fixture_has_metric(arg,
	    "soul_http_requests_total{method=\"\",route=\"none\","
	    "class=\"4xx\"} 2\n");
}

TEST(requests_are_counted)
{
	open_site();
	for (int i = 0; i < 3; i++)
		tk_http_call(s.port, &a,
		    "GET /echo/i HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n");
	tk_http_call(
	    s.port, &a, "GET /error/4 HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n");
	tk_http_call(
	    s.port, &a, "GET /x HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n");
	tk_http_call(
	    s.port, &a, "BAD /x HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n");
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 2000));
	ck_assert(tk_until(all_counted, &s, 2000));
	ck_assert(httpd_fixture_has_metric(&s,
	    "soul_http_requests_total{method=\"GET\",route=\"/echo/{id}\","
	    "class=\"2xx\"} 3\n"));
	ck_assert(httpd_fixture_has_metric(&s,
	    "soul_http_requests_total{method=\"GET\",route=\"/error/{rc}\","
	    "class=\"4xx\"} 1\n"));
	ck_assert(httpd_fixture_has_metric(&s,
	    "soul_http_request_duration_seconds_count{method=\"GET\","
	    "route=\"/echo/{id}\"} 3\n"));
	ck_assert(httpd_fixture_has_metric(&s, "soul_http_busy 0\n"));
	httpd_fixture_close(&s);
}
