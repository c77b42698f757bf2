/*
 * Processes that stop for longer than a client is kept waiting: what was told
 * to be lost does not act when they go on.
 */
#include <signal.h>

#include "testkit/stack/ear.h"
#include "testkit/stack/owner.h"
#include "testkit/stack/peer.h"

/* Nothing that was asked for before goes to the body from now on. */
static void
acts_no_more(struct stack *st, pid_t pid)
{
	struct owner o = { st, STACK_USER, "s1", STACK_BODY };
	struct ear *e = ear_new(st, "soul.body.*.*.intent_action", NULL);
	json_t *j;
	int status;

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	j = owner_call(st->service[STACK_CHAT_GATEWAY].http, "POST", "/v1/chat",
	    owner_request(&o, "把灯变成绿色"), &status);
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	ck_assert_int_eq(status, 502);
	ck_assert_str_eq(text_at(j, "code"), "turn_lost");
	ck_assert_str_eq(text_at(j, "error"), "the turn was lost");
	json_decref(j);
	stack_wait_ready(&st->service[STACK_LLM_ORCHESTRATOR]);
	/* What comes first is of the next turn: starts come in their order. */
	o.session = "s2";
	json_decref(owner_say(&o, "把灯变成红色"));
	j = ear_next(e, STACK_MS);
	ck_assert_str_eq(text_at(j, "session_id"), "s2");
	json_decref(j);
	ck_assert_ptr_null(ear_next(e, 2000));
	ear_free(e);
}

static void
scene(struct stack *st)
{
	static const struct stack_opts o = { .no_tap = true };

	stack_start(st, &o);
	owner_select(st, STACK_USER, STACK_BODY,
	    owner_soul(st, STACK_USER, "小元", "ENFP"));
	owner_wait_body(st, STACK_USER, STACK_BODY, OWNER_KNOWS_INTENTS);
}

TEST_T(a_stopped_orchestrator_does_not_act_late, 120)
{
	struct stack st;

	scene(&st);
	acts_no_more(&st, st.service[STACK_LLM_ORCHESTRATOR].proc.pid);
	stack_end(&st);
}

TEST_T(a_stopped_nats_lets_nothing_act_late, 120)
{
	struct stack st;

	scene(&st);
	acts_no_more(&st, st.server[STACK_NATS].proc.pid);
	stack_end(&st);
}
