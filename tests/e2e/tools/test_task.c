/*
 * A task that a soul gives to a coding engine: approved, not done when it is
 * given, and reported in the next turn, also when the engine asks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/stack/client.h"

STACK_SHARED({ .env = { [STACK_BODY_SIM] = { "BODY_COUNT=2" } } })

#define USER "u-task"
#define TASK "把这件事交给 codex"

static struct stack_proc runner, proxy;
static struct client me;

static bool
is_in_state(void *arg)
{
	json_t *j = client_ok(&stack, "GET", "/v1/runs?user_id=" USER, NULL);
	json_t *items = json_object_get(j, "items");
	bool is = json_array_size(items) == 1 &&
	    strcmp(tk_text(j, "items.0.state"), arg) == 0;

	json_decref(j);
	return is;
}

static void
await_state(char *state)
{
	ck_assert_msg(tk_until(is_in_state, state, STACK_MS), "not %s", state);
}

static void
stop(struct stack_proc *p)
{
	tk_signal(&p->proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&p->proc, STACK_MS), 0);
}

TEST_T(the_next_turn_reports_what_a_task_comes_to, 90)
{
	static char waits[] = "waiting_user", ends[] = "succeeded";

	char *engine = realpath("deploy/demo-engine", NULL);

	ck_assert_ptr_nonnull(engine);
	stack_spawn_engines(&stack, engine, &runner, &proxy);
	free(engine);
	stack_wait_ready(&runner);
	me = client_bound(&stack, USER, STACK_BODY);
	/* The provider is known some time after it has started. */
	client_await_reply(&me, TASK, "要用 engine-runner 的工具「run_task」");
	client_ck_reply(&me, "可以", "not done");
	await_state(waits);
	client_ck_reply(&me, "你好", "在等你回答");
	/* It is reported once. */
	json_t *r = client_chat(&me, "你好");
	ck_assert_ptr_null(strstr(tk_text(r, "reply"), "在等你回答"));
	json_decref(r);
	client_ck_reply(
	    &me, "告诉它「Ann」", "要用 engine-runner 的工具「answer_task」");
	client_ck_reply(&me, "可以", "\"ok\":true");
	await_state(ends);
	client_ck_reply(&me, "你好", "已经完成：I have written hello.txt");
	stop(&runner);
	stop(&proxy);
}

#define TASK_QUESTION "要用 engine-runner 的工具「run_task」"
#define TASK_OTHER    "u-grant"
#define TASK_GRANT    "/v1/mcp/grants/engine-runner__run_task"

static bool
task_is_not_offered(void *arg)
{
	json_t *j = client_chat(arg, TASK);
	bool is = strstr(tk_text(j, "reply"), "run_task") == NULL;

	json_decref(j);
	return is;
}

TEST_T(a_user_forbids_a_tool_of_a_service_and_allows_it, 90)
{
	struct stack_proc host;
	char *engine = realpath("deploy/demo-engine", NULL);

	ck_assert_ptr_nonnull(engine);
	stack_spawn_engines(&stack, engine, &runner, &proxy);
	free(engine);
	stack_spawn_mcp_host(&stack, NULL, &host);
	stack_wait_ready(&runner);
	stack_wait_ready(&host);
	me = client_bound(&stack, TASK_OTHER, "terminal-002");
	client_await_reply(&me, TASK, TASK_QUESTION);
	json_decref(client_ok(&stack, "PUT", TASK_GRANT,
	    json_pack("{s:s, s:s}", "policy", "never", "user_id", TASK_OTHER)));
	/* The orchestrator hears of it some time after the reply. */
	ck_assert(tk_until(task_is_not_offered, &me, STACK_MS));
	ck_assert(task_is_not_offered(&me));
	json_decref(client_ok(
	    &stack, "DELETE", TASK_GRANT "?user_id=" TASK_OTHER, NULL));
	client_await_reply(&me, TASK, TASK_QUESTION);
	stop(&host);
	stop(&runner);
	stop(&proxy);
}
