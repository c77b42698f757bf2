/*
 * A runner is killed, and another takes its shims over.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit/loop.h"
#include "testkit/procsup_fixture.h"
#include "testkit/testkit.h"

#define LINES 300

static struct procsup_fixture fixture;
static struct attempt run;
static char lines_step[300];
static char *lines_text;
static struct procsup_limits runner_limits;

/* A runner as a process of its own, which ends only by a signal. */
static int
runner_main(void *arg)
{
	struct attempt *a = arg;

	procsup_begin(&fixture, 1000);
	a->fixture = &fixture;
	attempt_start(a);
	loop_run(fixture.loop);
	return 0;
}

static bool
runner_has_started(void *arg)
{
	(void)arg;
	return attempt_processes(&run) > 0;
}

/* Let a runner start an engine, and kill it. */
static void
runner_start_and_die(const char *const *steps)
{
	struct tk_proc p;

	attempt_prepare(&run, NULL, "run");
	run.spec.limits = runner_limits;
	attempt_steps(&run, steps);
	tk_fork(&p, "runner", runner_main, &run);
	/* The name of the run is its process'. */
	ck_assert(tk_until(runner_has_started, NULL, ATTEMPT_WAIT));
	tk_signal(&p, SIGKILL);
	ck_assert_int_eq(tk_wait(&p, ATTEMPT_WAIT), 128 + SIGKILL);
	procsup_begin(&fixture, 1000);
	run.fixture = &fixture;
}

static void
take_over_end(void)
{
	attempt_release(&run);
	procsup_end(&fixture);
}

static const char *
lines_prepare(void)
{
	struct buf b = BUF_INIT(1 << 20);

	for (int i = 0; i < LINES; i++)
		buf_printf(&b, "line %d\n", i);
	lines_text = b.p;
	tk_write_file(tk_path("lines"), b.p);
	snprintf(lines_step, sizeof(lines_step), "lines=%s", tk_path("lines"));
	return lines_step;
}

TEST(a_run_goes_on_without_its_runner)
{
	runner_start_and_die(
	    STEPS("pace=2", lines_prepare(), "err=end", "exit=9"));
	attempt_take_over(&run);
	attempt_await_end(&run);
	ck_assert_str_eq(attempt_out(&run), lines_text);
	ck_assert_str_eq(attempt_err(&run), "end\n");
	ck_assert_int_eq(run.exit.code, 9);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_NONE);
	free(lines_text);
	take_over_end();
}

static bool
runner_has_written_end(void *arg)
{
	char path[400];

	(void)arg;
	snprintf(path, sizeof(path), "%s/exit", run.spool);
	return access(path, F_OK) == 0;
}

TEST(an_end_that_no_runner_saw_is_read)
{
	runner_start_and_die(STEPS("pace=1", lines_prepare(), "exit=2"));
	ck_assert(tk_until(runner_has_written_end, NULL, ATTEMPT_WAIT));
	attempt_take_over(&run);
	attempt_await_end(&run);
	ck_assert_str_eq(attempt_out(&run), lines_text);
	ck_assert_int_eq(run.exit.code, 2);
	free(lines_text);
	take_over_end();
}

TEST(what_was_taken_over_is_stopped)
{
	runner_start_and_die(STEPS("out=up", "child", "silent"));
	attempt_take_over(&run);
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_CANCELED);
	take_over_end();
}

TEST(runner_and_shim_killed_leave_no_process)
{
	runner_start_and_die(STEPS("out=up", "daemon", "out=on", "silent"));
	attempt_take_over(&run);
	attempt_await_text(&run, "on");
	procsup_free(fixture.procsup);
	loop_free(fixture.loop);
	ck_assert_int_eq(kill(attempt_shim_pid(&run), SIGKILL), 0);
	attempt_release(&run);
	procsup_begin(&fixture, 1000);
	run.last_ns = 0;
	buf_init(&run.out[SPOOL_OUT], 1 << 20);
	attempt_take_over(&run);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	ck_assert_str_eq(attempt_out(&run), "up\ndaemon=: done\non\n");
	take_over_end();
}

TEST(limits_hold_without_a_runner)
{
	runner_limits = (struct procsup_limits){ .run_ms = 300 };
	runner_start_and_die(STEPS("out=up", "silent"));
	ck_assert(tk_until(runner_has_written_end, NULL, ATTEMPT_WAIT));
	attempt_take_over(&run);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_DEADLINE);
	ck_assert_int_eq(run.exit.signal, SIGTERM);
	take_over_end();
}

TEST(a_handle_that_is_dropped_is_taken_over)
{
	procsup_begin(&fixture, 1000);
	attempt_prepare(&run, &fixture, "run");
	attempt_steps(&run, STEPS("out=up", "wait=200", "out=down"));
	attempt_start(&run);
	procsup_end(&fixture);
	procsup_begin(&fixture, 1000);
	/* Its shim may not even have written its number yet. */
	attempt_take_over(&run);
	attempt_await_end(&run);
	ck_assert_str_eq(attempt_out(&run), "up\ndown\n");
	take_over_end();
}

TEST(what_was_not_started_is_not_taken_over)
{
	const struct procsup_handler h = { NULL, NULL, NULL };
	struct shim *s;

	procsup_begin(&fixture, 1000);
	attempt_prepare(&run, &fixture, "run");
	ck_assert_int_eq(
	    procsup_take_over(fixture.procsup, run.spool, run.mark, &h, &s),
	    RC_NOENT);
	ck_assert_int_eq(procsup_take_over(fixture.procsup, tk_path("missing"),
			     run.mark, &h, &s),
	    RC_NOENT);
	ck_assert_uint_eq(procsup_count(fixture.procsup), 0);
	take_over_end();
}

TEST(a_runner_that_died_before_its_shim_ran_leaves_an_end)
{
	char path[400];

	procsup_begin(&fixture, 1000);
	attempt_prepare(&run, &fixture, "run");
	snprintf(path, sizeof(path), "%s/shim", run.spool);
	tk_write_file(path, "");
	attempt_take_over(&run);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	ck_assert_uint_eq(run.out[SPOOL_OUT].n, 0);
	take_over_end();
}

/* The last bytes of a shim that died before it recorded them. */
TEST(bytes_without_a_record_are_read_after_the_death)
{
	char path[400];
	FILE *f;

	procsup_begin(&fixture, 1000);
	attempt_prepare(&run, &fixture, "run");
	attempt_steps(&run, STEPS("out=one", "silent"));
	attempt_start(&run);
	attempt_await_text(&run, "one\n");
	snprintf(path, sizeof(path), "%s/stdout", run.spool);
	f = fopen(path, "ae");
	ck_assert_ptr_nonnull(f);
	fputs("two\n", f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/journal", run.spool);
	f = fopen(path, "ae");
	ck_assert_ptr_nonnull(f);
	fputs("torn", f);
	fclose(f);
	ck_assert_int_eq(kill(attempt_shim_pid(&run), SIGKILL), 0);
	attempt_await_end(&run);
	ck_assert_str_eq(attempt_out(&run), "one\ntwo\n");
	take_over_end();
}
