/*
 * The turn up to its first thought or action, and its end.
 */
#include "turn_case.h"

TEST(a_turn_waits_for_its_queue_slot)
{
	struct turn t;

	turn_init(&t, 4);
	ck_assert_str_eq(turn_phase_name(&t), "queued");
	turn_want(&t, placed(3), "");
	turn_want(&t, placed(1), "");
	turn_want(&t, placed(0), "load");
	ck_assert_str_eq(turn_phase_name(&t), "sensing");
	turn_want(&t, placed(0), "");
}

TEST(a_failed_load_fails_the_turn)
{
	struct turn t;

	turn_init(&t, 4);
	turn_want(&t, placed(0), "load");
	turn_want(&t, faulty(TURN_LOADED, 503), "fail 503");
	ck_assert_str_eq(turn_phase_name(&t), "ended");
	turn_want(&t, loaded(true), "");
	turn_want(&t, CANCEL, "");
}

/* The order in which the senses answer makes no difference. */
TEST(perception_replies_in_any_order)
{
	static const struct {
		int order[3];
		const char *after[3];
	} rows[] = {
		{ { 0, 1, 2 }, { "", "", "think all" } },
		{ { 0, 2, 1 }, { "", "", "think all" } },
		{ { 1, 0, 2 }, { "", "", "think all" } },
		{ { 1, 2, 0 }, { "", "", "think all" } },
		{ { 2, 0, 1 }, { "", "", "think all" } },
		{ { 2, 1, 0 }, { "", "", "think all" } },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct turn_event e[] = { OPEN, filtered(&route_fallback),
			remembers(true) };
		struct turn t;
		turn_sensed(&t, 4);
		for (size_t k = 0; k < 3; k++) {
			turn_want(&t, e[rows[i].order[k]], rows[i].after[k]);
			/* Twice is once. */
			turn_want(&t, e[rows[i].order[k]], "");
		}
	}
}

