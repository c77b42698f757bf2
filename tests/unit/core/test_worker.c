/*
 * Workers: every job one time, on the right threads, in every way of ending.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/worker.h"
#include "testkit/testkit.h"

struct site {
	struct loop *l;
	struct worker_pool *p;
	pthread_t loop_thread;
	pid_t loop_tid;
	_Atomic int worked;
	int done, stop_at;
	sem_t busy, go; /* posted by a running job; by the test to end it */
};

struct job_row {
	struct site *s;
	int number;
	_Atomic int worked;
	int done;
};

static void
site_open(struct site *s, unsigned threads, size_t queue_max)
{
	*s = (struct site){ .l = loop_new(1),
		.loop_thread = pthread_self(),
		.loop_tid = gettid() };
	ck_assert_int_eq(sem_init(&s->busy, 0, 0), 0);
	ck_assert_int_eq(sem_init(&s->go, 0, 0), 0);
	s->p = worker_new(s->l, threads, queue_max);
}

static void
site_close(struct site *s)
{
	worker_free(s->p);
	loop_free(s->l);
	(void)sem_destroy(&s->busy);
	(void)sem_destroy(&s->go);
}

static void
work(void *arg)
{
	struct job_row *j = arg;

	ck_assert(!pthread_equal(pthread_self(), j->s->loop_thread));
	(void)atomic_fetch_add(&j->worked, 1);
	(void)atomic_fetch_add(&j->s->worked, 1);
}

static void
work_until_let_go(void *arg)
{
	struct job_row *j = arg;

	(void)sem_post(&j->s->busy);
	(void)sem_wait(&j->s->go);
	work(j);
}

static void
done(void *arg)
{
	struct job_row *j = arg;

	ck_assert(pthread_equal(pthread_self(), j->s->loop_thread));
	j->done++;
	if (++j->s->done == j->s->stop_at)
		loop_stop(j->s->l);
}

TEST(every_job_runs_exactly_one_time)
{
	enum { N = 5000, PARALLEL = 50 };
	static struct job_row rows[N];
	struct site s;
	int sent = 0;

	site_open(&s, 3, PARALLEL);
	while (sent < N) {
		int first = sent;

		while (sent < N && sent - first < PARALLEL) {
			rows[sent] = (struct job_row){ .s = &s };
			ck_assert_int_eq(
			    worker_run(s.p, work, done, &rows[sent]), RC_OK);
			sent++;
		}
		s.stop_at = sent;
		loop_run(s.l);
	}
	site_close(&s);
	for (int i = 0; i < N; i++) {
		ck_assert_int_eq(rows[i].worked, 1);
		ck_assert_int_eq(rows[i].done, 1);
	}
}

static _Atomic int last_worked;

static void
work_in_order(void *arg)
{
	struct job_row *j = arg;

	ck_assert_int_eq(atomic_load(&last_worked), j->number - 1);
	atomic_store(&last_worked, j->number);
	work(j);
}

static void
done_in_order(void *arg)
{
	struct job_row *j = arg;

	ck_assert_int_eq(j->s->done, j->number - 1);
	done(j);
}

TEST(one_thread_runs_jobs_in_order)
{
	enum { N = 200 };
	struct job_row rows[N];
	struct site s;

	site_open(&s, 1, N);
	s.stop_at = N;
	for (int i = 0; i < N; i++) {
		rows[i] = (struct job_row){ .s = &s, .number = i + 1 };
		ck_assert_int_eq(
		    worker_run(s.p, work_in_order, done_in_order, &rows[i]),
		    RC_OK);
	}
	loop_run(s.l);
	site_close(&s);
}

TEST(a_full_queue_rejects_the_job)
{
	struct job_row rows[4] = { 0 };
	struct site s;

	site_open(&s, 1, 2);
	for (int i = 0; i < 4; i++)
		rows[i].s = &s;
	ck_assert_int_eq(
	    worker_run(s.p, work_until_let_go, done, &rows[0]), RC_OK);
	ck_assert_int_eq(sem_wait(&s.busy), 0);
	/* A running job takes no room in the queue. */
	ck_assert_int_eq(worker_run(s.p, work, done, &rows[1]), RC_OK);
	ck_assert_int_eq(worker_run(s.p, work, done, &rows[2]), RC_OK);
	ck_assert_int_eq(worker_run(s.p, work, done, &rows[3]), RC_RETRY);
	(void)sem_post(&s.go);
	s.stop_at = 3;
	loop_run(s.l);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(rows[i].worked, i < 3);
		ck_assert_int_eq(rows[i].done, i < 3);
	}
	/* There is room now. */
	ck_assert_int_eq(worker_run(s.p, work, done, &rows[3]), RC_OK);
	s.stop_at = 4;
	loop_run(s.l);
	site_close(&s);
	ck_assert_int_eq(rows[3].done, 1);
}

