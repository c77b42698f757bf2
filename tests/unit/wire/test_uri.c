/* URI references: their components, and resolution against a base. */
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/wire_internal.h"

static void
check_resolved(const char *base, const char *ref, const char *want)
{
	struct buf b = BUF_INIT(1000);
	wire_uri_resolve(str_of(base), str_of(ref), &b);
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	ck_assert_msg(str_eq(buf_str(&b), str_of(want)),
	    "%s beside %s: %.*s, not %s", ref, base, STR_ARG(buf_str(&b)),
	    want);
	buf_free(&b);
}

/* The cases of RFC 3986, section 5.4, without fragments. */
TEST(references_resolve_against_a_full_base)
{
	static const struct {
		const char *ref;
		const char *want;
	} rows[] = {
		{ "g:h", "g:h" },
		{ "g", "http://a/b/c/g" },
		{ "./g", "http://a/b/c/g" },
		{ "g/", "http://a/b/c/g/" },
		{ "/g", "http://a/g" },
		{ "//g", "http://g" },
		{ "?y", "http://a/b/c/d;p?y" },
		{ "g?y", "http://a/b/c/g?y" },
		{ "#s", "http://a/b/c/d;p?q" },
		{ "g#s", "http://a/b/c/g" },
		{ "g?y#s", "http://a/b/c/g?y" },
		{ ";x", "http://a/b/c/;x" },
		{ "g;x", "http://a/b/c/g;x" },
		{ "", "http://a/b/c/d;p?q" },
		{ ".", "http://a/b/c/" },
		{ "./", "http://a/b/c/" },
		{ "..", "http://a/b/" },
		{ "../", "http://a/b/" },
		{ "../g", "http://a/b/g" },
		{ "../..", "http://a/" },
		{ "../../g", "http://a/g" },
		{ "../../../g", "http://a/g" },
		{ "../../../../g", "http://a/g" },
		{ "/./g", "http://a/g" },
		{ "/../g", "http://a/g" },
		{ "g.", "http://a/b/c/g." },
		{ ".g", "http://a/b/c/.g" },
		{ "g..", "http://a/b/c/g.." },
		{ "..g", "http://a/b/c/..g" },
		{ "./../g", "http://a/b/g" },
		{ "./g/.", "http://a/b/c/g/" },
		{ "g/./h", "http://a/b/c/g/h" },
		{ "g/../h", "http://a/b/c/h" },
		{ "g;x=1/./y", "http://a/b/c/g;x=1/y" },
		{ "g;x=1/../y", "http://a/b/c/y" },
		{ "g?y/./x", "http://a/b/c/g?y/./x" },
		{ "g#s/../x", "http://a/b/c/g" },
		{ "http:g", "http:g" },
	};
	for (size_t i = 0; i < NELEM(rows); i++)
		check_resolved("http://a/b/c/d;p?q", rows[i].ref, rows[i].want);
}

TEST(references_resolve_against_partial_bases)
{
	check_resolved("", "", "");
	check_resolved("", "a/b", "a/b");
	check_resolved("", "#a", "");
	check_resolved("light", "#a", "light");
	check_resolved("light", "lamp", "lamp");
	check_resolved("a/b", "../c", "c");
	check_resolved("http://a", "b", "http://a/b");
	check_resolved("http://a", "?q", "http://a?q");
	check_resolved("urn:a:b", "#c", "urn:a:b");
	check_resolved("urn:a:b", "urn:c", "urn:c");
	check_resolved("http://a/b/", "c:d", "c:d");
	check_resolved("http://a/b/", "./c:d", "http://a/b/c:d");
	check_resolved("http://a/b/", "1c:d", "http://a/b/1c:d");
	check_resolved("http://a/b//c", "..", "http://a/b/");
}

TEST(references_are_split)
{
	struct wire_uri u;
	wire_uri_split(STR("http://h:1/p/q?x=1#f#g"), &u);
	ck_assert(str_eq(u.scheme, STR("http")));
	ck_assert(str_eq(u.authority, STR("h:1")));
	ck_assert(str_eq(u.path, STR("/p/q")));
	ck_assert(str_eq(u.query, STR("x=1")));
	ck_assert(str_eq(u.fragment, STR("f#g")));
	wire_uri_split(STR("#"), &u);
	ck_assert_ptr_null(u.scheme.p);
	ck_assert_ptr_null(u.authority.p);
	ck_assert_ptr_nonnull(u.path.p);
	ck_assert_ptr_null(u.query.p);
	ck_assert_ptr_nonnull(u.fragment.p);
	ck_assert_uint_eq(u.fragment.n, 0);
	struct str absent = { NULL, 0 };
	wire_uri_split(absent, &u);
	ck_assert_ptr_nonnull(u.path.p);
	ck_assert_ptr_null(u.fragment.p);
}

TEST(results_over_the_limit_are_reported)
{
	static const char *const refs[] = { "abcdefghij", "/abcdefghij",
		"//abcdefghij", "abcdefghij:", "?abcdefghij" };
	for (size_t i = 0; i < NELEM(refs); i++) {
		struct buf b = BUF_INIT(8);
		wire_uri_resolve(STR("x:/y"), str_of(refs[i]), &b);
		ck_assert_int_eq(buf_rc(&b), RC_TOOBIG);
		buf_free(&b);
	}
}
