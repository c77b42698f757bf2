/* CORS: response fields for pages of other origins. */
#include "testkit/httpd_fixture.h"

#define PAGE "Origin: https://a.example\r\n"
#define EVIL "Origin: https://evil.example\r\n"

static void
on_ok(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond(r, 200, "application/json", STR("{}"));
}

static void
on_denied(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond_error(r, RC_DENIED, "no");
}

static void
on_events(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_sse_start(r);
	httpd_stream_end(r);
}

static void
on_lines(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_lines_start(r);
	httpd_stream_end(r);
}

static const struct httpd_route routes[] = {
	{ .method = "GET", .path = "/a", .fn = on_ok },
	{ .method = "POST", .path = "/a", .fn = on_ok },
	{ .method = "GET", .path = "/denied", .fn = on_denied },
	{ .method = "GET", .path = "/events", .fn = on_events },
	{ .method = "GET", .path = "/lines", .fn = on_lines },
};

static struct httpd_fixture s;
static struct tk_response a;
static char field[256];

static void
open_site(const char *origins)
{
	httpd_fixture_open(&s,
	    (struct httpd_opts){ .routes = routes,
		.nroutes = NELEM(routes),
		.cors_origins = origins });
}

static const char *
header(const char *name)
{
	return tk_response_field(&a, name, field, sizeof(field));
}

static int
call(const char *line, const char *fields)
{
	return tk_http_call(s.port, &a,
	    "%s HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "%s\r\n", line, fields);
}

#define ALLOW_ORIGIN "Access-Control-Allow-Origin"

TEST(no_fields_without_configuration)
{
	open_site(NULL);
	ck_assert_int_eq(call("GET /a", PAGE), 200);
	ck_assert(str_find(buf_str(&a.head), STR("Access-Control")) < 0);
	ck_assert(str_find(buf_str(&a.head), STR("Vary")) < 0);
	ck_assert_int_eq(
	    call("OPTIONS /a", PAGE "Access-Control-Request-Method: GET\r\n"),
	    405);
	ck_assert(str_find(buf_str(&a.head), STR("Access-Control")) < 0);
	httpd_fixture_close(&s);
}

TEST(every_response_names_only_an_allowed_origin)
{
	static const struct {
		const char *line;
		int status;
	} rows[] = { { "GET /a", 200 }, { "GET /denied", 403 },
		{ "GET /events", 200 }, { "GET /lines", 200 },
		{ "GET /nothing", 404 }, { "DELETE /a", 405 },
		{ "GET /a?%zz", 400 } };

	open_site("http://b.example,https://a.example");
	for (size_t i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(call(rows[i].line, PAGE), rows[i].status);
		ck_assert_msg(str_eq(str_of(header(ALLOW_ORIGIN)),
				  STR("https://a.example")),
		    "%s: %s", rows[i].line, a.head.p);
		ck_assert_str_eq(header("Vary"), "Origin");
		ck_assert(header("Access-Control-Expose-Headers")[0] != '\0');
		ck_assert_str_eq(
		    header("Access-Control-Allow-Credentials"), "");
		ck_assert_int_eq(call(rows[i].line, EVIL), rows[i].status);
		ck_assert_str_eq(header(ALLOW_ORIGIN), "");
		ck_assert_str_eq(header("Vary"), "Origin");
		ck_assert_int_eq(call(rows[i].line, ""), rows[i].status);
		ck_assert_str_eq(header(ALLOW_ORIGIN), "");
	}
	httpd_fixture_close(&s);
}

TEST(a_preflight_lists_methods_and_headers)
{
	open_site("https://a.example");
	ck_assert_int_eq(
	    call("OPTIONS /a", PAGE "Access-Control-Request-Method: POST\r\n"),
	    204);
	ck_assert_str_eq(header(ALLOW_ORIGIN), "https://a.example");
	ck_assert_str_eq(header("Access-Control-Allow-Methods"), "GET, POST");
	ck_assert_str_eq(header("Access-Control-Max-Age"), "600");
	ck_assert(str_find(str_of(header("Access-Control-Allow-Headers")),
		      STR("authorization")) >= 0);
	/* Not for another origin, an unknown path, or a plain OPTIONS. */
	ck_assert_int_eq(
	    call("OPTIONS /a", EVIL "Access-Control-Request-Method: POST\r\n"),
	    405);
	ck_assert_int_eq(call("OPTIONS /nothing",
			     PAGE "Access-Control-Request-Method: POST\r\n"),
	    404);
	ck_assert_int_eq(call("OPTIONS /a", PAGE), 405);
	httpd_fixture_close(&s);
}

TEST(a_star_allows_any_origin)
{
	open_site("*");
	ck_assert_int_eq(call("GET /a", EVIL), 200);
	ck_assert_str_eq(header(ALLOW_ORIGIN), "*");
	ck_assert_str_eq(header("Vary"), "");
	ck_assert_int_eq(
	    call("OPTIONS /a", EVIL "Access-Control-Request-Method: POST\r\n"),
	    204);
	/* Also for a malformed request. */
	ck_assert_int_eq(tk_http_call(s.port, &a, "nonsense\r\n\r\n"), 400);
	ck_assert_str_eq(header(ALLOW_ORIGIN), "*");
	httpd_fixture_close(&s);
}

TEST(an_origin_is_never_echoed)
{
	open_site("https://a.example");
	ck_assert_int_eq(
	    call("GET /a", "Origin: https://a.example\rX-Evil: 1\r\n"), 400);
	ck_assert(str_find(buf_str(&a.head), STR("Evil")) < 0);
	ck_assert_int_eq(
	    call("GET /a", "Origin: https://a.example,https://evil\r\n"), 200);
	ck_assert_str_eq(header(ALLOW_ORIGIN), "");
	httpd_fixture_close(&s);
}

/* A browser sends it without a preflight, from any page. */
TEST(a_page_must_send_a_json_content_type)
{
	open_site(NULL);
	ck_assert_int_eq(tk_http_call(s.port, &a,
			     "POST /a HTTP/1.1\r\n" HTTPD_FIXTURE_HOST EVIL
			     "Content-Length: 2\r\n\r\n{}"),
	    415);
	ck_assert_int_eq(tk_http_call(s.port, &a,
			     "POST /a HTTP/1.1\r\n" HTTPD_FIXTURE_HOST EVIL
			     "Content-Type: application/json\r\n"
			     "Content-Length: 2\r\n\r\n{}"),
	    200);
	httpd_fixture_close(&s);
}
