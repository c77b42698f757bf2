/*
 * Fibers: they suspend and resume in any order, keep their stacks, and take the
 * lock in the order in which they asked for it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fiber.h"
#include "core/loop.h"
#include "testkit/testkit.h"

static char trace[256];

static void
note(const char *what)
{
	size_t n = strlen(trace);

	ck_assert_uint_lt(n + strlen(what), sizeof(trace));
	snprintf(trace + n, sizeof(trace) - n, "%s", what);
}

static void
fiber_ends(void *arg)
{
	ck_assert_ptr_nonnull(fiber_self());
	note(arg);
}

TEST(a_fiber_that_does_not_wait_has_ended)
{
	char a[] = "a", b[] = "b";

	trace[0] = '\0';
	ck_assert_ptr_null(fiber_self());
	fiber_start(fiber_ends, a);
	fiber_start(fiber_ends, b);
	note("c");
	ck_assert_str_eq(trace, "abc");
	ck_assert_ptr_null(fiber_self());
	ck_assert_uint_eq(fiber_count(), 0);
}

/* A fiber whose locals must survive while it waits. */
struct waits {
	struct fiber *fiber;
	unsigned char seed;
	int rounds, sum;
};

static void
fiber_waits(void *arg)
{
	struct waits *w = arg;
	unsigned char local[4096];
	int i;

	w->fiber = fiber_self();
	memset(local, w->seed, sizeof(local));
	for (i = 0; i < w->rounds; i++) {
		fiber_suspend();
		ck_assert_ptr_eq(fiber_self(), w->fiber);
		w->sum += local[(size_t)i * 7 % sizeof(local)];
	}
	w->fiber = NULL;
}

TEST(suspended_fibers_retain_their_stacks)
{
	struct waits w[200] = { { NULL, 0, 0, 0 } };
	size_t i;
	int round;

	for (i = 0; i < 200; i++) {
		w[i] =
		    (struct waits){ NULL, (unsigned char)i, 1 + (int)i % 5, 0 };
		fiber_start(fiber_waits, &w[i]);
	}
	ck_assert_uint_eq(fiber_count(), 200);
	for (round = 0; round < 5; round++)
		for (i = 200; i-- > 0;)
			if (w[i].fiber != NULL)
				fiber_resume(w[i].fiber);
	for (i = 0; i < 200; i++)
		ck_assert_int_eq(w[i].sum, (1 + (int)i % 5) * (int)i);
	ck_assert_uint_eq(fiber_count(), 0);
}

static struct fiber *outer, *inner;

static void
fiber_inner(void *arg)
{
	(void)arg;
	inner = fiber_self();
	note("2");
	fiber_suspend();
	note("6");
}

static void
fiber_outer(void *arg)
{
	(void)arg;
	outer = fiber_self();
	note("1");
	fiber_start(fiber_inner, NULL);
	note("3");
	fiber_suspend();
	note("5");
	fiber_resume(inner);
	note("7");
}

TEST(a_fiber_starts_and_resumes_another)
{
	trace[0] = '\0';
	fiber_start(fiber_outer, NULL);
	note("4");
	fiber_resume(outer);
	note("8");
	ck_assert_str_eq(trace, "12345678");
	ck_assert_uint_eq(fiber_count(), 0);
}

static struct fiber_lock lock;

struct locks {
	const char *name;
	struct fiber *fiber;
};

static void
fiber_locks(void *arg)
{
	struct locks *k = arg;

	k->fiber = fiber_self();
	fiber_lock(&lock);
	note(k->name);
	fiber_suspend();
	note(k->name);
	fiber_unlock(&lock);
}

TEST(the_lock_is_first_come_first_served)
{
	struct locks k[3] = { { "a", NULL }, { "b", NULL }, { "c", NULL } };
	size_t i;

	trace[0] = '\0';
	for (i = 0; i < 3; i++)
		fiber_start(fiber_locks, &k[i]);
	ck_assert_str_eq(trace, "a");
	for (i = 0; i < 3; i++)
		fiber_resume(k[i].fiber);
	ck_assert_str_eq(trace, "aabbcc");
	ck_assert_uint_eq(fiber_count(), 0);
	ck_assert_ptr_null(lock.holder);
}

static void
fiber_recurses(void *arg)
{
	volatile char frame[512];
	int *depth = arg;

	frame[0] = 1;
	if (*depth > 0) {
		(*depth)--;
		fiber_recurses(arg);
	}
	frame[1] = frame[0];
}

struct member {
	const char *name;
	struct fiber *fiber;
};

static void
fiber_member(void *arg)
{
	struct member *m = arg;

	m->fiber = fiber_self();
	if (m->name[0] != 'a')
		fiber_suspend();
	note(m->name);
}

static void
fiber_waits_for_members(void *arg)
{
	struct member *m = arg;
	struct fiber_group g = { 0 };
	size_t i;

	fiber_group_wait(&g);
	for (i = 0; i < 3; i++)
		fiber_group_start(&g, fiber_member, &m[i]);
	note("-");
	fiber_group_wait(&g);
	note("!");
}

TEST(a_group_is_waited_for)
{
	struct member m[3] = { { "a", NULL }, { "b", NULL }, { "c", NULL } };

	trace[0] = '\0';
	fiber_start(fiber_waits_for_members, m);
	ck_assert_str_eq(trace, "a-");
	fiber_resume(m[2].fiber);
	ck_assert_str_eq(trace, "a-c");
	fiber_resume(m[1].fiber);
	ck_assert_str_eq(trace, "a-cb!");
	ck_assert_uint_eq(fiber_count(), 0);
}

static bool
overflow_is_caught(void)
{
	const struct rlimit no_core = { 0, 0 };
	int status = 0, depth = 100000;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)setrlimit(RLIMIT_CORE, &no_core);
		(void)close(STDERR_FILENO);
		fiber_start(fiber_recurses, &depth);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

TEST(an_overflow_does_not_reach_other_memory)
{
	ck_assert(overflow_is_caught());
}

struct wakes {
	struct loop *l;
	struct loop_timer t;
	struct fiber *fiber;
	int left;
};

static void
on_timer(void *arg)
{
	struct wakes *w = arg;

	fiber_resume(w->fiber);
}

static void
fiber_sleeps(void *arg)
{
	struct wakes *w = arg;

	w->fiber = fiber_self();
	while (w->left-- > 0) {
		loop_timer_set(
		    w->l, &w->t, mono_add_ms(clock_mono(), 1), on_timer, w);
		fiber_suspend();
	}
	loop_stop(w->l);
}

TEST(the_loop_resumes_fibers)
{
	struct wakes w = { .l = loop_new(4), .left = 3 };

	fiber_start(fiber_sleeps, &w);
	loop_run(w.l);
	ck_assert_int_eq(w.left, -1);
	ck_assert_uint_eq(fiber_count(), 0);
	loop_free(w.l);
}
