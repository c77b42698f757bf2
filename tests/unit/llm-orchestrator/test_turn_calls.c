/*
 * The turn after the model's first completion.
 */
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/turn_fixture.h"

TEST(text_without_calls_is_the_reply)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("晴天", NULL, 0), "commit");
	ck_assert(t.has_text);
	ck_assert(str_eq(t.text, STR("晴天")));
	turn_ck_actions(&t, STORED, "reply");
}

TEST(a_failed_model_fails_the_turn)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_error(TURN_COMPLETION, 502), "fail 502");

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, turn_fixture_memory(true), "");
	turn_ck_actions(&t, OPEN, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_rest), "intents");
	turn_ck_actions(&t, ACTED(TURN_OK), "model all");
	turn_ck_actions(&t, turn_fixture_error(TURN_COMPLETION, 502), "commit");
	ck_assert(t.model_failed);

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model all");
	turn_ck_actions(&t, turn_fixture_error(TURN_COMPLETION, 504), "commit");
	ck_assert(t.model_failed && !t.has_text);
}

/* A fence that is not replicated: the call was not sent, nor may have been. */
TEST(an_unsent_call_is_canceled_with_the_turn)
{
	struct turn_event e = { .kind = TURN_LOST,
		.error = { 503, "not_replicated", "nothing was done" } };
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 0");
	turn_ck_actions(&t, e, "fail 503");
	ck_assert_int_eq(t.calls[0].outcome, TURN_NOT_CONFIRMED);

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 0");
	e.unsent = true;
	turn_ck_actions(&t, e, "fail 503");
	ck_assert_int_eq(t.calls[0].outcome, TURN_CANCELED);
}

/* Confirmed calls beside text need one call of the model. */
TEST(confirmed_calls_with_text_end_the_turn)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("这就点头", call_two, 2),
	    "invoke 0 invoke 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "commit");
	ck_assert(str_eq(t.text, STR("这就点头")));
	/* The text of the reply is removed from the round. */
	ck_assert_uint_eq(t.round_text[0].n, 0);
}

/* Otherwise the results go back to the model. */
TEST(results_go_back_to_the_model)
{
	static const struct {
		const char *text;
		enum turn_outcome outcome;
		const char *want;
	} rows[] = {
		{ "", TURN_OK, "model all" },
		{ " \n", TURN_OK, "model all" },
		{ "好", TURN_ERROR, "model all" },
		{ "好", TURN_NOT_CONFIRMED, "model all !call" },
		{ "好", TURN_OFFLINE, "model all !call" },
		{ "好", TURN_NO_SUBSCRIBER, "model all !call" },
		{ "好", TURN_NO_TIME, "model all !call" },
	};
	struct turn t;

	for (size_t i = 0; i < NELEM(rows); i++) {
		turn_fixture_call_model(&t, 4);
		turn_ck_actions(&t,
		    turn_fixture_completion(rows[i].text, call_nod, 1),
		    "invoke 0");
		turn_ck_actions(
		    &t, turn_fixture_result(0, rows[i].outcome), rows[i].want);
		turn_ck_actions(
		    &t, turn_fixture_completion("说明", NULL, 0), "commit");
		ck_assert(str_eq(t.text, STR("说明")));
		ck_assert(
		    turn_call_failed(&t, 0) == (rows[i].outcome != TURN_OK));
	}
}

TEST(calls_of_one_skill_run_in_order)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_same, 3), "invoke 0 invoke 2");
	turn_ck_actions(&t, turn_fixture_result(2, TURN_OK), "");
	turn_ck_actions(
	    &t, turn_fixture_result(1, TURN_OK), ""); /* not sent yet */
	turn_ck_actions(&t, turn_fixture_result(0, TURN_ERROR), "invoke 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "model all");
	ck_assert_int_eq(t.calls[0].outcome, TURN_ERROR);

	/* After an unconfirmed call the skill is not called again. */
	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_same, 3), "invoke 0 invoke 2");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_NOT_CONFIRMED), "");
	ck_assert_int_eq(t.calls[1].outcome, TURN_SKIPPED);
	turn_ck_actions(&t, turn_fixture_result(2, TURN_OK), "model all !call");
}

TEST(a_second_result_is_ignored)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_two, 2), "invoke 0 invoke 1");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_ERROR), "");
	turn_ck_actions(&t, turn_fixture_result(7, TURN_OK), "");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_SENT), "");
	ck_assert_int_eq(t.calls[0].outcome, TURN_OK);
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "model all");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "");
}

