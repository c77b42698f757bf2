/* Time-outs of headers, bodies and idle connections. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>

#include "testkit/httpd_fixture.h"

#define BODIES     24
#define TIMEOUT_MS 1500
#define READ_MS    8000
/* Longer than a header may take. */
#define OLD_MS 2500
/* Longer than an idle connection stays open. */
#define SLOW_MS 1100

static struct httpd_fixture s;
static struct tk_response a;

/* Scans of all descriptors so far. */
static _Atomic int scans;

/* Replaces the C library's function. */
DIR *
opendir(const char *name)
{
	DIR *(*fn)(const char *) = NULL;

	*(void **)(&fn) = dlsym(RTLD_NEXT, "opendir");
	ck_assert(fn != NULL);
	scans += strcmp(name, "/proc/self/fd") == 0;
	return fn(name);
}

static void
on_hello(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond(r, 200, "text/plain", STR("hello"));
}

/* Responds after longer than an idle connection stays open. */
static struct loop_timer timer;

static void
respond_slowly(void *arg)
{
	httpd_respond(arg, 200, "text/plain", STR("at last"));
}

static void
on_slow(void *arg, struct httpd_req *r)
{
	(void)arg;
	loop_timer_set(s.k.l, &timer, mono_add_ms(clock_mono(), SLOW_MS),
	    respond_slowly, r);
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/slow", .fn = on_slow },
	{ .method = "GET", .path = "/hello", .fn = on_hello },
	{ .method = "POST", .path = "/hello", .fn = on_hello },
};

static void
open_site(void)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.timeout_ms = TIMEOUT_MS,
		.workers = 2 * BODIES + HTTPD_SPARE_WORKERS });
}

/* The descriptors are scanned once for all bodies, not for each. */
TEST(overdue_bodies_need_a_single_scan)
{
	struct tk_http c[BODIES];
	size_t i;

	open_site();
	for (i = 0; i < BODIES; i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i],
		    "POST /hello HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
		    "Content-Type: application/json\r\n"
		    "Content-Length: 10\r\n\r\nabc"));
	}
	scans = 0;
	for (i = 0; i < BODIES; i++) {
		ck_assert(tk_http_read(&c[i], &a, READ_MS));
		ck_assert_int_eq(a.status, 408);
		tk_http_close(&c[i]);
	}
	ck_assert_int_gt(scans, 0);
	ck_assert_int_lt(scans, BODIES / 2);
	httpd_fixture_close(&s);
}

/* The time counts from the header, not from the connection. */
TEST(a_broken_header_on_an_old_connection_is_not_a_timeout)
{
	struct mono start = clock_mono();
	struct tk_http c;

	open_site();
	tk_http_open(&c, s.port);
	while (mono_diff_ms(clock_mono(), start) < OLD_MS) {
		ck_assert(tk_http_puts(
		    &c, "GET /hello HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
		ck_assert(tk_http_read(&c, &a, READ_MS));
		ck_assert_int_eq(a.status, 200);
	}
	ck_assert(tk_http_puts(&c, "this is no head\r\n\r\n"));
	ck_assert(tk_http_read(&c, &a, READ_MS));
	ck_assert_int_eq(a.status, 400);
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

/* So that no client sends a request on a connection about to be closed. */
TEST(a_slow_response_closes_the_connection)
{
	char field[64];
	struct tk_http c;

	open_site();
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(
	    &c, "GET /hello HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
	ck_assert(tk_http_read(&c, &a, READ_MS));
	ck_assert_str_eq(
	    tk_response_field(&a, "Connection", field, sizeof(field)),
	    "keep-alive");
	ck_assert(tk_http_puts(
	    &c, "GET /slow HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
	ck_assert(tk_http_read(&c, &a, READ_MS));
	ck_assert_int_eq(a.status, 200);
	ck_assert_str_eq(
	    tk_response_field(&a, "Connection", field, sizeof(field)), "close");
	ck_assert(tk_http_closed(&c, READ_MS));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}
