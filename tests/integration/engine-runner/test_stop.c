/*
 * Runs that are canceled, exceed a limit, or are not answered.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "state/run_runner.h"
#include "testkit/engine_runner_fixture.h"

#define SILENT ER_STEPS(ER_THREAD, ER_TURN, "silent")

static struct engine_runner_fixture f;

TEST(a_running_run_is_canceled)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, SILENT, "");
	er_await_turn(&f, id);
	ck_assert(er_cancel(&f, id));
	er_is(&f, id, "canceled", "CANCELED");
	er_events(&f, id, "started failed:CANCELED");
	er_await_processes(0);
	ck_assert(!er_cancel(&f, id));
	er_stop(&f);
}

TEST(an_engine_that_ignores_signals_is_killed)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, "ignore", "child", "daemon", ER_TURN, "silent"),
	    "");
	er_await_turn(&f, id);
	ck_assert(er_cancel(&f, id));
	er_is(&f, id, "canceled", "CANCELED");
	er_await_processes(0);
	er_stop(&f);
}

TEST(a_queued_run_is_canceled)
{
	char first[RUN_ID_MAX], id[RUN_ID_MAX];

	er_start(&f, TK_ENV("RUNS_MAX=1"));
	er_begin(&f, first, SILENT, "");
	er_await_turn(&f, first);
	er_begin(&f, id, ER_DONE, "");
	ck_assert(er_cancel(&f, id));
	er_is(&f, id, "canceled", "CANCELED");
	er_events(&f, id, "failed:CANCELED");
	ck_assert(er_cancel(&f, first));
	er_is(&f, first, "canceled", "CANCELED");
	er_stop(&f);
}

TEST(a_waiting_run_is_canceled)
{
	struct tk_response a = { 0 };
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, ER_QUESTION, "");
	er_is(&f, id, "waiting_user", NULL);
	ck_assert(er_cancel(&f, id));
	er_is(&f, id, "canceled", "CANCELED");
	er_events(&f, id, "started final asks failed:CANCELED");
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_DONE), 409);
	tk_response_free(&a);
	er_stop(&f);
}

TEST(a_run_that_takes_too_long_is_stopped)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, ER_STEPS(ER_THREAD, "pace=50", "stamps=100000"),
	    "\"limits\":{\"run_s\":1},");
	er_is(&f, id, "failed", "DEADLINE_EXCEEDED");
	er_await_processes(0);
	er_stop(&f);
}

TEST(a_silent_engine_is_stopped)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, SILENT, "\"limits\":{\"idle_s\":1},");
	er_is(&f, id, "failed", "ENGINE_STALLED");
	er_await_processes(0);
	er_stop(&f);
}

TEST(an_engine_that_prints_too_much_is_stopped)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, ER_STEPS(ER_THREAD, "endless"),
	    "\"limits\":{\"output_bytes\":100000},");
	er_is(&f, id, "failed", "OUTPUT_LIMIT");
	er_await_processes(0);
	er_stop(&f);
}

/* One large file is the kernel's matter; this is the shim's. */
TEST(an_engine_that_writes_too_many_files_is_stopped)
{
	static char names[40][16];
	const char *steps[NELEM(names) + 4] = { ER_THREAD, ER_TURN };
	char id[RUN_ID_MAX], other[RUN_ID_MAX];
	size_t i;

	for (i = 0; i < NELEM(names); i++) {
		snprintf(names[i], sizeof(names[i]), "write=f%zu", i);
		steps[2 + i] = names[i];
	}
	steps[2 + i] = "silent";
	er_start(&f, TK_ENV("WORKSPACE_FILES=30"));
	er_begin(&f, other, SILENT, "");
	er_await_turn(&f, other);
	er_begin(&f, id, steps, "");
	er_is(&f, id, "failed", "OUTPUT_LIMIT");
	er_events(&f, id,
	    "started warning:UNPARSED_OUTPUT warning:WORKSPACE_LIMIT "
	    "failed:OUTPUT_LIMIT");
	/* The other one is unharmed. */
	ck_assert(er_cancel(&f, other));
	er_is(&f, other, "canceled", "CANCELED");
	er_stop(&f);
}