/* Invalid arguments are returned once; then no more calls are offered. */
TEST(invalid_arguments_get_one_more_round)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_invalid, 1), "model all");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "model all");
	ck_assert(!turn_call_failed(&t, 0));
}

TEST(invalid_arguments_twice_end_the_calls)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("好", call_invalid, 1), "model all");
	turn_ck_actions(&t, turn_fixture_completion("好", call_invalid, 1),
	    "model all !call");
	turn_ck_actions(
	    &t, turn_fixture_completion("没做成", NULL, 0), "commit");
	ck_assert(!turn_call_failed(&t, 0)); /* reported by the later one */
	ck_assert(turn_call_failed(&t, 1));
}

TEST(unknown_skills_are_reported)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_unknown, 1), "model all");
	turn_ck_actions(
	    &t, turn_fixture_completion("不会飞", NULL, 0), "commit");
	ck_assert(turn_call_failed(&t, 0));
}

TEST(rounds_are_limited)
{
	struct turn t;

	turn_fixture_call_model(&t, 2);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model all");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "model all !call");
	/* Calls that were not offered are ignored, and reported. */
	turn_ck_actions(
	    &t, turn_fixture_completion("好了", call_nod, 1), "commit");
	ck_assert(t.overflow);
	ck_assert_uint_eq(t.n_calls, 2);
}

TEST(a_closed_gate_stops_calls)
{
	struct turn t;

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, turn_fixture_memory(true), "");
	turn_ck_actions(&t, BLOCKED, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_fallback), "model all");
	turn_ck_actions(
	    &t, turn_fixture_completion("好", call_two, 2), "model all !call");
	ck_assert_int_eq(t.calls[0].outcome, TURN_BLOCKED);
	ck_assert_int_eq(t.calls[1].outcome, TURN_BLOCKED);
	turn_ck_actions(
	    &t, turn_fixture_completion("现在不行", NULL, 0), "commit");

	/* A search is not an effect. */
	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, turn_fixture_memory(true), "");
	turn_ck_actions(&t, BLOCKED, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_fallback), "model all");
	turn_ck_actions(&t, turn_fixture_completion("", call_recall, 1),
	    "searching recall 0");
}

TEST(a_search_adds_a_round)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("", call_recall, 1),
	    "searching recall 0");
	ck_assert_str_eq(turn_phase_name(&t), "searching");
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_OK), "found model forget");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "model forget");
	turn_ck_actions(&t, turn_fixture_completion("记得", NULL, 0), "commit");
	ck_assert(!turn_call_failed(&t, 0));

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("", call_recall, 1),
	    "searching recall 0");
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_ERROR), "failed model forget");
	ck_assert(turn_call_failed(&t, 0));
}

/* A skill beside a search is deferred. */
TEST(a_search_defers_other_calls)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("", call_mixed, 2),
	    "searching recall 0");
	ck_assert_int_eq(t.calls[1].outcome, TURN_DEFERRED);
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_OK), "found model forget");
	ck_assert(turn_call_failed(&t, 1));
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_nod, 1), "invoke 2");
	turn_ck_actions(&t, turn_fixture_result(2, TURN_OK), "model forget");
	ck_assert(!turn_call_failed(&t, 1));
}

/* A search that was not offered, or was made before, is unknown. */
TEST(a_search_must_be_offered)
{
	struct turn t;

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, turn_fixture_memory(false), "");
	turn_ck_actions(&t, OPEN, "");
	turn_ck_actions(
	    &t, turn_fixture_intents(&route_fallback), "model skills");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_recall, 1), "model skills");
	ck_assert_int_eq(t.calls[0].outcome, TURN_UNKNOWN);

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("", call_recall, 1),
	    "searching recall 0");
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_OK), "found model forget");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_recall, 1), "model forget");
}

/* ---- forgetting ---- */

