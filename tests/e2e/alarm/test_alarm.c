/*
 * 提醒我喝水, on a device without alarms of its own: it speaks, one time,
 * although everything between was killed once meanwhile.
 */
#include <signal.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/stack.h"

#define SECONDS  "6秒后提醒我喝水"
#define ALARM_MS 60000

static struct stack st;
static struct stack_proc alarm_clock;

static const struct stack_opts speaking = {
	.env[STACK_BODY_SIM] = { "TERMINAL_SKILLS=control_light,speak" },
};

static size_t
alarm_spoken(void)
{
	json_t *j = client_sim_state(&st, STACK_BODY), *list, *t;
	size_t i, n = 0;

	list = tk_find(j, "spoken");
	json_array_foreach (list, i, t)
		n += strstr(tk_find_text(t, "text"), "喝水") != NULL;
	json_decref(j);
	return n;
}

static bool
alarm_was_spoken(void *arg)
{
	(void)arg;
	return alarm_spoken() > 0;
}

static bool
alarm_has_rung(void *arg)
{
	json_t *j = client_ok(
	    &st, "GET", "/v1/alarms?all=true&user_id=" STACK_USER, NULL);
	bool rung = strcmp(tk_find_text(j, "alarms.0.state"), "rung") == 0;

	(void)arg;
	json_decref(j);
	return rung;
}

static void
alarm_begin(struct client *c)
{
	stack_start(&st, &speaking);
	stack_spawn_alarm_clock(&st, &alarm_clock);
	stack_wait_ready(&alarm_clock);
	*c = client_bound(&st, STACK_USER, STACK_BODY);
}

static void
alarm_kill_clock(void)
{
	tk_signal(&alarm_clock.proc, SIGKILL);
	ck_assert_int_eq(tk_wait(&alarm_clock.proc, STACK_MS), 128 + SIGKILL);
	stack_spawn_alarm_clock(&st, &alarm_clock);
}

static void
alarm_end(void)
{
	const char *why;

	tk_signal(&alarm_clock.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&alarm_clock.proc, ALARM_MS), 0);
	why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
}

TEST_T(a_reminder_is_spoken_although_everything_was_killed, 180)
{
	struct client c;
	json_t *j;

	alarm_begin(&c);
	j = client_chat(&c, SECONDS);
	ck_assert_msg(
	    tk_text_has(j, "reply", "喝水"), "%s", tk_text(j, "reply"));
	json_decref(j);
	ck_assert_uint_eq(alarm_spoken(), 0);

	alarm_kill_clock();
	stack_kill(&st, STACK_LLM_ORCHESTRATOR);
	stack_kill(&st, STACK_MQTT_BRIDGE);
	tk_server_stop(&st.server[STACK_REDIS], SIGKILL);
	tk_server_restart(&st.server[STACK_REDIS]);
	stack_restart(&st, STACK_LLM_ORCHESTRATOR);
	stack_restart(&st, STACK_MQTT_BRIDGE);

	ck_assert(tk_until(alarm_was_spoken, NULL, ALARM_MS));
	ck_assert(tk_until(alarm_has_rung, NULL, ALARM_MS));
	ck_assert_uint_eq(alarm_spoken(), 1);
	alarm_end();
}
