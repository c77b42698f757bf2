/*
 * Starting engines: what they get, what is read of them, how they end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit/loop.h"
#include "testkit/procsup_fixture.h"
#include "testkit/testkit.h"

#define MANY 100

static struct procsup_fixture fixture;

TEST(output_and_exit_code_are_read)
{
	struct attempt a;

	procsup_begin(&fixture, 1000);
	attempt_prepare(&a, &fixture, "run");
	attempt_run(&a, STEPS("out=one", "err=two", "out=three", "exit=3"));
	ck_assert_str_eq(attempt_out(&a), "one\nthree\n");
	ck_assert_str_eq(attempt_err(&a), "two\n");
	ck_assert_int_eq(a.exit.code, 3);
	ck_assert_int_eq(a.exit.signal, 0);
	ck_assert_int_eq(a.exit.stop, SPOOL_STOP_NONE);
	ck_assert(!a.exit.not_started);
	ck_assert_int_eq(a.exit.orphans, 0);
	ck_assert_int_ge(a.exit.ns, a.last_ns);
	ck_assert_int_gt(a.first_ns, 1600000000000000000);
	ck_assert_uint_eq(procsup_count(fixture.procsup), 0);
	attempt_release(&a);
	procsup_end(&fixture);
}

TEST(the_first_line_comes_before_the_end)
{
	struct attempt a;

	procsup_begin(&fixture, 1000);
	attempt_prepare(&a, &fixture, "run");
	attempt_steps(&a, STEPS("out=first", "silent"));
	attempt_start(&a);
	attempt_await_text(&a, "first\n");
	ck_assert(!a.ended);
	ck_assert_uint_eq(attempt_processes(&a), 1);
	procsup_stop(a.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&a);
	attempt_release(&a);
	procsup_end(&fixture);
}

TEST(a_signal_is_an_end)
{
	struct attempt a;

	procsup_begin(&fixture, 1000);
	attempt_prepare(&a, &fixture, "run");
	attempt_run(&a, STEPS("out=x", "die=11"));
	ck_assert_int_eq(a.exit.signal, SIGSEGV);
	ck_assert_int_eq(a.exit.stop, SPOOL_STOP_NONE);
	attempt_release(&a);
	procsup_end(&fixture);
}

TEST(an_engine_gets_only_what_its_spec_has)
{
	struct attempt a;
	char cwd[400];

	ck_assert_int_eq(setenv("SECRET_OF_THE_RUNNER", "x", 1), 0);
	procsup_begin(&fixture, 1000);
	attempt_prepare(&a, &fixture, "run");
	tk_write_file(tk_path("prompt"), "do it\n");
	a.spec.stdin_path = tk_path("prompt");
	attempt_run(&a,
	    STEPS("echo", "env=SECRET_OF_THE_RUNNER", "env=SOUL_RUN",
		"descriptors", "write=here"));
	snprintf(cwd, sizeof(cwd),
	    "do it\nSECRET_OF_THE_RUNNER=(none)\nSOUL_RUN=%s\n"
	    "descriptors=: refused (EBADF)\nwrite=here: done\n",
	    a.mark);
	ck_assert_str_eq(attempt_out(&a), cwd);
	snprintf(cwd, sizeof(cwd), "%s/here", a.work);
	ck_assert_int_eq(access(cwd, F_OK), 0);
	attempt_release(&a);
	procsup_end(&fixture);
}

TEST(an_engine_that_is_missing_is_an_end)
{
	struct attempt a;

	procsup_begin(&fixture, 1000);
	attempt_prepare(&a, &fixture, "run");
	a.argv[0] = "/nonexistent/engine";
	attempt_run(&a, STEPS("out=x"));
	ck_assert(a.exit.not_started);
	ck_assert_int_eq(a.exit.code, 127);
	ck_assert_str_eq(attempt_err(&a),
	    "shim: cannot start: /nonexistent/engine: "
	    "No such file or directory\n");
	attempt_release(&a);
	procsup_end(&fixture);
}

TEST(a_spool_is_used_one_time)
{
	struct attempt a, b;
	const struct procsup_handler h = { NULL, NULL, NULL };
	struct shim *s;

	procsup_begin(&fixture, 1000);
	attempt_prepare(&a, &fixture, "run");
	attempt_run(&a, STEPS("exit=0"));
	ck_assert_int_eq(
	    procsup_start(fixture.procsup, &a.spec, &h, &s), RC_CONFLICT);
	attempt_prepare(&b, &fixture, "other");
	b.spec.dir = tk_path("missing");
	ck_assert_int_eq(
	    procsup_start(fixture.procsup, &b.spec, &h, &s), RC_DOWN);
	ck_assert_uint_eq(procsup_count(fixture.procsup), 0);
	attempt_release(&a);
	attempt_release(&b);
	procsup_end(&fixture);
}

TEST(a_spec_that_breaks_a_rule_is_rejected)
{
	const struct procsup_handler h = { NULL, NULL, NULL };
	static const char *many[PROCSUP_STRINGS_MAX + 2];
	struct attempt a;
	struct shim *s;

	procsup_begin(&fixture, 1000);
	attempt_prepare(&a, &fixture, "run");
	a.spec.mark = "run/1";
	ck_assert_int_eq(
	    procsup_start(fixture.procsup, &a.spec, &h, &s), RC_INVALID);
	a.spec.mark = a.mark;
	a.argv[0] = "engine";
	ck_assert_int_eq(
	    procsup_start(fixture.procsup, &a.spec, &h, &s), RC_INVALID);
	for (size_t i = 0; i <= PROCSUP_STRINGS_MAX; i++)
		many[i] = "/bin/true";
	a.spec.argv = many;
	ck_assert_int_eq(
	    procsup_start(fixture.procsup, &a.spec, &h, &s), RC_TOOBIG);
	attempt_release(&a);
	procsup_end(&fixture);
}

/* A capture is played as it was: the player is an engine, too. */
TEST(a_spool_that_is_played_is_the_same)
{
	struct attempt a, b;
	char step[400];

	procsup_begin(&fixture, 1000);
	attempt_prepare(&a, &fixture, "run");
	attempt_run(&a,
	    STEPS("out=one", "wait=30", "err=two", "wait=30", "line=100000",
		"out=three", "exit=3"));
	attempt_prepare(&b, &fixture, "played");
	snprintf(step, sizeof(step), "spool=%s", a.spool);
	attempt_run(&b, STEPS("speed=3", step, "exit=3"));
	ck_assert_str_eq(attempt_out(&a), attempt_out(&b));
	ck_assert_str_eq(attempt_err(&a), attempt_err(&b));
	ck_assert_int_eq(b.exit.code, 3);
	attempt_release(&a);
	attempt_release(&b);
	procsup_end(&fixture);
}

