/*
 * How the testkit handles failing tests. This program runs itself again with
 * SOUL_KIT_FAULTS set; only then are the tests registered that fail on purpose,
 * and the others check what the inner run reports and leaves behind.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit/testkit.h"

#define FAILING_TEST(id, seconds)                                              \
	static void id(void);                                                  \
	__attribute__((constructor)) static void add_##id(void)                \
	{                                                                      \
		static struct tk_test t = { { #id, NULL, __FILE__, __LINE__ }, \
			id, (seconds), NULL };                                 \
		if (getenv("SOUL_KIT_FAULTS") != NULL)                         \
			tk_test_add(&t);                                       \
	}                                                                      \
	static void id(void)

/* Write the pid to the file that the outer test reads. */
static void
report_pid(pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)pid);
	tk_write_file(getenv("SOUL_KIT_FAULTS"), text);
}

FAILING_TEST(failing_assert, 30)
{
	const char *argv[] = { "sh", "-c", "echo ready; exec tail -f /dev/null",
		NULL };
	struct tk_proc p;

	tk_spawn(&p, "talker", argv, NULL);
	report_pid(p.pid);
	while (!tk_log_has(&p, "ready\n"))
		;
	ck_assert_msg(false, "on purpose");
}

FAILING_TEST(failing_timeout, 0.3)
{
	const char *argv[] = { "tail", "-f", "/dev/null", NULL };
	struct tk_proc p;

	tk_spawn(&p, "tail", argv, NULL);
	report_pid(p.pid);
	for (;;)
		pause();
}

FAILING_TEST(failing_crash, 30)
{
	abort();
}

FAILING_TEST(failing_stray_child, 30)
{
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		for (;;)
			pause();
	}
	report_pid(pid);
}

FAILING_TEST(failing_stray_daemon, 30)
{
	int fd[2];
	pid_t pid;

	/* A grandchild in a session of its own, as daemons start. */
	ck_assert_int_eq(pipe(fd), 0);
	if (fork() == 0) {
		setsid();
		pid = fork();
		if (pid != 0 && write(fd[1], &pid, sizeof(pid)) > 0)
			_exit(0);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(fd[0], &pid, sizeof(pid)), sizeof(pid));
	report_pid(pid);
}

FAILING_TEST(failing_sanitizer_report_of_a_child, 30)
{
	const char *argv[] = { "echo", "ERROR: AddressSanitizer: pretended",
		NULL };
	struct tk_proc p;

	tk_spawn(&p, "child", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 10000), 0);
}

FAILING_TEST(failing_no_such_program, 30)
{
	const char *argv[] = { "/nonexistent/program", NULL };
	struct tk_proc p;

	tk_spawn(&p, "child", argv, NULL);
}

FAILING_TEST(failing_none, 30)
{
}

FAILING_TEST(failing_hang, 600)
{
	failing_timeout();
}

/* One inner run. */
struct inner {
	struct tk_proc p;
	const char *tmp; /* its TMPDIR */
	const char *pid; /* the file of report_pid() */
	const char *results;
};

static void
inner_start(struct inner *in, const char *filter, const char *extra)
{
	char exe[4096];
	char env[5][4200];
	const char *argv[] = { exe, filter, NULL };
	const char *envp[] = { env[0], env[1], env[2], env[3], env[4], NULL };
	ssize_t n;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	ck_assert_int_gt(n, 0);
	exe[n] = '\0';
	in->tmp = tk_path("tmp");
	in->pid = tk_path("pid");
	in->results = tk_path("tap");
	ck_assert_int_eq(mkdir(in->tmp, 0700), 0);
	snprintf(env[0], sizeof(env[0]), "TMPDIR=%s", in->tmp);
	snprintf(env[1], sizeof(env[1]), "SOUL_KIT_FAULTS=%s", in->pid);
	snprintf(
	    env[2], sizeof(env[2]), "CK_TAP_LOG_FILE_NAME=%s", in->results);
	snprintf(env[3], sizeof(env[3]), "CK_TIMEOUT_MULTIPLIER=1");
	snprintf(env[4], sizeof(env[4]), "%s", extra);
	tk_spawn(&in->p, "inner", argv, envp);
}

