/*
 * The shared fixture of a program's tests: this program shares a process, and
 * runs itself again with SOUL_KIT_SHARE naming the fault to inject.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/testkit.h"

static struct tk_proc shared;
static const char *shared_file;
static int shared_port;
static int begin_calls;

static bool
share_breaks(const char *what)
{
	const char *env = getenv("SOUL_KIT_SHARE");

	return env != NULL && strcmp(env, what) == 0;
}

static void
share_begin(void)
{
	const char *argv[] = { "tail", "-f", "/dev/null", NULL };

	begin_calls++;
	tk_spawn(&shared, "shared", argv, NULL);
	shared_file = tk_path("file");
	tk_write_file(shared_file, "shared");
	shared_port = tk_port();
	ck_assert_msg(!share_breaks("begin"), "begin, on purpose");
}

static void
share_check(void)
{
	ck_assert_msg(tk_alive(&shared), "the shared process has died");
}

static const char *
share_end(void)
{
	if (share_breaks("stays"))
		return NULL;
	tk_signal(&shared, SIGTERM);
	if (tk_wait(&shared, 10000) != 128 + SIGTERM)
		return "it did not exit";
	return share_breaks("end") ? "end, on purpose" : NULL;
}

TK_SHARE(share_begin, share_check, share_end)

static bool
is_dead(void *arg)
{
	return !tk_alive(arg);
}

/* Registered twice: the second test finds what the first one left. */
static void
check_shared_fixture(void)
{
	const char *argv[] = { "tail", "-f", "/dev/null", NULL };
	struct tk_proc mine;
	char *text;

	ck_assert_int_eq(begin_calls, 1);
	ck_assert(tk_alive(&shared));
	text = tk_read_file(shared_file, NULL);
	ck_assert_str_eq(text, "shared");
	free(text);
	ck_assert_ptr_null(strstr(shared_file, tk_dir()));
	ck_assert_int_ne(tk_port(), shared_port);
	ck_assert(tk_log_has(&shared, ""));
	tk_spawn(&mine, "mine", argv, NULL);
	ck_assert(tk_alive(&mine));
	if (share_breaks("broken")) {
		tk_signal(&shared, SIGKILL);
		ck_assert(tk_until(is_dead, &shared, 10000));
	}
}

TEST(a_shared_fixture_is_available)
{
	check_shared_fixture();
}

TEST(a_shared_fixture_outlives_a_test)
{
	check_shared_fixture();
}

static int
print_and_exit(void *arg)
{
	printf("printed %s\n", (const char *)arg);
	return 7;
}

TEST(a_function_runs_in_a_process_of_its_own)
{
	char word[] = "this";
	struct tk_proc p;

	tk_fork(&p, "fork", print_and_exit, word);
	ck_assert_int_eq(tk_wait(&p, 10000), 7);
	ck_assert(tk_log_has(&p, "printed this\n"));
}

static const struct {
	const char *breakage;
	int code;
	const char *output;
} cases[] = {
	{ "nothing", 0, "100%: Checks: 2" },
	{ "stays", 0, "100%: Checks: 2" },
	{ "begin", 1, "begin, on purpose" },
	{ "begin", 1, "the shared fixture could not be started" },
	{ "broken", 1, "the shared process has died" },
	{ "end", 1, "the shared fixture: end, on purpose" },
};

TEST(failures_of_shared_fixtures_are_reported)
{
	char exe[4096];
	char env[3][4200];
	const char *argv[] = { exe, "a_shared_fixture_", NULL };
	const char *envp[] = { env[0], env[1], env[2], NULL };
	struct tk_proc p;
	const char *tmp = tk_path("tmp");
	ssize_t n;
	size_t i;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	ck_assert_int_gt(n, 0);
	exe[n] = '\0';
	snprintf(env[0], sizeof(env[0]), "TMPDIR=%s", tmp);
	snprintf(
	    env[2], sizeof(env[2]), "CK_TAP_LOG_FILE_NAME=%s", tk_path("tap"));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(mkdir(tmp, 0700), 0);
		(void)unlink(tk_path("inner.log"));
		snprintf(env[1], sizeof(env[1]), "SOUL_KIT_SHARE=%s",
		    cases[i].breakage);
		tk_spawn(&p, "inner", argv, envp);
		ck_assert_msg(tk_wait(&p, 20000) == cases[i].code,
		    "%s: exit code", cases[i].breakage);
		ck_assert_msg(tk_log_has(&p, cases[i].output), "%s: %s",
		    cases[i].breakage, cases[i].output);
		ck_assert_msg(
		    rmdir(tmp) == 0, "%s: left a folder", cases[i].breakage);
	}
}
