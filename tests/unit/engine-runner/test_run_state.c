/* Every sequence of events of a run, up to eight, against the rules. */
#include "core/mem.h"
#include "run_state.h"
#include "testkit/testkit.h"

/* The events that come from outside of the attempt, and its ends. */
#define DEPTH 8

struct run_model {
	unsigned long steps;
	bool reached[RUN_STATES_N];
};

static bool
run_rule_allows(enum run_state s, enum run_event ev)
{
	switch (ev) {
	case RUN_EV_CLAIM:
		return s == RUN_QUEUED;
	case RUN_EV_WAIT:
	case RUN_EV_SUCCEED:
	case RUN_EV_ADOPT:
	case RUN_EV_LOST:
		return s == RUN_RUNNING;
	case RUN_EV_REPLY:
	case RUN_EV_AUTO_REPLY:
	case RUN_EV_TIMEOUT:
		return s == RUN_WAITING;
	case RUN_EV_FAIL:
	case RUN_EV_CANCEL:
		return s == RUN_QUEUED || s == RUN_RUNNING || s == RUN_WAITING;
	case RUN_EVENTS_N:
		break;
	}
	return false;
}

static void
run_explore(
    struct run_model *m, enum run_state s, int attempts, int replies, int depth)
{
	m->reached[s] = true;
	/* Each attempt but the first has one reply. */
	ck_assert_int_le(attempts, replies + 1);
	ck_assert_int_le(replies, attempts);
	if (depth == 0)
		return;
	for (unsigned i = 0; i < RUN_EVENTS_N; i++) {
		enum run_event ev = (enum run_event)i;
		enum run_state next = s;
		enum rc rc = run_state_next(s, ev, &next);

		m->steps++;
		ck_assert_int_eq(rc == RC_OK, run_rule_allows(s, ev));
		if (rc != RC_OK) {
			ck_assert_int_eq(rc, RC_CONFLICT);
			ck_assert_int_eq(next, s);
			continue;
		}
		ck_assert(!run_state_is_final(s));
		if (ev == RUN_EV_ADOPT)
			ck_assert_int_eq(next, s);
		if (ev == RUN_EV_LOST || ev == RUN_EV_TIMEOUT)
			ck_assert_int_eq(next, RUN_FAILED);
		run_explore(m, next, attempts + (ev == RUN_EV_CLAIM),
		    replies + (ev == RUN_EV_REPLY || ev == RUN_EV_AUTO_REPLY),
		    depth - 1);
	}
}

TEST(every_sequence_of_events_follows_the_rules)
{
	struct run_model m = { 0 };

	run_explore(&m, RUN_QUEUED, 0, 0, DEPTH);
	for (size_t i = 0; i < RUN_STATES_N; i++)
		ck_assert_msg(m.reached[i], "%s is never reached",
		    run_state_name((enum run_state)i));
	ck_assert_uint_gt(m.steps, 1000);
}

TEST(states_have_names)
{
	enum run_state s;

	for (unsigned i = 0; i < RUN_STATES_N; i++) {
		ck_assert_int_eq(
		    run_state_parse(
			str_of(run_state_name((enum run_state)i)), &s),
		    RC_OK);
		ck_assert_int_eq(s, i);
	}
	ck_assert_int_eq(run_state_parse(STR("waiting"), &s), RC_NOENT);
}
