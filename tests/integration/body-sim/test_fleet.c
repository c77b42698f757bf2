/* Many bodies in one process. */
#include "testkit/sim_fixture.h"

TEST_T(five_hundred_bodies_survive_a_broker, 180)
{
	static struct sim_fleet c;
	json_t *j;

	ck_assert(sim_fleet_raise_limit(500));
	sim_fleet_start(&c, 500);
	sim_fleet_invoke_all(&c, "r1");
	j = sim_fixture_state(&c.b, "terminal-500");
	ck_assert_str_eq(tk_find_text(j, "color"), "white");
	json_decref(j);
	sim_fleet_lose_broker(&c);
	sim_fleet_invoke_all(&c, "r2");
	sim_fleet_stop(&c);
}

TEST(connections_come_from_the_addresses_given)
{
	static const char *const env[] = { "BODY_COUNT=3",
		"BODY_SOURCES=127.9.0.1-127.9.0.2", NULL };
	struct sim_fixture b;

	sim_fixture_start(&b, env);
	ck_assert(tk_log_has(&b.broker.proc, "connection from 127.9.0.1:"));
	ck_assert(tk_log_has(&b.broker.proc, "connection from 127.9.0.2:"));
	ck_assert(!tk_log_has(&b.broker.proc, "connection from 127.9.0.3:"));
	sim_fixture_stop(&b);
}
