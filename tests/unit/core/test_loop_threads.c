/*
 * The loop and other threads: posting, back-pressure, closing, waking, and
 * assertions.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/loop.h"
#include "core/mem.h"
#include "testkit/testkit.h"

enum { THREADS = 4, POSTS = 5000, INBOX = 3 };

struct sender {
	struct sum *sum;
	pthread_t thread;
	int next; /* number of the next post of this thread */
};

struct sum {
	struct loop *l;
	struct sender senders[THREADS];
	int left;
	bool wait;
};

struct item {
	struct sender *from;
	int number;
};

static void
on_item(void *arg)
{
	struct item *it = arg;
	struct sum *s = it->from->sum;

	ck_assert_int_eq(it->number, it->from->next++);
	ck_assert_uint_le(loop_inbox_len(s->l), INBOX);
	free(it);
	if (--s->left == 0)
		loop_stop(s->l);
}

static void *
send_all(void *arg)
{
	struct sender *from = arg;
	struct loop *l = from->sum->l;

	for (int i = 0; i < POSTS; i++) {
		struct item *it = mem_alloc(sizeof(*it));
		enum rc rc;

		*it = (struct item){ from, i };
		if (from->sum->wait)
			rc = loop_post_wait(l, on_item, it);
		else
			while ((rc = loop_post(l, on_item, it)) == RC_RETRY)
				(void)sched_yield();
		ck_assert_int_eq(rc, RC_OK);
	}
	return NULL;
}

static void
send_from_threads(bool wait)
{
	struct sum s = {
		.l = loop_new(INBOX), .left = THREADS * POSTS, .wait = wait
	};

	for (int i = 0; i < THREADS; i++) {
		s.senders[i].sum = &s;
		ck_assert_int_eq(pthread_create(&s.senders[i].thread, NULL,
				     send_all, &s.senders[i]),
		    0);
	}
	loop_run(s.l);
	/* The last sender may still be returning from its post. */
	loop_free(s.l);
	for (int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(s.senders[i].thread, NULL), 0);
		ck_assert_int_eq(s.senders[i].next, POSTS);
	}
}

TEST(a_full_inbox_blocks_waiting_posts)
{
	send_from_threads(true);
}

TEST(posts_are_retried_with_a_full_inbox)
{
	send_from_threads(false);
}

/* A thread that stops the loop with its only post. */
static void
stop(void *arg)
{
	loop_stop(arg);
}

static void *
post_stop(void *arg)
{
	ck_assert_int_eq(loop_post(arg, stop, arg), RC_OK);
	return NULL;
}

TEST(the_loop_may_be_freed_while_its_last_post_returns)
{
	for (int i = 0; i < 500; i++) {
		struct loop *l = loop_new(1);
		pthread_t t;

		ck_assert_int_eq(pthread_create(&t, NULL, post_stop, l), 0);
		loop_run(l);
		loop_free(l);
		ck_assert_int_eq(pthread_join(t, NULL), 0);
	}
}

/* Threads that wait for room in the inbox of a loop that does not run. */
struct waiting_thread {
	struct loop *l;
	pthread_t thread;
	_Atomic int *tries;
	enum rc rc;
	int calls;
};

static void
count_call(void *arg)
{
	struct waiting_thread *w = arg;

	w->calls++;
}

static void *
post_and_wait(void *arg)
{
	struct waiting_thread *w = arg;

	(void)atomic_fetch_add(w->tries, 1);
	w->rc = loop_post_wait(w->l, count_call, w);
	return NULL;
}

static bool
all_tried(void *arg)
{
	return atomic_load((_Atomic int *)arg) == THREADS;
}

TEST(closing_releases_waiting_threads)
{
	_Atomic int tries = 0;
	struct waiting_thread w[THREADS + 1] = { 0 };
	struct loop *l = loop_new(1);

	w[THREADS].l = l;
	ck_assert_int_eq(loop_post(l, count_call, &w[THREADS]), RC_OK);
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct waiting_thread){
			.l = l, .tries = &tries, .rc = RC_BUG
		};
		ck_assert_int_eq(
		    pthread_create(&w[i].thread, NULL, post_and_wait, &w[i]),
		    0);
	}
	ck_assert(tk_until(all_tried, &tries, 10000));
	loop_close(l);
	for (int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(w[i].thread, NULL), 0);
		ck_assert_int_eq(w[i].rc, RC_DOWN);
	}
	loop_free(l);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(w[i].calls, 0);
	ck_assert_int_eq(w[THREADS].calls, 1);
}

/* A loop on its own thread, observed by the test. */
struct beside {
	struct loop *l;
	pthread_t thread;
	sem_t started, go;
	struct mono posted;
	int64_t latency_ms;
	int64_t seen_ms; /* the longest idle time */
};

static void *
run_loop(void *arg)
{
	loop_run(arg);
	return NULL;
}

