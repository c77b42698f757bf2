/*
 * Runs while processes are killed.  ENGINE_RUNS (50), ENGINE_KILLS (200),
 * ENGINE_SEED (printed).
 */
#include <stdlib.h>
#include <time.h>

#include "testkit/engine_chaos.h"
#include "testkit/testkit.h"

static size_t
soak_number(const char *name, size_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL && text[0] != '\0'
	    ? (size_t)strtoull(text, NULL, 10)
	    : otherwise;
}

TEST_T(no_event_of_many_runs_is_lost_or_published_twice, 1800)
{
	const struct engine_chaos c = {
		.runs = soak_number("ENGINE_RUNS", 50),
		.kills = soak_number("ENGINE_KILLS", 200),
		.reconnects = 20,
		.seed = soak_number("ENGINE_SEED", (size_t)time(NULL)),
	};

	engine_chaos_run(&c);
}
