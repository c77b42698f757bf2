/* Calls that end early: deadlines, silence, cuts, ceilings, bad peers. */
#include "integration/httpc/peer.h"

static struct scene s;
static struct got g;

/* What the peer sends after a request, before it holds the connection. */
static const char *_Atomic text;

static void
say_and_hold(struct peer *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	if (peer_read(fd, &in) && peer_write(fd, text))
		peer_hold(p, fd);
	buf_free(&in);
}

static void
say_and_cut(struct peer *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	(void)p;
	if (peer_read(fd, &in))
		(void)peer_write(fd, text);
	buf_free(&in);
}

static void
hold(struct peer *p, int fd)
{
	peer_hold(p, fd);
}

static void
check_ms(int64_t least, int64_t most)
{
	int64_t ms = got_ms(&g);

	ck_assert_msg(ms >= least && ms <= most, "%d ms", (int)ms);
}

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

TEST(requests_that_cannot_be_made)
{
	static const char *const urls[] = { "", "x", "/a", "http://",
		"ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://h/1",
		"http://127.0.0.1:99999/", "http://a b/", "http://[::1/",
		"http://127.0.0.1/\r\nX: y", "ht!tp://a/", NULL };
	static const char *const methods[] = { "", "get", "GE T", "GET\r\nX: y",
		NULL };
	static const char *const headers[] = { "", "no colon", "A: b\r\nC: d",
		"A: b\nC: d" };

	scene_open(&s, hold, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(urls); i++) {
		got_init(&g, s.c, urls[i]);
		tk_loop_call(&s.k, got_start, &g);
		ck_assert_msg(g.started == RC_INVALID, "%s", urls[i]);
	}
	for (size_t i = 0; i < NELEM(methods); i++) {
		got_init(&g, s.c, s.url);
		g.rq.method = methods[i];
		tk_loop_call(&s.k, got_start, &g);
		ck_assert_msg(g.started == RC_INVALID, "%s", methods[i]);
	}
	for (size_t i = 0; i < NELEM(headers); i++) {
		got_init(&g, s.c, s.url);
		g.rq.headers = &headers[i];
		g.rq.nheaders = 1;
		tk_loop_call(&s.k, got_start, &g);
		ck_assert_msg(g.started == RC_INVALID, "%s", headers[i]);
	}
	got_init(&g, s.c, s.url);
	g.rq.deadline.ms = 0;
	tk_loop_call(&s.k, got_start, &g);
	ck_assert_int_eq(g.started, RC_INVALID);
	ck_assert_int_eq(g.times, 0);
	scene_counts(&s, 0, 0);
	scene_close(&s);
}

TEST(nobody_listens)
{
	char url[64];

	scene_open(&s, hold, (struct httpc_opts){ 0 });
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", tk_port());
	got_init(&g, s.c, url);
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_DOWN);
	ck_assert_int_eq(g.status, 0);
	ck_assert_str_ne(g.why, "");
	check_ms(0, 2000);
	got_init(&g, s.c, "http://nowhere.invalid/");
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_DOWN);
	scene_close(&s);
}

TEST(the_deadline_ends_a_call_in_any_phase)
{
	static const char *const texts[] = { "", "HTTP/1.1 200",
		"HTTP/1.1 200 OK\r\nA: b\r\n", OK_HEAD, OK_HEAD "half" };

	scene_open(&s, say_and_hold, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(texts); i++) {
		text = texts[i];
		got_init(&g, s.c, s.url);
		g.rq.deadline.ms = clock_wall().ms + 300;
		scene_run(&s, &g);
		ck_assert_int_eq(g.rc, RC_TIMEOUT);
		check_ms(280, 1500);
		buf_free(&g.body);
	}
	/* One that has passed already. */
	got_init(&g, s.c, s.url);
	g.rq.deadline.ms = clock_wall().ms - 1000;
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	check_ms(0, 500);
	scene_close(&s);
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

TEST(connecting_has_its_own_time)
{
	char url[64];
	int fill[8];

	scene_open(&s, hold, (struct httpc_opts){ 0 });
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", full_listener(fill));
	got_init(&g, s.c, url);
	g.rq.connect_ms = 300;
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_DOWN);
	check_ms(250, 2000);
	got_init(&g, s.c, url);
	g.rq.deadline.ms = clock_wall().ms + 300;
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	check_ms(280, 1500);
	scene_close(&s);
}

TEST(an_answer_that_does_not_begin)
{
	scene_open(&s, hold, (struct httpc_opts){ 0 });
	got_init(&g, s.c, s.url);
	g.rq.first_byte_ms = 300;
	g.rq.idle_ms = 100;
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	ck_assert_str_eq(g.why, "no response began in time");
	check_ms(280, 1500);
	scene_close(&s);
}

