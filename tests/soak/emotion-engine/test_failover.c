/*
 * Engines are killed in turn, again and again, while souls tick and users talk
 * to them.
 */
#include "integration/emotion-engine/failover.h"

TEST_T(killed_engines_cost_nobody_a_tick, 900)
{
	static const struct failover_plan plan = { .souls = 2000,
		.run_ms = 180000,
		.kill_every_ms = 10000,
		.talk_every_ms = 5 };

	failover_run(&plan);
}
