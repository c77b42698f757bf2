/*
 * Stopping engines, and what they leave behind.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "procsup/cgroup.h"
#include "testkit/loop.h"
#include "testkit/procsup_fixture.h"
#include "testkit/testkit.h"

static struct procsup_fixture fixture;
static struct attempt run;

static void
run_begin(int64_t grace_ms, const char *const *steps)
{
	procsup_begin(&fixture, grace_ms);
	attempt_prepare(&run, &fixture, "run");
	attempt_steps(&run, steps);
	attempt_start(&run);
}

static void
run_end(void)
{
	attempt_await_end(&run);
	attempt_release(&run);
	procsup_end(&fixture);
}

TEST(term_ends_an_engine)
{
	run_begin(20000, STEPS("out=up", "silent"));
	attempt_await_text(&run, "up");
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	/* Only the first reason counts. */
	procsup_stop(run.shim, SPOOL_STOP_BUDGET);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGTERM);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_CANCELED);
	run_end();
}

TEST(who_ignores_term_is_killed)
{
	run_begin(50, STEPS("ignore", "out=up", "silent"));
	attempt_await_text(&run, "up");
	procsup_stop(run.shim, SPOOL_STOP_LINGERED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_LINGERED);
	run_end();
}

TEST(without_grace_it_is_killed_immediately)
{
	run_begin(0, STEPS("out=up", "silent"));
	attempt_await_text(&run, "up");
	procsup_stop(run.shim, SPOOL_STOP_RUNNER);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	run_end();
}

TEST(a_stop_right_after_the_start_works)
{
	run_begin(1000, STEPS("out=up", "silent"));
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_CANCELED);
	run_end();
}

TEST(what_it_prints_without_end_does_not_delay_a_stop)
{
	run_begin(50, STEPS("ignore", "endless"));
	attempt_await_text(&run, "abc");
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	run_end();
}

TEST(an_end_that_came_first_is_no_stop)
{
	run_begin(1000, STEPS("out=up", "exit=4"));
	ck_assert(attempt_shim_pid(&run) > 0);
	attempt_await_text(&run, "up");
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.code, 4);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_NONE);
	run_end();
}

TEST(children_of_its_group_are_killed_after_its_end)
{
	run_begin(1000, STEPS("child", "child", "exit=0"));
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.code, 0);
	ck_assert_int_eq(run.exit.orphans, 2);
	run_end();
}

TEST(daemons_that_hold_its_output_are_killed_after_its_end)
{
	run_begin(1000, STEPS("daemon", "daemon", "out=bye", "exit=5"));
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.code, 5);
	ck_assert_int_eq(run.exit.orphans, 2);
	ck_assert(attempt_has(&run, "bye\n"));
	run_end();
}

TEST(daemons_are_killed_by_a_stop)
{
	run_begin(1000, STEPS("daemon", "child", "out=up", "silent"));
	attempt_await_text(&run, "up");
	ck_assert_uint_eq(attempt_processes(&run), 3);
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGTERM);
	ck_assert_int_eq(run.exit.orphans, 2);
	run_end();
}

TEST(hundreds_of_children_are_killed)
{
	run_begin(200, STEPS("ignore", "forks=300", "out=up", "silent"));
	attempt_await_text(&run, "up");
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	run_end();
}

TEST(term_to_the_shim_stops_its_engine)
{
	run_begin(1000, STEPS("out=up", "silent"));
	attempt_await_text(&run, "up");
	ck_assert_int_eq(kill(attempt_shim_pid(&run), SIGTERM), 0);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGTERM);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_RUNNER);
	run_end();
}

TEST(a_killed_shim_leaves_no_process_and_a_whole_spool)
{
	run_begin(
	    1000, STEPS("out=one", "child", "daemon", "out=up", "silent"));
	attempt_await_text(&run, "up");
	ck_assert_int_eq(kill(attempt_shim_pid(&run), SIGKILL), 0);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_NONE);
	/* The engine died with its shim, or was found. */
	ck_assert_int_ge(run.exit.orphans, 2);
	ck_assert_int_le(run.exit.orphans, 3);
	run_end();
}