TEST(an_answer_that_falls_silent)
{
	scene_open(&s, say_and_hold, (struct httpc_opts){ 0 });
	text = OK_HEAD "half";
	got_init(&g, s.c, s.url);
	g.rq.first_byte_ms = 5000;
	g.rq.idle_ms = 300;
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TIMEOUT);
	ck_assert_str_eq(g.why, "the response stalled");
	ck_assert_int_eq(g.status, 200);
	check_ms(280, 1500);
	buf_free(&g.body);
	scene_close(&s);
}

/* A byte every 50 ms, twenty of them. */
static void
drip(struct peer *p, int fd)
{
	struct buf in = BUF_INIT(65536);
	struct pollfd f = { .fd = fd, .events = POLLIN };
	bool ok = peer_read(fd, &in) &&
	    peer_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");

	for (int i = 0; ok && i < 20 && !p->stop; i++) {
		(void)poll(&f, 1, 50);
		ok = peer_write(fd, ".");
	}
	buf_free(&in);
}

TEST(an_answer_that_drips_is_not_silent)
{
	scene_open(&s, drip, (struct httpc_opts){ 0 });
	got_init(&g, s.c, s.url);
	g.rq.idle_ms = 500;
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert_uint_eq(g.body.n, 20);
	check_ms(900, 8000);
	buf_free(&g.body);
	scene_close(&s);
}

TEST(answers_that_are_cut)
{
	static const char chunk_cut[] =
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "2\r\nab\r\n";
	static const char *const texts[] = { "", "HTTP", "HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\n", OK_HEAD, OK_HEAD "half",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		chunk_cut };

	scene_open(&s, say_and_cut, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(texts); i++) {
		text = texts[i];
		got_init(&g, s.c, s.url);
		scene_run(&s, &g);
		ck_assert_msg(
		    g.rc == RC_DOWN, "%zu: %s, %s", i, rc_name(g.rc), g.why);
		ck_assert_str_ne(g.why, "");
		buf_free(&g.body);
	}
	scene_close(&s);
}

TEST(answers_that_are_not_http)
{
	static const char *const texts[] = { "hello there\r\n\r\n",
		"SSH-2.0-x\r\n", "<html></html>\n",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" };

	scene_open(&s, say_and_hold, (struct httpc_opts){ 0 });
	for (size_t i = 0; i < NELEM(texts); i++) {
		text = texts[i];
		got_init(&g, s.c, s.url);
		scene_run(&s, &g);
		ck_assert_msg(g.rc == RC_INVALID || g.rc == RC_DOWN,
		    "%zu: %s, %s", i, rc_name(g.rc), g.why);
		check_ms(0, 2000);
		buf_free(&g.body);
	}
	scene_close(&s);
}

/* Sends without end, in chunks or in a header. */
static void
flood(struct peer *p, int fd)
{
	enum { SIZE = 65536 + 32 };
	char *piece = mem_zalloc(SIZE);
	struct buf in = BUF_INIT(65536);
	bool ok = peer_read(fd, &in);
	bool head = str_starts(buf_str(&in), STR("GET /head "));

	buf_free(&in);
	memset(piece, 'x', SIZE - 1);
	if (head) {
		ok = ok && peer_write(fd, "HTTP/1.1 200 OK\r\n");
		memcpy(piece, "X: ", 3);
		memcpy(piece + 1000, "\r\n", 3);
	} else {
		ok = ok &&
		    peer_write(fd,
			"HTTP/1.1 200 OK\r\n"
			"Transfer-Encoding: chunked\r\n\r\n");
		memcpy(piece, "10000\r\n", 7);
		memcpy(piece + 7 + 65536, "\r\n", 3);
	}
	while (ok && !p->stop)
		ok = peer_write(fd, piece);
	free(piece);
}

TEST(answers_over_their_ceiling)
{
	char url[128];

	scene_open(&s, flood, (struct httpc_opts){ 0 });
	got_init(&g, s.c, s.url);
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TOOBIG);
	ck_assert_uint_le(g.body.n, HTTPC_BODY_MAX);
	ck_assert_str_eq(g.why, "the body is too large");
	buf_free(&g.body);
	got_init(&g, s.c, s.url);
	g.rq.body_max = 100;
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TOOBIG);
	ck_assert_uint_le(g.body.n, 100);
	buf_free(&g.body);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/head", s.p.port);
	got_init(&g, s.c, url);
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TOOBIG);
	ck_assert_str_eq(g.why, "the header is too large");
	scene_close(&s);
}

TEST(an_announced_length_over_the_ceiling_is_refused_at_once)
{
	scene_open(&s, say_and_hold, (struct httpc_opts){ 0 });
	text = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
	got_init(&g, s.c, s.url);
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_TOOBIG);
	check_ms(0, 2000);
	/* A body of just the ceiling is none too large. */
	text = OK_HEAD "0123456789";
	got_init(&g, s.c, s.url);
	g.rq.body_max = 10;
	scene_run(&s, &g);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert(str_eq(buf_str(&g.body), STR("0123456789")));
	buf_free(&g.body);
	scene_close(&s);
}
