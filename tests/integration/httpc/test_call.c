/* Successful calls: requests, responses, connections. */
#include "testkit/httpc_fixture.h"

static struct httpc_fixture s;
static struct httpc_fixture_call g;

/* Responds with the request as the body. */
static void
respond_with_request(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(1024 * 1024), out = BUF_INIT(1024 * 1024);

	(void)p;
	while (raw_server_read(fd, &in)) {
		buf_reset(&out);
		buf_printf(&out,
		    "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\n"
		    "Content-Length: %zu\r\n\r\n%s",
		    in.n, in.p);
		if (!raw_server_write(fd, out.p))
			break;
	}
	buf_free(&in);
	buf_free(&out);
}

static void
check_sent(const char *text)
{
	ck_assert_msg(
	    str_find(buf_str(&g.body), str_of(text)) >= 0, "%s", g.body.p);
}

static void
check_not_sent(const char *text)
{
	ck_assert_msg(
	    str_find(buf_str(&g.body), str_of(text)) < 0, "%s", g.body.p);
}

TEST(a_get_is_sent_and_its_response_returned)
{
	httpc_fixture_open(&s, respond_with_request, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&g, s.c, s.url);
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert_int_eq(g.status, 200);
	ck_assert_str_eq(g.type, "text/x");
	ck_assert_int_eq(g.retry_after_ms, -1);
	ck_assert(str_starts(buf_str(&g.body), STR("GET /x HTTP/1.1\r\n")));
	check_not_sent("Expect");
	check_not_sent("Content-Type");
	check_not_sent("traceparent");
	buf_free(&g.body);
	httpc_fixture_close(&s);
}

TEST(methods_headers_bodies_and_traces_are_sent)
{
	static const char *const headers[] = { "Authorization: Bearer t",
		"X-A: b" };
	static const char *const types[] = { "content-type: text/plain" };
	static const char *const methods[] = { "POST", "PUT", "PATCH",
		"DELETE" };
	struct trace t;
	char line[128], parent[TRACE_PARENT_MAX];

	httpc_fixture_open(&s, respond_with_request, (struct httpc_opts){ 0 });
	trace_new(&t);
	trace_format(&t, parent);
	for (size_t i = 0; i < NELEM(methods); i++) {
		httpc_fixture_call_init(&g, s.c, s.url);
		g.rq.method = methods[i];
		g.rq.headers = headers;
		g.rq.nheaders = NELEM(headers);
		g.rq.body = STR("{\"a\":1}");
		g.rq.trace = &t;
		httpc_fixture_run(&s, &g);
		ck_assert_int_eq(g.rc, RC_OK);
		snprintf(line, sizeof(line), "%s /x HTTP/1.1\r\n", methods[i]);
		ck_assert(str_starts(buf_str(&g.body), str_of(line)));
		check_sent("\r\nAuthorization: Bearer t\r\n");
		check_sent("\r\nX-A: b\r\n");
		check_sent("\r\nContent-Type: application/json\r\n");
		check_sent("\r\nContent-Length: 7\r\n");
		snprintf(line, sizeof(line), "\r\ntraceparent: %s\r\n", parent);
		check_sent(line);
		ck_assert(str_ends(buf_str(&g.body), STR("\r\n\r\n{\"a\":1}")));
		check_not_sent("Expect");
		buf_free(&g.body);
	}
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.method = "POST";
	g.rq.headers = types;
	g.rq.nheaders = 1;
	g.rq.body = STR("a");
	httpc_fixture_run(&s, &g);
	check_sent("\r\ncontent-type: text/plain\r\n");
	check_not_sent("application/json");
	buf_free(&g.body);
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.method = "POST";
	httpc_fixture_run(&s, &g);
	check_sent("POST /x HTTP/1.1\r\n");
	check_sent("\r\nContent-Length: 0\r\n");
	buf_free(&g.body);
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.method = "DELETE";
	httpc_fixture_run(&s, &g);
	check_sent("DELETE /x HTTP/1.1\r\n");
	check_not_sent("Content-Type");
	buf_free(&g.body);
	httpc_fixture_close(&s);
}

