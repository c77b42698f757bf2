/*
 * kill -9 in every state of an occurrence: each body speaks it a single time,
 * and it ends as if nobody had died.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/alarm_clock_fixture.h"
#include "testkit/json.h"

static struct alarm_clock_fixture f;

static void
kill_put(const char *body, const char *kind, const char *more, char id[AC_ID])
{
	char rule[AC_ID], q[1024];

	snprintf(q, sizeof(q),
	    "{'user_id':'ann','terminal_id':'%s','session_id':'s1','text':"
	    "'水','zone':'UTC','kind':'%s','rule':%s%s}",
	    body, kind, ac_in(300, rule), more);
	ac_put(&f, q, id);
}

/* For so long what a process has claimed is its own. */
#define KILL_LEASE_S 4

/*
 * It dies, and another begins so many seconds later; bodies are as outcome says
 * from then on.
 */
static void
kill_clock(const char *outcome, int s)
{
	tk_service_kill(&f.clock[0]);
	ac_orchestrator_set(&f.orch, outcome);
	ac_set_clock(&f, s);
	ac_start_clock(&f, 0, NULL);
}

/* What was spoken, and by how many requests, of one occurrence. */
static void
kill_check(const char *id, const char *body, size_t turns)
{
	ac_await_alarm(&f, id, "state", "rung");
	ac_await_alarm(&f, id, "rang_on", body);
	ck_assert_uint_eq(ac_turns(&f.orch), turns);
	ck_assert_uint_eq(ac_requests(&f.orch, body), 1);
	ck_assert_uint_eq(ac_spoken(&f.orch), 1);
}

/*
 * Redis denies a command, or does not any more ("-hset", "+hset"): what needs
 * it is not stored, as if the process had died before.  Records need HSET,
 * notes HLEN, claims neither.
 */
static void
kill_set_rule(const char *rule)
{
	struct state_reply *r = NULL;

	ck_assert_int_eq(state_cmd(f.state.s,
			     STATE_ARGS(STR("ACL"), STR("SETUSER"),
				 STR("default"), str_of(rule)),
			     &r),
	    RC_OK);
	state_reply_free(r);
}

static bool
kill_was_denied(void *arg)
{
	struct state_reply *r = NULL;
	bool was;

	(void)arg;
	ck_assert_int_eq(
	    state_cmd(f.state.s, STATE_ARGS(STR("ACL"), STR("LOG")), &r),
	    RC_OK);
	was = state_reply_len(r) > 0;
	state_reply_free(r);
	return was;
}

TEST(killed_before_it_is_due)
{
	char id[AC_ID];

	ac_start(&f);
	kill_put("t1", "alarm", "", id);
	kill_clock(NULL, 10);
	kill_check(id, "t1", 1);
	ac_stop(&f);
}

/* It is claimed, and the attempt is not stored yet. */
TEST(killed_while_it_is_claimed)
{
	char id[AC_ID];

	ac_start(&f);
	kill_put("t1", "alarm", "", id);
	kill_set_rule("-hset");
	ck_assert(tk_until(kill_was_denied, NULL, AC_MS));
	tk_service_kill(&f.clock[0]);
	kill_set_rule("+hset");
	ck_assert_uint_eq(ac_turns(&f.orch), 0);
	kill_clock(NULL, KILL_LEASE_S);
	kill_check(id, "t1", 1);
	ac_stop(&f);
}

/* The turn was requested: nothing came, it was accepted, or is forgotten. */
TEST(killed_while_a_body_is_requested)
{
	static const char *const states[] = { "silent", "held" };
	char id[AC_ID];

	for (size_t i = 0; i < NELEM(states); i++) {
		ac_start(&f);
		ac_orchestrator_set(&f.orch, states[i]);
		kill_put("t1", "alarm", "", id);
		ac_await_turns(&f.orch, 1);
		kill_clock(NULL, KILL_LEASE_S);
		kill_check(id, "t1", 2);
		ac_stop(&f);
	}
}

/* The body has spoken, and that is not stored yet. */
TEST(killed_before_a_confirmation_is_stored)
{
	char id[AC_ID];

	ac_start(&f);
	ac_orchestrator_set(&f.orch, "held");
	kill_put("t1", "alarm", "", id);
	ac_await_turns(&f.orch, 1);
	kill_set_rule("-hset");
	ac_orchestrator_release(&f.orch, "spoken");
	ck_assert(tk_until(kill_was_denied, NULL, AC_MS));
	tk_service_kill(&f.clock[0]);
	kill_set_rule("+hset");
	kill_clock(NULL, KILL_LEASE_S);
	kill_check(id, "t1", 2);
	ac_stop(&f);
}

TEST(killed_between_two_attempts)
{
	char id[AC_ID];

	ac_start(&f);
	ac_orchestrator_set(&f.orch, "not_confirmed");
	kill_put("t1", "alarm", "", id);
	ac_await_alarm(&f, id, "reason", "not_confirmed");
	kill_clock(NULL, 5);
	kill_check(id, "t1", 2);
	ac_stop(&f);
}

/* The first cannot; the next is requested. */
TEST(killed_while_the_next_body_is_requested)
{
	char id[AC_ID];

	ac_start(&f);
	ac_bind(&f, "lena", "held2");
	kill_put("no_body1", "alarm", "", id);
	ac_await_turns(&f.orch, 2);
	kill_clock("spoken", KILL_LEASE_S);
	kill_check(id, "held2", 3);
	ck_assert_uint_eq(ac_requests(&f.orch, "no_body1"), 1);
	ac_stop(&f);
}

