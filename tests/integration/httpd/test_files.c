/* Files beside routes: methods, encodings, caches, headers, load. */
#include "core/mem.h"
#include "httpd/httpd_files.h"
#include "testkit/httpd_fixture.h"

static const char page[] = "<p>page", page_gz[] = "\x1f\x8bpage";
static const char script[] = "let a", script_gz[] = "\x1f\x8bscript";

static const struct httpd_file files[] = {
	{ "/", "text/html; charset=utf-8", "W/\"p1\"", page, page + 7, page_gz,
	    page_gz + 6, false },
	{ "/console/d/a.js", "text/javascript", "W/\"s1\"", script, script + 5,
	    script_gz, script_gz + 8, true },
};

static struct httpd_fixture s;
static struct tk_response a;
static char field[1024];
static struct httpd_req *_Atomic held[HTTPD_FIXTURE_WORKERS];
static _Atomic size_t n_held;

static void
on_hold(void *arg, struct httpd_req *r)
{
	(void)arg;
	held[n_held] = r;
	n_held++;
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/v1/hold", .fn = on_hold },
};

static const char *
header(const char *name)
{
	return tk_response_field(&a, name, field, sizeof(field));
}

static int
request(const char *method, const char *path, const char *fields)
{
	return tk_http_call(s.port, &a,
	    "%s %s HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "%s\r\n", method, path,
	    fields);
}

static void
open_site(void)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.files = files,
		.nfiles = NELEM(files) });
}

TEST(a_file_has_its_type_and_strict_headers)
{
	open_site();
	ck_assert_int_eq(request("GET", "/", ""), 200);
	ck_assert_str_eq(header("Content-Type"), "text/html; charset=utf-8");
	ck_assert_str_eq(header("Cache-Control"), "no-cache");
	ck_assert_str_eq(header("ETag"), "W/\"p1\"");
	ck_assert_str_eq(header("Vary"), "Accept-Encoding");
	ck_assert_str_eq(header("Content-Encoding"), "");
	ck_assert_str_eq(header("X-Content-Type-Options"), "nosniff");
	ck_assert_str_eq(header("Referrer-Policy"), "no-referrer");
	const char *policy = header("Content-Security-Policy");
	ck_assert_ptr_nonnull(strstr(policy, "default-src 'none'"));
	ck_assert_ptr_nonnull(strstr(policy, "frame-ancestors 'none'"));
	ck_assert_ptr_nonnull(
	    strstr(policy, "require-trusted-types-for 'script'"));
	ck_assert_ptr_null(strstr(policy, "unsafe"));
	ck_assert_uint_eq(a.body.n, 7);
	ck_assert(tk_response_has(&a, "<p>page"));
	ck_assert_int_eq(request("GET", "/console/d/a.js", ""), 200);
	ck_assert_str_eq(
	    header("Cache-Control"), "public, max-age=31536000, immutable");
	httpd_fixture_close(&s);
}

TEST(a_client_that_takes_gzip_gets_it)
{
	open_site();
	ck_assert_int_eq(
	    request("GET", "/", "Accept-Encoding: br, gzip\r\n"), 200);
	ck_assert_str_eq(header("Content-Encoding"), "gzip");
	ck_assert_uint_eq(a.body.n, 6);
	ck_assert_mem_eq(a.body.p, page_gz, 6);
	httpd_fixture_close(&s);
}

TEST(a_client_that_has_it_gets_304)
{
	open_site();
	ck_assert_int_eq(request("GET", "/", "If-None-Match: \"p1\"\r\n"), 304);
	ck_assert_uint_eq(a.body.n, 0);
	ck_assert_str_eq(header("ETag"), "W/\"p1\"");
	ck_assert_int_eq(request("GET", "/", "If-None-Match: \"p0\"\r\n"), 200);
	httpd_fixture_close(&s);
}

TEST(only_methods_that_read_are_allowed)
{
	struct tk_http c;

	open_site();
	ck_assert_int_eq(request("POST", "/", "Content-Length: 0\r\n"), 405);
	ck_assert_str_eq(header("Allow"), "GET, HEAD");
	ck_assert_int_eq(request("GET", "/console/e/a.js", ""), 404);
	ck_assert_int_eq(request("GET", "/console/d/", ""), 404);
	/* A HEAD has the length of the file, and not the file. */
	tk_http_open(&c, s.port);
	ck_assert(tk_http_puts(&c,
	    "HEAD / HTTP/1.1\r\n" HTTPD_FIXTURE_HOST
	    "Connection: close\r\n\r\n"));
	while (tk_http_fill(&c, HTTPD_FIXTURE_SOON_MS))
		;
	ck_assert(tk_http_has(&c, "Content-Length: 7\r\n", 0));
	ck_assert(!tk_http_has(&c, "<p>page", 0));
	tk_http_close(&c);
	httpd_fixture_close(&s);
}

static bool
is_full(void *arg)
{
	(void)arg;
	return n_held == HTTPD_FIXTURE_WORKERS - HTTPD_SPARE_WORKERS;
}

static void
release(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < n_held; i++)
		httpd_respond(held[i], 200, "text/plain", STR(""));
}

TEST(files_are_served_while_requests_are_rejected)
{
	struct tk_http c[HTTPD_FIXTURE_WORKERS];
	size_t i, n = HTTPD_FIXTURE_WORKERS - HTTPD_SPARE_WORKERS;

	open_site();
	n_held = 0;
	for (i = 0; i < n; i++) {
		tk_http_open(&c[i], s.port);
		ck_assert(tk_http_puts(&c[i],
		    "GET /v1/hold HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"));
	}
	ck_assert(tk_until(is_full, NULL, 10000));
	ck_assert_int_eq(request("GET", "/v1/hold", ""), 503);
	ck_assert_int_eq(request("GET", "/", ""), 200);
	tk_loop_call(&s.k, release, NULL);
	for (i = 0; i < n; i++)
		tk_http_close(&c[i]);
	tk_response_free(&a);
	httpd_fixture_close(&s);
}
