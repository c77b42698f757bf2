/*
 * Signatures of webhooks.
 */
#include <string.h>

#include "testkit/testkit.h"
#include "webhooks/webhook_sign.h"

/* An example of the specification of Standard Webhooks. */
TEST(a_signature_is_that_of_standard_webhooks)
{
	const struct str parts[] = { STR("msg_loFOjxBNrRLzqYUf"),
		STR("1731705121"),
		STR("{\"event_type\":\"ping\",\"data\":{\"success\":true}}") };
	char mac[WEBHOOK_SIGNATURE_MAX];

	ck_assert_int_eq(
	    webhook_sign(STR("whsec_plJ3nmyCDGBKInavdOK15jsl"), parts, mac),
	    RC_OK);
	ck_assert_str_eq(
	    mac, "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=");
}

TEST(a_new_secret_signs_and_no_two_are_equal)
{
	const struct str parts[] = { STR("a"), STR("1"), STR("{}") };
	char one[WEBHOOK_SECRET_MAX], two[WEBHOOK_SECRET_MAX];
	char mac[2][WEBHOOK_SIGNATURE_MAX];

	webhook_secret_new(one);
	webhook_secret_new(two);
	ck_assert_str_ne(one, two);
	ck_assert_uint_eq(strlen(one), WEBHOOK_SECRET_MAX - 1);
	ck_assert_int_eq(webhook_sign(str_of(one), parts, mac[0]), RC_OK);
	ck_assert_int_eq(webhook_sign(str_of(two), parts, mac[1]), RC_OK);
	ck_assert_str_ne(mac[0], mac[1]);
}

TEST(what_is_no_secret_signs_nothing)
{
	static const char *const bad[] = { "", "whsec_", "whsec_AAAA",
		"plJ3nmyCDGBKInavdOK15jsl", "whsec_plJ3nmyCDGBKInavdOK15js!" };
	const struct str parts[] = { STR("a"), STR("1"), STR("{}") };
	char mac[WEBHOOK_SIGNATURE_MAX];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(
		    webhook_sign(str_of(bad[i]), parts, mac), RC_INVALID);
}
