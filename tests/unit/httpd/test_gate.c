/* Limits of one client do not touch another. */
#include "core/mem.h"
#include "httpd/gate.h"
#include "testkit/testkit.h"

static struct peer a, b;

static struct gate *
gate_of(int64_t rate, int64_t burst, size_t at_once)
{
	ck_assert_int_eq(peer_read(STR("192.0.2.1"), &a), RC_OK);
	ck_assert_int_eq(peer_read(STR("192.0.2.2"), &b), RC_OK);
	return gate_new(rate, burst, at_once);
}

TEST(a_rate_is_each_clients_own)
{
	struct gate *g = gate_of(10, 3, 0);
	struct mono now = { 1000000000 };

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(gate_rate(g, &a, now), 0);
	ck_assert_int_eq(gate_rate(g, &a, now), 100);
	ck_assert_int_eq(gate_rate(g, &b, now), 0);
	now = mono_add_ms(now, 100);
	ck_assert_int_eq(gate_rate(g, &a, now), 0);
	ck_assert_int_gt(gate_rate(g, &a, now), 0);
	for (int i = 0; i < 1000; i++)
		ck_assert(gate_enter(g, &a));
	gate_free(g);
}

TEST(so_many_at_a_time)
{
	struct gate *g = gate_of(0, 0, 2);
	struct mono now = { 1000000000 };

	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(gate_rate(g, &a, now), 0);
	ck_assert(gate_enter(g, &a));
	ck_assert(gate_enter(g, &a));
	ck_assert(!gate_enter(g, &a));
	ck_assert(gate_enter(g, &b));
	gate_leave(g, &a);
	ck_assert(gate_enter(g, &a));
	ck_assert(!gate_enter(g, &a));
	gate_leave(g, &a);
	gate_leave(g, &a);
	gate_leave(g, &b);
	gate_free(g);
	gate_free(NULL);
}
