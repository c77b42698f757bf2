/*
 * Speech that nobody has asked for, and its rules.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "state/speech.h"
#include "testkit/alarm_clock_fixture.h"
#include "testkit/json.h"

static struct alarm_clock_fixture f;

static void
push_speak(const char *more, char id[AC_ID], char state[32])
{
	char body[1024];
	json_t *j;

	snprintf(body, sizeof(body),
	    "{'user_id':'ann','text':'洗衣机好了','reason':'push'%s%s}",
	    more[0] != '\0' ? "," : "", more);
	j = ac_call(&f, "speak", body);
	snprintf(id, AC_ID, "%s", tk_text(j, "push_id"));
	snprintf(state, 32, "%s", tk_text(j, "state"));
	json_decref(j);
}

/* Quiet hours that are now. */
static void
push_quiet(bool urgent)
{
	const struct speech_settings x = { .proactive = SPEECH_ALARMS,
		.has_quiet = true,
		.quiet_from = 0,
		.quiet_to = 1439,
		.quiet_urgent = urgent };

	ck_assert_int_eq(
	    speech_settings_put(f.state.s, STR("ann"), STR("lena"), &x), RC_OK);
}

TEST(a_push_is_spoken_and_repeated_it_is_the_same)
{
	char id[AC_ID], same[AC_ID], state[32];
	struct ac_turn t;

	ac_start(&f);
	push_speak("'terminal_id':'t1','request_id':'r1'", id, state);
	ck_assert_str_eq(state, "waiting");
	ac_await_push(&f, id, "spoken");
	push_speak("'terminal_id':'t1','request_id':'r1'", same, state);
	ck_assert_str_eq(same, id);
	ck_assert_str_eq(state, "spoken");
	ck_assert_uint_eq(ac_turns(&f.orch), 1);
	t = ac_turn(&f.orch, 0);
	ck_assert_str_eq(t.text, "洗衣机好了");
	ck_assert_str_eq(t.occurrence, id);
	ac_rejects(&f, "push.get", "{'user_id':'ann','push_id':'pu_none'}",
	    "not_found", "push");
	ac_stop(&f);
}

TEST(what_no_body_speaks_expires)
{
	char id[AC_ID], state[32], more[256], rule[AC_ID];
	const char *at;

	ac_start(&f);
	at = strstr(ac_in(1500, rule), "'instant':") + strlen("'instant':");
	snprintf(more, sizeof(more),
	    "'terminal_id':'no_body1','request_id':'r1','expires_at':%.*s",
	    (int)strcspn(at, "}"), at);
	push_speak(more, id, state);
	ac_await_push(&f, id, "no_body");
	ac_await_push(&f, id, "expired");
	ck_assert_uint_eq(ac_spoken(&f.orch), 0);
	push_speak("'terminal_id':'no_skill1','request_id':'r2'", id, state);
	ac_await_push(&f, id, "no_skill");
	ac_stop(&f);
}

TEST(quiet_hours_defer_a_push)
{
	char id[AC_ID], state[32];

	ac_start(&f);
	tk_state_soul(&f.state, "lena", "INFJ", "ann");
	push_quiet(true);
	push_speak(
	    "'terminal_id':'t1','soul_id':'lena','request_id':'r1'", id, state);
	ck_assert_str_eq(state, "quiet");
	push_speak("'terminal_id':'t1','soul_id':'lena','request_id':'r2',"
		   "'urgent':true",
	    id, state);
	ac_await_push(&f, id, "spoken");
	ck_assert_uint_eq(ac_turns(&f.orch), 1);
	ac_stop(&f);
}

TEST(a_soul_that_may_not_speak_does_not)
{
	const struct speech_settings off = { .proactive = SPEECH_OFF };
	char id[AC_ID], state[32];

	ac_start(&f);
	tk_state_soul(&f.state, "lena", "INFJ", "ann");
	ck_assert_int_eq(
	    speech_settings_put(f.state.s, STR("ann"), STR("lena"), &off),
	    RC_OK);
	push_speak(
	    "'terminal_id':'t1','soul_id':'lena','request_id':'r1'", id, state);
	ck_assert_str_eq(state, "failed");
	ac_rejects(&f, "alarm.put",
	    "{'user_id':'ann','soul_id':'lena','when':'明天早上八点'}",
	    "proactive_off", "proactive");
	ck_assert_int_eq(
	    speech_settings_put(f.state.s, STR("ann"), STR("nobody"), &off),
	    RC_NOENT);
	ac_stop(&f);
}

TEST(at_most_twenty_wait)
{
	char id[AC_ID], state[32], more[128];

	ac_start(&f);
	tk_state_soul(&f.state, "lena", "INFJ", "ann");
	push_quiet(false);
	for (int i = 0; i < 21; i++) {
		snprintf(more, sizeof(more),
		    "'terminal_id':'t1','soul_id':'lena','request_id':'r%d'",
		    i);
		push_speak(more, id, state);
		ck_assert_str_eq(state, i < 20 ? "quiet" : "failed");
	}
	ac_stop(&f);
}
