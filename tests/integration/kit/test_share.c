/*
 * What the tests of a program share: this program shares a process, and runs
 * itself again with SOUL_KIT_SHARE naming what shall go wrong.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/kit.h"

static struct kit_proc shared;
static const char *shared_file;
static int shared_port;
static int begun;

static bool
goes_wrong(const char *what)
{
	const char *env = getenv("SOUL_KIT_SHARE");

	return env != NULL && strcmp(env, what) == 0;
}

static void
begin(void)
{
	const char *argv[] = { "tail", "-f", "/dev/null", NULL };

	begun++;
	kit_spawn(&shared, "shared", argv, NULL);
	shared_file = kit_path("file");
	kit_write_file(shared_file, "shared");
	shared_port = kit_port();
	ck_assert_msg(!goes_wrong("begin"), "begin, on purpose");
}

static void
check(void)
{
	ck_assert_msg(kit_alive(&shared), "the shared process is gone");
}

static const char *
end(void)
{
	if (goes_wrong("stays"))
		return NULL;
	kit_signal(&shared, SIGTERM);
	if (kit_wait(&shared, 10000) != 128 + SIGTERM)
		return "it did not end";
	return goes_wrong("end") ? "end, on purpose" : NULL;
}

KIT_SHARE(begin, check, end)

static bool
is_dead(void *arg)
{
	return !kit_alive(arg);
}

/* Registered twice: what the first left, the second finds. */
static void
look_at_what_is_shared(void)
{
	const char *argv[] = { "tail", "-f", "/dev/null", NULL };
	struct kit_proc mine;
	char *text;

	ck_assert_int_eq(begun, 1);
	ck_assert(kit_alive(&shared));
	text = kit_read_file(shared_file, NULL);
	ck_assert_str_eq(text, "shared");
	free(text);
	ck_assert_ptr_null(strstr(shared_file, kit_dir()));
	ck_assert_int_ne(kit_port(), shared_port);
	ck_assert(kit_log_has(&shared, ""));
	kit_spawn(&mine, "mine", argv, NULL);
	ck_assert(kit_alive(&mine));
	if (goes_wrong("broken")) {
		kit_signal(&shared, SIGKILL);
		ck_assert(kit_until(is_dead, &shared, 10000));
	}
}

KIT_TEST(what_is_shared_is_there)
{
	look_at_what_is_shared();
}

KIT_TEST(what_is_shared_is_still_there)
{
	look_at_what_is_shared();
}

static int
say(void *arg)
{
	printf("said %s\n", (const char *)arg);
	return 7;
}

KIT_TEST(a_function_runs_in_a_process_of_its_own)
{
	char word[] = "this";
	struct kit_proc p;

	kit_fork(&p, "fork", say, word);
	ck_assert_int_eq(kit_wait(&p, 10000), 7);
	ck_assert(kit_log_has(&p, "said this\n"));
}

static const struct {
	const char *wrong;
	int code;
	const char *says;
} cases[] = {
	{ "nothing", 0, "100%: Checks: 2" },
	{ "stays", 0, "100%: Checks: 2" },
	{ "begin", 1, "begin, on purpose" },
	{ "begin", 1, "what the tests share could not be made" },
	{ "broken", 1, "the shared process is gone" },
	{ "end", 1, "what the tests share: end, on purpose" },
};

KIT_TEST(faults_of_what_is_shared_are_reported)
{
	char exe[4096];
	char env[3][4200];
	const char *argv[] = { exe, "_there", NULL };
	const char *envp[] = { env[0], env[1], env[2], NULL };
	struct kit_proc p;
	const char *tmp = kit_path("tmp");
	ssize_t n;
	size_t i;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	ck_assert_int_gt(n, 0);
	exe[n] = '\0';
	snprintf(env[0], sizeof(env[0]), "TMPDIR=%s", tmp);
	snprintf(
	    env[2], sizeof(env[2]), "CK_TAP_LOG_FILE_NAME=%s", kit_path("tap"));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(mkdir(tmp, 0700), 0);
		(void)unlink(kit_path("inner.log"));
		snprintf(env[1], sizeof(env[1]), "SOUL_KIT_SHARE=%s",
		    cases[i].wrong);
		kit_spawn(&p, "inner", argv, envp);
		ck_assert_msg(kit_wait(&p, 20000) == cases[i].code,
		    "%s: exit code", cases[i].wrong);
		ck_assert_msg(kit_log_has(&p, cases[i].says), "%s: %s",
		    cases[i].wrong, cases[i].says);
		ck_assert_msg(
		    rmdir(tmp) == 0, "%s: left a folder", cases[i].wrong);
	}
}
