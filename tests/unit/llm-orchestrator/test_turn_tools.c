/*
 * A turn with tools of providers.
 */
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/turn_fixture.h"

static struct turn_event
loaded(bool filter, const struct turn_call *call)
{
	return EV(.kind = TURN_LOADED, .filter = filter, .tools = true,
	    .calls = call, .n_calls = call != NULL);
}

static struct turn_event
listed(bool more)
{
	return EV(.kind = TURN_TOOLS_REPLY, .known = more);
}

/* A turn that calls the model, with tools of providers. */
static void
call_model(struct turn *t, size_t rounds)
{
	turn_init(t, rounds);
	turn_ck_actions(t, turn_fixture_position(0), "load");
	turn_ck_actions(t, loaded(false, NULL), "emotion memory tools");
	turn_ck_actions(t, turn_fixture_memory(false), "");
	turn_ck_actions(t, listed(true), "");
	turn_ck_actions(t, OPEN, "model skills");
}

TEST(providers_are_requested_when_the_model_is_needed)
{
	static const struct {
		const struct turn_route *route;
		const char *want;
	} rows[] = {
		{ NULL, "tools" },
		{ &route_fallback, "tools" },
		{ &route_silent, "" },
		{ &route_direct, "" },
		{ &route_rest, "tools" },
		{ &route_question, "" },
	};
	struct turn t;

	for (size_t i = 0; i < NELEM(rows); i++) {
		turn_init(&t, 4);
		turn_ck_actions(&t, turn_fixture_position(0), "load");
		turn_ck_actions(
		    &t, loaded(true, NULL), "emotion filter memory");
		turn_ck_actions(
		    &t, turn_fixture_intents(rows[i].route), rows[i].want);
	}
	/* None is present. */
	turn_fixture_perceive(&t, 4);
	turn_ck_actions(&t, turn_fixture_intents(&route_fallback), "");
}

TEST(the_model_waits_for_the_lists)
{
	struct turn t;

	turn_init(&t, 4);
	turn_ck_actions(&t, turn_fixture_position(0), "load");
	turn_ck_actions(&t, loaded(false, NULL), "emotion memory tools");
	turn_ck_actions(&t, OPEN, "");
	turn_ck_actions(&t, listed(false), "");
	turn_ck_actions(&t, turn_fixture_memory(true), "model all");
	turn_ck_actions(&t, listed(true), "");
	ck_assert(!t.more);
}

TEST(text_beside_a_call_is_not_the_reply)
{
	struct turn t;

	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("看看", call_read, 1), "read 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model skills");
	turn_ck_actions(&t, turn_fixture_completion("好", NULL, 0), "commit");
	ck_assert(str_eq(t.text, STR("好")));
}

TEST(the_gate_holds_back_what_acts_only)
{
	const struct turn_call calls[] = { READ("read"), WRITE("write"),
		GUARDED("send") };
	struct turn t;

	turn_init(&t, 4);
	turn_ck_actions(&t, turn_fixture_position(0), "load");
	turn_ck_actions(&t, loaded(false, NULL), "emotion memory tools");
	turn_ck_actions(&t, listed(false), "");
	turn_ck_actions(&t, turn_fixture_memory(false), "");
	turn_ck_actions(&t, BLOCKED, "model skills");
	turn_ck_actions(&t, turn_fixture_completion("", calls, 3), "read 0");
	ck_assert_int_eq(t.calls[1].outcome, TURN_BLOCKED);
	ck_assert_int_eq(t.calls[2].outcome, TURN_BLOCKED);
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_OK), "model skills !call");
}

TEST(a_question_ends_the_turn)
{
	struct turn t;

	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("做了", call_guarded, 1), "commit");
	ck_assert_ptr_eq(turn_unapproved(&t), &t.calls[0]);
	ck_assert(!t.has_text);
	/* One at a time. */
	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_two_guarded, 2), "commit");
	ck_assert_ptr_eq(turn_unapproved(&t), &t.calls[0]);
	ck_assert_int_eq(t.calls[1].outcome, TURN_DEFERRED);
}

TEST(other_results_are_reported_before_the_question)
{
	struct turn t;

	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_read_guarded, 2), "read 0");
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_OK), "model skills !call");
	turn_ck_actions(&t, turn_fixture_completion("好", NULL, 0), "commit");
	ck_assert_ptr_eq(turn_unapproved(&t), &t.calls[1]);
}

TEST(a_provider_may_require_an_approval)
{
	struct turn t;

	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_write, 1), "call 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_UNAPPROVED), "commit");
	ck_assert_ptr_eq(turn_unapproved(&t), &t.calls[0]);
}

