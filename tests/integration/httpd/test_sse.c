/* Streams: events, raw bytes, slow clients, ends. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "testkit/httpd_fixture.h"

#define STREAMS_MAX 64
static struct httpd_req *streams[STREAMS_MAX];
static size_t n_streams;
static _Atomic size_t opened;

static void
on_events(void *arg, struct httpd_req *r)
{
	(void)arg;
	if (n_streams == STREAMS_MAX)
		abort();
	httpd_sse_start(r);
	streams[n_streams++] = r;
	opened++;
}

/* A raw response; the connection persists with "keep" in the query. */
static void
on_raw(void *arg, struct httpd_req *r)
{
	(void)arg;
	if (n_streams == STREAMS_MAX)
		abort();
	httpd_raw_start(r, 299, httpd_req_query(r, "keep").p != NULL);
	streams[n_streams++] = r;
	opened++;
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/events", .fn = on_events },
	{ .method = "GET", .path = "/raw", .fn = on_raw },
};

#define EVENTS "GET /events HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"

static struct httpd_fixture s;
static struct tk_response a;

static void
open_site(int64_t comment_ms)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.timeout_ms = 1000,
		.comment_ms = comment_ms });
}

static bool
opened_has_reached(void *arg)
{
	return opened == *(size_t *)arg;
}

static void
wait_opened(size_t n)
{
	ck_assert(tk_until(opened_has_reached, &n, 5000));
}

/* One event for stream i, sent on the loop. */
struct sending {
	size_t i;
	const char *event, *id;
	struct str data;
	enum rc rc;
};

static void
run_send(void *arg)
{
	struct sending *e = arg;

	e->rc = httpd_sse_send(streams[e->i], e->event, e->id, e->data);
}

static enum rc
send_event(size_t i, const char *event, const char *id, const char *data)
{
	struct sending e = { i, event, id, str_of(data), RC_BUG };

	tk_loop_call(&s.k, run_send, &e);
	return e.rc;
}

static void
run_end(void *arg)
{
	httpd_stream_end(streams[*(size_t *)arg]);
	streams[*(size_t *)arg] = NULL;
}

static void
end_stream(size_t i)
{
	tk_loop_call(&s.k, run_end, &i);
}

TEST(events_arrive_as_they_are_sent)
{
	struct tk_http c;

	open_site(0);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, EVENTS));
	ck_assert(tk_http_has(&c, "retry: 2000\n\n", 5000));
	static const char *const fields[] = {
		"HTTP/1.1 200 OK\r\n",
		"\r\nContent-Type: text/event-stream\r\n",
		"\r\nCache-Control: no-store, no-transform\r\n",
		"\r\nX-Accel-Buffering: no\r\n",
		"\r\nConnection: keep-alive\r\n",
		"\r\nTransfer-Encoding: chunked\r\n",
		"\r\ntraceparent: 00-",
	};
	for (size_t i = 0; i < NELEM(fields); i++)
		ck_assert_msg(tk_http_has(&c, fields[i], 0), "%s", fields[i]);
	wait_opened(1);
	ck_assert_int_eq(send_event(0, "emotion", "7", "{\"a\":1}"), RC_OK);
	ck_assert(tk_http_has(
	    &c, "id: 7\nevent: emotion\ndata: {\"a\":1}\n\n", 5000));
	ck_assert_int_eq(
	    send_event(0, NULL, NULL, "one\r\ntwo\rthree\n"), RC_OK);
	ck_assert(tk_http_has(
	    &c, "data: one\ndata: two\ndata: three\ndata: \n\n", 5000));
	ck_assert_int_eq(send_event(0, NULL, "8", ""), RC_OK);
	ck_assert(tk_http_has(&c, "id: 8\ndata: \n\n", 5000));
	ck_assert_int_eq(send_event(0, "a\nb", NULL, "x"), RC_INVALID);
	ck_assert_int_eq(send_event(0, NULL, "a\rb", "x"), RC_INVALID);
	end_stream(0);
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert(tk_response_has(&a, "data: one\n"));
	ck_assert(!tk_response_has(&a, "data: x"));
	/* The connection persists after a stream that its handler ended. */
	ck_assert(tk_http_puts(&c, EVENTS));
	wait_opened(2);
	end_stream(1);
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert(str_eq(buf_str(&a.body), STR("retry: 2000\n\n")));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(a_stream_outlives_the_deadline_and_sends_comments)
{
	struct tk_http c;

	open_site(400);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, EVENTS));
	wait_opened(1);
	struct mono start = clock_mono();
	ck_assert(tk_http_has(&c, ": ka\n\n", 5000));
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), 300);
	while (mono_diff_ms(clock_mono(), start) < 1500)
		(void)tk_http_fill(&c, 100);
	ck_assert_int_eq(send_event(0, NULL, NULL, "late"), RC_OK);
	ck_assert(tk_http_has(&c, "data: late\n\n", 5000));
	end_stream(0);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(an_http_1_0_client_gets_an_unchunked_stream)
{
	struct tk_http c;

	open_site(0);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, "GET /events HTTP/1.0\r\n\r\n"));
	wait_opened(1);
	ck_assert_int_eq(send_event(0, NULL, NULL, "x"), RC_OK);
	end_stream(0);
	ck_assert(tk_http_closed(&c, 5000));
	ck_assert(str_ends(
	    buf_str(&c.in), STR("\r\n\r\nretry: 2000\n\ndata: x\n\n")));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

