/*
 * The turn up to its first model call or action, and its end.
 */
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/turn_fixture.h"

TEST(a_turn_waits_for_its_queue_slot)
{
	struct turn t;

	turn_init(&t, 4);
	ck_assert_str_eq(turn_phase_name(&t), "queued");
	turn_ck_actions(&t, turn_fixture_position(3), "");
	turn_ck_actions(&t, turn_fixture_position(1), "");
	turn_ck_actions(&t, turn_fixture_position(0), "load");
	ck_assert_str_eq(turn_phase_name(&t), "sensing");
	turn_ck_actions(&t, turn_fixture_position(0), "");
}

TEST(a_failed_load_fails_the_turn)
{
	struct turn t;

	turn_init(&t, 4);
	turn_ck_actions(&t, turn_fixture_position(0), "load");
	turn_ck_actions(&t, turn_fixture_error(TURN_LOADED, 503), "fail 503");
	ck_assert_str_eq(turn_phase_name(&t), "ended");
	turn_ck_actions(&t, turn_fixture_loaded(true), "");
	turn_ck_actions(&t, CANCEL, "");
}

/* The order of the perception replies makes no difference. */
TEST(perception_replies_in_any_order)
{
	static const struct {
		int order[3];
		const char *after[3];
	} rows[] = {
		{ { 0, 1, 2 }, { "", "", "model all" } },
		{ { 0, 2, 1 }, { "", "", "model all" } },
		{ { 1, 0, 2 }, { "", "", "model all" } },
		{ { 1, 2, 0 }, { "", "", "model all" } },
		{ { 2, 0, 1 }, { "", "", "model all" } },
		{ { 2, 1, 0 }, { "", "", "model all" } },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct turn_event e[] = { OPEN,
			turn_fixture_intents(&route_fallback),
			turn_fixture_memory(true) };
		struct turn t;
		turn_fixture_perceive(&t, 4);
		for (size_t k = 0; k < 3; k++) {
			turn_ck_actions(
			    &t, e[rows[i].order[k]], rows[i].after[k]);
			/* A second reply changes nothing. */
			turn_ck_actions(&t, e[rows[i].order[k]], "");
		}
	}
}

/* Tools offered, by decision and memory. */
TEST(the_decision_alone_routes)
{
	static const struct {
		const struct turn_route *route;
		bool memory;
		const char *want;
	} rows[] = {
		{ &route_fallback, true, "model all" },
		{ &route_fallback, false, "model skills" },
		{ &route_silent, true, "model none !call" },
		{ &route_silent, false, "model none !call" },
		{ &route_direct, true, "intents" },
		{ &route_rest, true, "intents" },
		{ &route_question, true, "commit" },
		{ NULL, true, "model all" },
		{ NULL, false, "model skills" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct turn t;
		turn_fixture_perceive(&t, 4);
		turn_ck_actions(&t, turn_fixture_memory(rows[i].memory), "");
		turn_ck_actions(&t, OPEN, "");
		turn_ck_actions(
		    &t, turn_fixture_intents(rows[i].route), rows[i].want);
		ck_assert(t.routed == (rows[i].route != NULL));
	}
}

TEST(without_a_catalog_the_filter_is_skipped)
{
	struct turn t;

	turn_init(&t, 4);
	turn_ck_actions(&t, turn_fixture_position(0), "load");
	turn_ck_actions(&t, turn_fixture_loaded(false), "emotion memory");
	turn_ck_actions(&t, turn_fixture_memory(false), "");
	turn_ck_actions(&t, OPEN, "model skills");
	ck_assert(!t.routed);
}

/* A direct action does not wait for memory; a model call does. */
TEST(only_the_model_waits_for_memory)
{
	struct turn t;

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, OPEN, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_direct), "intents");
	turn_ck_actions(&t, ACTED(TURN_OK), "commit");

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, OPEN, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_rest), "intents");
	turn_ck_actions(&t, ACTED(TURN_OK), "");
	turn_ck_actions(&t, turn_fixture_completion("early", NULL, 0), "");
	turn_ck_actions(&t, turn_fixture_memory(true), "model all");

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, OPEN, "");
	turn_ck_actions(
	    &t, turn_fixture_intents(&route_silent), "model none !call");
	turn_ck_actions(&t, turn_fixture_memory(true), "");
	turn_ck_actions(&t, turn_fixture_completion("哈哈", NULL, 0), "commit");
}

