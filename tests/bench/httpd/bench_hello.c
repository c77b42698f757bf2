/*
 * The cost of the loop: a route whose handler runs on the loop and a direct
 * one, compared with civetweb's bare handler.
 */
#include <civetweb.h>

#include "core/mem.h"
#include "httpd/httpd.h"
#include "testkit/http_compare.h"
#include "testkit/loop_thread.h"
#include "testkit/testkit.h"

static void
on_hello(void *arg, struct httpd_req *r)
{
	(void)arg;
	httpd_respond(r, 200, "application/json", STR(HTTP_COMPARE_BODY));
}

TEST_T(throughput_of_httpd_and_bare_civetweb, 120)
{
	static const struct httpd_route routes[] = {
		{ .method = "GET", .path = "/hello", .fn = on_hello },
		{ .method = "GET",
		    .path = "/direct",
		    .fn = on_hello,
		    .direct = true },
	};
	struct http_compare_target t[] = {
		{ .name = "bare civetweb", .path = "/hello" },
		{ .name = "httpd, on the loop", .path = "/hello" },
		{ .name = "httpd, direct", .path = "/direct" },
	};
	struct tk_loop k;
	struct httpd *h;

	struct mg_context *bare = http_compare_bare_start(&t[0].port);
	tk_loop_new(&k, 1024);
	ck_assert_int_eq(httpd_new(&(struct httpd_opts){ .loop = k.l,
				       .addr = "127.0.0.1:0",
				       .routes = routes,
				       .nroutes = NELEM(routes),
				       .workers = HTTP_COMPARE_WORKERS,
				       .timeout_ms = 10000 },
			     &h),
	    RC_OK);
	tk_loop_start(&k);
	t[1].port = t[2].port = httpd_port(h);
	http_compare_run(t, NELEM(t), 1);
	http_compare_run(t, NELEM(t), 8);
	http_compare_run(t, NELEM(t), HTTP_COMPARE_CLIENTS);
	tk_loop_stop(&k);
	httpd_free(h);
	loop_free(k.l);
	mg_stop(bare);
}
