/*
 * Whether a soul may speak unasked.
 */
#include <string.h>

#include "core/mem.h"
#include "core/zone.h"
#include "speech_rule.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

/* 2026-11-28 14:00 in Shanghai. */
#define NOON INT64_C(1795845600000)
#define HOUR INT64_C(3600000)

static struct zone *zone;

static struct speech_decision
rule_decide(enum wire_alarm_record_source source, bool urgent,
    const struct speech_context *x)
{
	struct wire_alarm_record r;

	if (zone == NULL)
		ck_assert_int_eq(zone_load("Asia/Shanghai", &zone), RC_OK);
	wire_init(&wire_alarm_record_desc, &r);
	r.source = source;
	r.urgent = urgent;
	return speech_decide(&r, x, zone, 12);
}

#define ALARM     WIRE_ALARM_RECORD_SOURCE_ALARM
#define PUSH      WIRE_ALARM_RECORD_SOURCE_PUSH
#define NAVIGATOR WIRE_ALARM_RECORD_SOURCE_NAVIGATOR
#define RUN       WIRE_ALARM_RECORD_SOURCE_RUN

TEST(the_setting_proactive_decides_who_may_speak)
{
	static const struct {
		enum speech_proactive set;
		enum wire_alarm_record_source source;
		enum speech_verdict is;
	} rows[] = {
		{ SPEECH_OFF, ALARM, SPEECH_NEVER },
		{ SPEECH_OFF, PUSH, SPEECH_NEVER },
		{ SPEECH_OFF, NAVIGATOR, SPEECH_NEVER },
		{ SPEECH_OFF, RUN, SPEECH_NEVER },
		{ SPEECH_ALARMS, ALARM, SPEECH_NOW },
		{ SPEECH_ALARMS, PUSH, SPEECH_NOW },
		{ SPEECH_ALARMS, NAVIGATOR, SPEECH_NEVER },
		{ SPEECH_ALARMS, RUN, SPEECH_NOW },
		{ SPEECH_ALL, NAVIGATOR, SPEECH_NOW },
		{ SPEECH_ALL, ALARM, SPEECH_NOW },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct speech_context x = { .now = { NOON },
			.soul.proactive = rows[i].set };

		ck_assert_int_eq(
		    rule_decide(rows[i].source, false, &x).verdict, rows[i].is);
	}
}

TEST(quiet_hours_defer_all_but_alarms_and_what_is_urgent)
{
	static const struct {
		int from, to;
		int64_t at;
		bool quiet;
		int64_t until;
	} rows[] = {
		{ 22 * 60, 7 * 60, NOON, false, 0 },
		{ 22 * 60, 7 * 60, NOON + 8 * HOUR - 1000, false, 0 },
		{ 22 * 60, 7 * 60, NOON + 8 * HOUR, true, NOON + 17 * HOUR },
		{ 22 * 60, 7 * 60, NOON + 12 * HOUR, true, NOON + 17 * HOUR },
		{ 22 * 60, 7 * 60, NOON + 17 * HOUR, false, 0 },
		{ 13 * 60, 15 * 60, NOON, true, NOON + HOUR },
		{ 15 * 60, 16 * 60, NOON, false, 0 },
		{ 14 * 60, 14 * 60, NOON, false, 0 },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct speech_context x = { .now = { rows[i].at },
			.soul = { .has_quiet = true,
			    .quiet_from = rows[i].from,
			    .quiet_to = rows[i].to } };
		struct speech_decision d = rule_decide(PUSH, false, &x);

		ck_assert_int_eq(
		    d.verdict, rows[i].quiet ? SPEECH_WAIT : SPEECH_NOW);
		if (rows[i].quiet) {
			ck_assert_str_eq(d.reason, "quiet_hours");
			ck_assert_int_eq(d.until_ms, rows[i].until);
		}
		ck_assert_int_eq(
		    rule_decide(ALARM, false, &x).verdict, SPEECH_NOW);
		/* Urgent speech, only if the owner has allowed it. */
		ck_assert_int_eq(
		    rule_decide(PUSH, true, &x).verdict, d.verdict);
		x.soul.quiet_urgent = true;
		ck_assert_int_eq(
		    rule_decide(PUSH, true, &x).verdict, SPEECH_NOW);
	}
}

TEST(what_a_soul_thinks_of_itself_is_spoken_seldom)
{
	struct speech_context x = { .now = { NOON },
		.soul.proactive = SPEECH_ALL,
		.spoken = { NOON - 59000 },
		.day = STR("2026-11-28"),
		.spoken_n = 11 };
	struct speech_decision d = rule_decide(NAVIGATOR, false, &x);

	ck_assert_int_eq(d.verdict, SPEECH_WAIT);
	ck_assert_str_eq(d.reason, "cooldown");
	ck_assert_int_eq(d.until_ms, NOON + 1000);
	ck_assert_int_eq(rule_decide(PUSH, false, &x).verdict, SPEECH_NOW);
	x.spoken.ms = NOON - 60000;
	ck_assert_int_eq(rule_decide(NAVIGATOR, false, &x).verdict, SPEECH_NOW);
	x.spoken_n = 12;
	d = rule_decide(NAVIGATOR, false, &x);
	ck_assert_int_eq(d.verdict, SPEECH_WAIT);
	ck_assert_str_eq(d.reason, "per_day");
	x.day = STR("2026-11-27");
	ck_assert_int_eq(rule_decide(NAVIGATOR, false, &x).verdict, SPEECH_NOW);
}

TEST(nobody_is_interrupted_but_by_alarms)
{
	struct speech_context x = { .now = { NOON }, .turn_runs = true };

	ck_assert_int_eq(rule_decide(PUSH, false, &x).verdict, SPEECH_WAIT);
	ck_assert_int_eq(rule_decide(RUN, false, &x).verdict, SPEECH_WAIT);
	ck_assert_int_eq(rule_decide(ALARM, false, &x).verdict, SPEECH_NOW);
	ck_assert_int_eq(rule_decide(PUSH, true, &x).verdict, SPEECH_NOW);
	x.turn_runs = false;
	x.turn_begun.ms = NOON - SPEECH_TURN_MS + 1;
	ck_assert_int_eq(rule_decide(PUSH, false, &x).until_ms, NOON + 1);
	x.turn_begun.ms--;
	ck_assert_int_eq(rule_decide(PUSH, false, &x).verdict, SPEECH_NOW);
	/* A turn of a clock that was set back does not defer it for ever. */
	x.turn_begun.ms = NOON + HOUR;
	ck_assert_int_eq(rule_decide(PUSH, false, &x).verdict, SPEECH_NOW);
}