static void
done_and_run_rejected(void *arg)
{
	struct job_row *j = arg;

	ck_assert_int_eq(worker_run(j->s->p, work, done, j), RC_DOWN);
	done(j);
}

/* Whether the loop's thread sleeps, which means it is in worker_free(). */
static bool
loop_thread_sleeps(void *arg)
{
	struct site *s = arg;
	char path[64];
	char *stat, *name_end;
	bool sleeps;

	(void)snprintf(
	    path, sizeof(path), "/proc/self/task/%d/stat", (int)s->loop_tid);
	stat = tk_read_file(path, NULL);
	name_end = strrchr(stat, ')');
	sleeps = name_end != NULL && name_end[2] == 'S';
	free(stat);
	return sleeps;
}

static void *
let_go(void *arg)
{
	struct site *s = arg;

	ck_assert(tk_until(loop_thread_sleeps, s, 10000));
	(void)sem_post(&s->go);
	return NULL;
}

TEST(freeing_waits_for_running_jobs_and_drops_queued_ones)
{
	struct job_row rows[4] = { 0 };
	struct site s;
	pthread_t t;

	site_open(&s, 1, 3);
	for (int i = 0; i < 4; i++)
		rows[i].s = &s;
	ck_assert_int_eq(
	    worker_run(s.p, work_until_let_go, done, &rows[0]), RC_OK);
	ck_assert_int_eq(sem_wait(&s.busy), 0);
	ck_assert_int_eq(
	    worker_run(s.p, work, done_and_run_rejected, &rows[1]), RC_OK);
	ck_assert_int_eq(worker_run(s.p, work, done, &rows[2]), RC_OK);
	ck_assert_int_eq(pthread_create(&t, NULL, let_go, &s), 0);
	worker_free(s.p);
	s.p = NULL;
	/* All jobs are done when it returns, without running the loop. */
	ck_assert_int_eq(rows[0].worked, 1);
	ck_assert_int_eq(rows[1].worked, 0);
	ck_assert_int_eq(rows[2].worked, 0);
	ck_assert_int_eq(s.done, 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(rows[i].done, 1);
	ck_assert_int_eq(rows[3].done, 0);
	ck_assert_int_eq(pthread_join(t, NULL), 0);
	site_close(&s);
}

static void
nothing(void *arg)
{
	(void)arg;
}

TEST(done_needs_no_room_in_the_inbox)
{
	struct job_row row = { 0 };
	struct site s;

	site_open(&s, 1, 1);
	row.s = &s;
	s.stop_at = 1;
	ck_assert_int_eq(loop_post(s.l, nothing, NULL), RC_OK);
	ck_assert_int_eq(loop_post(s.l, nothing, NULL), RC_RETRY);
	loop_close(s.l);
	ck_assert_int_eq(worker_run(s.p, work, done, &row), RC_OK);
	loop_run(s.l);
	ck_assert_int_eq(row.done, 1);
	site_close(&s);
}

static void
work_with_signals_blocked(void *arg)
{
	sigset_t now;

	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	ck_assert_int_eq(sigismember(&now, SIGTERM), 1);
	ck_assert_int_eq(sigismember(&now, SIGCHLD), 1);
	work(arg);
}

TEST(pool_threads_block_signals)
{
	struct job_row row = { 0 };
	struct site s;
	sigset_t now;

	site_open(&s, 2, 1);
	row.s = &s;
	s.stop_at = 1;
	ck_assert_int_eq(
	    worker_run(s.p, work_with_signals_blocked, done, &row), RC_OK);
	loop_run(s.l);
	ck_assert_int_eq(row.worked, 1);
	/* The caller's mask is unchanged. */
	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	ck_assert_int_eq(sigismember(&now, SIGTERM), 0);
	site_close(&s);
}

TEST(unused_pools_can_be_freed)
{
	struct site s;

	worker_free(NULL);
	site_open(&s, 4, 1);
	site_close(&s);
}
