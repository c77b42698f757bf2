/* URLs of servers: what is valid, and which have the same origin. */
#include "core/mem.h"
#include "httpc/http_url.h"
#include "testkit/testkit.h"

TEST(urls_are_read_strictly)
{
	static const char *const good[] = { "https://a", "http://a.b:8/c?d#e",
		"HTTPS://A/", "http://[::1]:80/x", "https://a?x=%20y" };
	static const char *const bad[] = { "", "a", "/a", "//a", "ftp://a",
		"https://", "https:///x", "https://u@a/", "https://u:p@a/",
		"https://a:0/", "https://a:65536/", "https://a:x/",
		"https://[::1/", "https://[::1]x/", "https://a b/",
		"https://a\\@b/", "https://a/\r\nX: y", "https://a/\x7f",
		"https://a/é", "https://%61/", "https:/a", "http:a" };
	size_t i;

	for (i = 0; i < NELEM(good); i++)
		ck_assert_msg(http_url_check(str_of(good[i]), false) == NULL,
		    "%s", good[i]);
	for (i = 0; i < NELEM(bad); i++)
		ck_assert_msg(http_url_check(str_of(bad[i]), false) != NULL,
		    "%s", bad[i]);
	ck_assert_ptr_nonnull(http_url_check(STR("http://a"), true));
	ck_assert_ptr_null(http_url_check(STR("https://a"), true));
}

TEST(an_origin_is_scheme_host_and_port)
{
	ck_assert(
	    http_url_same_origin(STR("https://a/x"), STR("HTTPS://A:443?y")));
	ck_assert(http_url_same_origin(STR("http://a"), STR("http://a:80/")));
	ck_assert(!http_url_same_origin(STR("http://a"), STR("https://a")));
	ck_assert(!http_url_same_origin(STR("http://a"), STR("http://a:81")));
	ck_assert(!http_url_same_origin(STR("http://a"), STR("http://a.b")));
	ck_assert(!http_url_same_origin(STR("http://a"), STR("http://u@a")));
}

static enum rc
join(const char *base, const char *ref, const char *want)
{
	struct buf b = BUF_INIT(HTTP_URL_MAX);
	enum rc rc = http_url_join(str_of(base), str_of(ref), &b);

	if (rc == RC_OK)
		ck_assert_str_eq(b.p, want);
	buf_free(&b);
	return rc;
}

TEST(references_stay_at_their_origin)
{
	ck_assert_int_eq(
	    join("https://a/b/sse?k=v", "/m?s=1", "https://a/m?s=1"), RC_OK);
	ck_assert_int_eq(
	    join("https://a/b/sse?k=/v", "m", "https://a/b/m"), RC_OK);
	ck_assert_int_eq(join("https://a", "m", "https://a/m"), RC_OK);
	ck_assert_int_eq(join("https://a/b?c", "?d", "https://a/b?d"), RC_OK);
	ck_assert_int_eq(
	    join("http://a:1/b", "http://A:1/c", "http://A:1/c"), RC_OK);
	ck_assert_int_eq(join("http://a/b", "//a/c", "http://a/c"), RC_OK);
	ck_assert_int_eq(join("http://a/b", "//c/d", ""), RC_DENIED);
	ck_assert_int_eq(join("http://a/b", "http://c/d", ""), RC_DENIED);
	ck_assert_int_eq(join("http://a/b", "https://a/d", ""), RC_DENIED);
	ck_assert_int_eq(join("http://a/b", "/x\r\ny", ""), RC_INVALID);
	ck_assert_int_eq(join("http://a/b", "", ""), RC_INVALID);
	ck_assert_int_eq(join("http://a/b", "http://u@a/", ""), RC_INVALID);
}
