/* Admission: rate and concurrent requests of one client. */
#include "core/mem.h"
#include "httpd/httpd_internal.h"
#include "testkit/testkit.h"

static struct client_addr client_a, client_b;

static struct admission *
admission_fixture_new(int64_t rate, int64_t burst, size_t concurrent_max)
{
	ck_assert_int_eq(client_addr_parse(STR("192.0.2.1"), &client_a), RC_OK);
	ck_assert_int_eq(client_addr_parse(STR("192.0.2.2"), &client_b), RC_OK);
	return admission_new(rate, burst, concurrent_max);
}

TEST(each_client_has_its_own_rate)
{
	struct admission *g = admission_fixture_new(10, 3, 0);
	struct mono now = { 1000000000 };

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(admission_check_rate(g, &client_a, now), 0);
	ck_assert_int_eq(admission_check_rate(g, &client_a, now), 100);
	ck_assert_int_eq(admission_check_rate(g, &client_b, now), 0);
	now = mono_add_ms(now, 100);
	ck_assert_int_eq(admission_check_rate(g, &client_a, now), 0);
	ck_assert_int_gt(admission_check_rate(g, &client_a, now), 0);
	for (int i = 0; i < 1000; i++)
		ck_assert(admission_enter(g, &client_a));
	admission_free(g);
}

TEST(concurrent_requests_of_a_client_are_limited)
{
	struct admission *g = admission_fixture_new(0, 0, 2);
	struct mono now = { 1000000000 };

	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(admission_check_rate(g, &client_a, now), 0);
	ck_assert(admission_enter(g, &client_a));
	ck_assert(admission_enter(g, &client_a));
	ck_assert(!admission_enter(g, &client_a));
	ck_assert(admission_enter(g, &client_b));
	admission_leave(g, &client_a);
	ck_assert(admission_enter(g, &client_a));
	ck_assert(!admission_enter(g, &client_a));
	admission_leave(g, &client_a);
	admission_leave(g, &client_a);
	admission_leave(g, &client_b);
	admission_free(g);
	admission_free(NULL);
}
