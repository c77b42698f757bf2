/* Overload, a stuck loop, stopping and freeing. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "testkit/httpd_fixture.h"

/* Requests passed to on_hold(), to be responded to later. */
#define HELD_MAX 256
static struct httpd_req *held[HELD_MAX];
static size_t n_held;
static _Atomic size_t ever_held;

static void
on_hold(void *arg, struct httpd_req *r)
{
	(void)arg;
	if (n_held == HELD_MAX)
		abort();
	held[n_held++] = r;
	ever_held++;
}

static void
release(void *arg)
{
	(void)arg;
	while (n_held > 0)
		httpd_respond(
		    held[--n_held], 200, "application/json", STR("{}"));
}

static void
on_live(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond(r, 200, "text/plain", STR("ok"));
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/hold", .fn = on_hold },
	{ .method = "POST", .path = "/hold", .fn = on_hold },
	{ .method = "GET", .path = "/live", .fn = on_live, .direct = true },
};

#define HOLD "GET /hold HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"
#define LIVE "GET /live HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"

static struct httpd_fixture s;
static struct tk_response a;
static char field[64];

static struct httpd_opts
opts(int64_t timeout_ms)
{
	return (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.timeout_ms = timeout_ms };
}

static bool
held_has_reached(void *arg)
{
	return ever_held == *(size_t *)arg;
}

static void
wait_held(size_t n)
{
	ck_assert_msg(tk_until(held_has_reached, &n, 5000), "%zu", ever_held);
}

/* The duration of a call, and whether the connection was closed after it. */
static int64_t
timed_call(const char *text, bool *closed)
{
	struct mono start = clock_mono();
	struct tk_http c;

	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, text));
	if (!tk_http_read(&c, &a, 5000))
		a.status = 0;
	int64_t ms = mono_diff_ms(clock_mono(), start);
	*closed = tk_http_closed(&c, 500);
	tk_http_close(&c);
	return ms;
}

TEST(requests_without_a_free_worker_are_rejected_immediately)
{
	struct tk_http c[HTTPD_FIXTURE_WORKERS - 16];
	bool closed;

	httpd_fixture_open(&s, opts(0));
	for (size_t i = 0; i < NELEM(c); i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i], HOLD));
	}
	wait_held(NELEM(c));
	for (int i = 0; i < 20; i++) {
		ck_assert_int_lt(
		    timed_call(HOLD, &closed), HTTPD_FIXTURE_SOON_MS);
		ck_assert_int_eq(a.status, 503);
		ck_assert(closed);
		ck_assert_str_eq(
		    tk_response_field(&a, "Retry-After", field, sizeof(field)),
		    "1");
		ck_assert_str_eq(
		    tk_response_field(&a, "Connection", field, sizeof(field)),
		    "close");
		ck_assert(tk_response_has(&a, "\"code\":\"overloaded\""));
	}
	/* Health checks are served. */
	(void)timed_call(LIVE, &closed);
	ck_assert_int_eq(a.status, 200);
	tk_loop_call(&s.k, release, NULL);
	for (size_t i = 0; i < NELEM(c); i++) {
		ck_assert(tk_http_read(&c[i], &a, 5000));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&c[i]);
	}
	ck_assert(httpd_fixture_has_metric(
	    &s, "soul_http_refused_total{reason=\"workers\"} 20\n"));
	httpd_fixture_close(&s);
}

TEST(idle_connections_do_not_starve_new_ones)
{
	struct tk_http idle[HTTPD_FIXTURE_WORKERS - 16];
	bool closed;

	httpd_fixture_open(&s, opts(0));
	for (size_t i = 0; i < NELEM(idle); i++) {
		tk_http_open(&idle[i], s.port);
		ck_assert(tk_http_puts(&idle[i], LIVE));
		ck_assert(tk_http_read(&idle[i], &a, 5000));
	}
	/* They hold their workers only for the keep-alive time. */
	for (size_t i = 0; i < NELEM(idle); i++) {
		ck_assert(tk_http_closed(&idle[i], 3000));
		tk_http_close(&idle[i]);
	}
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 2000));
	(void)timed_call(LIVE, &closed);
	ck_assert_int_eq(a.status, 200);
	ck_assert(!closed);
	httpd_fixture_close(&s);
}

TEST(connections_are_closed_when_workers_are_scarce)
{
	struct tk_http c[HTTPD_FIXTURE_WORKERS];
	size_t open = 0;

	httpd_fixture_open(&s, opts(0));
	for (size_t i = 0; i < NELEM(c); i++)
		tk_http_open(&c[i], s.port);
	for (size_t i = 0; i < NELEM(c); i++) {
		ck_assert(tk_http_puts(&c[i], LIVE));
		ck_assert(tk_http_read(&c[i], &a, 5000));
		if (strcmp(tk_response_field(
			       &a, "Connection", field, sizeof(field)),
			"keep-alive") == 0)
			open++;
	}
	ck_assert_uint_le(open, HTTPD_FIXTURE_WORKERS * 3 / 4);
	ck_assert_uint_gt(open, 0);
	for (size_t i = 0; i < NELEM(c); i++)
		tk_http_close(&c[i]);
	httpd_fixture_close(&s);
}

