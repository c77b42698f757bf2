/*
 * testkit: the main() of every test program.
 *
 * Each registered test becomes a Check test case of its own, which gives it a
 * timeout of its own and two pairs of brackets: the outer pair runs in the
 * program (it makes and removes the folder, whatever the test died of), the
 * inner pair in the process forked for the test (it ends the test's children
 * and fails the test for those it did not start through the testkit).  What the
 * tests share is made in the first test's outer bracket, where Check can report
 * that it failed.
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

static struct tk_test *first;
static struct tk_test **last = &first;
/* Shared with the forked test: it came to its end. */
static bool *passed;
/* The process that forks one for each test. */
static pid_t program;
/* What the tests share, and whether it is there. */
static const struct tk_share *share;
static enum { SHARE_NONE, SHARE_FAILED, SHARE_MADE } share_state;

void
tk_test_add(struct tk_test *t)
{
	*last = t;
	last = &t->next;
}

void
tk_share_set(const struct tk_share *s)
{
	share = s;
}

static void
make_share(void)
{
	if (share == NULL || share_state == SHARE_MADE)
		return;
	if (share_state == SHARE_FAILED)
		ck_abort_msg("what the tests share could not be made");
	share_state = SHARE_FAILED;
	tk_dir_make();
	share->begin();
	tk_dir_share();
	tk_proc_share();
	tk_port_share();
	share_state = SHARE_MADE;
}

/* Whether it ended well; tells why the tests failed, if they did. */
static bool
end_share(bool failed)
{
	const char *why = NULL;
	const char *log;

	if (share_state == SHARE_NONE)
		return true;
	if (share_state == SHARE_MADE) {
		tk_dir_unshare();
		tk_proc_unshare();
		why = share->end();
	}
	tk_proc_end_own();
	(void)tk_proc_end_strays();
	log = tk_dir_sanitizer_log();
	if (log != NULL)
		fprintf(stderr, "a sanitizer complains in %s\n", log);
	if (why != NULL)
		fprintf(stderr, "what the tests share: %s\n", why);
	if (why != NULL || log != NULL || failed)
		tk_dir_show_logs();
	tk_dir_remove();
	return why == NULL && log == NULL;
}

static void
outer_begin(void)
{
	*passed = false;
	make_share();
	tk_dir_make();
}

static void
outer_end(void)
{
	/* Orphans of a test that died early end up here. */
	tk_proc_end_own();
	(void)tk_proc_end_strays();
	if (!*passed)
		tk_dir_show_logs();
	tk_dir_remove();
	tk_port_release();
}

/*
 * Orphans of the test become its children, where they can be seen; the test
 * itself ends with the program.
 */
static void
inner_begin(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
	    (getpid() != program && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0))
		ck_abort_msg("prctl: %s", strerror(errno));
	if (getpid() != program)
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
		ck_abort_msg("a sanitizer complains in %s", log);
	if (share != NULL && share->check != NULL)
		share->check();
	*passed = true;
}

/* What Check calls: i is the number of the test, counted from 0. */
static void
run_test(int i)
{
	struct tk_test *t = first;

	while (i-- > 0)
		t = t->next;
	t->fn();
}

/* Add the tests that have filter in their name; how many they are. */
static int
add_tests(Suite *suite, const char *filter)
{
	struct tk_test *t;
	TCase *tc;
	int i = -1;
	int n = 0;

	for (t = first; t != NULL; t = t->next) {
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

/* Where Debian keeps servers, which is not in every user's PATH. */
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
	program = getpid();
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
	return end_share(failed > 0) && failed == 0 ? EXIT_SUCCESS
						    : EXIT_FAILURE;
}
