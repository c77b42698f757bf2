/* Failing calls: deadlines, time-outs, truncation, limits, bad servers. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>

#include "testkit/httpc_fixture.h"

static struct httpc_fixture s;
static struct httpc_fixture_call g;

/* Sent after a request, before the connection is held. */
static const char *_Atomic text;

static void
send_and_hold(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	if (raw_server_read(fd, &in) && raw_server_write(fd, text))
		raw_server_hold(p, fd);
	buf_free(&in);
}

static void
send_and_close(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	(void)p;
	if (raw_server_read(fd, &in))
		(void)raw_server_write(fd, text);
	buf_free(&in);
}

static void
hold(struct raw_server *p, int fd)
{
	raw_server_hold(p, fd);
}

static void
check_ms(int64_t least, int64_t most)
{
	int64_t ms = httpc_fixture_call_ms(&g);

	ck_assert_msg(ms >= least && ms <= most, "%d ms", (int)ms);
}

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

TEST(invalid_requests_are_rejected)
{
	static const char *const urls[] = { "", "x", "/a", "http://",
		"ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://h/1",
		"http://127.0.0.1:99999/", "http://a b/", "http://[::1/",
		"http://127.0.0.1/\r\nX: y", "ht!tp://a/", NULL };
	static const char *const methods[] = { "", "get", "GE T", "GET\r\nX: y",
		NULL };
	static const char *const headers[] = { "", "no colon", "A: b\r\nC: d",
		"A: b\nC: d" };

	httpc_fixture_open(&s, hold, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(urls); i++) {
		httpc_fixture_call_init(&g, s.c, urls[i]);
		tk_loop_call(&s.k, httpc_fixture_call_start, &g);
		ck_assert_msg(g.started == RC_INVALID, "%s", urls[i]);
	}
	for (size_t i = 0; i < NELEM(methods); i++) {
		httpc_fixture_call_init(&g, s.c, s.url);
		g.rq.method = methods[i];
		tk_loop_call(&s.k, httpc_fixture_call_start, &g);
		ck_assert_msg(g.started == RC_INVALID, "%s", methods[i]);
	}
	for (size_t i = 0; i < NELEM(headers); i++) {
		httpc_fixture_call_init(&g, s.c, s.url);
		g.rq.headers = &headers[i];
		g.rq.nheaders = 1;
		tk_loop_call(&s.k, httpc_fixture_call_start, &g);
		ck_assert_msg(g.started == RC_INVALID, "%s", headers[i]);
	}
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.deadline.ms = 0;
	tk_loop_call(&s.k, httpc_fixture_call_start, &g);
	ck_assert_int_eq(g.started, RC_INVALID);
	ck_assert_int_eq(g.times, 0);
	httpc_fixture_check_counts(&s, 0, 0);
	httpc_fixture_close(&s);
}

TEST(a_closed_port_is_down)
{
	char url[64];

	httpc_fixture_open(&s, hold, (struct httpc_opts){ 0 });
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", tk_port());
	httpc_fixture_call_init(&g, s.c, url);
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_DOWN);
	ck_assert_int_eq(g.status, 0);
	ck_assert_str_ne(g.why, "");
	check_ms(0, 2000);
	httpc_fixture_call_init(&g, s.c, "http://nowhere.invalid/");
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_DOWN);
	httpc_fixture_close(&s);
}

TEST(the_deadline_ends_a_call_in_any_phase)
{
	static const char *const texts[] = { "", "HTTP/1.1 200",
		"HTTP/1.1 200 OK\r\nA: b\r\n", OK_HEAD, OK_HEAD "half" };

	httpc_fixture_open(&s, send_and_hold, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(texts); i++) {
		text = texts[i];
		httpc_fixture_call_init(&g, s.c, s.url);
		g.rq.deadline.ms = clock_wall().ms + 300;
		httpc_fixture_run(&s, &g);
		ck_assert_int_eq(g.rc, RC_TIMEOUT);
		check_ms(280, 1500);
		buf_free(&g.body);
	}
	/* A deadline that has passed already. */
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.deadline.ms = clock_wall().ms - 1000;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	check_ms(0, 500);
	httpc_fixture_close(&s);
}

/* A listener whose queue is full: connecting to it hangs. */
static int
full_listener(int fill[8])
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, n), 0);
	ck_assert_int_eq(listen(fd, 0), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	for (size_t i = 0; i < 8; i++) {
		fill[i] = socket(
		    AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)connect(fill[i], (struct sockaddr *)&a, n);
	}
	return ntohs(a.sin_port);
}

TEST(connecting_has_its_own_timeout)
{
	char url[64];
	int fill[8];

	httpc_fixture_open(&s, hold, (struct httpc_opts){ 0 });
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", full_listener(fill));
	httpc_fixture_call_init(&g, s.c, url);
	g.rq.connect_ms = 300;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_DOWN);
	check_ms(250, 2000);
	httpc_fixture_call_init(&g, s.c, url);
	g.rq.deadline.ms = clock_wall().ms + 300;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	check_ms(280, 1500);
	httpc_fixture_close(&s);
}