TEST(large_bodies_are_sent_and_received)
{
	enum { N = 200000 };
	char *data = mem_zalloc(N + 1);

	memset(data, 'x', N);
	httpc_fixture_open(&s, respond_with_request, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.method = "POST";
	g.rq.body = (struct str){ data, N };
	tk_loop_call(&s.k, httpc_fixture_call_start, &g);
	/* The client has copied it. */
	memset(data, 'y', N);
	ck_assert(tk_until(httpc_fixture_call_is_done, &g, HTTPC_FIXTURE_MS));
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert_uint_gt(g.body.n, N);
	ck_assert_ptr_null(memchr(g.body.p + (g.body.n - N), 'y', N));
	buf_free(&g.body);
	free(data);
	httpc_fixture_close(&s);
}

/* Responds to each path with the text listed here. */
static void
respond_canned(struct raw_server *p, int fd)
{
	static const char *const responses[] = {
		"GET /404 ",
		"HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nnone",
		"GET /500 ",
		"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n",
		"GET /204 ",
		"HTTP/1.1 204 Well\r\n\r\n",
		"GET /seconds ",
		"HTTP/1.1 429 Slow\r\nRetry-After: 3\r\n"
		"Content-Length: 0\r\n\r\n",
		"GET /ms ",
		"HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nretry-after-ms: 250\r\n"
		"Content-Length: 0\r\n\r\n",
		"GET /date ",
		"HTTP/1.1 503 Slow\r\n"
		"Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n"
		"Content-Length: 0\r\n\r\n",
		"GET /word ",
		"HTTP/1.1 503 Slow\r\nRetry-After: soon\r\n"
		"Content-Length: 0\r\n\r\n",
		"GET /interim ",
		"HTTP/1.1 103 Early\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\n"
		"Content-Length: 2\r\n\r\nok",
		"GET /chunks ",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
		"GET /close ",
		"HTTP/1.1 200 OK\r\n\r\nto the end",
		"GET /moved ",
		"HTTP/1.1 302 There\r\nLocation: /404\r\n"
		"Content-Length: 5\r\n\r\nmoved",
		"POST /moved ",
		"HTTP/1.1 303 There\r\nLocation: /404\r\n"
		"Content-Length: 5\r\n\r\nmoved",
		"GET /round ",
		"HTTP/1.1 302 There\r\nLocation: /round\r\n"
		"Content-Length: 0\r\n\r\n",
		"GET /file ",
		"HTTP/1.1 302 There\r\nLocation: file:///etc/passwd\r\n"
		"Content-Length: 0\r\n\r\n",
	};
	struct buf in = BUF_INIT(65536);

	(void)p;
	while (raw_server_read(fd, &in)) {
		size_t i;
		for (i = 0; i < NELEM(responses); i += 2)
			if (str_starts(buf_str(&in), str_of(responses[i])))
				break;
		if (i == NELEM(responses) ||
		    !raw_server_write(fd, responses[i + 1]) ||
		    str_starts(buf_str(&in), STR("GET /close ")))
			break;
	}
	buf_free(&in);
}

static void
run_path(const char *method, const char *path, unsigned redirects)
{
	char url[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", s.p.port, path);
	httpc_fixture_call_init(&g, s.c, url);
	g.rq.method = method;
	g.rq.redirects = redirects;
	httpc_fixture_run(&s, &g);
}

TEST(responses_of_many_kinds_are_read)
{
	static const struct {
		const char *path;
		int status;
		int64_t retry_after_ms;
		const char *body;
	} rows[] = {
		{ "/404", 404, -1, "none" },
		{ "/500", 500, -1, "" },
		{ "/204", 204, -1, "" },
		{ "/seconds", 429, 3000, "" },
		{ "/ms", 429, 250, "" },
		{ "/word", 503, -1, "" },
		{ "/interim", 200, -1, "ok" },
		{ "/chunks", 200, -1, "abcde" },
		{ "/close", 200, -1, "to the end" },
	};

	httpc_fixture_open(&s, respond_canned, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(rows); i++) {
		run_path("GET", rows[i].path, 0);
		ck_assert_msg(g.rc == RC_OK, "%s: %s", rows[i].path, g.why);
		ck_assert_int_eq(g.status, rows[i].status);
		ck_assert_msg(str_eq(buf_str(&g.body), str_of(rows[i].body)),
		    "%s: %s", rows[i].path, g.body.p);
		ck_assert_msg(g.retry_after_ms == rows[i].retry_after_ms,
		    "%s: %d", rows[i].path, (int)g.retry_after_ms);
		buf_free(&g.body);
	}
	run_path("GET", "/date", 0);
	ck_assert_int_gt(g.retry_after_ms, 1000000);
	buf_free(&g.body);
	httpc_fixture_close(&s);
}

TEST(redirects_are_followed_only_on_request)
{
	httpc_fixture_open(&s, respond_canned, (struct httpc_opts){ 0 });
	run_path("GET", "/moved", 0);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert_int_eq(g.status, 302);
	ck_assert(str_eq(buf_str(&g.body), STR("moved")));
	buf_free(&g.body);
	run_path("GET", "/moved", 1);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert_int_eq(g.status, 404);
	ck_assert(str_eq(buf_str(&g.body), STR("none")));
	buf_free(&g.body);
	/* 303 turns a POST into a GET. */
	run_path("POST", "/moved", 1);
	ck_assert_int_eq(g.status, 404);
	buf_free(&g.body);
	run_path("GET", "/round", 3);
	ck_assert_int_eq(g.rc, RC_INVALID);
	buf_free(&g.body);
	run_path("GET", "/file", 3);
	ck_assert_int_eq(g.rc, RC_INVALID);
	ck_assert_uint_eq(g.body.n, 0);
	buf_free(&g.body);
	httpc_fixture_close(&s);
}

TEST(connections_are_reused)
{
	httpc_fixture_open(&s, respond_with_request, (struct httpc_opts){ 0 });
	for (int i = 0; i < 20; i++) {
		httpc_fixture_call_init(&g, s.c, s.url);
		httpc_fixture_run(&s, &g);
		ck_assert_int_eq(g.rc, RC_OK);
		buf_free(&g.body);
	}
	ck_assert_uint_eq(s.p.accepted, 1);
	httpc_fixture_close(&s);
}

/* Responds with keep-alive and then closes. */
static void
respond_and_close(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	(void)p;
	if (raw_server_read(fd, &in))
		(void)raw_server_write(
		    fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	buf_free(&in);
}

TEST(a_closed_idle_connection_is_replaced)
{
	httpc_fixture_open(&s, respond_and_close, (struct httpc_opts){ 0 });
	for (int i = 0; i < 20; i++) {
		httpc_fixture_call_init(&g, s.c, s.url);
		g.rq.method = "POST";
		g.rq.body = STR("{}");
		httpc_fixture_run(&s, &g);
		ck_assert_msg(g.rc == RC_OK, "%d: %s", i, g.why);
		buf_free(&g.body);
	}
	ck_assert_uint_ge(s.p.accepted, 20);
	httpc_fixture_close(&s);
}

TEST(proxy_environment_variables_are_ignored)
{
	ck_assert_int_eq(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	ck_assert_int_eq(setenv("ALL_PROXY", "http://127.0.0.1:1", 1), 0);
	httpc_fixture_open(&s, respond_with_request, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&g, s.c, s.url);
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_OK);
	buf_free(&g.body);
	httpc_fixture_close(&s);
}

TEST(a_configured_proxy_is_used)
{
	char proxy[64];
	struct raw_server p;

	raw_server_open(&p, respond_with_request);
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", p.port);
	httpc_fixture_open(
	    &s, respond_with_request, (struct httpc_opts){ .proxy = proxy });
	httpc_fixture_call_init(&g, s.c, "http://nowhere.invalid/a");
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_OK);
	check_sent("GET http://nowhere.invalid/a HTTP/1.1\r\n");
	buf_free(&g.body);
	httpc_fixture_close(&s);
	raw_server_close(&p);
}

TEST(calls_are_counted)
{
	struct metric_set *set = metric_set_new();
	struct buf b = BUF_INIT(1024 * 1024);

	httpc_fixture_open(
	    &s, respond_canned, (struct httpc_opts){ .metrics = set });
	run_path("GET", "/404", 0);
	buf_free(&g.body);
	run_path("GET", "/round", 1);
	buf_free(&g.body);
	httpc_fixture_close(&s);
	metric_write(set, &b);
	ck_assert(str_find(buf_str(&b),
		      STR("soul_httpc_calls_total{peer=\"test\","
			  "result=\"ok\"} 1\n")) >= 0);
	ck_assert(str_find(buf_str(&b),
		      STR("soul_httpc_calls_total{peer=\"test\","
			  "result=\"invalid_request\"} 1\n")) >= 0);
	ck_assert(str_find(buf_str(&b),
		      STR("soul_httpc_active{peer=\"test\"} 0\n")) >= 0);
	buf_free(&b);
	metric_set_free(set);
}

static _Atomic size_t n_requests;

/* A response to the first request of a connection, and the end after others. */
static void
respond_to_first(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	(void)p;
	if (raw_server_read(fd, &in)) {
		n_requests++;
		if (raw_server_write(
			fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") &&
		    raw_server_read(fd, &in))
			n_requests++;
	}
	buf_free(&in);
}

/* Post twice, and count the requests that the server has received. */
static size_t
requests_of_two_posts(bool once)
{
	size_t n;

	n_requests = 0;
	httpc_fixture_open(&s, respond_to_first, (struct httpc_opts){ 0 });
	for (int i = 0; i < 2; i++) {
		httpc_fixture_call_init(&g, s.c, s.url);
		g.rq.method = "POST";
		g.rq.body = STR("{}");
		g.rq.once = once;
		httpc_fixture_run(&s, &g);
		ck_assert_int_eq(g.rc, RC_OK);
		buf_free(&g.body);
	}
	n = n_requests;
	httpc_fixture_close(&s);
	return n;
}

TEST(a_request_is_sent_once_if_it_must_be)
{
	ck_assert_uint_eq(requests_of_two_posts(true), 2);
	/* What curl does otherwise: the test would not find a difference. */
	ck_assert_uint_eq(requests_of_two_posts(false), 3);
}

static char found[128];

static void
on_done_location(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *response)
{
	str_copy(httpc_location(call), found, sizeof(found));
	ck_assert(httpc_was_sent(call));
	httpc_fixture_on_done(arg, call, rc, response);
}

static void
respond_redirect(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	(void)p;
	if (raw_server_read(fd, &in))
		(void)raw_server_write(fd,
		    "HTTP/1.1 307 Temporary Redirect\r\nLocation: ../y?z\r\n"
		    "Content-Length: 0\r\n\r\n");
	buf_free(&in);
}

TEST(the_url_of_a_redirect_that_is_not_followed_is_known)
{
	char want[128];

	httpc_fixture_open(&s, respond_redirect, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.on_done = on_done_location;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.status, 307);
	snprintf(want, sizeof(want), "http://127.0.0.1:%d/y?z", s.p.port);
	ck_assert_str_eq(found, want);
	buf_free(&g.body);
	httpc_fixture_close(&s);
}