TEST(direct_actions_have_the_outcome_of_delivery)
{
	static const enum turn_outcome outcomes[] = { TURN_OK, TURN_OFFLINE,
		TURN_NO_SUBSCRIBER, TURN_NO_TIME, TURN_NOT_CONFIRMED };

	for (size_t i = 0; i < NELEM(outcomes); i++) {
		struct turn t;
		turn_fixture_perceive(&t, 4);
		turn_ck_actions(&t, OPEN, "");
		turn_ck_actions(
		    &t, turn_fixture_intents(&route_direct), "intents");
		ck_assert_str_eq(turn_phase_name(&t), "acting");
		turn_ck_actions(&t, ACTED(outcomes[i]), "commit");
		ck_assert_uint_eq(t.n_calls, 2);
		for (size_t k = 0; k < 2; k++) {
			ck_assert_int_eq(t.calls[k].outcome, outcomes[i]);
			ck_assert(turn_call_failed(&t, k) ==
			    (outcomes[i] != TURN_OK));
		}
		turn_ck_actions(&t, STORED, "reply");
	}
}

/* Blocked or unknown: nothing is sent. */
TEST(a_closed_gate_sends_nothing)
{
	struct turn t;

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, BLOCKED, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_direct), "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_BLOCKED);

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, UNFELT, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_direct), "commit");
	ck_assert_int_eq(t.calls[1].outcome, TURN_GATE_UNKNOWN);

	/* The model still gets the rest. */
	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, turn_fixture_memory(false), "");
	turn_ck_actions(&t, BLOCKED, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_rest), "model skills");
	turn_ck_actions(&t, turn_fixture_completion("晴", NULL, 0), "commit");
}

TEST(rejected_intents_are_not_sent)
{
	static const struct turn_call calls[] = { BAD_CALL(
	    "safe", TURN_REJECTED) };
	struct turn_route r = { .action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
		.calls = calls,
		.n_calls = 1 };
	struct turn t;

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, OPEN, "");
	turn_ck_actions(&t, turn_fixture_intents(&r), "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_REJECTED);
}

/* A reply that cannot be stored is not returned. */
TEST(a_turn_ends_after_the_commit)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("好", NULL, 0), "commit");
	ck_assert_str_eq(turn_phase_name(&t), "replying");
	turn_ck_actions(&t, STORED, "reply");
	turn_ck_actions(&t, STORED, "");

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("好", NULL, 0), "commit");
	turn_ck_actions(
	    &t, turn_fixture_error(TURN_COMMITTED, 503), "fail 503");
}

/* The soul's state is saved beside the turn; only the reply waits for it. */
TEST(a_reply_waits_for_the_save)
{
	const struct turn_event unsaved =
	    EV(.kind = TURN_EMOTION_REPLY, .known = true,
		.mode = WIRE_EXEC_MODE_AUTO_EXECUTE, .unsaved = true);
	const struct turn_event saved = EV(.kind = TURN_EMOTION_SAVED);
	struct turn t;

	for (int late = 0; late < 2; late++) {
		turn_fixture_perceive(&t, 4);
		turn_ck_actions(&t, turn_fixture_intents(&route_direct), "");
		turn_ck_actions(&t, unsaved, "intents");
		if (!late)
			turn_ck_actions(&t, saved, "");
		turn_ck_actions(&t, ACTED(TURN_OK), "commit");
		turn_ck_actions(&t, STORED, late ? "" : "reply");
		if (!late)
			continue;
		/* What is stored can be neither canceled nor lost. */
		turn_ck_actions(&t, CANCEL, "");
		turn_ck_actions(&t, LOST, "");
		turn_ck_actions(&t, saved, "reply");
		turn_ck_actions(&t, EXPIRED, "");
	}
	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, unsaved, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_direct), "intents");
	turn_ck_actions(&t, ACTED(TURN_OK), "commit");
	turn_ck_actions(&t, STORED, "");
	turn_ck_actions(&t, EXPIRED, "reply");
}

