/*
 * What a soul is given to say, and what it says of what it could not do: on a
 * body that is there, and on one that is away meanwhile.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/stack.h"

#define SPEECH_MS   120000
#define SPEAK_PATH  "/v1/terminals/" STACK_BODY "/say"
#define NOTICE_PATH "/v1/terminals/" STACK_BODY "/notice"
#define LAUNDRY     "洗衣机洗好了。"

static struct stack st;
static struct stack_proc alarm_clock;

static const struct stack_opts speaking = {
	.env[STACK_BODY_SIM] = { "TERMINAL_SKILLS=control_light,speak" },
};

/* What is waited for: the state of a push. */
struct push_wait {
	char id[128], state[32];
	const char *want;
};

static bool
push_is(void *arg)
{
	struct push_wait *p = arg;
	char path[256];
	json_t *j;

	snprintf(
	    path, sizeof(path), "/v1/pushes/%s?user_id=" STACK_USER, p->id);
	j = client_ok(&st, "GET", path, NULL);
	snprintf(p->state, sizeof(p->state), "%s", tk_text(j, "state"));
	json_decref(j);
	return strcmp(p->state, p->want) == 0;
}

static void
push_await(struct push_wait *p, const char *want)
{
	p->want = want;
	ck_assert_msg(tk_until(push_is, p, SPEECH_MS), "%s: %s, not %s", p->id,
	    p->state, want);
}

static struct push_wait
push_post(const char *path, json_t *body)
{
	struct push_wait p = { .want = "" };
	int status;
	json_t *j;

	json_object_set_new(body, "user_id", json_string(STACK_USER));
	j = client_call(
	    st.service[STACK_CHAT_GATEWAY].http, "POST", path, body, &status);
	ck_assert_int_eq(status, 202);
	snprintf(p.id, sizeof(p.id), "%s", tk_text(j, "push_id"));
	json_decref(j);
	return p;
}

/* How often the body has spoken, and how often that text. */
static size_t
speech_count(const char *text, size_t *same)
{
	json_t *j = client_sim_state(&st, STACK_BODY), *list, *t;
	size_t i, n;

	list = tk_find(j, "spoken");
	n = json_array_size(list);
	*same = 0;
	json_array_foreach (list, i, t)
		*same += strcmp(tk_find_text(t, "text"), text) == 0;
	json_decref(j);
	return n;
}

static void
speech_begin(struct client *c)
{
	stack_start(&st, &speaking);
	stack_spawn_alarm_clock(&st, &alarm_clock);
	stack_wait_ready(&alarm_clock);
	*c = client_bound(&st, STACK_USER, STACK_BODY);
}

static void
speech_end(void)
{
	const char *why;

	tk_signal(&alarm_clock.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&alarm_clock.proc, STACK_MS), 0);
	why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
}

TEST_T(a_body_speaks_a_given_text_and_about_a_notice, 240)
{
	struct push_wait p;
	struct client c;
	size_t same;

	speech_begin(&c);
	p = push_post(SPEAK_PATH, json_pack("{s:s}", "text", LAUNDRY));
	push_await(&p, "spoken");
	ck_assert_uint_eq(speech_count(LAUNDRY, &same), 1);
	ck_assert_uint_eq(same, 1);
	/* In the soul's own words. */
	p = push_post(NOTICE_PATH,
	    json_pack("{s:s, s:s}", "type", "button", "text", "按下了门铃"));
	push_await(&p, "spoken");
	ck_assert_uint_eq(speech_count(LAUNDRY, &same), 2);
	speech_end();
}

static bool
action_is_missed(void *arg)
{
	json_t *j = client_ok(
	    &st, "GET", "/v1/alarms?all=true&user_id=" STACK_USER, NULL);
	bool missed = strcmp(tk_find_text(j, "alarms.0.state"), "missed") == 0;

	(void)arg;
	json_decref(j);
	return missed;
}

/* Speech waits for the body; an action is missed and reported. */
TEST_T(a_body_that_is_away_speaks_when_it_returns, 420)
{
	struct push_wait p;
	struct client c;
	size_t same;

	speech_begin(&c);
	json_decref(client_chat(&c, "6秒后关灯"));
	stack_kill(&st, STACK_BODY_SIM);
	p = push_post(SPEAK_PATH, json_pack("{s:s}", "text", LAUNDRY));
	push_await(&p, "no_body");
	ck_assert(tk_until(action_is_missed, NULL, SPEECH_MS));
	(void)push_is(&p);
	ck_assert_str_ne(p.state, "spoken");
	stack_restart(&st, STACK_BODY_SIM);
	push_await(&p, "spoken");
	(void)speech_count(LAUNDRY, &same);
	ck_assert_uint_eq(same, 1);
	client_ck_reply(&c, "你好", "错过了，没有送达。");
	speech_end();
}
