/* Retry-After and WWW-Authenticate. */
#include "testkit/httpd_fixture.h"

static void
on_later(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_retry_after(r, 17);
	httpd_respond(r, 429, "application/json", STR("{}"));
}

static void
on_address(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_retry_after(r, 17);
	httpd_respond(r, 200, "text/plain", httpd_req_address(r));
}

static void
on_stranger(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond(r, 401, "application/json", STR("{}"));
}

static void
on_forged(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_challenge(r, "invalid_token");
	httpd_respond(r, 401, "application/json", STR("{}"));
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/later", .fn = on_later },
	{ .method = "GET", .path = "/address", .fn = on_address },
	{ .method = "GET", .path = "/stranger", .fn = on_stranger },
	{ .method = "GET", .path = "/forged", .fn = on_forged },
};

static struct httpd_fixture s;
static struct tk_response a;
static char field[256];

static const char *
header(const char *name)
{
	return tk_response_field(&a, name, field, sizeof(field));
}

static int
get(const char *path)
{
	return tk_http_call(
	    s.port, &a, "GET %s HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n", path);
}

TEST(a_handler_sets_retry_after)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes, .nroutes = NELEM(routes) });
	ck_assert_int_eq(get("/later"), 429);
	ck_assert_str_eq(header("Retry-After"), "17");
	ck_assert_int_eq(get("/address"), 200);
	ck_assert_str_eq(header("Retry-After"), "");
	ck_assert(tk_response_has(&a, "127.0.0.1"));
	httpd_fixture_close(&s);
}

TEST(a_401_has_www_authenticate)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes, .nroutes = NELEM(routes) });
	ck_assert_int_eq(get("/stranger"), 401);
	ck_assert_str_eq(header("WWW-Authenticate"), "Bearer realm=\"soul\"");
	ck_assert_int_eq(get("/forged"), 401);
	ck_assert_str_eq(header("WWW-Authenticate"),
	    "Bearer realm=\"soul\", error=\"invalid_token\"");
	ck_assert_int_eq(get("/address"), 200);
	ck_assert_str_eq(header("WWW-Authenticate"), "");
	httpd_fixture_close(&s);
}
