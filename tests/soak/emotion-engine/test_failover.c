/*
 * Engines are killed in turn, repeatedly, while souls tick and users send
 * texts.
 */
#include "testkit/emotion_failover.h"
#include "testkit/testkit.h"

TEST_T(repeated_kills_delay_no_soul_by_two_intervals, 900)
{
	static const struct failover_plan plan = { .souls = 2000,
		.run_ms = 180000,
		.kill_every_ms = 10000,
		.talk_every_ms = 5 };

	failover_run(&plan);
}