static bool
is_dead(void *arg)
{
	const struct inner *in = arg;
	char *text;
	pid_t pid;

	text = tk_read_file(in->pid, NULL);
	pid = (pid_t)strtol(text, NULL, 10);
	free(text);
	/* This test reaps the orphans of the inner run. */
	(void)waitpid(pid, NULL, WNOHANG);
	return pid > 0 && kill(pid, 0) == -1 && errno == ESRCH;
}

static const struct {
	const char *filter;
	const char *extra;
	int code;
	const char *output;
	bool has_child;
} cases[] = {
	{ "failing_none", "A=1", 0, "100%: Checks: 1", false },
	{ "failing_none", "CK_FORK=no", 0, "100%: Checks: 1", false },
	{ "failing_assert", "A=1", 1, "on purpose", true },
	{ "failing_assert", "A=1", 1, "end of talker.log\nready", true },
	{ "failing_assert", "CK_FORK=no", 1, "on purpose", true },
	{ "failing_timeout", "A=1", 1, "Test timeout expired", true },
	{ "failing_crash", "A=1", 1, "Received signal 6", false },
	{ "failing_stray_child", "A=1", 1, "left 1 process", true },
	{ "failing_stray_child", "CK_FORK=no", 1, "left 1 process", true },
	{ "failing_stray_daemon", "A=1", 1, "process(es) behind", true },
	{ "failing_sanitizer", "A=1", 1, "child.log has a sanitizer report",
	    false },
	{ "failing_no_such", "A=1", 1, "No such file or directory", false },
	{ "matches nothing", "A=1", 2, "no test matches", false },
	{ "--help", "A=1", 2, "usage: ", false },
};

TEST(failures_are_reported_and_cleaned_up)
{
	struct inner in;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)unlink(tk_path("inner.log"));
		(void)unlink(tk_path("pid"));
		inner_start(&in, cases[i].filter, cases[i].extra);
		ck_assert_msg(tk_wait(&in.p, 20000) == cases[i].code,
		    "%s: exit code", cases[i].filter);
		ck_assert_msg(tk_log_has(&in.p, cases[i].output), "%s: %s",
		    cases[i].filter, tk_read_file(in.p.log, NULL));
		ck_assert_msg(
		    rmdir(in.tmp) == 0, "%s: left a folder", cases[i].filter);
		if (cases[i].has_child)
			ck_assert_msg(is_dead(&in), "%s: left its child",
			    cases[i].filter);
	}
}

TEST(the_results_file_names_each_test)
{
	struct inner in;
	char *results;

	inner_start(&in, "failing_none", "A=1");
	ck_assert_int_eq(tk_wait(&in.p, 20000), 0);
	results = tk_read_file(in.results, NULL);
	ck_assert_ptr_nonnull(strstr(results, "ok 1 - "));
	ck_assert_ptr_nonnull(strstr(results, "failing_none"));
	ck_assert_ptr_nonnull(strstr(results, "1..1"));
	free(results);
}

static bool
inner_has_started(void *arg)
{
	const struct inner *in = arg;
	struct stat st;

	return stat(in->pid, &st) == 0 && st.st_size > 0;
}

TEST(a_killed_program_takes_its_test_and_children_along)
{
	struct inner in;

	inner_start(&in, "failing_hang", "A=1");
	ck_assert(tk_until(inner_has_started, &in, 10000));
	ck_assert(!is_dead(&in));
	tk_signal(&in.p, SIGKILL);
	ck_assert_int_eq(tk_wait(&in.p, 10000), 128 + SIGKILL);
	ck_assert(tk_until(is_dead, &in, 10000));
}
