/*
 * Processes are killed while runs go on: each event is published one time, and
 * each run has one end.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "testkit/engine_runner_fixture.h"

/* Three messages; the end is a second after the first. */
#define SLOW                                                              \
	ER_STEPS(ER_THREAD, ER_TURN, ER_MESSAGE("i1", "one"), "wait=500", \
	    ER_MESSAGE("i2", "two"), "wait=500",                          \
	    ER_MESSAGE("i3", "three" ER_DONE_TEXT), ER_END)
#define SLOW_EVENTS "started final final final completed"

static struct engine_runner_fixture f;

TEST(a_killed_runner_goes_on_with_its_run)
{
	char id[RUN_ID_MAX];
	json_t *j;

	er_start(&f, NULL);
	er_begin(&f, id, SLOW, "");
	er_await_events(&f, id, 2);
	tk_service_kill(&f.runner[0]);
	ck_assert_uint_gt(er_processes(), 0);
	er_start_runner(&f, 0, NULL);
	j = er_await(&f, id, "succeeded");
	ck_assert_int_eq(tk_int(j, "attempt"), 1);
	json_decref(j);
	er_events(&f, id, SLOW_EVENTS);
	er_await_processes(0);
	er_stop(&f);
}

TEST(what_ended_while_no_runner_was_up_is_published)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, SLOW, "");
	er_await_events(&f, id, 2);
	tk_service_kill(&f.runner[0]);
	er_await_processes(0);
	er_start_runner(&f, 0, NULL);
	er_is(&f, id, "succeeded", "DONE_MARKER_FOUND");
	er_events(&f, id, SLOW_EVENTS);
	er_stop(&f);
}

TEST(a_queued_run_begins_after_a_restart)
{
	char first[RUN_ID_MAX], id[RUN_ID_MAX];

	er_start(&f, TK_ENV("RUNS_MAX=1"));
	er_begin(&f, first, SLOW, "");
	er_await_turn(&f, first);
	er_begin(&f, id, ER_DONE, "");
	tk_service_kill(&f.runner[0]);
	er_start_runner(&f, 0, TK_ENV("RUNS_MAX=1"));
	er_is(&f, first, "succeeded", NULL);
	er_is(&f, id, "succeeded", NULL);
	er_events(&f, first, SLOW_EVENTS);
	er_events(&f, id, "started final completed");
	er_stop(&f);
}

TEST(a_reply_while_no_runner_is_up_waits_for_it)
{
	struct tk_response a = { 0 };
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, ER_QUESTION, "");
	er_is(&f, id, "waiting_user", NULL);
	tk_service_kill(&f.runner[0]);
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_DONE), 503);
	er_start_runner(&f, 0, NULL);
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_DONE), 200);
	er_is(&f, id, "succeeded", NULL);
	er_events(&f, id, "started final asks replied final completed");
	tk_response_free(&a);
	er_stop(&f);
}

TEST(a_killed_shim_fails_its_run)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, ER_STEPS(ER_THREAD, ER_TURN, "daemon", "silent"), "");
	er_await_turn(&f, id);
	ck_assert_uint_gt(er_kill_shims(), 0);
	er_is(&f, id, "failed", "ENGINE_CRASHED");
	er_await_processes(0);
	er_stop(&f);
}

TEST(a_killed_shim_is_found_by_the_next_runner)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, ER_STEPS(ER_THREAD, ER_TURN, "daemon", "silent"), "");
	er_await_turn(&f, id);
	tk_service_kill(&f.runner[0]);
	ck_assert_uint_gt(er_kill_shims(), 0);
	er_start_runner(&f, 0, NULL);
	er_is(&f, id, "failed", "ENGINE_CRASHED");
	er_await_processes(0);
	er_stop(&f);
}

TEST(a_killed_engine_fails_its_run)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, ER_STEPS(ER_THREAD, ER_TURN, "silent"), "");
	er_await_turn(&f, id);
	ck_assert_uint_gt(er_kill_engines(), 0);
	er_is(&f, id, "failed", "ENGINE_CRASHED");
	er_await_processes(0);
	er_stop(&f);
}

/* It is suspended until the engine has ended. */
TEST(events_are_published_when_redis_is_back)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, SLOW, "");
	er_await_events(&f, id, 2);
	tk_signal(&f.gw.redis.proc, SIGSTOP);
	er_await_processes(0);
	tk_signal(&f.gw.redis.proc, SIGCONT);
	er_is(&f, id, "succeeded", NULL);
	er_events(&f, id, SLOW_EVENTS);
	er_stop(&f);
}

TEST(runs_need_no_nats_to_end)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, SLOW, "");
	er_await_events(&f, id, 2);
	tk_signal(&f.gw.nats.proc, SIGSTOP);
	er_await_processes(0);
	tk_signal(&f.gw.nats.proc, SIGCONT);
	er_is(&f, id, "succeeded", NULL);
	er_events(&f, id, SLOW_EVENTS);
	er_stop(&f);
}

TEST(the_runs_of_a_runner_that_stays_dead_are_lost)
{
	char running[RUN_ID_MAX], id[RUN_ID_MAX];

	er_start(&f, TK_ENV("RUN_LOST_AFTER_S=1", "RUNS_MAX=1"));
	er_begin(&f, running, ER_STEPS(ER_THREAD, ER_TURN, "silent"), "");
	er_await_turn(&f, running);
	er_begin(&f, id, ER_DONE, "");
	tk_service_kill(&f.runner[0]);
	er_make_due(&f, running);
	er_make_due(&f, id);
	er_start_runner(&f, 1, TK_ENV("RUN_LOST_AFTER_S=1"));
	/* It had not begun, so that it can run elsewhere. */
	er_is(&f, id, "succeeded", NULL);
	er_is(&f, running, "failed", "RUN_LOST");
	er_events(&f, running, "started failed:RUN_LOST");
	er_start_runner(&f, 0, NULL);
	er_await_processes(0);
	er_is(&f, running, "failed", "RUN_LOST");
	er_stop(&f);
}

/* It was stopped, not killed: it does not know that it was given up. */
TEST(a_suspended_runner_changes_nothing_when_it_goes_on)
{
	char id[RUN_ID_MAX];

	er_start(&f, TK_ENV("RUN_LOST_AFTER_S=1"));
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, "pace=20", "stamps=100000"), "");
	er_await_turn(&f, id);
	tk_signal(&f.runner[0].proc, SIGSTOP);
	er_make_due(&f, id);
	er_start_runner(&f, 1, TK_ENV("RUN_LOST_AFTER_S=1"));
	er_is(&f, id, "failed", "RUN_LOST");
	tk_signal(&f.runner[0].proc, SIGCONT);
	er_await_processes(0);
	er_is(&f, id, "failed", "RUN_LOST");
	er_stop(&f);
}
