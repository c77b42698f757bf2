/*
 * Alarms ring, once each, whatever dies.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "testkit/alarm_clock_fixture.h"
#include "testkit/json.h"

static struct alarm_clock_fixture f;

static void
ring_put(const char *body, int ms, const char *text, char id[AC_ID])
{
	char rule[AC_ID], q[1024];

	snprintf(q, sizeof(q),
	    "{'user_id':'ann','terminal_id':'%s','session_id':'s1',"
	    "'kind':'reminder','text':'%s','rule':%s,'zone':'Asia/Shanghai'}",
	    body, text, ac_in(ms, rule));
	ac_put(&f, q, id);
}

TEST(a_reminder_is_spoken_a_single_time)
{
	char id[AC_ID];
	struct ac_turn t;

	ac_start(&f);
	ring_put("t1", 300, "喝水", id);
	ac_await_alarm(&f, id, "state", "rung");
	ac_await_alarm(&f, id, "rang_on", "t1");
	ck_assert_uint_eq(ac_turns(&f.orch), 1);
	t = ac_turn(&f.orch, 0);
	ck_assert_str_eq(t.text, "提醒你：喝水");
	ck_assert_str_eq(t.session, "s1");
	ck_assert_str_eq(t.body, "t1");
	ac_stop(&f);
}

TEST(a_recurring_alarm_waits_for_its_next_time)
{
	char id[AC_ID];

	ac_start(&f);
	ac_put(&f,
	    "{'user_id':'ann','terminal_id':'t1','kind':'alarm','rule':{'kind':"
	    "'every','instant':'2026-01-01T00:00:00Z','every_s':86400},'zone':"
	    "'UTC'}",
	    id);
	ac_await_alarm(&f, id, "state", "set");
	ck_assert_uint_eq(ac_turns(&f.orch), 0);
	ac_stop(&f);
}

TEST(the_same_text_and_time_is_one_alarm)
{
	static const char *const body =
	    "{'user_id':'ann','terminal_id':'t1','text':'喝水','when':"
	    "'2099-01-02T08:00:00+08:00'}";
	char a[AC_ID], b[AC_ID];
	json_t *j;

	ac_start(&f);
	ac_put(&f, body, a);
	j = ac_call(&f, "alarm.put", body);
	ck_assert_str_eq(tk_text(j, "alarm.alarm_id"), a);
	ck_assert(json_is_false(tk_at(j, "created")));
	json_decref(j);
	json_decref(
	    ac_call(&f, "alarm.cancel", "{'user_id':'ann','all':true}"));
	ac_await_alarm(&f, a, "state", "canceled");
	/* It may be set anew. */
	ac_put(&f, body, b);
	ck_assert_str_eq(a, b);
	ac_await_alarm(&f, a, "state", "set");
	ac_stop(&f);
}

TEST(bodies_that_cannot_are_followed_by_the_users_others)
{
	char id[AC_ID];

	ac_start(&f);
	ring_put("no_body1", 200, "水", id);
	/* Nobody else is bound: it is tried in rounds. */
	ac_await_alarm(&f, id, "reason", "no_body");
	ac_await_alarm(&f, id, "state", "due");
	ck_assert_uint_eq(ac_turns(&f.orch), 1);
	ac_bind(&f, "lena", "t2");
	ac_set_clock(&f, 15);
	ac_await_alarm(&f, id, "rang_on", "t2");
	ck_assert_uint_eq(ac_turns(&f.orch), 3);
	ac_stop(&f);
}

TEST(attempts_on_one_body_have_one_request)
{
	char id[AC_ID];
	struct ac_turn a, b;

	ac_start(&f);
	ac_orchestrator_set(&f.orch, "not_confirmed");
	ring_put("t1", 200, "水", id);
	ac_await_alarm(&f, id, "reason", "not_confirmed");
	ac_orchestrator_set(&f.orch, NULL);
	ac_set_clock(&f, 5);
	ac_await_alarm(&f, id, "state", "rung");
	a = ac_turn(&f.orch, 0);
	b = ac_turn(&f.orch, 1);
	ck_assert_uint_eq(ac_turns(&f.orch), 2);
	ck_assert_str_eq(a.request, b.request);
	ck_assert_str_eq(a.occurrence, b.occurrence);
	ac_stop(&f);
}

