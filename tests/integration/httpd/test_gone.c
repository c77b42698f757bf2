/* Clients that hang up before they are answered. */
#include <stdio.h>
#include <sys/socket.h>

#include "testkit/httpd_fixture.h"

static struct httpd_fixture s;
static struct tk_response a;
static struct httpd_req *held;
static enum rc asked;
static _Atomic int begun, gone;

static void
on_gone(void *arg)
{
	ck_assert_ptr_eq(arg, &held);
	gone++;
}

static void
on_hold(void *arg, struct httpd_req *r)
{
	(void)arg;
	asked = httpd_on_abort(r, on_gone, &held);
	held = r;
	begun++;
}

static void
on_stream(void *arg, struct httpd_req *r)
{
	httpd_sse_start(r);
	on_hold(arg, r);
}

static void
on_plain(void *arg, struct httpd_req *r)
{
	(void)arg;
	held = r;
	begun++;
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/hold", .fn = on_hold },
	{ .method = "GET", .path = "/stream", .fn = on_stream },
	{ .method = "GET", .path = "/plain", .fn = on_plain },
};

static void
open_site(int64_t timeout_ms)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.timeout_ms = timeout_ms });
}

struct want {
	_Atomic int *n;
	int is;
};

static bool
has_come(void *arg)
{
	const struct want *w = arg;

	return *w->n == w->is;
}

static void
wait_for(_Atomic int *n, int is)
{
	ck_assert(tk_until(has_come, &(struct want){ n, is }, 5000));
}

static void
begin(struct tk_http *c, const char *path)
{
	int n = begun;
	char head[128];

	snprintf(head, sizeof(head),
	    "GET %s HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n", path);
	tk_http_open(c, s.port);
	ck_assert(tk_http_puts(c, head));
	wait_for(&begun, n + 1);
}

static void
do_reply(void *arg)
{
	(void)arg;
	httpd_respond(held, 200, "text/plain", STR("late"));
}

static void
do_end(void *arg)
{
	(void)arg;
	httpd_stream_end(held);
}

TEST(a_client_that_hangs_up_is_told_of)
{
	struct tk_http c;

	open_site(0);
	begin(&c, "/hold");
	ck_assert_int_eq(asked, RC_OK);
	tk_http_close(&c);
	wait_for(&gone, 1);
	/* Its worker is free before the handler ends. */
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	tk_loop_call(&s.k, do_reply, NULL);
	ck_assert(httpd_fixture_has_metric(&s,
	    "soul_http_requests_total{method=\"GET\",route=\"/hold\","
	    "class=\"4xx\"} 1"));
	ck_assert_int_eq(gone, 1);
	httpd_fixture_close(&s);
}

TEST(the_end_of_its_sending_counts)
{
	struct tk_http c;

	open_site(0);
	begin(&c, "/hold");
	ck_assert_int_eq(shutdown(c.fd, SHUT_WR), 0);
	wait_for(&gone, 1);
	tk_loop_call(&s.k, do_reply, NULL);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

/* Who waits is answered; nothing is told then, nor of whom nobody asked. */
TEST(a_client_that_stays_is_answered)
{
	struct tk_http c, other;
	struct mono start;

	open_site(0);
	begin(&c, "/hold");
	start = clock_mono();
	while (mono_diff_ms(clock_mono(), start) < 700)
		ck_assert(!tk_http_fill(&c, 100));
	tk_loop_call(&s.k, do_reply, NULL);
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	tk_http_close(&c);
	begin(&other, "/plain");
	tk_http_close(&other);
	tk_loop_call(&s.k, do_reply, NULL);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	ck_assert_int_eq(gone, 0);
	httpd_fixture_close(&s);
}

TEST(readers_of_streams_are_told_of_without_an_event)
{
	struct tk_http c;

	open_site(0);
	begin(&c, "/stream");
	ck_assert(tk_http_has(&c, "retry: 2000", 5000));
	tk_http_close(&c);
	wait_for(&gone, 1);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	tk_loop_call(&s.k, do_end, NULL);
	/* A stream that ended well has nobody to tell. */
	begin(&c, "/stream");
	tk_loop_call(&s.k, do_end, NULL);
	tk_http_close(&c);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	ck_assert_int_eq(gone, 1);
	httpd_fixture_close(&s);
}

static void
do_send(void *arg)
{
	*(enum rc *)arg = httpd_sse_send(held, NULL, NULL, STR("x"));
}

/* A connection that was reset before it was looked at for the first time. */
TEST(a_reset_counts)
{
	struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	struct tk_http c;
	enum rc rc;

	open_site(0);
	begin(&c, "/stream");
	ck_assert(tk_http_has(&c, "retry: 2000", 5000));
	ck_assert_int_eq(
	    setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)),
	    0);
	tk_http_close(&c);
	wait_for(&gone, 1);
	tk_loop_call(&s.k, do_send, &rc);
	ck_assert_int_eq(rc, RC_DOWN);
	tk_loop_call(&s.k, do_end, NULL);
	begin(&c, "/hold");
	ck_assert_int_eq(
	    setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)),
	    0);
	tk_http_close(&c);
	wait_for(&gone, 2);
	tk_loop_call(&s.k, do_reply, NULL);
	httpd_fixture_close(&s);
}

TEST(whoever_was_answered_504_is_gone_too)
{
	struct tk_http c;

	open_site(600);
	begin(&c, "/hold");
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 504);
	wait_for(&gone, 1);
	tk_loop_call(&s.k, do_reply, NULL);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

static void
ask_again(void *arg)
{
	(void)arg;
	asked = httpd_on_abort(held, on_gone, &held);
}

TEST(asking_too_late_is_told_so)
{
	struct tk_http c;

	open_site(300);
	begin(&c, "/plain");
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 504);
	tk_loop_call(&s.k, ask_again, NULL);
	ck_assert_int_eq(asked, RC_DOWN);
	tk_loop_call(&s.k, do_reply, NULL);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}
