/*
 * The state machine of an occurrence: each state with each event.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "ring.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define T0 INT64_C(1800000000000)

static struct arena *a;

static struct wire_alarm_record
ring_new(enum wire_alarm_record_kind kind)
{
	struct wire_alarm_record r;

	if (a == NULL)
		a = arena_new(1024UL * 1024);
	wire_init(&wire_alarm_record_desc, &r);
	r.id = STR("al_1");
	r.user_id = STR("ann");
	r.text = STR("喝水");
	r.kind = kind;
	ring_schedule(&r, T0);
	return r;
}

static const struct str two[] = { STR_INIT("t1"), STR_INIT("t2") };
static const struct ring_bodies bodies = { two, 2 };
static const struct ring_bodies nobody = { NULL, 0 };

TEST(an_alarm_waits_for_its_time)
{
	struct wire_alarm_record r = ring_new(WIRE_ALARM_RECORD_KIND_ALARM);

	ck_assert_int_eq(r.state, WIRE_ALARM_RECORD_STATE_SET);
	ck_assert_int_eq(r.next_ms, T0);
	ck_assert(!ring_is_ringing(&r));
	ck_assert(!ring_has_ended(&r));
	ck_assert(!ring_is_over(&r, T0 + RING_REMINDER_MS * 2));
}

TEST(attempts_on_one_body_have_their_delays_and_one_request)
{
	static const int64_t at[] = { 0, 5000, 15000, 60000 };
	struct wire_alarm_record r = ring_new(WIRE_ALARM_RECORD_KIND_ALARM);
	char first[RING_ID_MAX], id[RING_ID_MAX];
	size_t i;

	ring_begin(&r, T0);
	for (i = 0; i < NELEM(at); i++) {
		ck_assert_int_eq(r.next_ms, T0 + at[i]);
		ck_assert(ring_pick(&r, &bodies, r.next_ms, a));
		ck_assert(str_eq(r.body, two[0]));
		ck_assert_int_eq(r.body_attempts, (int64_t)i + 1);
		ring_request(&r, i == 0 ? first : id);
		if (i > 0)
			ck_assert_str_eq(id, first);
		ck_assert(!ring_outcome(&r, RING_NOT_CONFIRMED, T0 + at[i], a));
	}
	/* Then the other one, at once, by another request. */
	ck_assert_int_eq(r.next_ms, T0 + at[3]);
	ck_assert(ring_pick(&r, &bodies, r.next_ms, a));
	ck_assert(str_eq(r.body, two[1]));
	ring_request(&r, id);
	ck_assert_str_ne(id, first);
	ck_assert_int_eq(r.attempts, 5);
}

TEST(a_body_that_cannot_is_followed_by_the_next)
{
	static const enum ring_outcome cannot[] = { RING_NO_BODY,
		RING_NO_SKILL };

	for (size_t i = 0; i < NELEM(cannot); i++) {
		struct wire_alarm_record r =
		    ring_new(WIRE_ALARM_RECORD_KIND_ALARM);

		ring_begin(&r, T0);
		ck_assert(ring_pick(&r, &bodies, T0, a));
		ck_assert(!ring_outcome(&r, cannot[i], T0 + 1, a));
		ck_assert_int_le(r.next_ms, T0 + 1);
		ck_assert(ring_pick(&r, &bodies, T0 + 1, a));
		ck_assert(str_eq(r.body, two[1]));
		ck_assert(!ring_outcome(&r, cannot[i], T0 + 2, a));
		/* The next round begins with the first again. */
		ck_assert(!ring_pick(&r, &bodies, T0 + 2, a));
		ck_assert_int_eq(r.next_ms, T0 + 2 + RING_ROUND_MS);
		ck_assert(ring_is_ringing(&r));
		ck_assert(ring_pick(&r, &bodies, r.next_ms, a));
		ck_assert(str_eq(r.body, two[0]));
	}
}

