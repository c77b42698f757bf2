/* Which file, which encoding, whether the client has it. */
#include "core/mem.h"
#include "httpd/httpd_files.h"
#include "httpd/httpd_internal.h"
#include "testkit/testkit.h"

static const struct httpd_file files[] = {
	{ .path = "/", .etag = "W/\"a1\"" },
	{ .path = "/console/x/app.js", .etag = "W/\"b2\"", .immutable = true },
};

TEST(a_file_has_exactly_its_path)
{
	ck_assert_ptr_eq(file_find(files, 2, STR("/")), &files[0]);
	ck_assert_ptr_eq(
	    file_find(files, 2, STR("/console/x/app.js")), &files[1]);
	ck_assert_ptr_null(file_find(files, 2, STR("/console/x/app.j")));
	ck_assert_ptr_null(file_find(files, 2, STR("/console/../")));
	ck_assert_ptr_null(file_find(files, 2, STR("")));
	ck_assert_ptr_null(file_find(NULL, 0, STR("/")));
}

TEST(gzip_goes_to_who_takes_it)
{
	static const char *const yes[] = { "gzip", "br, GZIP", "gzip;q=0.5",
		"deflate , gzip ; q=1" };
	static const char *const no[] = { "", "br", "gzip;q=0", "gzip; q=0.000",
		"gzip;q=x", "xgzip", "*;q=1", ",,;" };

	for (size_t i = 0; i < NELEM(yes); i++)
		ck_assert_msg(file_accepts_gzip(str_of(yes[i])), "%s", yes[i]);
	for (size_t i = 0; i < NELEM(no); i++)
		ck_assert_msg(!file_accepts_gzip(str_of(no[i])), "%s", no[i]);
	ck_assert(!file_accepts_gzip((struct str){ 0 }));
}

TEST(a_cached_file_is_recognised)
{
	static const char *const yes[] = { "\"a1\"", "W/\"a1\"", "*",
		"\"zz\", W/\"a1\"" };
	static const char *const no[] = { "", "a1", "\"a\"", "W/\"b2\"", "W/",
		",," };

	for (size_t i = 0; i < NELEM(yes); i++)
		ck_assert_msg(
		    file_is_cached(&files[0], str_of(yes[i])), "%s", yes[i]);
	for (size_t i = 0; i < NELEM(no); i++)
		ck_assert_msg(
		    !file_is_cached(&files[0], str_of(no[i])), "%s", no[i]);
	ck_assert(!file_is_cached(&files[0], (struct str){ 0 }));
}
