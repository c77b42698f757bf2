/*
 * Limits that a shim enforces, whether its runner lives or not.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/procsup_fixture.h"
#include "testkit/testkit.h"

static struct procsup_fixture fixture;
static struct attempt run;

static struct procsup_limits *
limit_begin(void)
{
	procsup_begin(&fixture, 100);
	attempt_prepare(&run, &fixture, "run");
	return &run.spec.limits;
}

static void
limit_end(void)
{
	attempt_release(&run);
	procsup_end(&fixture);
}

static off_t
limit_file_size(const char *name)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", run.spool, name);
	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_size;
}

TEST(output_over_the_limit_stops_an_engine)
{
	limit_begin()->output_bytes = 100000;
	attempt_run(&run, STEPS("err=first", "endless"));
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_OUTPUT);
	/* All that is allowed, with the journal, and no byte more. */
	ck_assert_int_eq(limit_file_size("stdout") + limit_file_size("stderr") +
		limit_file_size("journal"),
	    100000);
	ck_assert_int_eq(
	    limit_file_size("stdout"), (off_t)run.out[SPOOL_OUT].n);
	limit_end();
}

TEST(output_up_to_the_limit_is_no_stop)
{
	char text[1001], step[300];

	memset(text, 'x', 1000);
	text[1000] = '\0';
	tk_write_file(tk_path("text"), text);
	snprintf(step, sizeof(step), "file=%s", tk_path("text"));
	limit_begin()->output_bytes = 1000 + SPOOL_RECORD_N;
	attempt_run(&run, STEPS(step));
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_NONE);
	ck_assert_str_eq(attempt_out(&run), text);
	limit_end();
}

TEST(silence_stops_an_engine)
{
	limit_begin()->idle_ms = 100;
	attempt_run(&run, STEPS("out=up", "silent"));
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_STALLED);
	ck_assert_int_eq(run.exit.signal, SIGTERM);
	limit_end();
}

TEST(output_in_time_is_no_silence)
{
	struct procsup_limits *l = limit_begin();
	char step[300];

	l->idle_ms = 2000;
	tk_write_file(tk_path("lines"), "1\n2\n3\n4\n5\n");
	snprintf(step, sizeof(step), "lines=%s", tk_path("lines"));
	attempt_run(&run, STEPS("pace=500", step));
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_NONE);
	ck_assert_str_eq(attempt_out(&run), "1\n2\n3\n4\n5\n");
	limit_end();
}

TEST(an_engine_that_runs_too_long_is_stopped)
{
	limit_begin()->run_ms = 200;
	attempt_run(&run, STEPS("ignore", "endless"));
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_DEADLINE);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	limit_end();
}

TEST(a_file_over_the_limit_is_an_error)
{
	limit_begin();
	run.spec.sandbox.file_bytes = 1 << 20;
	attempt_run(&run, STEPS("fill=100000000", "exit=0"));
	ck_assert_str_eq(
	    attempt_out(&run), "fill=100000000: refused (EFBIG)\n");
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_NONE);
	limit_end();
}

TEST(the_shims_own_files_have_no_such_limit)
{
	limit_begin();
	run.spec.sandbox.file_bytes = 1000;
	attempt_run(&run, STEPS("line=100000"));
	ck_assert_uint_eq(run.out[SPOOL_OUT].n, 100001);
	limit_end();
}

TEST(a_workspace_over_the_limit_stops_an_engine)
{
	struct procsup_limits *l = limit_begin();

	l->workspace = run.work;
	l->workspace_bytes = 4 << 20;
	attempt_run(&run, STEPS("fill=8000000", "silent"));
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_WORKSPACE);
	limit_end();
}

TEST(a_workspace_with_too_many_files_stops_an_engine)
{
	struct procsup_limits *l = limit_begin();

	l->workspace = run.work;
	l->workspace_files = 3;
	attempt_run(&run, STEPS("write=1", "write=2", "write=3", "silent"));
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_WORKSPACE);
	limit_end();
}

TEST(a_long_line_is_whole)
{
	limit_begin();
	attempt_run(&run, STEPS("line=10485760", "exit=0"));
	ck_assert_uint_eq(run.out[SPOOL_OUT].n, 10485761);
	ck_assert_int_eq(attempt_out(&run)[10485760], '\n');
	limit_end();
}

/* Needs a file system of its own, and so root. */
TEST(a_full_disk_stops_an_engine_with_a_whole_spool)
{
	const struct spool_exit *e = &run.exit;

	limit_begin();
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", run.spool, "tmpfs", 0, "size=1m") != 0) {
		fprintf(stderr, "no mount: %s\n", strerror(errno));
		limit_end();
		return;
	}
	attempt_run(&run, STEPS("endless"));
	ck_assert_int_eq(e->stop, SPOOL_STOP_OUTPUT);
	ck_assert_int_eq(
	    limit_file_size("stdout"), (off_t)run.out[SPOOL_OUT].n);
	ck_assert_uint_gt(run.out[SPOOL_OUT].n, 500000);
	ck_assert_int_eq(limit_file_size("journal") % 17, 0);
	procsup_free(fixture.procsup);
	fixture.procsup = NULL;
	ck_assert_int_eq(umount2(run.spool, MNT_DETACH), 0);
	limit_end();
}