TEST(an_engine_that_lives_behind_its_end_is_stopped)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, ER_MESSAGE("i1", "Hi" ER_DONE_TEXT),
		ER_END, "silent"),
	    "");
	er_is(&f, id, "succeeded", "DONE_MARKER_FOUND");
	er_events(&f, id, "started final warning:ENGINE_LINGERED completed");
	er_await_processes(0);
	er_stop(&f);
}

TEST(a_full_queue_rejects_runs)
{
	struct tk_response a = { 0 };
	char first[RUN_ID_MAX], second[RUN_ID_MAX];

	er_start(&f, TK_ENV("RUNS_MAX=1", "QUEUE_MAX=1"));
	er_begin(&f, first, SILENT, "");
	er_await_turn(&f, first);
	er_begin(&f, second, ER_DONE, "");
	ck_assert_int_eq(er_post(&f, &a, ER_DONE, ""), 429);
	ck_assert(tk_response_has(&a, "queue_full"));
	ck_assert(er_cancel(&f, first));
	er_is(&f, second, "succeeded", NULL);
	tk_response_free(&a);
	er_stop(&f);
}

TEST(a_user_has_so_many_runs_at_a_time)
{
	struct tk_response a = { 0 };
	char id[RUN_ID_MAX];

	er_start(&f, TK_ENV("RUNS_PER_USER=1"));
	er_begin(&f, id, SILENT, "");
	ck_assert_int_eq(er_post(&f, &a, ER_DONE, ""), 429);
	ck_assert(tk_response_has(&a, "too_many_runs"));
	er_await_turn(&f, id);
	ck_assert(er_cancel(&f, id));
	er_is(&f, id, "canceled", NULL);
	tk_response_free(&a);
	er_stop(&f);
}

TEST(a_question_without_a_reply_fails_the_run)
{
	char id[RUN_ID_MAX];

	er_start(&f, TK_ENV("REPLY_TIMEOUT_S=1"));
	er_begin(&f, id, ER_QUESTION, "");
	er_is(&f, id, "failed", "REPLY_TIMEOUT");
	er_events(&f, id, "started final asks failed:REPLY_TIMEOUT");
	er_stop(&f);
}

/* The reply that is given then has the steps of the second attempt. */
TEST(a_question_without_a_reply_gets_the_automatic_one)
{
	char id[RUN_ID_MAX];

	er_start(&f, TK_ENV("REPLY_TIMEOUT_S=1"));
	er_begin(&f, id, ER_QUESTION, "\"auto_reply\":\"exit=0\\n\",");
	er_is(&f, id, "failed", "END_SIGNAL_MISSING");
	er_events(&f, id,
	    "started final asks replied "
	    "warning:INCOMPLETE_STATE_CLASSIFICATION "
	    "failed:END_SIGNAL_MISSING");
	er_stop(&f);
}

TEST(a_drain_stops_what_runs)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, SILENT, "");
	er_await_turn(&f, id);
	tk_service_end(&f.runner[0]);
	er_is(&f, id, "failed", "RUNNER_STOPPED");
	er_events(&f, id, "started failed:RUNNER_STOPPED");
	ck_assert_uint_eq(er_processes(), 0);
	er_stop(&f);
}

/* So that nobody waits for its end to be noticed. */
TEST(a_runner_that_has_drained_does_not_live)
{
	struct arena *a = arena_new(1024 * 1024);
	struct run_runner *list;
	size_t n;

	er_start(&f, NULL);
	tk_service_end(&f.runner[0]);
	ck_assert_int_eq(run_runner_list(f.gw.db.s, a, &list, &n), RC_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert(!list[0].alive);
	arena_free(a);
	er_stop(&f);
}

TEST(a_drain_waits_for_what_ends_in_time)
{
	char id[RUN_ID_MAX];

	er_start(&f, TK_ENV("RUNS_DRAIN_MS=30000"));
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, "wait=1000",
		ER_MESSAGE("i1", "Hi" ER_DONE_TEXT), ER_END),
	    "");
	er_await_turn(&f, id);
	tk_service_end(&f.runner[0]);
	er_is(&f, id, "succeeded", NULL);
	er_stop(&f);
}