static void
to_phase(struct turn *t, enum turn_phase phase)
{
	turn_init(t, 4);
	if (phase == TURN_QUEUED)
		return;
	turn_ck_actions(t, turn_fixture_position(0), "load");
	if (phase == TURN_LOADING)
		return;
	turn_ck_actions(t, turn_fixture_loaded(true), "emotion filter memory");
	if (phase == TURN_PERCEIVING)
		return;
	turn_ck_actions(t, turn_fixture_memory(true), "");
	turn_ck_actions(t, OPEN, "");
	if (phase == TURN_ACTING) {
		turn_ck_actions(
		    t, turn_fixture_intents(&route_direct), "intents");
		return;
	}
	turn_ck_actions(t, turn_fixture_intents(&route_fallback), "model all");
	if (phase == TURN_INVOKING)
		turn_ck_actions(
		    t, turn_fixture_completion("", call_nod, 1), "invoke 0");
	if (phase == TURN_SEARCHING)
		turn_ck_actions(t, turn_fixture_completion("", call_recall, 1),
		    "searching recall 0");
	if (phase == TURN_COMMITTING)
		turn_ck_actions(
		    t, turn_fixture_completion("好", NULL, 0), "commit");
	ck_assert_int_eq(t->phase, phase);
}

/* Cancel, eviction and deadline in every phase. */
TEST(every_phase_can_be_canceled)
{
	static const char *const expired[] = {
		[TURN_QUEUED] = "fail 504",
		[TURN_LOADING] = "fail 504",
		[TURN_PERCEIVING] = "fail 504",
		[TURN_ACTING] = "commit",
		[TURN_COMPLETING] = "fail 504",
		[TURN_INVOKING] = "commit",
		[TURN_SEARCHING] = "fail 504",
		[TURN_COMMITTING] = "fail 504",
	};
	struct turn t;

	for (int p = TURN_QUEUED; p < TURN_ENDED; p++) {
		to_phase(&t, (enum turn_phase)p);
		turn_ck_actions(&t, CANCEL, "canceled");
		turn_ck_actions(&t, LOST, "");
		for (size_t i = 0; i < t.n_calls; i++)
			ck_assert_int_gt(t.calls[i].outcome, TURN_OK);

		to_phase(&t, (enum turn_phase)p);
		turn_ck_actions(&t, LOST, "fail 502");
		turn_ck_actions(&t, EXPIRED, "");

		to_phase(&t, (enum turn_phase)p);
		turn_ck_actions(&t, EXPIRED, expired[p]);
		if (t.phase == TURN_ENDED)
			continue;
		for (size_t i = 0; i < t.n_calls; i++)
			ck_assert_int_eq(
			    t.calls[i].outcome, TURN_NOT_CONFIRMED);
		turn_ck_actions(&t, EXPIRED, "fail 504");
	}
}

/* The deadline passes during the model call after an effect. */
TEST(calls_are_reported_without_the_model)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model all");
	turn_ck_actions(&t, EXPIRED, "commit");
	ck_assert(t.model_failed);
	ck_assert_int_eq(t.calls[0].outcome, TURN_OK);
	turn_ck_actions(&t, STORED, "reply");
}

/* The gate holds nothing back from alarm-clock, which needs no body. */
TEST(an_alarm_is_set_while_the_gate_is_closed)
{
	struct turn t;

	turn_fixture_perceive(&t, 2);
	turn_ck_actions(&t, turn_fixture_intents(&route_alarm), "");
	turn_ck_actions(&t, BLOCKED, "alarm 0");
	ck_assert_int_eq(t.calls[1].outcome, TURN_BLOCKED);
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_OK);
}

TEST(alarms_and_actions_are_both_waited_for)
{
	struct turn t;

	turn_fixture_perceive(&t, 2);
	turn_ck_actions(&t, turn_fixture_intents(&route_alarm), "");
	turn_ck_actions(&t, OPEN, "alarm 0 intents");
	turn_ck_actions(&t, ACTED(TURN_OK), "");
	ck_assert_int_eq(t.calls[0].outcome, TURN_SENT);
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OFFLINE), "commit");
	ck_assert(turn_call_failed(&t, 0) && !turn_call_failed(&t, 1));
}