/* Block the loop until the gate opens. */
static pthread_mutex_t loop_gate = PTHREAD_MUTEX_INITIALIZER;

static void
hold_loop(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&loop_gate);
	pthread_mutex_unlock(&loop_gate);
}

TEST(health_checks_respond_while_the_loop_is_stuck)
{
	bool closed;

	httpd_fixture_open(&s, opts(700));
	pthread_mutex_lock(&loop_gate);
	ck_assert_int_eq(loop_post(s.k.l, hold_loop, NULL), RC_OK);
	int64_t ms = timed_call(HOLD, &closed);
	ck_assert_int_eq(a.status, 504);
	ck_assert(tk_response_has(&a, "\"code\":\"deadline_exceeded\""));
	ck_assert_msg(
	    ms >= 690 && ms < 700 + HTTPD_FIXTURE_SOON_MS, "%d", (int)ms);
	ms = timed_call(LIVE, &closed);
	ck_assert_int_eq(a.status, 200);
	ck_assert_int_lt(ms, HTTPD_FIXTURE_SOON_MS);
	pthread_mutex_unlock(&loop_gate);
	tk_loop_call(&s.k, NULL, NULL);
	/* A request that got 504 while queued is not passed to its handler. */
	ck_assert_uint_eq(ever_held, 0);
	httpd_fixture_close(&s);
}

TEST(a_full_inbox_is_503)
{
	struct tk_http c[4];
	bool closed;

	httpd_fixture_new(&s, opts(0), NELEM(c));
	tk_loop_start(&s.k);
	tk_loop_call(&s.k, NULL, NULL);
	pthread_mutex_lock(&loop_gate);
	ck_assert_int_eq(loop_post(s.k.l, hold_loop, NULL), RC_OK);
	while (loop_inbox_len(s.k.l) > 0)
		continue;
	for (size_t i = 0; i < NELEM(c); i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i], HOLD));
	}
	while (loop_inbox_len(s.k.l) < NELEM(c))
		continue;
	ck_assert_int_lt(timed_call(HOLD, &closed), HTTPD_FIXTURE_SOON_MS);
	ck_assert_int_eq(a.status, 503);
	ck_assert_str_eq(
	    tk_response_field(&a, "Retry-After", field, sizeof(field)), "1");
	ck_assert(closed);
	pthread_mutex_unlock(&loop_gate);
	wait_held(NELEM(c));
	tk_loop_call(&s.k, release, NULL);
	for (size_t i = 0; i < NELEM(c); i++) {
		ck_assert(tk_http_read(&c[i], &a, 5000));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&c[i]);
	}
	ck_assert(httpd_fixture_has_metric(
	    &s, "soul_http_refused_total{reason=\"inbox\"} 1\n"));
	httpd_fixture_close(&s);
}

TEST(a_response_after_504_only_ends_the_request)
{
	struct tk_http c;

	httpd_fixture_open(&s, opts(300));
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c, HOLD));
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 504);
	wait_held(1);
	tk_loop_call(&s.k, release, NULL);
	/* The connection can be reused. */
	ck_assert(tk_http_puts(&c, LIVE));
	ck_assert(tk_http_read(&c, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

static bool
one_is_busy(void *arg)
{
	(void)arg;
	return httpd_busy(s.h) == 1;
}

TEST(stopping_rejects_new_requests_and_finishes_pending_ones)
{
	struct tk_http old, idle;
	bool closed;

	httpd_fixture_open(&s, opts(0));
	tk_http_open(&old, s.port);
	ck_assert(tk_http_puts(&old, HOLD));
	wait_held(1);
	tk_http_open(&idle, s.port);
	ck_assert(tk_http_puts(&idle, LIVE));
	ck_assert(tk_http_read(&idle, &a, 5000));
	httpd_stop(s.h);
	ck_assert(tk_until(one_is_busy, NULL, 2000));
	ck_assert_int_lt(timed_call(HOLD, &closed), HTTPD_FIXTURE_SOON_MS);
	ck_assert_int_eq(a.status, 503);
	ck_assert(closed);
	ck_assert(tk_http_puts(&idle, LIVE));
	ck_assert(tk_http_read(&idle, &a, 5000));
	ck_assert_int_eq(a.status, 503);
	ck_assert(tk_http_closed(&idle, 500));
	tk_loop_call(&s.k, release, NULL);
	ck_assert(tk_http_read(&old, &a, 5000));
	ck_assert_int_eq(a.status, 200);
	ck_assert_str_eq(
	    tk_response_field(&a, "Connection", field, sizeof(field)), "close");
	ck_assert(tk_http_closed(&old, 500));
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 2000));
	tk_http_close(&old);
	tk_http_close(&idle);
	httpd_fixture_close(&s);
}

