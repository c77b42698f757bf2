/* Targets of requests: decoding, segments, query pairs. */
#include <string.h>

#include "core/mem.h"
#include "http/target.h"
#include "testkit/testkit.h"

static char uri_buffer[4096];

static enum rc
uri_decode_text(const char *in, size_t n, bool plus, struct str *out)
{
	memcpy(uri_buffer, in, n);
	return uri_decode(uri_buffer, n, plus, out);
}

TEST(percent_encoding_is_decoded)
{
	static const struct {
		const char *in;
		bool plus;
		const char *out; /* NULL: refused */
	} rows[] = {
		{ "", false, "" },
		{ "abc", false, "abc" },
		{ "a%20b", false, "a b" },
		{ "a+b", false, "a+b" },
		{ "a+b", true, "a b" },
		{ "%2b%2B", true, "++" },
		{ "%41%6a%6A", false, "Ajj" },
		{ "%e4%bd%A0", false, "\xe4\xbd\xa0" },
		{ "\xe4\xbd\xa0", false, "\xe4\xbd\xa0" },
		{ "%25%32%30", false, "%20" },
		{ "%0a", false, "\n" },
		{ "%", false, NULL },
		{ "%4", false, NULL },
		{ "a%", false, NULL },
		{ "a%4", false, NULL },
		{ "%4g", false, NULL },
		{ "%g4", false, NULL },
		{ "%%", false, NULL },
		{ "%-1", false, NULL },
		{ "% 1", false, NULL },
		{ "%00", false, NULL },
		{ "abc%00def", false, NULL },
		{ "%ff", false, NULL },
		{ "%c0%80", false, NULL },
		{ "%ed%a0%80", false, NULL },
		{ "%e4%bd", false, NULL },
		{ "\xff", false, NULL },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct str out;
		enum rc rc = uri_decode_text(
		    rows[i].in, strlen(rows[i].in), rows[i].plus, &out);
		if (rows[i].out == NULL) {
			ck_assert_msg(rc == RC_INVALID, "%s", rows[i].in);
			continue;
		}
		ck_assert_msg(rc == RC_OK, "%s", rows[i].in);
		ck_assert_msg(
		    str_eq(out, str_of(rows[i].out)), "%s", rows[i].in);
	}
}

TEST(a_nul_byte_is_rejected)
{
	struct str out;

	ck_assert_int_eq(uri_decode_text("a\0b", 3, false, &out), RC_INVALID);
}

/* Split in and compare with segments separated by '|'. */
static void
uri_check_path(const char *in, enum rc want, const char *segments)
{
	struct str rest = str_of(segments);
	struct uri u;
	size_t i;

	memcpy(uri_buffer, in, strlen(in));
	enum rc rc = uri_split_path(&u, uri_buffer, strlen(in));
	ck_assert_msg(rc == want, "%s", in);
	if (rc != RC_OK)
		return;
	for (i = 0; i < u.nsegments; i++)
		ck_assert_msg(
		    str_eq(u.segments[i], str_split(&rest, '|')), "%s", in);
	ck_assert_msg(rest.p == NULL, "%s", in);
}

TEST(paths_are_split_into_segments)
{
	uri_check_path("/", RC_OK, "");
	uri_check_path("/a", RC_OK, "a");
	uri_check_path("/a/", RC_OK, "a|");
	uri_check_path("/a//b", RC_OK, "a||b");
	uri_check_path(
	    "/v1/souls/%e4%bd%a0/x", RC_OK, "v1|souls|\xe4\xbd\xa0|x");
	uri_check_path("/a%2Fb/c", RC_OK, "a/b|c");
	uri_check_path("/a/../b", RC_OK, "a|..|b");
	uri_check_path("/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g", RC_OK,
	    "1|2|3|4|5|6|7|8|9|a|b|c|d|e|f|g");
	uri_check_path("/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", RC_NOENT, "");
	uri_check_path("", RC_INVALID, "");
	uri_check_path("a", RC_INVALID, "");
	uri_check_path("*", RC_INVALID, "");
	uri_check_path("/a/%00", RC_INVALID, "");
	uri_check_path("/hello%00x", RC_INVALID, "");
	uri_check_path("/a/%4", RC_INVALID, "");
	/* An escape is not joined across a slash. */
	uri_check_path("/a%/4a", RC_INVALID, "");
}

static void
uri_load_query(struct uri *u, const char *in)
{
	memcpy(uri_buffer, in, strlen(in));
	ck_assert_int_eq(uri_split_query(u, uri_buffer, strlen(in)), RC_OK);
}

TEST(queries_are_split_into_pairs)
{
	struct uri u;

	uri_load_query(&u, "a=1&b=x+y&a=2&c&d=&%65=%3d&=z&&f=1=2");
	ck_assert_uint_eq(u.npairs, 8);
	ck_assert(str_eq(uri_query(&u, STR("a")), STR("1")));
	ck_assert(str_eq(uri_query(&u, STR("b")), STR("x y")));
	ck_assert(uri_query(&u, STR("c")).p != NULL);
	ck_assert_uint_eq(uri_query(&u, STR("c")).n, 0);
	ck_assert(uri_query(&u, STR("d")).p != NULL);
	ck_assert(str_eq(uri_query(&u, STR("e")), STR("=")));
	ck_assert(str_eq(uri_query(&u, STR("f")), STR("1=2")));
	ck_assert_ptr_null(uri_query(&u, STR("g")).p);
	ck_assert_ptr_null(uri_query(&u, STR("A")).p);

	uri_load_query(&u, "");
	ck_assert_uint_eq(u.npairs, 0);
	uri_load_query(&u, "&&&");
	ck_assert_uint_eq(u.npairs, 0);
}

TEST(invalid_queries_are_rejected)
{
	static const char *const bad[] = { "a=%", "%=a", "a=%00", "a=%ff",
		"a=1&b=%zz" };
	struct uri u;

	for (size_t i = 0; i < NELEM(bad); i++) {
		memcpy(uri_buffer, bad[i], strlen(bad[i]));
		ck_assert_int_eq(
		    uri_split_query(&u, uri_buffer, strlen(bad[i])),
		    RC_INVALID);
	}
}

TEST(query_pairs_are_limited)
{
	struct uri u;
	size_t n = 0;

	for (size_t i = 0; i < URI_PAIRS_MAX; i++) {
		memcpy(uri_buffer + n, "a=1&", 4);
		n += 4;
	}
	ck_assert_int_eq(uri_split_query(&u, uri_buffer, n), RC_OK);
	memcpy(uri_buffer + n, "b=1", 3);
	ck_assert_int_eq(uri_split_query(&u, uri_buffer, n + 3), RC_TOOBIG);
}
