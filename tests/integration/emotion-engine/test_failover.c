/*
 * One of two engines is killed while souls tick and users send texts.
 */
#include "testkit/emotion_failover.h"
#include "testkit/testkit.h"

TEST_T(the_other_engine_takes_over_a_killed_engines_souls, 60)
{
	static const struct failover_plan plan = { .souls = 200,
		.run_ms = 13000,
		.kill_every_ms = 10000,
		.talk_every_ms = 10 };

	failover_run(&plan);
}
