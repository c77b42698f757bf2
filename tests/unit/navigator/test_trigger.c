/* What makes a soul think, and what it does when it is idle. */
#include "core/mem.h"
#include "idle_choice.h"
#include "persona/drive_words.h"
#include "testkit/testkit.h"
#include "trigger.h"

TEST(strong_bad_emotions_are_triggers)
{
	static const struct {
		enum wire_emotion emotion;
		double intensity;
		enum nav_trigger trigger;
	} rows[] = {
		{ WIRE_EMOTION_ANGER, .5, NAV_EMOTION },
		{ WIRE_EMOTION_SADNESS, .9, NAV_EMOTION },
		{ WIRE_EMOTION_FEAR, 1, NAV_EMOTION },
		{ WIRE_EMOTION_SADNESS, .49, NAV_NONE },
		{ WIRE_EMOTION_JOY, 1, NAV_NONE },
		{ WIRE_EMOTION_NEUTRAL, 1, NAV_NONE },
	};
	struct wire_turn_completed t = { .has_user_emotion = true };

	for (size_t i = 0; i < NELEM(rows); i++) {
		t.user_emotion.emotion = rows[i].emotion;
		t.user_emotion.intensity = rows[i].intensity;
		ck_assert_int_eq(trigger_of_turn(&t), rows[i].trigger);
	}
	t = (struct wire_turn_completed){ .user_emotion = {
					      .emotion = WIRE_EMOTION_ANGER,
					      .intensity = 1 } };
	ck_assert_int_eq(trigger_of_turn(&t), NAV_NONE);
}

TEST(a_missed_alarm_is_a_trigger)
{
	struct wire_alarm_changed a = { .state =
					    WIRE_ALARM_CHANGED_STATE_MISSED };

	ck_assert_int_eq(trigger_of_alarm(&a), NAV_RESULT);
	a.state = WIRE_ALARM_CHANGED_STATE_RUNG;
	ck_assert_int_eq(trigger_of_alarm(&a), NAV_NONE);
}

TEST(a_run_of_a_session_is_a_trigger)
{
	struct wire_run_ended r = { .session_id = STR("s"),
		.state = WIRE_RUN_ENDED_STATE_FAILED };

	ck_assert_int_eq(trigger_of_run(&r), NAV_RESULT);
	r.state = WIRE_RUN_ENDED_STATE_SUCCEEDED;
	ck_assert_int_eq(trigger_of_run(&r), NAV_RESULT);
	r.state = WIRE_RUN_ENDED_STATE_CANCELED;
	ck_assert_int_eq(trigger_of_run(&r), NAV_NONE);
	r = (struct wire_run_ended){ .state = WIRE_RUN_ENDED_STATE_FAILED };
	ck_assert_int_eq(trigger_of_run(&r), NAV_NONE);
}

TEST(what_a_cycle_has_stored_is_no_trigger)
{
	struct wire_memory_stored m = { .trigger_source = STR("compression") };

	ck_assert_int_eq(trigger_of_memory(&m), NAV_MEMORY);
	m.trigger_source = (struct str){ 0 };
	ck_assert_int_eq(trigger_of_memory(&m), NAV_MEMORY);
	m.trigger_source = STR("navigator");
	ck_assert_int_eq(trigger_of_memory(&m), NAV_NONE);
}

TEST(an_idle_soul_chooses_by_its_drives)
{
	static const struct {
		struct drive_levels d;
		enum idle_choice choice;
		bool calls;
	} rows[] = {
		{ { .laziness = .71, .curiosity = 1, .intimacy = 1 },
		    IDLE_SLEEP, false },
		{ { .laziness = .7, .curiosity = .61, .intimacy = 1 },
		    IDLE_EXPLORE, true },
		{ { .curiosity = .6, .intimacy = .51 }, IDLE_CONNECT, true },
		{ { .curiosity = .6, .intimacy = .5 }, IDLE_HEARTBEAT, false },
		{ { .survival = 1 }, IDLE_HEARTBEAT, false },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(idle_choose(&rows[i].d), rows[i].choice);
		ck_assert_int_eq(
		    idle_calls_model(rows[i].choice), rows[i].calls);
	}
}