TEST(first_byte_timeout_ends_the_call)
{
	httpc_fixture_open(&s, hold, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.first_byte_ms = 300;
	g.rq.idle_ms = 100;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	ck_assert_str_eq(g.why, "no response began in time");
	check_ms(280, 1500);
	httpc_fixture_close(&s);
}

TEST(idle_timeout_ends_the_call)
{
	httpc_fixture_open(&s, send_and_hold, (struct httpc_opts){ 0 });
	text = OK_HEAD "half";
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.first_byte_ms = 5000;
	g.rq.idle_ms = 300;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	ck_assert_str_eq(g.why, "the response stalled");
	ck_assert_int_eq(g.status, 200);
	check_ms(280, 1500);
	buf_free(&g.body);
	httpc_fixture_close(&s);
}

/* A byte every 50 ms, twenty of them. */
static void
send_slowly(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);
	struct pollfd f = { .fd = fd, .events = POLLIN };
	bool ok = raw_server_read(fd, &in) &&
	    raw_server_write(
		fd, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");

	for (int i = 0; ok && i < 20 && !p->stop; i++) {
		(void)poll(&f, 1, 50);
		ok = raw_server_write(fd, ".");
	}
	buf_free(&in);
}

TEST(single_bytes_reset_the_idle_timeout)
{
	httpc_fixture_open(&s, send_slowly, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.idle_ms = 500;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert_uint_eq(g.body.n, 20);
	check_ms(900, 8000);
	buf_free(&g.body);
	httpc_fixture_close(&s);
}

TEST(truncated_responses_are_down)
{
	static const char truncated_chunk[] =
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "2\r\nab\r\n";
	static const char *const texts[] = { "", "HTTP", "HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\n", OK_HEAD, OK_HEAD "half",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		truncated_chunk };

	httpc_fixture_open(&s, send_and_close, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(texts); i++) {
		text = texts[i];
		httpc_fixture_call_init(&g, s.c, s.url);
		httpc_fixture_run(&s, &g);
		ck_assert_msg(
		    g.rc == RC_DOWN, "%zu: %s, %s", i, rc_name(g.rc), g.why);
		ck_assert_str_ne(g.why, "");
		buf_free(&g.body);
	}
	httpc_fixture_close(&s);
}

TEST(responses_that_are_not_http_are_invalid)
{
	static const char *const texts[] = { "hello there\r\n\r\n",
		"SSH-2.0-x\r\n", "<html></html>\n",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" };

	httpc_fixture_open(&s, send_and_hold, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(texts); i++) {
		text = texts[i];
		httpc_fixture_call_init(&g, s.c, s.url);
		httpc_fixture_run(&s, &g);
		ck_assert_msg(g.rc == RC_INVALID || g.rc == RC_DOWN,
		    "%zu: %s, %s", i, rc_name(g.rc), g.why);
		check_ms(0, 2000);
		buf_free(&g.body);
	}
	httpc_fixture_close(&s);
}

/* Sends without end, in chunks or in a header. */
static void
send_without_end(struct raw_server *p, int fd)
{
	enum { SIZE = 65536 + 32 };
	char *chunk = mem_zalloc(SIZE);
	struct buf in = BUF_INIT(65536);
	bool ok = raw_server_read(fd, &in);
	bool head = str_starts(buf_str(&in), STR("GET /head "));

	buf_free(&in);
	memset(chunk, 'x', SIZE - 1);
	if (head) {
		ok = ok && raw_server_write(fd, "HTTP/1.1 200 OK\r\n");
		memcpy(chunk, "X: ", 3);
		memcpy(chunk + 1000, "\r\n", 3);
	} else {
		ok = ok &&
		    raw_server_write(fd,
			"HTTP/1.1 200 OK\r\n"
			"Transfer-Encoding: chunked\r\n\r\n");
		memcpy(chunk, "10000\r\n", 7);
		memcpy(chunk + 7 + 65536, "\r\n", 3);
	}
	while (ok && !p->stop)
		ok = raw_server_write(fd, chunk);
	free(chunk);
}

TEST(responses_over_their_limit_are_too_big)
{
	char url[128];

	httpc_fixture_open(&s, send_without_end, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&g, s.c, s.url);
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TOOBIG);
	ck_assert_uint_le(g.body.n, HTTPC_BODY_MAX);
	ck_assert_str_eq(g.why, "the body is too large");
	buf_free(&g.body);
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.body_max = 100;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TOOBIG);
	ck_assert_uint_le(g.body.n, 100);
	buf_free(&g.body);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/head", s.p.port);
	httpc_fixture_call_init(&g, s.c, url);
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TOOBIG);
	ck_assert_str_eq(g.why, "the header is too large");
	httpc_fixture_close(&s);
}

TEST(a_content_length_over_the_limit_fails_immediately)
{
	httpc_fixture_open(&s, send_and_hold, (struct httpc_opts){ 0 });
	text = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
	httpc_fixture_call_init(&g, s.c, s.url);
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TOOBIG);
	check_ms(0, 2000);
	/* A body of exactly the limit is accepted. */
	text = OK_HEAD "0123456789";
	httpc_fixture_call_init(&g, s.c, s.url);
	g.rq.body_max = 10;
	httpc_fixture_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert(str_eq(buf_str(&g.body), STR("0123456789")));
	buf_free(&g.body);
	httpc_fixture_close(&s);
}
