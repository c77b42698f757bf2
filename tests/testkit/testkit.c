/*
 * The main() of every test program.
 *
 * Each registered test becomes a Check test case of its own, which gives it a
 * timeout of its own and two pairs of fixtures: the outer pair runs in the
 * program (it creates and removes the folder, even if the test crashed), the
 * inner pair in the process forked for the test (it ends the test's children
 * and fails the test for those it did not start through the testkit). Shared
 * fixtures are started in the first test's outer setup, where Check can report
 * a failure.
 */
#include "testkit/testkit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "testkit/testkit_internal.h"

static struct tk_test *first_test;
static struct tk_test **last_test = &first_test;
/* Shared with the forked test: set when it completes. */
static bool *passed;
/* The process that forks one for each test. */
static pid_t program_pid;
/* The shared fixture, and whether it is running. */
static const struct tk_share *shared_fixture;
static enum { SHARE_NONE, SHARE_FAILED, SHARE_MADE } share_state;

void
tk_test_add(struct tk_test *t)
{
	*last_test = t;
	last_test = &t->next;
}

void
tk_share_set(const struct tk_share *s)
{
	shared_fixture = s;
}

static void
share_begin(void)
{
	if (shared_fixture == NULL || share_state == SHARE_MADE)
		return;
	if (share_state == SHARE_FAILED)
		ck_abort_msg("the shared fixture could not be started");
	share_state = SHARE_FAILED;
	tk_dir_make();
	shared_fixture->begin();
	tk_dir_share();
	tk_proc_share();
	tk_port_share();
	share_state = SHARE_MADE;
}

/* Whether it ended well; prints the reason otherwise. */
static bool
share_end_program(bool failed)
{
	const char *why = NULL;
	const char *log;

	if (share_state == SHARE_NONE)
		return true;
	if (share_state == SHARE_MADE) {
		tk_dir_unshare();
		tk_proc_unshare();
		why = shared_fixture->end();
	}
	tk_proc_end_own();
	(void)tk_proc_end_strays();
	log = tk_dir_sanitizer_log();
	if (log != NULL)
		fprintf(stderr, "%s has a sanitizer report\n", log);
	if (why != NULL)
		fprintf(stderr, "the shared fixture: %s\n", why);
	if (why != NULL || log != NULL || failed)
		tk_dir_show_logs();
	tk_dir_remove();
	return why == NULL && log == NULL;
}

static void
outer_begin(void)
{
	*passed = false;
	share_begin();
	tk_dir_make();
}

static void
outer_end(void)
{
	/* Orphans of a test that died early are reparented to this process. */
	tk_proc_end_own();
	(void)tk_proc_end_strays();
	if (!*passed)
		tk_dir_show_logs();
	tk_dir_remove();
	tk_port_release();
}

/*
 * Orphans of the test are reparented to it, so that they are detected; the test
 * itself dies with the program.
 */
static void
inner_begin(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
	    (getpid() != program_pid && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0))
		ck_abort_msg("prctl: %s", strerror(errno));
	if (getpid() != program_pid)
		tk_proc_disown();
}

static void
inner_end(void)
{
	const char *log;
	int n;

	tk_proc_end_own();
	n = tk_proc_end_strays();
	if (n > 0)
		ck_abort_msg("the test left %d process(es) behind", n);
	log = tk_dir_sanitizer_log();
	if (log != NULL)
		ck_abort_msg("%s has a sanitizer report", log);
	if (shared_fixture != NULL && shared_fixture->check != NULL)
		shared_fixture->check();
	*passed = true;
}

/* Called by Check: i is the number of the test, from 0. */
static void
run_test(int i)
{
	struct tk_test *t = first_test;

	while (i-- > 0)
		t = t->next;
	t->fn();
}

/* Add the tests whose name contains filter; returns their number. */
static int
add_tests(Suite *suite, const char *filter)
{
	struct tk_test *t;
	TCase *tc;
	int i = -1;
	int n = 0;

	for (t = first_test; t != NULL; t = t->next) {
		i++;
		if (filter != NULL && strstr(t->check.name, filter) == NULL)
			continue;
		t->check.fn = run_test;
		tc = tcase_create(t->check.name);
		tcase_set_timeout(tc, t->timeout_s);
		tcase_add_unchecked_fixture(tc, outer_begin, outer_end);
		tcase_add_checked_fixture(tc, inner_begin, inner_end);
		_tcase_add_test(tc, &t->check, 0, 0, i, i + 1);
		suite_add_tcase(suite, tc);
		n++;
	}
	return n;
}

/* Debian's folder of servers, which is not in every user's PATH. */
static void
extend_path(void)
{
	const char *path = getenv("PATH");
	char *longer;

	if (asprintf(&longer, "%s:/usr/sbin", path ? path : "/usr/bin:/bin") <
	    0)
		abort();
	(void)setenv("PATH", longer, 1);
	free(longer);
}

int
main(int argc, char *argv[])
{
	Suite *suite;
	SRunner *sr;
	const char *name = strrchr(argv[0], '/');
	const char *filter = argc > 1 ? argv[1] : NULL;
	int failed;

	if (argc > 2 || (filter != NULL && filter[0] == '-')) {
		fprintf(stderr, "usage: %s [part of a test's name]\n", argv[0]);
		return 2;
	}
	extend_path();
	program_pid = getpid();
	passed = mmap(NULL, sizeof(*passed), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (passed == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
		perror(argv[0]);
		return 2;
	}
	suite = suite_create(name != NULL ? name + 1 : argv[0]);
	sr = srunner_create(suite);
	if (add_tests(suite, filter) == 0) {
		fprintf(stderr, "%s: no test matches\n", argv[0]);
		srunner_free(sr);
		return 2;
	}
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return share_end_program(failed > 0) && failed == 0 ? EXIT_SUCCESS
							    : EXIT_FAILURE;
}
