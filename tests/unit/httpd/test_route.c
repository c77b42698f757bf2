/* Routing: which route of the table serves a request. */
#include <string.h>

#include "core/mem.h"
#include "httpd/httpd_internal.h"
#include "testkit/testkit.h"

static void
route_handler(void *arg, struct httpd_req *r)
{
	(void)arg;
	(void)r;
}

#define ROW(m, p)                                               \
	{                                                       \
		.method = (m), .path = (p), .fn = route_handler \
	}

static const struct httpd_route route_table[] = {
	ROW("GET", "/"),
	ROW("GET", "/v1/souls/{id}"),
	ROW("DELETE", "/v1/souls/{id}"),
	ROW("POST", "/v1/souls/select"),
	ROW("GET", "/v1/souls"),
	ROW("POST", "/v1/souls"),
	ROW("GET", "/v1/{kind}/top"),
	ROW("GET", "/v1/souls/{id}/memories/{memory}"),
	ROW("GET", "/{a}/{b}/{c}/{d}"),
};

static enum rc
route_find_text(const char *method, const char *path, struct route_match *m)
{
	static char work[512];
	static struct uri u;

	ck_assert_uint_lt(strlen(path), sizeof(work));
	memcpy(work, path, strlen(path));
	ck_assert_int_eq(uri_split_path(&u, work, strlen(path)), RC_OK);
	return route_find(
	    route_table, NELEM(route_table), str_of(method), &u, m);
}

TEST(requests_find_the_most_literal_route)
{
	static const struct {
		const char *method, *path;
		enum rc rc;
		size_t index;
		const char *first; /* first parameter, or Allow */
	} rows[] = {
		{ "GET", "/", RC_OK, 0, NULL },
		{ "GET", "/v1/souls", RC_OK, 4, NULL },
		{ "POST", "/v1/souls", RC_OK, 5, NULL },
		{ "GET", "/v1/souls/", RC_NOENT, 0, NULL },
		{ "GET", "/v1/souls/s1", RC_OK, 1, "s1" },
		{ "DELETE", "/v1/souls/s1", RC_OK, 2, "s1" },
		{ "GET", "/v1/souls/s1/", RC_NOENT, 0, NULL },
		{ "POST", "/v1/souls/select", RC_OK, 3, NULL },
		{ "GET", "/v1/souls/select", RC_OK, 1, "select" },
		{ "GET", "/v1/souls/%73elect", RC_OK, 1, "select" },
		{ "POST", "/v1/souls/s1", RC_DENIED, 0, "GET, DELETE" },
		{ "PUT", "/v1/souls", RC_DENIED, 0, "GET, POST" },
		{ "HEAD", "/v1/souls", RC_DENIED, 0, "GET, POST" },
		{ "OPTIONS", "/", RC_DENIED, 0, "GET" },
		{ "get", "/", RC_DENIED, 0, "GET" },
		/* The leftmost literal wins over one further right. */
		{ "GET", "/v1/souls/top", RC_OK, 1, "top" },
		{ "GET", "/v1/bodies/top", RC_OK, 6, "bodies" },
		{ "GET", "/v1/souls/a%2Fb", RC_OK, 1, "a/b" },
		{ "GET", "/v1/souls/s1/memories/m", RC_OK, 7, "s1" },
		{ "GET", "/v1//top", RC_NOENT, 0, NULL },
		{ "GET", "/1/2/3/4", RC_OK, 8, "1" },
		{ "GET", "/1/2/3/", RC_NOENT, 0, NULL },
		{ "GET", "/v1/s%6Fuls", RC_OK, 4, NULL },
		{ "GET", "/V1/souls", RC_NOENT, 0, NULL },
		{ "GET", "/v1/souls/{id}", RC_OK, 1, "{id}" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct route_match m;
		enum rc rc = route_find_text(rows[i].method, rows[i].path, &m);
		ck_assert_msg(
		    rc == rows[i].rc, "%s: %s", rows[i].path, rc_name(rc));
		if (rc == RC_OK)
			ck_assert_uint_eq(m.index, rows[i].index);
		if (rc == RC_DENIED)
			ck_assert_str_eq(m.allow, rows[i].first);
		else if (rows[i].first != NULL)
			ck_assert_msg(
			    str_eq(m.params[0], str_of(rows[i].first)), "%s",
			    rows[i].path);
	}
}

TEST(path_parameters_are_in_order)
{
	struct route_match m;

	ck_assert_int_eq(
	    route_find_text("GET", "/v1/souls/s1/memories/m2", &m), RC_OK);
	ck_assert_uint_eq(m.nparams, 2);
	ck_assert(str_eq(m.params[0], STR("s1")));
	ck_assert(str_eq(m.params[1], STR("m2")));
}

TEST(allow_is_truncated_between_methods)
{
	struct httpd_route many[32];
	char names[32][8];
	struct route_match m;
	struct uri u;
	char path[] = "/";

	for (size_t i = 0; i < NELEM(many); i++) {
		memcpy(names[i], "METHxx", 7);
		names[i][4] = (char)('A' + i / 10);
		names[i][5] = (char)('A' + i % 10);
		many[i] = (struct httpd_route)ROW(names[i], "/");
	}
	ck_assert_int_eq(uri_split_path(&u, path, 1), RC_OK);
	ck_assert_int_eq(
	    route_find(many, NELEM(many), STR("GET"), &u, &m), RC_DENIED);
	ck_assert_uint_lt(strlen(m.allow), ROUTE_ALLOW_MAX);
	ck_assert(str_starts(str_of(m.allow), STR("METHAA, METHAB, ")));
	ck_assert_uint_eq((strlen(m.allow) + 2) % 8, 0);
}

TEST(invalid_routes_are_rejected)
{
	static const struct httpd_route bad[] = {
		ROW(NULL, "/"),
		ROW("", "/"),
		ROW("GET", NULL),
		ROW("GET", ""),
		ROW("GET", "a"),
		ROW("GET", "/a{id}"),
		ROW("GET", "/{id}x"),
		ROW("GET", "/{a}/{b}/{c}/{d}/{e}"),
		ROW("GET", "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h"),
		{ .method = "GET", .path = "/" },
	};

	for (size_t i = 0; i < NELEM(bad); i++)
		ck_assert_msg(route_check(&bad[i]) == RC_INVALID, "%zu", i);
	for (size_t i = 0; i < NELEM(route_table); i++)
		ck_assert_int_eq(route_check(&route_table[i]), RC_OK);
}