static bool
sending_is_down(void *arg)
{
	(void)arg;
	return send_event(0, NULL, NULL, "x") == RC_DOWN;
}

TEST(a_disconnected_stream_client_is_noticed)
{
	struct tk_http c;

	open_site(100);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, EVENTS));
	wait_opened(1);
	tk_http_close(&c);
	/* Without an event a comment would find out as well. */
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	ck_assert(tk_until(sending_is_down, NULL, 5000));
	end_stream(0);
	httpd_fixture_close(&s);
}

/* A client with a small receive buffer. */
static void
open_slow(struct tk_http *c)
{
	int small = 4096;
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)s.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	buf_init(&c->in, 16 * 1024 * 1024);
	c->eof = false;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
	    setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&to, sizeof(to)), 0);
}

TEST(a_slow_stream_client_is_disconnected_and_others_are_not)
{
	enum { EVENT_BYTES = 16384 };
	char *data = mem_zalloc(EVENT_BYTES + 1);
	struct tk_http slow, quick;
	size_t sent = 0;
	enum rc rc;

	memset(data, 'x', EVENT_BYTES);
	open_site(0);
	open_slow(&slow);
	ck_assert(tk_http_puts(&slow, EVENTS));
	wait_opened(1);
	tk_http_open(&quick, s.port);
	ck_assert(tk_http_puts(&quick, EVENTS));
	wait_opened(2);
	/* Fill the kernel's buffers, then ours. */
	do {
		rc = send_event(0, NULL, NULL, data);
		ck_assert_int_eq(send_event(1, NULL, NULL, "tick"), RC_OK);
		ck_assert(tk_http_has(&quick, "data: tick\n\n", 2000));
		quick.in.n = 0;
		sent += EVENT_BYTES;
	} while (rc == RC_OK && sent < 64U * 1024 * 1024);
	ck_assert_int_eq(rc, RC_TOOBIG);
	ck_assert_uint_ge(sent, HTTPD_STREAM_MAX);
	ck_assert_int_eq(send_event(0, NULL, NULL, "x"), RC_TOOBIG);
	end_stream(0);
	ck_assert(tk_http_closed(&slow, 10000));
	ck_assert(!tk_http_has(&slow, "\r\n0\r\n\r\n", 0));
	ck_assert_int_eq(send_event(1, NULL, NULL, "tock"), RC_OK);
	ck_assert(tk_http_has(&quick, "data: tock\n\n", 2000));
	end_stream(1);
	tk_http_close(&slow);
	tk_http_close(&quick);
	free(data);
	httpd_fixture_close(&s);
}

/* A client that is not slow gets any event up to the limit. */
TEST(a_single_event_may_be_large)
{
	size_t size = 2 * (size_t)HTTPD_STREAM_MAX;
	char *data = mem_zalloc(size + 1);
	struct tk_http c;

	memset(data, 'x', size - 3);
	memcpy(data + size - 3, "end", 3);
	open_site(0);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, EVENTS));
	wait_opened(1);
	ck_assert_int_eq(send_event(0, NULL, NULL, data), RC_OK);
	ck_assert(tk_http_has(&c, "xend\n\n", 5000));
	ck_assert_int_eq(send_event(0, NULL, NULL, "on"), RC_OK);
	ck_assert(tk_http_has(&c, "data: on\n\n", 5000));
	end_stream(0);
	tk_http_close(&c);
	free(data);
	httpd_fixture_close(&s);
}

