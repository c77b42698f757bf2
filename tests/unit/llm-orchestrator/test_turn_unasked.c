/*
 * A turn that nobody asked for, as a state machine.
 */
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/turn_fixture.h"

#define SPEECH                                                         \
	{                                                              \
		.kind = TURN_INVOKE, .speech = true,                   \
		.skill = STR_INIT("speak"), .label = STR_INIT("speak") \
	}

static const struct turn_call unasked_speech[] = { SPEECH };
static const struct turn_call unasked_urgent[] = { SAFE(INVOKE, "speak") };
static const struct turn_call unasked_away[] = { BAD_CALL(
    "speak", TURN_OFFLINE) };
static const struct turn_call unasked_actions[] = { CALL("light"),
	CALL("nod") };

static struct turn_event
unasked_loaded(const struct turn_call *calls, size_t n, bool phrased)
{
	return EV(.kind = TURN_LOADED, .unasked = true, .phrased = phrased,
	    .text = STR("喝水"), .calls = calls, .n_calls = n);
}

static void
unasked_begin(struct turn *t)
{
	turn_init(t, 4);
	turn_ck_actions(t, turn_fixture_position(0), "load");
}

TEST(a_verbatim_text_takes_no_model)
{
	struct turn t;

	unasked_begin(&t);
	turn_ck_actions(&t, unasked_loaded(unasked_speech, 1, false), "gate");
	/* What it did not request does not count. */
	turn_ck_actions(&t, turn_fixture_memory(true), "");
	turn_ck_actions(&t, turn_fixture_intents(&route_direct), "");
	turn_ck_actions(&t, OPEN, "speak");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "commit");
	turn_ck_actions(&t, STORED, "reply");
	ck_assert(str_eq(t.text, STR("喝水")));
}

TEST(a_text_is_phrased_or_spoken_as_it_is)
{
	const struct {
		struct turn_event e;
		const char *text;
	} rows[] = {
		{ turn_fixture_completion("该喝水啦", NULL, 0), "该喝水啦" },
		{ turn_fixture_completion("", NULL, 0), "喝水" },
		{ turn_fixture_completion("喝吧", call_nod, 1), "喝吧" },
		{ turn_fixture_error(TURN_COMPLETION, 504), "喝水" },
	};
	struct turn t;

	for (size_t i = 0; i < NELEM(rows); i++) {
		unasked_begin(&t);
		turn_ck_actions(
		    &t, unasked_loaded(unasked_speech, 1, true), "gate");
		turn_ck_actions(&t, OPEN, "model none !call");
		turn_ck_actions(&t, rows[i].e, "speak");
		ck_assert(str_eq(t.text, str_of(rows[i].text)));
		ck_assert_uint_eq(t.n_calls, 1);
		turn_ck_actions(
		    &t, turn_fixture_result(0, TURN_NOT_CONFIRMED), "commit");
		turn_ck_actions(&t, STORED, "reply");
	}
}

TEST(the_gate_holds_it_back)
{
	struct turn t;

	unasked_begin(&t);
	turn_ck_actions(&t, unasked_loaded(unasked_speech, 1, true), "gate");
	turn_ck_actions(&t, BLOCKED, "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_BLOCKED);
	unasked_begin(&t);
	turn_ck_actions(&t, unasked_loaded(unasked_speech, 1, false), "gate");
	turn_ck_actions(&t, UNFELT, "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_GATE_UNKNOWN);
	/* What is urgent, and what cannot be done, does not wait for it. */
	unasked_begin(&t);
	turn_ck_actions(
	    &t, unasked_loaded(unasked_urgent, 1, false), "invoke 0");
	unasked_begin(&t);
	turn_ck_actions(&t, unasked_loaded(unasked_away, 1, true), "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_OFFLINE);
}

TEST(actions_are_executed_without_a_model)
{
	struct turn t;

	unasked_begin(&t);
	turn_ck_actions(&t, unasked_loaded(unasked_actions, 2, false), "gate");
	turn_ck_actions(&t, OPEN, "invoke 0 invoke 1");
	turn_ck_actions(&t, turn_fixture_result(1, TURN_ERROR), "");
	turn_ck_actions(&t, turn_fixture_result(0, TURN_OK), "commit");
}

TEST(it_ends_with_what_it_has_done)
{
	struct turn t;

	unasked_begin(&t);
	turn_ck_actions(&t, unasked_loaded(unasked_speech, 1, true), "gate");
	turn_ck_actions(&t, OPEN, "model none !call");
	turn_ck_actions(&t, EXPIRED, "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_NO_TIME);
	unasked_begin(&t);
	turn_ck_actions(&t, unasked_loaded(unasked_speech, 1, false), "gate");
	turn_ck_actions(&t, OPEN, "speak");
	turn_ck_actions(&t, EXPIRED, "commit");
	ck_assert_int_eq(t.calls[0].outcome, TURN_NOT_CONFIRMED);
	unasked_begin(&t);
	turn_ck_actions(&t, unasked_loaded(unasked_speech, 1, false), "gate");
	turn_ck_actions(&t, CANCEL, "canceled");
}
