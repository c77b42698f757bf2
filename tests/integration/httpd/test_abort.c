/* Clients that disconnect before the response. */
#include <stdio.h>
#include <sys/socket.h>

#include "testkit/httpd_fixture.h"

static struct httpd_fixture s;
static struct tk_response response;
static struct httpd_req *held;
static enum rc registered;
static _Atomic int begun, aborted;

static void
on_abort(void *arg)
{
	ck_assert_ptr_eq(arg, &held);
	aborted++;
}

static void
on_hold(void *arg, struct httpd_req *r)
{
	(void)arg;
	registered = httpd_on_abort(r, on_abort, &held);
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
counter_has_reached(void *arg)
{
	const struct want *w = arg;

	return *w->n == w->is;
}

static void
wait_for(_Atomic int *n, int is)
{
	ck_assert(tk_until(counter_has_reached, &(struct want){ n, is }, 5000));
}

static void
begin_request(struct tk_http *c, const char *path)
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
run_respond(void *arg)
{
	(void)arg;
	httpd_respond(held, 200, "text/plain", STR("late"));
}

static void
run_end(void *arg)
{
	(void)arg;
	httpd_stream_end(held);
}

TEST(a_disconnected_client_aborts_the_request)
{
	struct tk_http c;

	open_site(0);
	begin_request(&c, "/hold");
	ck_assert_int_eq(registered, RC_OK);
	tk_http_close(&c);
	wait_for(&aborted, 1);
	/* Its worker is free before the handler ends the request. */
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	tk_loop_call(&s.k, run_respond, NULL);
	ck_assert(httpd_fixture_has_metric(&s,
	    "soul_http_requests_total{method=\"GET\",route=\"/hold\","
	    "class=\"4xx\"} 1"));
	ck_assert_int_eq(aborted, 1);
	httpd_fixture_close(&s);
}

TEST(a_client_that_stops_sending_counts_as_disconnected)
{
	struct tk_http c;

	open_site(0);
	begin_request(&c, "/hold");
	ck_assert_int_eq(shutdown(c.fd, SHUT_WR), 0);
	wait_for(&aborted, 1);
	tk_loop_call(&s.k, run_respond, NULL);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

/* The function is called neither then nor for requests without it. */
TEST(a_connected_client_gets_its_response)
{
	struct tk_http c, other;
	struct mono start;

	open_site(0);
	begin_request(&c, "/hold");
	start = clock_mono();
	while (mono_diff_ms(clock_mono(), start) < 700)
		ck_assert(!tk_http_fill(&c, 100));
	tk_loop_call(&s.k, run_respond, NULL);
	ck_assert(tk_http_read(&c, &response, 5000));
	ck_assert_int_eq(response.status, 200);
	tk_http_close(&c);
	begin_request(&other, "/plain");
	tk_http_close(&other);
	tk_loop_call(&s.k, run_respond, NULL);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	ck_assert_int_eq(aborted, 0);
	httpd_fixture_close(&s);
}

TEST(disconnected_stream_clients_are_noticed_without_an_event)
{
	struct tk_http c;

	open_site(0);
	begin_request(&c, "/stream");
	ck_assert(tk_http_has(&c, "retry: 2000", 5000));
	tk_http_close(&c);
	wait_for(&aborted, 1);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	tk_loop_call(&s.k, run_end, NULL);
	/* A stream that its handler has ended is not aborted. */
	begin_request(&c, "/stream");
	tk_loop_call(&s.k, run_end, NULL);
	tk_http_close(&c);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 5000));
	ck_assert_int_eq(aborted, 1);
	httpd_fixture_close(&s);
}

static void
run_send(void *arg)
{
	*(enum rc *)arg = httpd_sse_send(held, NULL, NULL, STR("x"));
}

/* The connection is reset before it is polled for the first time. */
TEST(a_reset_connection_counts_as_disconnected)
{
	struct linger direct = { .l_onoff = 1, .l_linger = 0 };
	struct tk_http c;
	enum rc rc;

	open_site(0);
	begin_request(&c, "/stream");
	ck_assert(tk_http_has(&c, "retry: 2000", 5000));
	ck_assert_int_eq(
	    setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &direct, sizeof(direct)),
	    0);
	tk_http_close(&c);
	wait_for(&aborted, 1);
	tk_loop_call(&s.k, run_send, &rc);
	ck_assert_int_eq(rc, RC_DOWN);
	tk_loop_call(&s.k, run_end, NULL);
	begin_request(&c, "/hold");
	ck_assert_int_eq(
	    setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &direct, sizeof(direct)),
	    0);
	tk_http_close(&c);
	wait_for(&aborted, 2);
	tk_loop_call(&s.k, run_respond, NULL);
	httpd_fixture_close(&s);
}

TEST(a_504_aborts_the_request)
{
	struct tk_http c;

	open_site(600);
	begin_request(&c, "/hold");
	ck_assert(tk_http_read(&c, &response, 5000));
	ck_assert_int_eq(response.status, 504);
	wait_for(&aborted, 1);
	tk_loop_call(&s.k, run_respond, NULL);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

static void
register_abort(void *arg)
{
	(void)arg;
	registered = httpd_on_abort(held, on_abort, &held);
}

TEST(registering_after_the_abort_is_down)
{
	struct tk_http c;

	open_site(300);
	begin_request(&c, "/plain");
	ck_assert(tk_http_read(&c, &response, 5000));
	ck_assert_int_eq(response.status, 504);
	tk_loop_call(&s.k, register_abort, NULL);
	ck_assert_int_eq(registered, RC_DOWN);
	tk_loop_call(&s.k, run_respond, NULL);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}