TEST(comments_are_not_events)
{
	struct tk_http c;

	open_site(0);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, EVENTS));
	wait_opened(1);
	ck_assert_int_eq(httpd_sse_comment(streams[0], "a b"), RC_OK);
	ck_assert_int_eq(httpd_sse_comment(streams[0], "a\nb"), RC_INVALID);
	end_stream(0);
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_str_eq(a.body.p, "retry: 2000\n\n: a b\n\n");
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(an_event_over_the_limit_is_rejected)
{
	char *data = mem_zalloc(HTTPD_RESPONSE_MAX + 1);
	struct tk_http c;

	memset(data, 'x', HTTPD_RESPONSE_MAX);
	open_site(0);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, EVENTS));
	ck_assert(tk_http_has(&c, "retry: 2000\n\n", 5000));
	wait_opened(1);
	ck_assert_int_eq(send_event(0, NULL, NULL, data), RC_TOOBIG);
	ck_assert(tk_http_closed(&c, 5000));
	ck_assert(!tk_http_has(&c, "data: ", 0));
	end_stream(0);
	tk_http_close(&c);
	free(data);
	httpd_fixture_close(&s);
}

TEST(many_concurrent_streams_are_served)
{
	enum { N = HTTPD_FIXTURE_WORKERS - 16, EVENTS_N = 500 };
	struct tk_http c[N];
	char text[64];

	open_site(0);
	for (size_t i = 0; i < N; i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i], EVENTS));
	}
	wait_opened(N);
	for (int e = 0; e < EVENTS_N; e++)
		for (size_t i = 0; i < N; i++) {
			snprintf(text, sizeof(text), "%d", e);
			ck_assert_int_eq(
			    send_event(i, NULL, NULL, text), RC_OK);
		}
	for (size_t i = 0; i < N; i++)
		end_stream(i);
	for (size_t i = 0; i < N; i++) {
		struct str rest;
		ck_assert(tk_http_read(&c[i], &a, 10000));
		rest = buf_str(&a.body);
		ck_assert(str_starts(rest, STR("retry: 2000\n\n")));
		rest.p += 13;
		rest.n -= 13;
		for (int e = 0; e < EVENTS_N; e++) {
			int n = snprintf(text, sizeof(text), "data: %d\n\n", e);
			ck_assert(str_starts(rest, str_of(text)));
			rest.p += n;
			rest.n -= (size_t)n;
		}
		ck_assert_uint_eq(rest.n, 0);
		tk_http_close(&c[i]);
	}
	httpd_fixture_close(&s);
}

static void
run_send_raw(void *arg)
{
	struct sending *e = arg;

	e->rc = httpd_raw_send(streams[e->i], e->data);
}

static void
send_raw(size_t i, const char *bytes)
{
	struct sending e = { .i = i, .data = str_of(bytes) };

	tk_loop_call(&s.k, run_send_raw, &e);
	ck_assert_int_eq(e.rc, RC_OK);
}

TEST(raw_responses_are_sent_unchanged)
{
	static const char answer[] =
	    "HTTP/1.1 299 Odd\r\nContent-Length: 2\r\n\r\nhi";
	struct tk_http c;
	size_t i = 0;

	open_site(50);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(
	    &c, "GET /raw?keep=1 HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
	wait_opened(1);
	/* Nothing is sent by the server itself, not even comments. */
	ck_assert(!tk_http_fill(&c, 200));
	send_raw(0, "HTTP/1.1 299 Odd\r\nContent-Length: 2\r\n\r\n");
	send_raw(0, "hi");
	tk_loop_call(&s.k, run_end, &i);
	ck_assert(tk_http_has(&c, answer, 5000));
	ck_assert_uint_eq(c.in.n, strlen(answer));
	/* The connection serves another one, which closes it. */
	ck_assert(tk_http_puts(
	    &c, "GET /raw HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
	wait_opened(2);
	send_raw(1, "no HTTP at all");
	i = 1;
	tk_loop_call(&s.k, run_end, &i);
	ck_assert(tk_http_has(&c, "no HTTP at all", 5000));
	ck_assert(tk_http_closed(&c, 1000));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

TEST(freeing_the_server_ends_streams)
{
	struct tk_http c;

	open_site(0);
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, EVENTS));
	wait_opened(1);
	ck_assert_uint_eq(httpd_busy(s.h), 1);
	httpd_stop(s.h);
	/* A stream goes on after httpd_stop(). */
	ck_assert_int_eq(send_event(0, NULL, NULL, "x"), RC_OK);
	ck_assert(tk_http_has(&c, "data: x\n\n", 5000));
	tk_loop_stop(&s.k);
	struct mono start = clock_mono();
	httpd_free(s.h);
	ck_assert_int_lt(
	    mono_diff_ms(clock_mono(), start), HTTPD_FIXTURE_SOON_MS);
	ck_assert(tk_http_closed(&c, 1000));
	ck_assert_int_eq(
	    httpd_sse_send(streams[0], NULL, NULL, STR("y")), RC_DOWN);
	httpd_stream_end(streams[0]);
	loop_free(s.k.l);
	metric_set_free(s.metrics);
	tk_http_close(&c);
}