static bool
process_has_ended(void *arg)
{
	const pid_t pid = *(const pid_t *)arg;

	/* It is a child of this process, once its shim is dead. */
	return waitpid(pid, NULL, WNOHANG) == pid ||
	    (kill(pid, 0) != 0 && errno == ESRCH);
}

static pid_t
hidden_pid(void)
{
	const char *at = strstr(attempt_out(&run), "hidden=");

	ck_assert_ptr_nonnull(at);
	return (pid_t)strtol(at + strlen("hidden="), NULL, 10);
}

TEST(what_hides_is_killed_by_a_stop)
{
	pid_t pid;

	run_begin(500, STEPS("hide", "wait=1", "out=up", "silent"));
	attempt_await_text(&run, "hidden=");
	attempt_await_text(&run, "up");
	pid = hidden_pid();
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.orphans, 1);
	ck_assert(process_has_ended(&pid));
	run_end();
}

/* Where we may make no control group, only bubblewrap can do that. */
TEST(what_hides_is_killed_with_its_shim)
{
	char cgroup[CGROUP_PATH_MAX];
	bool has_groups = cgroup_make("test", cgroup);
	pid_t pid;

	ck_assert(cgroup_remove(cgroup));
	run_begin(500, STEPS("hide", "out=up", "silent"));
	attempt_await_text(&run, "hidden=");
	attempt_await_text(&run, "up");
	pid = hidden_pid();
	ck_assert_int_eq(kill(attempt_shim_pid(&run), SIGKILL), 0);
	attempt_await_end(&run);
	if (!has_groups) {
		printf("# no control groups: %d is not found\n", (int)pid);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
	}
	ck_assert(tk_until(process_has_ended, &pid, ATTEMPT_WAIT));
	run_end();
}

TEST(a_shim_that_hangs_is_killed)
{
	run_begin(0, STEPS("out=up", "child", "silent"));
	attempt_await_text(&run, "child=: done");
	ck_assert_int_eq(kill(attempt_shim_pid(&run), SIGSTOP), 0);
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_CANCELED);
	run_end();
}

/* ---- sweeps ---- */

static size_t n_swept;
static bool swept;

static bool
sweep_is_doomed(void *arg, struct str mark)
{
	const struct attempt *a = arg;

	return str_eq(mark, str_of(a->mark));
}

static void
sweep_done(void *arg, size_t killed)
{
	(void)arg;
	n_swept = killed;
	swept = true;
}

static bool
sweep_has_ended(void *arg)
{
	(void)arg;
	return swept;
}

TEST(a_sweep_kills_only_what_is_doomed)
{
	struct attempt other;

	run_begin(1000, STEPS("daemon", "out=up", "silent"));
	attempt_prepare(&other, &fixture, "other");
	attempt_steps(&other, STEPS("out=up", "silent"));
	attempt_start(&other);
	attempt_await_text(&run, "up");
	attempt_await_text(&other, "up");
	ck_assert_int_eq(
	    procsup_sweep(fixture.procsup, sweep_is_doomed, &run, sweep_done),
	    RC_OK);
	ck_assert(
	    tk_loop_until(fixture.loop, sweep_has_ended, NULL, ATTEMPT_WAIT));
	ck_assert_uint_eq(n_swept, 2);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	ck_assert(!other.ended);
	ck_assert_uint_eq(attempt_processes(&other), 1);
	procsup_stop(other.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&other);
	attempt_release(&other);
	run_end();
}

TEST(a_sweep_may_be_dropped)
{
	procsup_begin(&fixture, 1000);
	attempt_prepare(&run, &fixture, "run");
	for (int i = 0; i < 64; i++)
		ck_assert_int_eq(procsup_sweep(fixture.procsup, sweep_is_doomed,
				     &run, sweep_done),
		    RC_OK);
	ck_assert_int_eq(
	    procsup_sweep(fixture.procsup, sweep_is_doomed, &run, sweep_done),
	    RC_RETRY);
	tk_loop_step(fixture.loop);
	attempt_release(&run);
	procsup_end(&fixture);
	ck_assert(!swept);
}