TEST(an_alarm_waits_for_an_orchestrator)
{
	char id[AC_ID];

	ac_start(&f);
	ac_orchestrator_stop(&f.orch);
	ring_put("t1", 200, "水", id);
	ac_await_alarm(&f, id, "reason", "no_service");
	ac_orchestrator_start(&f.orch, f.nats.url);
	ac_await_alarm(&f, id, "state", "rung");
	ck_assert_uint_eq(ac_turns(&f.orch), 1);
	ac_stop(&f);
}

/* kill -9 before it is due, while it rings, and of Redis. */
TEST_T(an_alarm_survives_every_kill, 90)
{
	char id[AC_ID];
	struct ac_turn a, b;

	ac_start(&f);
	ring_put("t1", 1500, "水", id);
	tk_service_kill(&f.clock[0]);
	ac_orchestrator_set(&f.orch, "silent");
	tk_server_stop(&f.redis, SIGKILL);
	tk_server_restart(&f.redis);
	tk_state_wait(&f.state);
	ac_set_clock(&f, 4);
	ac_start_clock(&f, 0, NULL);
	/* It has requested the body to speak, and dies. */
	ac_await_turns(&f.orch, 1);
	tk_service_kill(&f.clock[0]);
	ac_orchestrator_set(&f.orch, NULL);
	ac_set_clock(&f, 4);
	ac_start_clock(&f, 0, NULL);
	ac_await_alarm(&f, id, "state", "rung");
	ck_assert_uint_eq(ac_spoken(&f.orch), 1);
	a = ac_turn(&f.orch, 0);
	b = ac_turn(&f.orch, ac_turns(&f.orch) - 1);
	ck_assert_str_eq(a.request, b.request);
	ac_stop(&f);
}

TEST_T(two_replicas_ring_each_alarm_a_single_time, 60)
{
	char id[40][AC_ID], text[16];
	size_t i;

	ac_start(&f);
	ac_start_clock(&f, 1, NULL);
	for (i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "n%zu", i);
		ring_put("t1", 400, text, id[i]);
	}
	ac_await_spoken(&f.orch, 40);
	for (i = 0; i < 40; i++)
		ac_await_alarm(&f, id[i], "state", "rung");
	ck_assert_uint_eq(ac_turns(&f.orch), 40);
	ac_stop(&f);
}

static void
ring_put_own(char id[AC_ID])
{
	char rule[AC_ID], q[512];

	snprintf(q, sizeof(q),
	    "{'user_id':'ann','terminal_id':'t1','kind':'alarm','text':'x',"
	    "'self_ringing':true,'rule':%s}",
	    ac_in(300, rule));
	ac_put(&f, q, id);
}

TEST(a_body_that_rings_itself_is_not_requested)
{
	char id[AC_ID];

	ac_start(&f);
	ac_bind(&f, "lena", "t1");
	ring_put_own(id);
	ac_await_alarm(&f, id, "state", "rung");
	ck_assert_uint_eq(ac_turns(&f.orch), 0);
	ac_stop(&f);
}

/* It may be of another user by then. */
TEST(a_body_that_is_no_longer_the_users_does_not_ring_for_the_user)
{
	char id[AC_ID];

	ac_start(&f);
	ac_bind(&f, "lena", "t2");
	ring_put_own(id);
	ac_await_alarm(&f, id, "state", "rung");
	ac_await_alarm(&f, id, "rang_on", "t2");
	ck_assert_uint_eq(ac_requests(&f.orch, "t1"), 0);
	ac_stop(&f);
}

TEST(a_blocked_action_is_missed_and_noted)
{
	char rule[AC_ID], q[1024], id[AC_ID];

	ac_start(&f);
	snprintf(q, sizeof(q),
	    "{'user_id':'ann','terminal_id':'blocked1','kind':'action','text':"
	    "'关灯','rule':%s,'action':{'intents':[{'intent_id':'light',"
	    "'confidence':1,'normalized':{'skill':'light_off'}}]}}",
	    ac_in(300, rule));
	ac_put(&f, q, id);
	ac_await_alarm(&f, id, "state", "missed");
	ac_await_alarm(&f, id, "reason", "blocked");
	ck_assert_int_eq(ac_notes(&f), 1);
	ac_stop(&f);
}
