/*
 * Result codes: each has a unique name and an HTTP status.
 */
#include <string.h>

#include "core/rc.h"
#include "testkit/testkit.h"

TEST(every_code_has_a_name_and_a_status)
{
	for (int i = 0; i < RC_N; i++) {
		const char *name = rc_name((enum rc)i);

		ck_assert_ptr_nonnull(name);
		ck_assert_uint_gt(strlen(name), 0);
		ck_assert_uint_eq(
		    strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
		ck_assert_int_ge(rc_http_status((enum rc)i), 200);
		ck_assert_int_le(rc_http_status((enum rc)i), 504);
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(name, rc_name((enum rc)j));
	}
}

TEST(names_and_statuses_of_the_protocol)
{
	ck_assert_str_eq(rc_name(RC_TIMEOUT), "deadline_exceeded");
	ck_assert_int_eq(rc_http_status(RC_OK), 200);
	ck_assert_int_eq(rc_http_status(RC_TIMEOUT), 504);
	ck_assert_int_eq(rc_http_status(RC_RETRY), 503);
	ck_assert_int_eq(rc_http_status(RC_INVALID), 400);
	ck_assert_int_eq(rc_http_status(RC_NOENT), 404);
	ck_assert_int_eq(rc_http_status(RC_CONFLICT), 409);
	ck_assert_int_eq(rc_http_status(RC_TOOBIG), 413);
}

TEST(an_unknown_value_is_named_a_bug)
{
	ck_assert_str_eq(rc_name((enum rc)RC_N), rc_name(RC_BUG));
	ck_assert_str_eq(rc_name((enum rc)4711), rc_name(RC_BUG));
	ck_assert_int_eq(rc_http_status((enum rc) - 1), 500);
}