/* The model always sees the result, whatever text it produced. */
TEST(forget_is_followed_by_the_model)
{
	static const struct {
		const char *text;
		enum turn_outcome outcome;
		const char *want;
	} rows[] = {
		{ "", TURN_OK, "model all" },
		{ "这就忘掉", TURN_OK, "model all" },
		{ "", TURN_NO_MATCH, "model all" },
		{ "已经忘掉了", TURN_NO_MATCH, "model all" },
		{ "已经忘掉了", TURN_ERROR, "model all" },
		{ "已经忘掉了", TURN_INVALID, "model all" },
		/* Not confirmed: as with a body without a result. */
		{ "已经忘掉了", TURN_NOT_CONFIRMED, "model all !call" },
	};
	struct turn t;

	for (size_t i = 0; i < NELEM(rows); i++) {
		turn_fixture_call_model(&t, 4);
		turn_ck_actions(&t,
		    turn_fixture_completion(rows[i].text, call_forget, 1),
		    "forget 0");
		ck_assert_str_eq(turn_phase_name(&t), "invoking");
		turn_ck_actions(
		    &t, turn_fixture_result(0, rows[i].outcome), rows[i].want);
		ck_assert(
		    turn_call_failed(&t, 0) == (rows[i].outcome != TURN_OK));
		turn_ck_actions(
		    &t, turn_fixture_completion("说明", NULL, 0), "commit");
		ck_assert(str_eq(t.text, STR("说明")));
	}
}

/* Neither the gate nor a search holds it back. */
TEST(forget_beside_other_calls)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("好", call_forget_too, 2),
	    "forget 0 invoke 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model all");

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, turn_fixture_memory(true), "");
	turn_ck_actions(&t, BLOCKED, "");
	turn_ck_actions(&t, turn_fixture_intents(&route_fallback), "model all");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_forget_too, 2), "forget 0");
	ck_assert_int_eq(t.calls[1].outcome, TURN_BLOCKED);

	/* Beside a search it is deferred. */
	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("", call_recall_forget, 2),
	    "searching recall 0");
	ck_assert_int_eq(t.calls[1].outcome, TURN_DEFERRED);
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_OK), "found model forget");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_forget, 1), "forget 2");
	turn_ck_actions(&t, turn_fixture_result(2, TURN_OK), "model forget");
	ck_assert(!turn_call_failed(&t, 1));
}

/* In order; after an unconfirmed one the others are skipped. */
TEST(forget_twice_runs_in_order)
{
	static const struct turn_call two[] = { FORGET, FORGET };
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("", two, 2), "forget 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_NO_MATCH), "forget 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "model all");

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(&t, turn_fixture_completion("", two, 2), "forget 0");
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_NOT_CONFIRMED), "model all !call");
	ck_assert_int_eq(t.calls[1].outcome, TURN_SKIPPED);
}

TEST(forget_must_be_offered)
{
	struct turn t;

	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, turn_fixture_memory(false), "");
	turn_ck_actions(&t, OPEN, "");
	turn_ck_actions(
	    &t, turn_fixture_intents(&route_fallback), "model skills");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_forget, 1), "model skills");
	ck_assert_int_eq(t.calls[0].outcome, TURN_UNKNOWN);
}

/* Effects are reported although the model fails or the deadline passes. */
TEST(forget_counts_as_an_effect)
{
	struct turn t;

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_forget, 1), "forget 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model all");
	turn_ck_actions(&t, turn_fixture_error(TURN_COMPLETION, 502), "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_OK);

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_forget, 1), "forget 0");
	turn_ck_actions(&t, EXPIRED, "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_NOT_CONFIRMED);

	turn_fixture_call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_forget, 1), "forget 0");
	turn_ck_actions(&t, CANCEL, "canceled");
	ck_assert_int_eq(t.calls[0].outcome, TURN_NOT_CONFIRMED);
}

/* More than one completion may have. */
TEST(calls_beyond_the_limit_are_left_out)
{
	struct turn_call many[TURN_ROUND_CALLS_MAX + 1] = { { 0 } };
	struct turn_event e = turn_fixture_completion("", many, NELEM(many));
	struct turn_actions out;
	struct turn t;

	for (size_t i = 0; i < NELEM(many); i++) {
		static const char *const names[] = { "a", "b", "c", "d", "e",
			"f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p",
			"q" };
		many[i] = (struct turn_call)CALL("x");
		many[i].skill = str_of(names[i]);
	}
	turn_fixture_call_model(&t, 8);
	turn_step(&t, &e, &out);
	ck_assert_uint_eq(out.n, TURN_ROUND_CALLS_MAX);
	ck_assert(t.overflow);
	/* Rounds up to the limit of a turn. */
	for (size_t n = 0; t.phase == TURN_INVOKING; n++) {
		ck_assert_uint_lt(n, TURN_CALLS_MAX + 8);
		for (size_t i = 0; i < t.n_calls; i++) {
			struct turn_event r = turn_fixture_result(i, TURN_OK);
			turn_step(&t, &r, &out);
		}
		ck_assert_int_eq(t.phase, TURN_COMPLETING);
		turn_step(&t, &e, &out);
	}
	ck_assert_uint_le(t.n_calls, TURN_CALLS_MAX);
}
