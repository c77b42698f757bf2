/*
 * run_id: writing and reading the ids of runs.
 */
#include "state/run_id.h"

#include <stdio.h>
#include <time.h>

#include "core/id.h"
#include "state/state.h"

/* Bytes before the engine's name with its '-', and after it. */
#define TIME_LEN 15
#define HEX_LEN  8
/* Those of the hexadecimal digits that are the bucket. */
#define BUCKET_LEN 3
#define RANDOM_MAX (1U << 4 * (HEX_LEN - BUCKET_LEN))

static bool
run_engine_valid(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		    c != '_')
			return false;
	}
	return name.n > 0 && name.n <= RUN_ENGINE_MAX;
}

enum rc
run_id_new(
    struct str user, struct str engine, struct wall at, char dst[RUN_ID_MAX])
{
	time_t s = (time_t)(at.ms / 1000);
	unsigned bucket;
	struct tm tm;
	enum rc rc = state_bucket(user, &bucket);

	dst[0] = '\0';
	if (rc != RC_OK)
		return rc;
	if (!run_engine_valid(engine) || at.ms < 0 ||
	    gmtime_r(&s, &tm) == NULL || tm.tm_year > 9999 - 1900)
		return RC_INVALID;
	(void)snprintf(dst, RUN_ID_MAX,
	    "%04d%02d%02dT%02d%02d%02d-%.*s-%03x%05x", tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
	    STR_ARG(engine), bucket, (unsigned)id_random_below(RANDOM_MAX));
	return RC_OK;
}

struct str
run_id_engine(struct str id)
{
	struct str none = { NULL, 0 }, engine;

	if (id.n < TIME_LEN + 1 + 1 + 1 + HEX_LEN || id.p[TIME_LEN] != '-' ||
	    id.p[id.n - HEX_LEN - 1] != '-')
		return none;
	for (size_t i = 0; i < TIME_LEN; i++) {
		if (i == 8 ? id.p[i] != 'T' : id.p[i] < '0' || id.p[i] > '9')
			return none;
	}
	engine =
	    (struct str){ id.p + TIME_LEN + 1, id.n - TIME_LEN - HEX_LEN - 2 };
	return run_engine_valid(engine) ? engine : none;
}

enum rc
run_id_bucket(struct str id, unsigned *bucket)
{
	*bucket = 0;
	if (run_id_engine(id).p == NULL)
		return RC_INVALID;
	for (size_t i = id.n - HEX_LEN; i < id.n; i++) {
		char c = id.p[i];
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
		    : c >= 'a' && c <= 'f'            ? (unsigned)(c - 'a') + 10
						      : 16;

		if (digit == 16)
			return RC_INVALID;
		if (i < id.n - HEX_LEN + BUCKET_LEN)
			*bucket = 16 * *bucket + digit;
	}
	return *bucket < STATE_BUCKETS ? RC_OK : RC_INVALID;
}
