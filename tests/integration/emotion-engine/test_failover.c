/*
 * One of two engines is killed while souls tick and users talk to them.
 */
#include "failover.h"

TEST_T(a_killed_engine_costs_nobody_a_tick, 60)
{
	static const struct failover_plan plan = { .souls = 200,
		.run_ms = 13000,
		.kill_every_ms = 10000,
		.talk_every_ms = 10 };

	failover_run(&plan);
}