/* A client whose request is pending while the server is freed. */
static void *
wait_for_503(void *arg)
{
	struct tk_http *c = arg;
	struct tk_response mine = { 0 };

	if (!tk_http_read(c, &mine, 10000))
		mine.status = 0;
	tk_response_free(&mine);
	return (void *)(intptr_t)mine.status;
}

TEST(freeing_responds_to_pending_requests_and_handlers_may_end_later)
{
	struct tk_http c[8];
	pthread_t t[NELEM(c)];
	void *status;

	httpd_fixture_open(&s, opts(0));
	for (size_t i = 0; i < NELEM(c); i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i], HOLD));
	}
	wait_held(NELEM(c));
	tk_loop_stop(&s.k);
	for (size_t i = 0; i < NELEM(c); i++)
		ck_assert_int_eq(
		    pthread_create(&t[i], NULL, wait_for_503, &c[i]), 0);
	struct mono start = clock_mono();
	httpd_free(s.h);
	ck_assert_int_lt(
	    mono_diff_ms(clock_mono(), start), HTTPD_FIXTURE_SOON_MS);
	for (size_t i = 0; i < NELEM(c); i++) {
		ck_assert_int_eq(pthread_join(t[i], &status), 0);
		ck_assert_int_eq((intptr_t)status, 503);
		tk_http_close(&c[i]);
	}
	release(NULL);
	loop_free(s.k.l);
	metric_set_free(s.metrics);
}

TEST(freeing_an_idle_server_is_quick)
{
	struct tk_http idle, half;

	httpd_fixture_open(&s, opts(0));
	/* One connection between requests, one within a header. */
	tk_http_open(&idle, s.port);
	ck_assert(tk_http_puts(&idle, LIVE));
	ck_assert(tk_http_read(&idle, &a, 5000));
	tk_http_open(&half, s.port);
	ck_assert(tk_http_puts(&half, "GET "));
	tk_loop_stop(&s.k);
	struct mono start = clock_mono();
	httpd_free(s.h);
	int64_t ms = mono_diff_ms(clock_mono(), start);
	ck_assert_msg(ms < 500, "%d", (int)ms);
	tk_http_close(&idle);
	tk_http_close(&half);
	loop_free(s.k.l);
	metric_set_free(s.metrics);
}

TEST(a_port_can_be_reused_after_free)
{
	char addr[64];
	bool closed;

	httpd_fixture_open(&s, opts(0));
	int port = s.port;
	(void)timed_call(LIVE, &closed);
	httpd_fixture_close(&s);
	snprintf(addr, sizeof(addr), "127.0.0.1:%d", port);
	for (int i = 0; i < 3; i++) {
		struct httpd_opts o = opts(0);
		o.addr = addr;
		httpd_fixture_open(&s, o);
		ck_assert_int_eq(s.port, port);
		(void)timed_call(LIVE, &closed);
		ck_assert_int_eq(a.status, 200);
		httpd_fixture_close(&s);
	}
}

TEST(a_port_in_use_and_bad_options_are_distinguished)
{
	static const char *const bad[] = { "", "9013", ":9013", "127.0.0.1",
		"127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "[::1]:9013",
		"127.0.0.1:443s", "127.0.0.1:80r", "localhost:80", "+80",
		"127.0.0.1:80,127.0.0.1:81", "1.2.3:80", "1.2.3.4.5:80", "::1",
		"256.1.1.1:80" };
	static const struct httpd_route bad_route[] = {
		{ .method = "GET", .path = "nothing", .fn = on_live },
	};
	struct httpd_opts o;
	struct httpd *h = NULL;
	char addr[64];

	httpd_fixture_open(&s, opts(0));
	o = opts(1000);
	o.loop = s.k.l;
	o.workers = 17;
	for (size_t i = 0; i < NELEM(bad); i++) {
		o.addr = bad[i];
		ck_assert_msg(httpd_new(&o, &h) == RC_INVALID, "%s", bad[i]);
	}
	o.addr = "127.0.0.1:0";
	o.workers = 16;
	ck_assert_int_eq(httpd_new(&o, &h), RC_INVALID);
	o.workers = 17;
	o.routes = bad_route;
	o.nroutes = 1;
	ck_assert_int_eq(httpd_new(&o, &h), RC_INVALID);
	o.nroutes = 0;
	snprintf(addr, sizeof(addr), "127.0.0.1:%d", s.port);
	o.addr = addr;
	ck_assert_int_eq(httpd_new(&o, &h), RC_DOWN);
	ck_assert_ptr_null(h);
	httpd_fixture_close(&s);
}
