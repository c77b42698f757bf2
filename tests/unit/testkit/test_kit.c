/* The testkit itself: folders, files, ports, child processes, waiting. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/testkit.h"

TEST(each_test_has_an_empty_folder)
{
	struct stat st;

	ck_assert_int_eq(stat(tk_dir(), &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_int_eq(rmdir(tk_dir()), 0);
	ck_assert_int_eq(mkdir(tk_dir(), 0700), 0);
}

TEST(a_written_file_can_be_read)
{
	const char *path = tk_path("a");
	char *text;
	size_t n;

	tk_write_file(path, "first, and longer");
	tk_write_file(path, "second");
	text = tk_read_file(path, &n);
	ck_assert_str_eq(text, "second");
	ck_assert_uint_eq(n, strlen("second"));
	free(text);
}

TEST(paths_stay_valid)
{
	const char *a = tk_path("a");
	const char *b = tk_path("b");

	ck_assert_str_ne(a, b);
	ck_assert(strncmp(a, tk_dir(), strlen(tk_dir())) == 0);
	ck_assert_str_eq(a + strlen(tk_dir()), "/a");
}

TEST(ports_differ_and_are_closed)
{
	int port[50];
	size_t i;
	size_t k;

	for (i = 0; i < 50; i++) {
		port[i] = tk_port();
		ck_assert_int_gt(port[i], 1024);
		ck_assert(!tk_port_open(port[i]));
		for (k = 0; k < i; k++)
			ck_assert_int_ne(port[i], port[k]);
	}
}

TEST(a_child_writes_to_its_log_and_has_no_input)
{
	const char *argv[] = { "sh", "-c",
		"cat; echo out; echo err >&2; exit 7", NULL };
	struct tk_proc p;

	tk_spawn(&p, "child", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 10000), 7);
	ck_assert(tk_log_has(&p, "out\n"));
	ck_assert(tk_log_has(&p, "err\n"));
	ck_assert(!tk_log_has(&p, "neither"));
}

TEST(a_child_gets_the_environment_and_more)
{
	const char *argv[] = { "sh", "-c", "echo \"$A,$B,$C\"", NULL };
	const char *env[] = { "A=1", "B=2", NULL };
	struct tk_proc p;

	ck_assert_int_eq(setenv("B", "overridden", 1), 0);
	ck_assert_int_eq(setenv("C", "inherited", 1), 0);
	tk_spawn(&p, "child", argv, env);
	ck_assert_int_eq(tk_wait(&p, 10000), 0);
	ck_assert(tk_log_has(&p, "1,2,inherited\n"));
}

TEST(a_signal_shows_in_the_exit_code)
{
	const char *argv[] = { "tail", "-f", "/dev/null", NULL };
	struct tk_proc p;

	tk_spawn(&p, "tail", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 0), -1);
	tk_signal(&p, SIGTERM);
	ck_assert_int_eq(tk_wait(&p, 10000), 128 + SIGTERM);
}

static bool
third_time(void *arg)
{
	int *n = arg;

	return ++*n == 3;
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

TEST(until_waits_for_the_condition)
{
	int n = 0;

	ck_assert(tk_until(third_time, &n, 10000));
	ck_assert_int_eq(n, 3);
	ck_assert(!tk_until(never, NULL, 20));
}

TEST(bin_is_of_the_same_variant)
{
	const char *bin = tk_bin("intent-filter");
	const char *p = strstr(bin, "build/");

	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_nonnull(strstr(p, "/bin/intent-filter"));
	ck_assert_ptr_null(strstr(p, "/tests/"));
}