static void *
threads_wait(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static bool
all_have_ended(void *arg)
{
	const struct attempt *all = arg;

	for (size_t i = 0; i < MANY; i++)
		if (!all[i].ended)
			return false;
	return true;
}

TEST_T(a_hundred_engines_leave_nothing, 60)
{
	static struct attempt all[MANY];
	struct attempt first;
	pthread_t thread;
	size_t before, i;
	char name[32];

	procsup_begin(&fixture, 1000);
	ck_assert_int_eq(pthread_create(&thread, NULL, threads_wait, NULL), 0);
	attempt_prepare(&first, &fixture, "first");
	attempt_run(&first, STEPS("out=x"));
	before = procsup_descriptors();
	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "run%zu", i);
		attempt_prepare(&all[i], &fixture, name);
		attempt_steps(&all[i],
		    STEPS("out=begin", "line=100000", "err=end", "exit=7"));
		attempt_start(&all[i]);
	}
	ck_assert_uint_eq(procsup_count(fixture.procsup), MANY);
	ck_assert(tk_loop_until(fixture.loop, all_have_ended, all, 50 * 1000));
	for (i = 0; i < MANY; i++) {
		ck_assert_uint_eq(all[i].out[SPOOL_OUT].n, 6 + 100001);
		ck_assert_str_eq(attempt_err(&all[i]), "end\n");
		ck_assert_int_eq(all[i].exit.code, 7);
		ck_assert_uint_eq(attempt_processes(&all[i]), 0);
		attempt_release(&all[i]);
	}
	ck_assert_uint_eq(procsup_descriptors(), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	attempt_release(&first);
	procsup_end(&fixture);
}
