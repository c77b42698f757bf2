/*
 * Processes that are stopped for longer than a client waits: requests that were
 * reported as failed have no effect after SIGCONT.
 */
#include <signal.h>

#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/subscriber.h"

/* No request sent before reaches the device from now on. */
static void
acts_no_more(struct stack *st, pid_t pid)
{
	struct client o = { st, STACK_USER, "s1", STACK_BODY };
	struct subscriber *e =
	    subscriber_new(st, "soul.body.*.*.intent_action", NULL);
	json_t *j;
	int status;

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	j = client_call(st->service[STACK_CHAT_GATEWAY].http, "POST",
	    "/v1/chat", client_chat_request(&o, "把灯变成绿色"), &status);
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	ck_assert_int_eq(status, 502);
	ck_assert_str_eq(tk_text(j, "code"), "turn_lost");
	ck_assert_str_eq(tk_text(j, "error"), "the turn was lost");
	json_decref(j);
	stack_wait_ready(&st->service[STACK_LLM_ORCHESTRATOR]);
	/* The first start belongs to the next turn: starts are ordered. */
	o.session = "s2";
	json_decref(client_chat(&o, "把灯变成红色"));
	j = subscriber_next(e, STACK_MS);
	ck_assert_str_eq(tk_text(j, "session_id"), "s2");
	json_decref(j);
	ck_assert_ptr_null(subscriber_next(e, 2000));
	subscriber_free(e);
}

static void
scene(struct stack *st)
{
	static const struct stack_opts o = { .no_capture = true };

	stack_start(st, &o);
	client_select_soul(st, STACK_USER, STACK_BODY,
	    client_create_soul(st, STACK_USER, "小元", "ENFP"));
	client_wait_terminal(st, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
}

TEST_T(a_stopped_orchestrator_sends_no_overdue_action, 120)
{
	struct stack st;

	scene(&st);
	acts_no_more(&st, st.service[STACK_LLM_ORCHESTRATOR].proc.pid);
	stack_end(&st);
}

TEST_T(a_stopped_nats_delivers_no_overdue_action, 120)
{
	struct stack st;

	scene(&st);
	acts_no_more(&st, st.server[STACK_NATS].proc.pid);
	stack_end(&st);
}
