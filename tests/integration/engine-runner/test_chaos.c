/*
 * A short run of the chaos test; tests/soak/engine-runner has the long one.
 */
#include <stdlib.h>

#include "testkit/engine_chaos.h"
#include "testkit/testkit.h"

TEST_T(no_event_is_lost_or_published_twice, 180)
{
	const struct engine_chaos c = {
		.runs = 10, .kills = 12, .reconnects = 20, .seed = 20260221
	};

	engine_chaos_run(&c);
}