TEST(a_confirmed_occurrence_ends_and_the_next_is_set)
{
	struct wire_alarm_record r = ring_new(WIRE_ALARM_RECORD_KIND_ALARM);

	ring_begin(&r, T0);
	ck_assert(ring_pick(&r, &bodies, T0, a));
	ck_assert(ring_outcome(&r, RING_SPOKEN, T0 + 100, a));
	ring_end(&r, true, T0 + 100, T0 + 86400000);
	ck_assert_int_eq(r.state, WIRE_ALARM_RECORD_STATE_SET);
	ck_assert_int_eq(r.last_state, WIRE_ALARM_RECORD_LAST_STATE_RUNG);
	ck_assert_int_eq(r.last_at_ms, T0);
	ck_assert_int_eq(r.at_ms, T0 + 86400000);
	ck_assert(str_eq(r.rang_on, two[0]));

	ring_begin(&r, r.at_ms);
	ck_assert_uint_eq(r.rang_on.n, 0);
	ring_end(&r, true, r.at_ms, 0);
	ck_assert_int_eq(r.state, WIRE_ALARM_RECORD_STATE_RUNG);
	ck_assert(ring_has_ended(&r));
	ck_assert_int_eq(r.next_ms, 0);
}

TEST(what_nobody_has_confirmed_is_missed_at_its_end)
{
	static const struct {
		enum wire_alarm_record_kind kind;
		int64_t ms;
	} rows[] = { { WIRE_ALARM_RECORD_KIND_ALARM, RING_ALARM_MS },
		{ WIRE_ALARM_RECORD_KIND_TIMER, RING_ALARM_MS },
		{ WIRE_ALARM_RECORD_KIND_ACTION, RING_ALARM_MS },
		{ WIRE_ALARM_RECORD_KIND_REMINDER, RING_REMINDER_MS } };

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wire_alarm_record r = ring_new(rows[i].kind);
		int64_t now = T0;
		int rounds = 0;

		ring_begin(&r, now);
		while (!ring_is_over(&r, now)) {
			ck_assert(!ring_pick(&r, &nobody, now, a));
			ck_assert_int_gt(r.next_ms, now);
			ck_assert_int_le(r.next_ms, T0 + rows[i].ms);
			now = r.next_ms;
			rounds++;
		}
		ck_assert_int_eq(now, T0 + rows[i].ms);
		ck_assert_int_gt(rounds, 1);
		ring_end(&r, false, now, 0);
		ck_assert_int_eq(r.state, WIRE_ALARM_RECORD_STATE_MISSED);
		ck_assert(str_eq(r.reason, STR("no_body")));
	}
}

TEST(an_attempt_that_no_service_made_does_not_count)
{
	struct wire_alarm_record r = ring_new(WIRE_ALARM_RECORD_KIND_ALARM);

	ring_begin(&r, T0);
	for (int i = 0; i < 20; i++) {
		ck_assert(ring_pick(&r, &bodies, r.next_ms, a));
		ck_assert(str_eq(r.body, two[0]));
		ck_assert(!ring_outcome(&r, RING_NO_SERVICE, r.next_ms, a));
		ck_assert_int_eq(r.attempts, 0);
	}
	ck_assert_int_eq(r.next_ms, T0 + 20 * RING_SERVICE_MS);
}

/* An outage, or a clock that was set, is no reason to skip it. */
TEST(one_that_begins_after_an_outage_has_its_time)
{
	static const struct {
		int64_t lag_ms, end_ms;
	} rows[] = {
		{ 0, RING_ALARM_MS },
		{ RING_ALARM_MS, RING_ALARM_MS * 2 },
		{ 3600000, 3600000 + RING_ALARM_MS },
		{ RING_OUTAGE_MS, RING_OUTAGE_MS + RING_ALARM_MS },
		{ RING_OUTAGE_MS + 1, RING_ALARM_MS },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wire_alarm_record r =
		    ring_new(WIRE_ALARM_RECORD_KIND_ALARM);

		ring_begin(&r, T0 + rows[i].lag_ms);
		ck_assert_int_eq(r.end_ms, T0 + rows[i].end_ms);
	}
}

