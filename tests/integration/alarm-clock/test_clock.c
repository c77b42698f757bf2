/*
 * The clock of Redis and the services is set by an hour, forward or back: no
 * occurrence is skipped, and none is repeated.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/alarm_clock_fixture.h"
#include "testkit/json.h"

#define HOUR_S INT64_C(3600)

static struct alarm_clock_fixture f;

static const int64_t steps[] = { HOUR_S, -HOUR_S };

/* Due in so many ms; every: it recurs each 24 hours. */
static void
clock_put(const char *text, int ms, bool every, char id[AC_ID])
{
	char rule[AC_ID], q[1024];

	snprintf(q, sizeof(q),
	    "{'user_id':'ann','terminal_id':'t1','session_id':'s1','text':"
	    "'%s','zone':'UTC','kind':'alarm','rule':{'kind':'%s',%s%s}",
	    text, every ? "every" : "once", every ? "'every_s':86400," : "",
	    strstr(ac_in(ms, rule), "'instant'"));
	ac_put(&f, q, id);
}

/* How often a text was spoken. */
static size_t
clock_turns(const char *text)
{
	size_t n = 0, i;

	for (i = 0; i < ac_turns(&f.orch); i++)
		n += strstr(ac_turn(&f.orch, i).text, text) != NULL;
	return n;
}

/* Whatever else was due has been requested when this one has rung. */
static void
clock_probe(const char *text)
{
	char id[AC_ID];

	clock_put(text, 100, false, id);
	ac_await_alarm(&f, id, "state", "rung");
}

TEST(a_step_forward_skips_nothing)
{
	char once[AC_ID], every[AC_ID];

	ac_start(&f);
	clock_put("aa", 1800000, false, once);
	clock_put("bb", 1800000, true, every);
	ac_set_clock(&f, HOUR_S);
	ac_await_alarm(&f, once, "state", "rung");
	ac_await_alarm(&f, every, "last_state", "rung");
	ac_await_alarm(&f, every, "state", "set");
	ck_assert_uint_eq(clock_turns("aa"), 1);
	ck_assert_uint_eq(clock_turns("bb"), 1);
	ck_assert_int_eq(ac_notes(&f), 0);
	/* And back: they have rung. */
	ac_set_clock(&f, -HOUR_S);
	clock_probe("p1");
	ac_set_clock(&f, HOUR_S);
	clock_probe("p2");
	ck_assert_uint_eq(ac_turns(&f.orch), 4);
	ac_stop(&f);
}

TEST(a_step_back_repeats_nothing)
{
	char once[AC_ID], every[AC_ID], later[AC_ID];

	ac_start(&f);
	clock_put("aa", 100, false, once);
	clock_put("bb", 100, true, every);
	clock_put("cc", 1800000, false, later);
	ac_await_alarm(&f, once, "state", "rung");
	ac_await_alarm(&f, every, "last_state", "rung");
	ac_set_clock(&f, -HOUR_S);
	clock_probe("p1");
	ck_assert_uint_eq(ac_turns(&f.orch), 3);
	/* The hour passes a second time. */
	ac_set_clock(&f, HOUR_S);
	clock_probe("p2");
	ck_assert_uint_eq(ac_turns(&f.orch), 4);
	ac_set_clock(&f, 1800);
	ac_await_alarm(&f, later, "state", "rung");
	ck_assert_uint_eq(ac_turns(&f.orch), 5);
	ac_stop(&f);
}

/* The clock is set while a body is requested. */
TEST(a_step_while_it_rings)
{
	char id[AC_ID];

	for (size_t i = 0; i < NELEM(steps); i++) {
		ac_start(&f);
		ac_orchestrator_set(&f.orch, "held");
		clock_put("aa", 100, true, id);
		ac_await_turns(&f.orch, 1);
		ac_set_clock(&f, steps[i]);
		ac_orchestrator_set(&f.orch, NULL);
		ac_orchestrator_release(&f.orch, "spoken");
		ac_await_alarm(&f, id, "last_state", "rung");
		ac_await_alarm(&f, id, "state", "set");
		clock_probe("p1");
		ac_set_clock(&f, -steps[i]);
		clock_probe("p2");
		ck_assert_uint_eq(clock_turns("aa"), 1);
		ac_set_clock(&f, 86400);
		ac_await_turns(&f.orch, 4);
		ck_assert_uint_eq(clock_turns("aa"), 2);
		ac_stop(&f);
	}
}

/* An attempt is not confirmed: the next is 5 s later, not an hour. */
TEST(a_step_while_it_rings_delays_no_attempt)
{
	char id[AC_ID];

	for (size_t i = 0; i < NELEM(steps); i++) {
		ac_start(&f);
		ac_orchestrator_set(&f.orch, "held");
		clock_put("aa", 100, false, id);
		ac_await_turns(&f.orch, 1);
		ac_set_clock(&f, steps[i]);
		ac_orchestrator_set(&f.orch, NULL);
		ac_orchestrator_release(&f.orch, "not_confirmed");
		ac_await_alarm(&f, id, "reason", "not_confirmed");
		ac_await_alarm(&f, id, "state", "due");
		ac_set_clock(&f, 5);
		ac_await_alarm(&f, id, "state", "rung");
		ck_assert_uint_eq(ac_turns(&f.orch), 2);
		ck_assert_uint_eq(ac_requests(&f.orch, "t1"), 1);
		ac_stop(&f);
	}
}

/*
 * A process dies while it rings, and the clock is set: another rings, after a
 * step back when the time of the claim comes anew.
 */
TEST(a_step_while_it_is_claimed_by_a_dead_process)
{
	char id[AC_ID];

	for (size_t i = 0; i < NELEM(steps); i++) {
		ac_start(&f);
		ac_orchestrator_set(&f.orch, "held");
		clock_put("aa", 100, true, id);
		ac_await_turns(&f.orch, 1);
		tk_service_kill(&f.clock[0]);
		ac_orchestrator_set(&f.orch, NULL);
		ac_set_clock(&f, steps[i]);
		ac_start_clock(&f, 0, NULL);
		clock_probe("p1");
		if (steps[i] < 0)
			ac_set_clock(&f, HOUR_S + 4);
		ac_await_alarm(&f, id, "last_state", "rung");
		ac_await_alarm(&f, id, "state", "set");
		ck_assert_uint_eq(clock_turns("aa"), 2);
		ck_assert_uint_eq(ac_requests(&f.orch, "t1"), 2);
		ac_stop(&f);
	}
}

/* A replica of before a step back has no part of what is due after it. */
TEST(a_dead_replica_is_forgotten_after_a_step_back)
{
	char rule[AC_ID], q[512];

	ac_start(&f);
	tk_service_kill(&f.clock[0]);
	ac_set_clock(&f, -HOUR_S);
	ac_start_clock(&f, 0, NULL);
	/* The dead one would have about half of the users. */
	for (int i = 0; i < 16; i++) {
		snprintf(q, sizeof(q),
		    "{'user_id':'u%d','terminal_id':'t1','zone':'UTC','text':"
		    "'x','rule':%s}",
		    i, ac_in(100, rule));
		json_decref(ac_call(&f, "alarm.put", q));
	}
	ac_await_spoken(&f.orch, 16);
	ac_stop(&f);
}
