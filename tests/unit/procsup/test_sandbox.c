/*
 * Names of a sandbox, and what is known of the machine's processes and folders.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "procsup/cgroup.h"
#include "procsup/process_table.h"
#include "procsup/sandbox.h"
#include "procsup/workspace_size.h"
#include "testkit/testkit.h"

TEST(modes_have_names)
{
	enum sandbox_mode m;

	ck_assert_int_eq(sandbox_mode_parse(STR("auto"), &m), RC_OK);
	ck_assert_int_eq(m, SANDBOX_AUTO);
	ck_assert_int_eq(sandbox_mode_parse(STR("none"), &m), RC_OK);
	ck_assert_str_eq(sandbox_mode_name(m), "none");
	ck_assert_int_eq(sandbox_mode_parse(STR("None"), &m), RC_INVALID);
	ck_assert_int_eq(sandbox_mode_parse(STR(""), &m), RC_INVALID);
}

TEST(a_report_names_what_is_not_enforced)
{
	struct sandbox_report r = { SANDBOX_NONE, 0, 0 };
	struct buf text = BUF_INIT(1024);
	const char *why;

	ck_assert_int_eq(sandbox_probe(SANDBOX_NONE, &r, &why), RC_OK);
	ck_assert_int_eq(r.mode, SANDBOX_NONE);
	ck_assert(!sandbox_enforces(&r, SANDBOX_FILES));
	ck_assert(sandbox_enforces(&r, SANDBOX_FILE_SIZE));
	r.mode = SANDBOX_LANDLOCK;
	r.landlock_abi = 7;
	r.enforced = (1U << SANDBOX_RULES_N) - 1;
	sandbox_report_write(&r, &text);
	r.enforced &= ~(1U << SANDBOX_UNIX | 1U << SANDBOX_UDP);
	buf_putc(&text, '\n');
	sandbox_report_write(&r, &text);
	ck_assert_str_eq(
	    text.p, "landlock 7\nlandlock 7; not enforced: udp, unix_sockets");
	buf_free(&text);
	if (sandbox_probe(SANDBOX_LANDLOCK, &r, &why) == RC_OK)
		ck_assert(sandbox_enforces(&r, SANDBOX_FILES));
	else
		ck_assert_ptr_nonnull(why);
}

TEST(a_mark_is_found_in_an_environment)
{
	static const char text[] = "A=1\0XSOUL_RUN=no\0SOUL_RUN=r.1\0B=2";
	const struct str whole = { text, sizeof(text) };
	char mark[8];

	ck_assert(process_mark_find(whole, mark, sizeof(mark)));
	ck_assert_str_eq(mark, "r.1");
	ck_assert(!process_mark_find((struct str){ text, 18 }, mark, 8));
	ck_assert(!process_mark_find(STR(""), mark, sizeof(mark)));
	ck_assert(process_mark_find(STR("SOUL_RUN=0123456789"), mark, 8));
	ck_assert_str_eq(mark, "0123456");
}

static int
process_wait(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return 0;
}

TEST(a_process_without_a_mark_has_none)
{
	struct tk_proc p;
	char mark[64];

	tk_fork(&p, "child", process_wait, NULL);
	ck_assert_int_eq(
	    process_mark(p.pid, mark, sizeof(mark)), PROCESS_UNMARKED);
	ck_assert_int_eq(process_mark(1, mark, sizeof(mark)), PROCESS_UNMARKED);
	tk_signal(&p, SIGKILL);
	ck_assert_int_eq(tk_wait(&p, 5000), 128 + SIGKILL);
	ck_assert_int_eq(process_pid("123"), 123);
	ck_assert_int_eq(process_pid("self"), 0);
	ck_assert_int_eq(process_pid("-1"), 0);
	ck_assert_int_eq(process_pid("99999999999"), 0);
}

/* They fork while they are killed. */
static bool
no_child_is_left(void *arg)
{
	size_t *killed = arg;

	*killed += process_kill_descendants();
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
}

TEST(descendants_are_killed)
{
	const pid_t pid = fork();
	size_t killed = 0;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c",
		    "for i in 1 2 3 4 5; do (sleep 1000 &) & done; wait; "
		    "sleep 1000",
		    NULL);
		_exit(127);
	}
	ck_assert(tk_until(no_child_is_left, &killed, 10000));
	ck_assert_uint_ge(killed, 1);
}

TEST(a_control_group_of_another_is_none)
{
	ck_assert(cgroup_is_of("/sys/fs/cgroup/a/soul-r.1", "r.1"));
	ck_assert(!cgroup_is_of("/sys/fs/cgroup/a/soul-r.1", "r.2"));
	ck_assert(!cgroup_is_of("/sys/fs/cgroup/a/r.1", "r.1"));
	ck_assert(!cgroup_is_of("/sys/fs/cgroup/../../soul-r.1", "r.1"));
	ck_assert(!cgroup_is_of("/tmp/soul-r.1", "r.1"));
	ck_assert(!cgroup_is_of("", "r.1"));
	ck_assert_uint_eq(cgroup_kill(""), 0);
	ck_assert(cgroup_remove(""));
}

TEST(a_folder_is_measured)
{
	char path[300];
	FILE *f;

	ck_assert_int_eq(mkdir(tk_path("work"), 0700), 0);
	snprintf(path, sizeof(path), "%s/below", tk_path("work"));
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/below/file", tk_path("work"));
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	for (int i = 0; i < 100000; i++)
		fputc('x', f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/out", tk_path("work"));
	ck_assert_int_eq(symlink("/usr", path), 0);
	/* The folder, one below, a file and a link. */
	ck_assert(workspace_size_over(tk_path("work"), 0, 3));
	ck_assert(!workspace_size_over(tk_path("work"), 0, 4));
	ck_assert(workspace_size_over(tk_path("work"), 99999, 0));
	ck_assert(!workspace_size_over(tk_path("work"), 200000, 0));
	ck_assert(!workspace_size_over(tk_path("missing"), 1, 1));
}
