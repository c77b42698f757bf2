/*
 * Web pages that are opened in a browser on this machine, and what they may
 * request.
 */
#include "core/mem.h"
#include "testkit/svc_fixture.h"
#include "wire/msgs.h"

static void *
toy_start(struct svc *s, const void *conf)
{
	(void)conf;
	return s;
}

static void
on_call(void *app, struct svc_call *c)
{
	const struct wire_error rep = { .error = STR("done") };

	(void)app;
	svc_reply(c, &rep);
}

#define ROUTE(m)                                             \
	{                                                    \
		.name = m, .method = m, .path = "/v1/souls", \
		.reply = &wire_error_desc, .fn = on_call,    \
		.deadline_ms = SVC_FIXTURE_MS                \
	}
static const struct svc_route routes[] = { ROUTE("GET"), ROUTE("POST"),
	ROUTE("PATCH"), ROUTE("DELETE") };
static const struct svc_def def = {
	.name = "toy",
	.summary = "does what a page asks",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
};

static int
request(const struct svc_fixture *r, const char *method, const char *head)
{
	struct tk_response a = { 0 };
	int status = tk_http_call(r->toy.http, &a,
	    "%s /v1/souls HTTP/1.1\r\nHost: localhost:9010\r\n%s"
	    "Connection: close\r\n\r\n",
	    method, head);

	ck_assert(tk_response_has(&a, status == 200 ? "done" : "CORS_ORIGINS"));
	tk_response_free(&a);
	return status;
}

TEST(a_page_of_another_origin_changes_nothing)
{
	static const char *const foreign[] = {
		"Origin: http://evil.example\r\n",
		"Origin: http://localhost:3000\r\n",
		"Origin: http://localhost\r\n",
		"Origin: null\r\n",
		"Origin: \r\n",
		"Origin: localhost:9010\r\n",
		"Origin: http://evil.example\r\n"
		"Sec-Fetch-Site: same-origin\r\n",
		"Origin: http://localhost:9010\r\n"
		"Origin: http://evil.example\r\n",
		"Sec-Fetch-Site: cross-site\r\n",
		"sec-fetch-site: Cross-Site\r\n",
	};
	static const char *const own[] = { "",
		"Origin: http://localhost:9010\r\n",
		"Origin: https://LOCALHOST:9010\r\n",
		"Origin: http://named.example\r\n"
		"Sec-Fetch-Site: cross-site\r\n",
		"Sec-Fetch-Site: same-origin\r\n", "Sec-Fetch-Site: none\r\n" };
	static const char *const unsafe[] = { "POST", "PATCH", "DELETE" };
	struct svc_fixture r;
	size_t i, k;

	svc_fixture_begin(
	    &r, &def, TK_ENV("CORS_ORIGINS=http://named.example"));
	tk_service_wait(&r.toy);
	for (i = 0; i < NELEM(foreign); i++) {
		for (k = 0; k < NELEM(unsafe); k++)
			ck_assert_msg(request(&r, unsafe[k], foreign[i]) == 403,
			    "%s %s", unsafe[k], foreign[i]);
		/* The browser withholds the response from the page. */
		ck_assert_int_eq(request(&r, "GET", foreign[i]), 200);
	}
	for (i = 0; i < NELEM(own); i++) {
		for (k = 0; k < NELEM(unsafe); k++)
			ck_assert_msg(request(&r, unsafe[k], own[i]) == 200,
			    "%s %s", unsafe[k], own[i]);
	}
	tk_service_end(&r.toy);
}