TEST(killed_between_two_rounds)
{
	char id[AC_ID];

	ac_start(&f);
	kill_put("no_body1", "alarm", "", id);
	ac_await_turns(&f.orch, 1);
	ac_await_due_after(&f, 5000);
	kill_clock("spoken", 15);
	kill_check(id, "no_body1", 2);
	ac_stop(&f);
}

/* Nobody has confirmed it until its end: neither that nor its note is stored.
 */
TEST(killed_before_its_miss_is_stored)
{
	static const char *const rules[][2] = { { "-hset", "+hset" },
		{ "-hlen", "+hlen" } };
	char id[AC_ID];

	for (size_t i = 0; i < NELEM(rules); i++) {
		ac_start(&f);
		kill_put("no_body1", "alarm", "", id);
		ac_await_turns(&f.orch, 1);
		ac_await_due_after(&f, 5000);
		kill_set_rule(rules[i][0]);
		ac_set_clock(&f, 8000);
		ck_assert(tk_until(kill_was_denied, NULL, AC_MS));
		tk_service_kill(&f.clock[0]);
		kill_set_rule(rules[i][1]);
		ck_assert_int_eq(ac_notes(&f), 0);
		kill_clock(NULL, KILL_LEASE_S);
		ac_await_alarm(&f, id, "state", "missed");
		ck_assert_int_eq(ac_notes(&f), 1);
		ck_assert_uint_eq(ac_spoken(&f.orch), 0);
		ac_stop(&f);
	}
}

TEST(killed_while_it_is_snoozed)
{
	char id[AC_ID];
	json_t *j;

	ac_start(&f);
	kill_put("t1", "alarm", "", id);
	ac_await_alarm(&f, id, "state", "rung");
	j = ac_call(&f, "alarm.snooze", "{'user_id':'ann','seconds':600}");
	json_decref(j);
	kill_clock(NULL, 600);
	ac_await_turns(&f.orch, 2);
	ac_await_alarm(&f, id, "state", "rung");
	/* Two occurrences. */
	ck_assert_uint_eq(ac_turns(&f.orch), 2);
	ck_assert_uint_eq(ac_requests(&f.orch, "t1"), 2);
	ac_stop(&f);
}

TEST(killed_while_an_action_is_carried_out)
{
	char id[AC_ID];

	ac_start(&f);
	ac_orchestrator_set(&f.orch, "held");
	kill_put("done1", "action",
	    ",'action':{'intents':[{'intent_id':'light','confidence':1,"
	    "'normalized':{'skill':'light_off'}}]}",
	    id);
	ac_await_turns(&f.orch, 1);
	kill_clock(NULL, KILL_LEASE_S);
	ac_await_alarm(&f, id, "state", "rung");
	ck_assert_uint_eq(ac_requests(&f.orch, "done1"), 1);
	ac_stop(&f);
}

/* The next occurrence is set one time, at its time. */
TEST(killed_while_a_recurring_one_rings)
{
	char id[AC_ID], rule[AC_ID], q[512], first[64];
	const char *instant;
	json_t *j;

	ac_start(&f);
	ac_orchestrator_set(&f.orch, "held");
	instant = strstr(ac_in(300, rule), "'instant'");
	snprintf(q, sizeof(q),
	    "{'user_id':'ann','terminal_id':'t1','kind':'alarm','zone':'UTC',"
	    "'rule':{'kind':'every','every_s':86400,%s}",
	    instant);
	ac_put(&f, q, id);
	j = ac_call(&f, "alarm.list", "{'user_id':'ann'}");
	snprintf(first, sizeof(first), "%s", tk_text(j, "alarms.0.next_at"));
	json_decref(j);
	ac_await_turns(&f.orch, 1);
	kill_clock(NULL, KILL_LEASE_S);
	ac_await_alarm(&f, id, "last_state", "rung");
	ac_await_alarm(&f, id, "state", "set");
	ac_await_alarm(&f, id, "occurred_at", first);
	ck_assert_uint_eq(ac_requests(&f.orch, "t1"), 1);
	j = ac_call(&f, "alarm.list", "{'user_id':'ann'}");
	ck_assert_int_eq(
	    ac_time(tk_text(j, "alarms.0.next_at")) - ac_time(first), 86400000);
	json_decref(j);
	ac_stop(&f);
}

TEST(killed_while_a_push_is_spoken)
{
	char id[AC_ID];
	json_t *j;

	ac_start(&f);
	ac_orchestrator_set(&f.orch, "held");
	j = ac_call(&f, "speak",
	    "{'user_id':'ann','terminal_id':'t1','request_id':'r1','text':'x',"
	    "'reason':'push'}");
	snprintf(id, sizeof(id), "%s", tk_text(j, "push_id"));
	json_decref(j);
	ac_await_turns(&f.orch, 1);
	kill_clock(NULL, KILL_LEASE_S);
	ac_await_push(&f, id, "spoken");
	ck_assert_uint_eq(ac_turns(&f.orch), 2);
	ck_assert_uint_eq(ac_requests(&f.orch, "t1"), 1);
	ac_stop(&f);
}