/* What is offered, by decision and memory. */
TEST(the_decision_alone_routes)
{
	static const struct {
		const struct turn_route *route;
		bool memory;
		const char *want;
	} rows[] = {
		{ &route_fallback, true, "think all" },
		{ &route_fallback, false, "think skills" },
		{ &route_silent, true, "think none !call" },
		{ &route_silent, false, "think none !call" },
		{ &route_direct, true, "act" },
		{ &route_rest, true, "act" },
		{ &route_ask, true, "store" },
		{ NULL, true, "think all" },
		{ NULL, false, "think skills" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct turn t;
		turn_sensed(&t, 4);
		turn_want(&t, remembers(rows[i].memory), "");
		turn_want(&t, OPEN, "");
		turn_want(&t, filtered(rows[i].route), rows[i].want);
		ck_assert(t.routed == (rows[i].route != NULL));
	}
}

TEST(without_a_catalog_there_is_no_filter_request)
{
	struct turn t;

	turn_init(&t, 4);
	turn_want(&t, placed(0), "load");
	turn_want(&t, loaded(false), "feel memory");
	turn_want(&t, remembers(false), "");
	turn_want(&t, OPEN, "think skills");
	ck_assert(!t.routed);
}

/* A direct action does not wait for memory; a thought does. */
TEST(only_the_model_waits_for_memory)
{
	struct turn t;

	turn_sensed(&t, 4);
	turn_want(&t, OPEN, "");
	turn_want(&t, filtered(&route_direct), "act");
	turn_want(&t, ACTED(TURN_OK), "store");

	turn_sensed(&t, 4);
	turn_want(&t, OPEN, "");
	turn_want(&t, filtered(&route_rest), "act");
	turn_want(&t, ACTED(TURN_OK), "");
	turn_want(&t, answered("early", NULL, 0), "");
	turn_want(&t, remembers(true), "think all");

	turn_sensed(&t, 4);
	turn_want(&t, OPEN, "");
	turn_want(&t, filtered(&route_silent), "think none !call");
	turn_want(&t, remembers(true), "");
	turn_want(&t, answered("哈哈", NULL, 0), "store");
}

TEST(direct_actions_have_the_outcome_of_delivery)
{
	static const enum turn_outcome outcomes[] = { TURN_OK, TURN_OFFLINE,
		TURN_NO_SUBSCRIBER, TURN_NO_TIME, TURN_NOT_CONFIRMED };

	for (size_t i = 0; i < NELEM(outcomes); i++) {
		struct turn t;
		turn_sensed(&t, 4);
		turn_want(&t, OPEN, "");
		turn_want(&t, filtered(&route_direct), "act");
		ck_assert_str_eq(turn_phase_name(&t), "acting");
		turn_want(&t, ACTED(outcomes[i]), "store");
		ck_assert_uint_eq(t.n_calls, 2);
		for (size_t k = 0; k < 2; k++) {
			ck_assert_int_eq(t.calls[k].outcome, outcomes[i]);
			ck_assert(turn_call_failed(&t, k) ==
			    (outcomes[i] != TURN_OK));
		}
		turn_want(&t, STORED, "reply");
	}
}

/* Blocked or unknown: nothing is sent. */
TEST(a_closed_gate_sends_nothing)
{
	struct turn t;

	turn_sensed(&t, 4);
	turn_want(&t, BLOCKED, "");
	turn_want(&t, filtered(&route_direct), "store");
	ck_assert_int_eq(t.calls[0].outcome, TURN_BLOCKED);

	turn_sensed(&t, 4);
	turn_want(&t, UNFELT, "");
	turn_want(&t, filtered(&route_direct), "store");
	ck_assert_int_eq(t.calls[1].outcome, TURN_GATE_UNKNOWN);

	/* The rest is answered nevertheless. */
	turn_sensed(&t, 4);
	turn_want(&t, remembers(false), "");
	turn_want(&t, BLOCKED, "");
	turn_want(&t, filtered(&route_rest), "think skills");
	turn_want(&t, answered("晴", NULL, 0), "store");
}

TEST(rejected_intents_are_not_sent)
{
	static const struct turn_call calls[] = { BAD_CALL(
	    "safe", TURN_REJECTED) };
	struct turn_route r = { .action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
		.calls = calls,
		.n_calls = 1 };
	struct turn t;

	turn_sensed(&t, 4);
	turn_want(&t, OPEN, "");
	turn_want(&t, filtered(&r), "store");
	ck_assert_int_eq(t.calls[0].outcome, TURN_REJECTED);
}

/* A reply that cannot be stored is not given. */
TEST(a_turn_ends_after_the_commit)
{
	struct turn t;

	turn_thinks(&t, 4);
	turn_want(&t, answered("好", NULL, 0), "store");
	ck_assert_str_eq(turn_phase_name(&t), "replying");
	turn_want(&t, STORED, "reply");
	turn_want(&t, STORED, "");

	turn_thinks(&t, 4);
	turn_want(&t, answered("好", NULL, 0), "store");
	turn_want(&t, faulty(TURN_COMMITTED, 503), "fail 503");
}

static void
to_phase(struct turn *t, enum turn_phase phase)
{
	turn_init(t, 4);
	if (phase == TURN_QUEUED)
		return;
	turn_want(t, placed(0), "load");
	if (phase == TURN_LOADING)
		return;
	turn_want(t, loaded(true), "feel filter memory");
	if (phase == TURN_PERCEIVING)
		return;
	turn_want(t, remembers(true), "");
	turn_want(t, OPEN, "");
	if (phase == TURN_ACTING) {
		turn_want(t, filtered(&route_direct), "act");
		return;
	}
	turn_want(t, filtered(&route_fallback), "think all");
	if (phase == TURN_INVOKING)
		turn_want(t, answered("", call_nod, 1), "invoke 0");
	if (phase == TURN_SEARCHING)
		turn_want(
		    t, answered("", call_recall, 1), "searching recall 0");
	if (phase == TURN_COMMITTING)
		turn_want(t, answered("好", NULL, 0), "store");
	ck_assert_int_eq(t->phase, phase);
}

/* In every phase: what a cancel, a lost place and the deadline do. */
TEST(every_phase_can_be_canceled)
{
	static const char *const expired[] = {
		[TURN_QUEUED] = "fail 504",
		[TURN_LOADING] = "fail 504",
		[TURN_PERCEIVING] = "fail 504",
		[TURN_ACTING] = "store",
		[TURN_COMPLETING] = "fail 504",
		[TURN_INVOKING] = "store",
		[TURN_SEARCHING] = "fail 504",
		[TURN_COMMITTING] = "fail 504",
	};
	struct turn t;

	for (int p = TURN_QUEUED; p < TURN_ENDED; p++) {
		to_phase(&t, (enum turn_phase)p);
		turn_want(&t, CANCEL, "canceled");
		turn_want(&t, GONE, "");
		for (size_t i = 0; i < t.n_calls; i++)
			ck_assert_int_gt(t.calls[i].outcome, TURN_OK);

		to_phase(&t, (enum turn_phase)p);
		turn_want(&t, GONE, "fail 502");
		turn_want(&t, EXPIRED, "");

		to_phase(&t, (enum turn_phase)p);
		turn_want(&t, EXPIRED, expired[p]);
		if (t.phase == TURN_ENDED)
			continue;
		for (size_t i = 0; i < t.n_calls; i++)
			ck_assert_int_eq(
			    t.calls[i].outcome, TURN_NOT_CONFIRMED);
		turn_want(&t, EXPIRED, "fail 504");
	}
}

/* Time runs out while the model words what was done. */
TEST(calls_are_reported_without_the_model)
{
	struct turn t;

	turn_thinks(&t, 4);
	turn_want(&t, answered("", call_nod, 1), "invoke 0");
	turn_want(&t, result(0, TURN_OK), "think all");
	turn_want(&t, EXPIRED, "store");
	ck_assert(t.model_failed);
	ck_assert_int_eq(t.calls[0].outcome, TURN_OK);
	turn_want(&t, STORED, "reply");
}