TEST(a_set_clock_changes_no_delay)
{
	static const int64_t steps[] = { 3600000, -3600000 };

	for (size_t i = 0; i < NELEM(steps); i++) {
		struct wire_alarm_record r =
		    ring_new(WIRE_ALARM_RECORD_KIND_ALARM);

		ring_begin(&r, T0);
		ck_assert(ring_pick(&r, &bodies, T0, a));
		ck_assert(!ring_outcome(&r, RING_NOT_CONFIRMED, T0 + 1, a));
		ring_set_clock(&r, steps[i]);
		ck_assert_int_eq(r.next_ms, T0 + steps[i] + 5000);
		ck_assert_int_eq(r.end_ms, T0 + steps[i] + RING_ALARM_MS);
		ck_assert(ring_pick(&r, &bodies, r.next_ms, a));
		ck_assert(!ring_outcome(&r, RING_NOT_CONFIRMED, r.next_ms, a));
		ck_assert_int_eq(r.next_ms, T0 + steps[i] + 15000);
		/* Its id is of its time. */
		ck_assert_int_eq(r.at_ms, T0);
	}
}

/* A light that goes off ten minutes after its time is no kept word. */
TEST(an_action_has_a_minute)
{
	struct wire_alarm_record r = ring_new(WIRE_ALARM_RECORD_KIND_ACTION);

	r.has_action = true;
	ring_begin(&r, T0 + 5000);
	ck_assert_int_eq(r.end_ms, T0 + RING_ACTION_MS);
	ck_assert(!ring_is_over(&r, T0 + RING_ACTION_MS - 1));
	ck_assert(ring_is_over(&r, T0 + RING_ACTION_MS));
}

TEST(a_blocked_action_is_missed_and_blocked_speech_waits)
{
	struct wire_alarm_record r = ring_new(WIRE_ALARM_RECORD_KIND_ACTION);

	r.has_action = true;
	ring_begin(&r, T0);
	ck_assert(ring_pick(&r, &bodies, T0, a));
	ck_assert(ring_outcome(&r, RING_BLOCKED, T0, a));
	ring_end(&r, false, T0, 0);
	ck_assert_int_eq(r.state, WIRE_ALARM_RECORD_STATE_MISSED);
	ck_assert(str_eq(r.reason, STR("blocked")));

	r = ring_new(WIRE_ALARM_RECORD_KIND_REMINDER);
	ring_begin(&r, T0);
	ck_assert(ring_pick(&r, &bodies, T0, a));
	ck_assert(!ring_outcome(&r, RING_BLOCKED, T0, a));
	ck_assert_int_gt(r.next_ms, T0);
	ck_assert(ring_is_ringing(&r));
}

TEST(a_snooze_is_another_occurrence)
{
	struct wire_alarm_record r = ring_new(WIRE_ALARM_RECORD_KIND_ALARM);
	char first[RING_ID_MAX], id[RING_ID_MAX];

	ring_begin(&r, T0);
	ring_occurrence(&r, first);
	ring_snooze(&r, T0 + 5, T0 + 600000);
	ring_occurrence(&r, id);
	ck_assert_str_ne(id, first);
	ck_assert_int_eq(r.state, WIRE_ALARM_RECORD_STATE_SNOOZED);
	ck_assert_int_eq(r.last_state, WIRE_ALARM_RECORD_LAST_STATE_SNOOZED);
	ring_begin(&r, r.next_ms);
	ck_assert(ring_is_ringing(&r));
	ring_cancel(&r, T0 + 600001);
	ck_assert(ring_has_ended(&r));
	ck_assert_int_eq(r.next_ms, 0);
}

/* Whatever happens, in whatever order, time goes on and it ends. */
TEST(every_sequence_of_outcomes_ends)
{
	for (unsigned seed = 0; seed < 120; seed++) {
		struct wire_alarm_record r =
		    ring_new((enum wire_alarm_record_kind)(seed % 4));
		unsigned x = seed * 2654435761U + 1;
		int64_t now = T0;
		int steps = 0;

		r.has_action = r.kind == WIRE_ALARM_RECORD_KIND_ACTION;
		ring_begin(&r, now);
		while (!ring_is_over(&r, now)) {
			enum ring_outcome o;

			x = x * 1103515245U + 12345;
			o = (enum ring_outcome)(1 + (x >> 16) % 6);
			ck_assert_int_lt(++steps, 100000);
			if (ring_pick(&r, x & 64 ? &bodies : &nobody, now, a) &&
			    ring_outcome(&r, o, now, a))
				break;
			ck_assert_int_le(r.next_ms, r.end_ms);
			ck_assert_uint_le(r.n_tried, 2);
			now = r.next_ms > now ? r.next_ms : now;
		}
		arena_reset(a);
	}
}
