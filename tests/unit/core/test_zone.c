/*
 * Time zones, at times whose offset is known.
 */
#include "core/mem.h"
#include "core/str.h"
#include "core/zone.h"
#include "testkit/testkit.h"

static const struct {
	const char *zone, *moment;
	int offset_min;
} moments[] = {
	{ "UTC", "2026-02-22T00:00:00Z", 0 },
	{ "Asia/Shanghai", "2026-02-22T09:40:00Z", 480 },
	{ "Asia/Shanghai", "1987-07-01T00:00:00Z", 540 },
	{ "Asia/Kolkata", "2026-02-22T00:00:00Z", 330 },
	{ "America/New_York", "2026-01-15T12:00:00Z", -300 },
	{ "America/New_York", "2026-07-15T12:00:00Z", -240 },
	/* The last second before a transition, and the transition. */
	{ "Europe/Berlin", "2026-03-29T00:59:59Z", 60 },
	{ "Europe/Berlin", "2026-03-29T01:00:00Z", 120 },
	{ "Europe/London", "1969-06-01T00:00:00Z", 60 },
	{ "Etc/GMT+8", "2026-01-01T00:00:00Z", -480 },
};

TEST(offsets_at_known_times)
{
	size_t i;

	for (i = 0; i < NELEM(moments); i++) {
		struct zone *z = NULL;
		struct wall t;

		ck_assert_msg(zone_load(moments[i].zone, &z) == RC_OK, "%s",
		    moments[i].zone);
		ck_assert_str_eq(zone_name(z), moments[i].zone);
		ck_assert_int_eq(
		    wall_parse(str_of(moments[i].moment), &t), RC_OK);
		ck_assert_msg(zone_offset_min(z, t) == moments[i].offset_min,
		    "%s at %s: %d", moments[i].zone, moments[i].moment,
		    zone_offset_min(z, t));
		zone_free(z);
	}
}

static const struct {
	const char *name;
	enum rc rc;
} bad[] = {
	{ "", RC_INVALID },
	{ "/etc/passwd", RC_INVALID },
	{ "../../../etc/passwd", RC_INVALID },
	{ "Asia/Shang hai", RC_INVALID },
	{ "Asia/Nowhere", RC_NOENT },
	{ "Asia", RC_NOENT },
	{ "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	    RC_INVALID },
};

TEST(invalid_names_are_rejected)
{
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		struct zone *z = NULL;

		ck_assert_msg(
		    zone_load(bad[i].name, &z) == bad[i].rc, "%s", bad[i].name);
		ck_assert_ptr_null(z);
	}
}

/* Local times, as if they were of UTC, and wall times. */
static const struct {
	const char *zone, *shown, *moment;
	bool is_back; /* converts back to the same local time */
} shown[] = {
	{ "UTC", "2026-02-22T00:00:00Z", "2026-02-22T00:00:00Z", true },
	{ "Asia/Shanghai", "2026-02-22T17:40:00Z", "2026-02-22T17:40:00+08:00",
	    true },
	{ "Asia/Kolkata", "1969-12-31T23:00:00Z", "1969-12-31T23:00:00+05:30",
	    true },
	{ "Europe/Berlin", "2026-03-29T01:59:59Z", "2026-03-29T01:59:59+01:00",
	    true },
	{ "Europe/Berlin", "2026-03-29T03:00:00Z", "2026-03-29T03:00:00+02:00",
	    true },
	/* Skipped. */
	{ "Europe/Berlin", "2026-03-29T02:30:00Z", "2026-03-29T03:30:00+02:00",
	    false },
	/* Ambiguous. */
	{ "Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T02:30:00+02:00",
	    true },
	{ "Europe/Berlin", "2026-10-25T03:00:00Z", "2026-10-25T03:00:00+01:00",
	    true },
};

TEST(local_times_convert_to_wall_time_and_back)
{
	size_t i;

	for (i = 0; i < NELEM(shown); i++) {
		struct zone *z = NULL;
		struct wall local, t;

		ck_assert_int_eq(zone_load(shown[i].zone, &z), RC_OK);
		ck_assert_int_eq(
		    wall_parse(str_of(shown[i].shown), &local), RC_OK);
		ck_assert_int_eq(
		    wall_parse(str_of(shown[i].moment), &t), RC_OK);
		ck_assert_msg(
		    zone_wall_of(z, local.ms / 1000).ms == t.ms, "row %zu", i);
		ck_assert_msg((zone_local_of(z, t) == local.ms / 1000) ==
			shown[i].is_back,
		    "row %zu", i);
		zone_free(z);
	}
}
