/*
 * The guarantees of several star-hubs under faults.
 *
 * STAR_CLIENTS (5000), STAR_SECONDS (600) of faults, one each STAR_PERIOD_MS
 * (20000), STAR_INTERVAL_MS (2000) between two messages of a client on average,
 * STAR_SEED (printed).
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "testkit/star_storm.h"
#include "testkit/testkit.h"

/* Twice the time of faults, and what comes before and after it. */
#define TEST_S 3600

static int64_t
soak_setting(const char *name, int64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL && text[0] != '\0' ? strtoll(text, NULL, 10)
					       : otherwise;
}

TEST_T(no_message_is_lost_unnoticed, TEST_S)
{
	const struct star_storm s = {
		.clients = (size_t)soak_setting("STAR_CLIENTS", 5000),
		.seconds = soak_setting("STAR_SECONDS", 600),
		.period_ms = soak_setting("STAR_PERIOD_MS", 20000),
		.interval_ms = soak_setting("STAR_INTERVAL_MS", 2000),
		.resume_ms = 6000,
		.seed = (uint64_t)soak_setting("STAR_SEED", time(NULL)),
	};
	struct rlimit files;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	ck_assert_uint_eq(star_storm_run(&s), 0);
}
