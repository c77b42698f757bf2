/*
 * The browser client and the demo page, as the hub serves them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/star_fixture.h"
#include "testkit/tokens.h"

#define READ_MS 10000
#define ALICE   "alice-0123456789abcdef0123456789"

/* Request a file with further lines, or NULL; returns the status. */
static int
web_get(const struct star_fixture *f, const char *path, const char *host,
    const char *lines, struct tk_response *a)
{
	struct tk_http c = { 0 };
	char text[512];

	(void)snprintf(text, sizeof(text),
	    "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host,
	    lines != NULL ? lines : "");
	tk_http_open(&c, f->hub.http);
	ck_assert(tk_http_puts(&c, text));
	ck_assert(tk_http_read(&c, a, READ_MS));
	tk_http_close(&c);
	return a->status;
}

/* The body is the file of the sources. */
static void
web_check(const struct star_fixture *f, const char *path, const char *name,
    const char *type)
{
	struct tk_response a = { 0 };
	char file[128];
	char *expected;
	size_t n;

	(void)snprintf(file, sizeof(file), "services/star-hub/web/%s", name);
	expected = tk_read_file(file, &n);
	ck_assert_int_eq(web_get(f, path, "localhost", NULL, &a), 200);
	ck_assert(str_eq(buf_str(&a.body), (struct str){ expected, n }));
	ck_assert_ptr_nonnull(strstr(a.head.p, type));
	free(expected);
	tk_response_free(&a);
}

TEST(the_demo_page_and_its_parts_are_served)
{
	struct star_fixture f = { 0 };

	star_start(&f, NULL);
	web_check(&f, "/", "index.html", "text/html; charset=utf-8");
	web_check(&f, "/demo", "index.html", "text/html; charset=utf-8");
	web_check(&f, "/demo/demo.css", "demo.css", "text/css; charset=utf-8");
	web_check(
	    &f, "/demo/demo.js", "demo.js", "text/javascript; charset=utf-8");
	web_check(&f, "/star.js", "star.js", "text/javascript; charset=utf-8");
	star_stop(&f);
}

TEST(pages_of_other_names_and_origins_get_403)
{
	struct star_fixture f = { 0 };
	struct tk_response a = { 0 };

	star_start(&f, NULL);
	ck_assert_int_eq(web_get(&f, "/", "evil.example", NULL, &a), 403);
	ck_assert_int_eq(web_get(&f, "/star.js", "localhost",
			     "Origin: https://evil.example\r\n", &a),
	    403);
	ck_assert_int_eq(web_get(&f, "/star.js", "localhost",
			     "Origin: http://localhost\r\n", &a),
	    200);
	tk_response_free(&a);
	star_stop(&f);
}

TEST(the_demo_page_needs_no_token)
{
	static const struct tk_token token = { ALICE,
		"\"role\":\"owner\",\"tenant\":\"one\",\"user\":\"alice\"" };
	struct star_fixture f = { 0 };
	struct tk_response a = { 0 };
	const char *path = tk_path("tokens.json");
	char setting[600];

	tk_tokens_write(path, &token, 1);
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	star_start(&f, TK_ENV(setting));
	ck_assert_int_eq(web_get(&f, "/", "hub.example", NULL, &a), 200);
	tk_response_free(&a);
	star_stop(&f);
}
