/* Marks of processes: whose mcp-host does not run any more. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "orphan_sweep.h"
#include "testkit/testkit.h"

static bool
is_dead(const char *before, const char *after)
{
	char mark[256];

	snprintf(mark, sizeof(mark), "%s%s", before, after);
	return orphan_mark_is_dead(str_of(mark));
}

TEST(a_mark_is_dead_with_the_process_that_made_it)
{
	char own[ORPHAN_MARK_MAX], other[ORPHAN_MARK_MAX] = "";
	int out[2];
	pid_t pid;

	orphan_mark(own);
	ck_assert(!is_dead(own, ".1"));
	ck_assert_int_eq(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		orphan_mark(other);
		_exit(write(out[1], other, sizeof(other)) == -1);
	}
	ck_assert_int_eq(read(out[0], other, sizeof(other)), sizeof(other));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_str_ne(own, other);
	ck_assert(is_dead(other, ".1"));
	close(out[0]);
	close(out[1]);
}

/* The same pid, but another process. */
TEST(a_pid_that_is_in_use_anew_is_another_process)
{
	char own[ORPHAN_MARK_MAX];

	orphan_mark(own);
	ck_assert(is_dead(own, "7.1"));
}

TEST(what_is_no_mark_of_this_namespace_is_not_dead)
{
	static const char *const marks[] = { "", "mcp", "mcp.", "mcp.1.1.1.1",
		"mcp...", "mcp.x.y.z.1", "run.4026531836.1.1.1", "mcp.0.1.1.1",
		"mcp.99999999999999999999999999.1.1.1" };
	char own[ORPHAN_MARK_MAX];
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		ck_assert_msg(!is_dead(marks[i], ""), "%s", marks[i]);
	/* Without a number at its end it is none. */
	orphan_mark(own);
	ck_assert(!is_dead(own, "7"));
	ck_assert(!is_dead(own, "x.1"));
}