TEST(an_approved_call_comes_first)
{
	const struct turn_call approved = WRITE("send");
	struct turn t;

	turn_init(&t, 4);
	turn_ck_actions(&t, turn_fixture_position(0), "load");
	/* The text is a reply: it has no intents. */
	turn_ck_actions(&t, loaded(true, &approved), "emotion memory tools");
	turn_ck_actions(&t, listed(false), "");
	turn_ck_actions(&t, turn_fixture_memory(false), "");
	turn_ck_actions(&t, OPEN, "call 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model skills");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_read, 1), "read 1");
}

TEST(the_gate_holds_back_an_approved_call)
{
	const struct turn_call approved = WRITE("send");
	struct turn t;

	turn_init(&t, 4);
	turn_ck_actions(&t, turn_fixture_position(0), "load");
	turn_ck_actions(&t, loaded(false, &approved), "emotion memory tools");
	turn_ck_actions(&t, listed(false), "");
	turn_ck_actions(&t, turn_fixture_memory(false), "");
	turn_ck_actions(&t, BLOCKED, "model skills !call");
	ck_assert_int_eq(t.calls[0].outcome, TURN_BLOCKED);
}

TEST(a_denied_call_ends_the_turn_without_the_model)
{
	const struct turn_call denied =
	    PROVIDED("send", .outcome = TURN_DENIED);
	struct turn t;

	turn_init(&t, 4);
	turn_ck_actions(&t, turn_fixture_position(0), "load");
	turn_ck_actions(&t, loaded(true, &denied), "emotion memory");
	turn_ck_actions(&t, OPEN, "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_DENIED);
	ck_assert(!t.has_text);
}

TEST(more_tools_are_found_if_some_are_not_shown)
{
	struct turn t;

	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("找找", call_more, 1), "find 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model skills");
	call_model(&t, 4);
	t.more = false;
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_more, 1), "model skills");
	ck_assert_int_eq(t.calls[0].outcome, TURN_UNKNOWN);
}

/* Not in the last round, where it could not be called. */
TEST(what_is_found_can_be_called_in_the_same_turn)
{
	struct turn t;

	/* The first search adds a round. */
	call_model(&t, 1);
	ck_assert(turn_may_search(&t));
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_more, 1), "find 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model skills");
	ck_assert(!turn_may_search(&t));
	turn_ck_actions(&t, turn_fixture_completion("", call_more, 1),
	    "model skills !call");
	ck_assert_int_eq(t.calls[1].outcome, TURN_UNKNOWN);

	call_model(&t, 1);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_more, 1), "find 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model skills");
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_read, 1), "read 1");

	/* A second one needs a round of its own. */
	call_model(&t, 2);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_more, 1), "find 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model skills");
	ck_assert(turn_may_search(&t));
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_more, 1), "find 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_OK), "model skills");
	ck_assert(!turn_may_search(&t));
}

TEST(what_is_found_beside_a_call_that_ends_the_calls_is_not_named)
{
	const struct turn_call calls[] = { MORE, WRITE("write") };
	struct turn_event found = turn_fixture_result(0, TURN_OK);
	struct turn t;

	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", calls, 2), "find 0 call 1");
	found.output = STR("[\"fs__a\"]");
	turn_ck_actions(&t, found, "");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_NOT_CONFIRMED),
	    "model skills !call");
	ck_assert_int_eq(t.calls[0].outcome, TURN_DEFERRED);
	ck_assert_uint_eq(t.calls[0].output.n, 0);
}

/* What was only read is no effect to report. */
TEST(a_failed_model_fails_a_turn_that_only_read)
{
	struct turn t;

	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_read, 1), "read 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model skills");
	turn_ck_actions(
	    &t, turn_fixture_error(TURN_COMPLETION, 502), "fail 502");
	call_model(&t, 4);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_write, 1), "call 0");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "model skills");
	turn_ck_actions(&t, turn_fixture_error(TURN_COMPLETION, 502), "commit");
}

/* Even the last round has the model's text, not an apology. */
TEST(the_last_round_is_without_calls)
{
	struct turn t;

	call_model(&t, 1);
	turn_ck_actions(
	    &t, turn_fixture_completion("", call_read, 1), "read 0");
	turn_ck_actions(
	    &t, turn_fixture_result(0, TURN_OK), "model skills !call");
	turn_ck_actions(&t, turn_fixture_completion("好", NULL, 0), "commit");
	ck_assert(t.has_text && !t.overflow);
}
