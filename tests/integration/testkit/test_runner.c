/* run-tests: its counts, the leftovers it detects, its exit status. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit/testkit.h"

/* Path of this program, or of run-tests in the source tree it belongs to. */
static const char *
path_of(bool runner)
{
	static char exe[PATH_MAX];
	char *build;
	ssize_t n;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 64);
	ck_assert_int_gt(n, 0);
	exe[n] = '\0';
	if (runner) {
		build = strstr(exe, "/build/");
		ck_assert_ptr_nonnull(build);
		snprintf(build, 64, "/tests/testkit/run-tests");
	}
	return exe;
}

static const char *
script_write(const char *name, const char *body)
{
	const char *path = tk_path(name);
	char text[1024];

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", body);
	tk_write_file(path, text);
	ck_assert_int_eq(chmod(path, 0700), 0);
	return path;
}

/* Start run-tests in a Git tree of its own, which contains nothing else. */
static void
runner_start(struct tk_proc *p, const char *program, const char *more)
{
	const char *argv[] = { "sh", "-ec",
		"mkdir \"$1\" && cd \"$1\" && git init -q && "
		"shift && exec \"$@\"",
		"sh", tk_path("tree"), path_of(true), program, more, NULL };
	const char *env[] = { "TEST_LIMIT=6", "TEST_FILTER=", "SAN=", NULL };

	tk_spawn(p, "run", argv, env);
}

static void
runner_check(const char *program, int code, const char *output)
{
	struct tk_proc p;

	runner_start(&p, program, NULL);
	ck_assert_int_eq(tk_wait(&p, 25000), code);
	ck_assert_msg(tk_log_has(&p, output), "not printed: %s", output);
}

TEST(a_script_counts_as_one_test)
{
	runner_check(
	    script_write("good", "exit 0"), 0, "\n1 passed, 0 failed\n");
}

TEST(a_failing_script_shows_its_output)
{
	runner_check(
	    script_write("bad", "echo because; exit 3"), 1, "\nbecause\n");
}

/* Readers of a long log see its end only. */
TEST(failures_have_a_line_each_before_the_totals)
{
	runner_check(script_write("bad", "echo because; exit 3"), 1,
	    "/bad: because\n0 passed, 1 failed\n");
}

TEST(a_failed_program_names_its_failed_tests)
{
	runner_check(
	    script_write("reports",
		"echo 'not ok 1 - a.c:x:x: b:c' >$CK_TAP_LOG_FILE_NAME\n"
		"echo 'ok 2 - a.c:y:y: Passed' >>$CK_TAP_LOG_FILE_NAME\n"
		"echo 'not ok 3 - a.c:z:z: d' >>$CK_TAP_LOG_FILE_NAME; exit 1"),
	    1, "/reports: x z: b:c\n1 passed, 2 failed\n");
}

/* The inner test that the next one runs. */
TEST(inner_a)
{
	ck_assert_str_ne(tk_dir(), "");
}

TEST(inner_b)
{
	ck_assert_str_ne(tk_dir(), "");
}

TEST(tests_are_counted_one_by_one)
{
	char program[PATH_MAX];

	snprintf(program, sizeof(program), "%s inner_", path_of(false));
	runner_check(program, 0, "\n2 passed, 0 failed\n");
}

TEST(two_programs_add_up)
{
	struct tk_proc p;

	runner_start(
	    &p, script_write("good", "exit 0"), script_write("bad", "exit 1"));
	ck_assert_int_eq(tk_wait(&p, 25000), 1);
	ck_assert(tk_log_has(&p, "\n1 passed, 1 failed\n"));
}

TEST(a_program_without_tests_has_failed)
{
	runner_check("/bin/true", 1, "ran no test");
}

TEST(a_program_that_dies_early_has_failed)
{
	runner_check(
	    "/bin/false", 1, "ended with status 1 before its last test");
}

TEST(a_program_may_take_only_so_long)
{
	runner_check(
	    script_write("slow", "tail -f /dev/null"), 1, "0 passed, 1 failed");
}

TEST(a_process_left_running_is_found)
{
	runner_check(script_write("leaves", "setsid tail -f /dev/null &"), 1,
	    "left running (now killed):\n");
}

TEST(a_file_left_in_the_temporary_folder_is_found)
{
	runner_check(script_write("leaves", ": >\"$TMPDIR/rest\""), 1,
	    "left in TMPDIR:\nrest\n");
}

TEST(a_file_left_in_the_source_tree_is_found)
{
	runner_check(script_write("leaves", "echo >rest"), 1,
	    "new files in the source tree\nrest\n");
}

static bool
is_running(void *arg)
{
	struct stat st;

	return stat(arg, &st) == 0 && st.st_size > 0;
}

static bool
is_dead(void *arg)
{
	pid_t *pid = arg;

	/* The parents have died, so this test reaps it. */
	(void)waitpid(*pid, NULL, WNOHANG);
	return kill(*pid, 0) == -1 && errno == ESRCH;
}

TEST(a_signal_ends_all)
{
	char pid_file[PATH_MAX];
	struct tk_proc p;
	char *text;
	pid_t pid;

	snprintf(pid_file, sizeof(pid_file), "%s", tk_path("pid"));
	runner_start(&p,
	    script_write(
		"slow", "echo $$ >\"${0%slow}pid\"; exec tail -f /dev/null"),
	    NULL);
	ck_assert(tk_until(is_running, pid_file, 10000));
	tk_signal(&p, SIGTERM);
	ck_assert_int_eq(tk_wait(&p, 10000), 130);
	text = tk_read_file(pid_file, NULL);
	pid = (pid_t)strtol(text, NULL, 10);
	free(text);
	ck_assert_int_gt(pid, 0);
	ck_assert(tk_until(is_dead, &pid, 10000));
}