static void
beside_start(struct beside *b)
{
	b->l = loop_new(8);
	ck_assert_int_eq(sem_init(&b->started, 0, 0), 0);
	ck_assert_int_eq(sem_init(&b->go, 0, 0), 0);
	ck_assert_int_eq(loop_idle_ms(b->l), 0);
	ck_assert_int_eq(pthread_create(&b->thread, NULL, run_loop, b->l), 0);
}

static void
beside_end(struct beside *b)
{
	ck_assert_int_eq(loop_post(b->l, stop, b->l), RC_OK);
	ck_assert_int_eq(pthread_join(b->thread, NULL), 0);
	ck_assert_int_eq(loop_idle_ms(b->l), 0);
	loop_free(b->l);
	(void)sem_destroy(&b->started);
	(void)sem_destroy(&b->go);
}

static bool
is_idle_300(void *arg)
{
	struct beside *b = arg;

	return loop_idle_ms(b->l) >= 300;
}

/* Whether the idle time was long, and then short. */
static bool
came_round(void *arg)
{
	struct beside *b = arg;
	int64_t ms = loop_idle_ms(b->l);

	if (ms > b->seen_ms)
		b->seen_ms = ms;
	return ms < b->seen_ms / 2;
}

static void
block(void *arg)
{
	struct beside *b = arg;

	(void)sem_post(&b->started);
	(void)sem_wait(&b->go);
}

TEST(an_idle_loop_iterates_each_second)
{
	struct beside b = { 0 };

	beside_start(&b);
	ck_assert(tk_until(is_idle_300, &b, 10000));
	ck_assert(tk_until(came_round, &b, 10000));
	ck_assert_int_ge(b.seen_ms, 300);
	beside_end(&b);
}

TEST(a_blocked_loop_is_detected)
{
	struct beside b = { 0 };

	beside_start(&b);
	ck_assert_int_eq(loop_post(b.l, block, &b), RC_OK);
	ck_assert_int_eq(sem_wait(&b.started), 0);
	ck_assert(tk_until(is_idle_300, &b, 10000));
	ck_assert_uint_eq(loop_inbox_len(b.l), 0);
	ck_assert_int_eq(loop_post(b.l, block, &b), RC_OK);
	ck_assert_uint_eq(loop_inbox_len(b.l), 1);
	(void)sem_post(&b.go);
	(void)sem_post(&b.go);
	beside_end(&b);
}

static void
on_wake(void *arg)
{
	struct beside *b = arg;

	b->latency_ms = mono_diff_ms(clock_mono(), b->posted);
	(void)sem_post(&b->started);
}

TEST(a_post_wakes_a_sleeping_loop)
{
	struct beside b = { 0 };
	int64_t best = INT64_MAX;

	beside_start(&b);
	for (int i = 0; i < 3; i++) {
		/* Much less than the second after which it wakes anyway. */
		ck_assert(tk_until(is_idle_300, &b, 10000));
		b.posted = clock_mono();
		ck_assert_int_eq(loop_post(b.l, on_wake, &b), RC_OK);
		ck_assert_int_eq(sem_wait(&b.started), 0);
		if (b.latency_ms < best)
			best = b.latency_ms;
	}
	ck_assert_int_lt(best, 200);
	beside_end(&b);
}

/* ---- what only the owner may do ---- */

static void
set_timer(struct loop *l)
{
	static struct loop_timer t;

	loop_timer_set(l, &t, clock_mono(), stop, l);
}

static void
cancel_timer(struct loop *l)
{
	static struct loop_timer t;

	loop_timer_cancel(l, &t);
}

static void
watch_fd(struct loop *l)
{
	static struct loop_fd w = { .fd = STDERR_FILENO };

	loop_fd_watch(l, &w, LOOP_WRITE);
}

static void
post_wait_own(void *arg)
{
	ck_assert_int_eq(loop_post_wait(arg, stop, arg), RC_OK);
}

static void
post_wait_on_loop(struct loop *l)
{
	sem_t never;

	(void)sem_init(&never, 0, 0);
	if (loop_post(l, post_wait_own, l) == RC_OK)
		(void)sem_wait(&never);
}

static void
post_only(struct loop *l)
{
	struct beside b = { .l = l };

	(void)sem_init(&b.started, 0, 0);
	b.posted = clock_mono();
	if (loop_post_wait(l, on_wake, &b) == RC_OK)
		(void)sem_wait(&b.started);
}

/* The exit status of a process that calls fn for a loop of another thread. */
static int
status_of(void (*fn)(struct loop *l))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct beside b = { 0 };

		/* The message of the assertion is expected. */
		(void)close(STDERR_FILENO);
		beside_start(&b);
		post_only(b.l);
		fn(b.l);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(calls_from_other_threads_are_asserted)
{
	int status;

	ck_assert_int_eq(status_of(post_only), 0);
	status = status_of(set_timer);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = status_of(cancel_timer);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = status_of(watch_fd);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = status_of(loop_stop);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = status_of(post_wait_on_loop);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
