/*
 * Threads take jobs from a queue and return them through a list and an eventfd
 * of the pool, so that they never wait for room in the loop's inbox.
 */
#include "core/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"

struct job {
	TAILQ_ENTRY(job) link;
	loop_fn work, done;
	void *arg;
};

TAILQ_HEAD(job_list, job);

struct worker_pool {
	struct loop *loop;
	struct loop_fd wake;
	size_t queue_max;
	unsigned n_threads;
	pthread_t *threads;

	pthread_mutex_t lock; /* protects what follows */
	pthread_cond_t some;  /* a job is queued, or the pool ends */
	struct job_list waiting, finished;
	size_t n_waiting;
	bool ending;
};

static void __attribute__((noreturn)) worker_die(const char *what, int err)
{
	log_error("worker.broken", LOG_S("call", what),
	    LOG_S("error", strerrordesc_np(err)));
	abort();
}

static void
worker_wake_loop(struct worker_pool *p)
{
	static const uint64_t one = 1;
	ssize_t n;

	do
		n = write(p->wake.fd, &one, sizeof(one));
	while (n < 0 && errno == EINTR);
}

static void *
worker_main(void *arg)
{
	struct worker_pool *p = arg;

	(void)pthread_setname_np(pthread_self(), "worker");
	(void)pthread_mutex_lock(&p->lock);
	for (;;) {
		struct job *j;
		bool first;

		while (p->n_waiting == 0 && !p->ending)
			(void)pthread_cond_wait(&p->some, &p->lock);
		if (p->ending)
			break;
		j = TAILQ_FIRST(&p->waiting);
		TAILQ_REMOVE(&p->waiting, j, link);
		p->n_waiting--;
		(void)pthread_mutex_unlock(&p->lock);
		j->work(j->arg);
		(void)pthread_mutex_lock(&p->lock);
		first = TAILQ_EMPTY(&p->finished);
		TAILQ_INSERT_TAIL(&p->finished, j, link);
		if (first)
			worker_wake_loop(p);
	}
	(void)pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Move all jobs of one of the pool's lists to another list. */
static void
worker_take_all(
    struct worker_pool *p, struct job_list *from, struct job_list *to)
{
	TAILQ_INIT(to);
	(void)pthread_mutex_lock(&p->lock);
	TAILQ_CONCAT(to, from, link);
	(void)pthread_mutex_unlock(&p->lock);
}

static void
worker_finish_all(struct job_list *jobs)
{
	struct job *j;

	while ((j = TAILQ_FIRST(jobs)) != NULL) {
		TAILQ_REMOVE(jobs, j, link);
		j->done(j->arg);
		free(j);
	}
}

static void
worker_on_finished(void *arg, unsigned events)
{
	struct worker_pool *p = arg;
	struct job_list jobs;
	uint64_t count;
	ssize_t n;

	(void)events;
	do
		n = read(p->wake.fd, &count, sizeof(count));
	while (n < 0 && errno == EINTR);
	worker_take_all(p, &p->finished, &jobs);
	worker_finish_all(&jobs);
}

/* Signals are handled by the main thread: block them in the others. */
static void
worker_start_threads(struct worker_pool *p)
{
	sigset_t all, old;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < p->n_threads; i++) {
		int err = pthread_create(&p->threads[i], NULL, worker_main, p);

		if (err != 0)
			worker_die("pthread_create", err);
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct worker_pool *
worker_new(struct loop *l, unsigned threads, size_t queue_max)
{
	struct worker_pool *p = mem_zalloc(sizeof(*p));

	assert(threads > 0);
	p->loop = l;
	p->queue_max = queue_max;
	p->n_threads = threads;
	p->threads = mem_calloc(threads, sizeof(*p->threads));
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->some, NULL);
	TAILQ_INIT(&p->waiting);
	TAILQ_INIT(&p->finished);
	p->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake.fd < 0)
		worker_die("eventfd", errno);
	p->wake.fn = worker_on_finished;
	p->wake.arg = p;
	loop_fd_watch(l, &p->wake, LOOP_READ);
	worker_start_threads(p);
	return p;
}

enum rc
worker_run(struct worker_pool *p, loop_fn work, loop_fn done, void *arg)
{
	enum rc rc = RC_OK;
	struct job *j;

	(void)pthread_mutex_lock(&p->lock);
	if (p->ending)
		rc = RC_DOWN;
	else if (p->n_waiting >= p->queue_max)
		rc = RC_RETRY;
	else {
		j = mem_alloc(sizeof(*j));
		j->work = work;
		j->done = done;
		j->arg = arg;
		TAILQ_INSERT_TAIL(&p->waiting, j, link);
		p->n_waiting++;
		(void)pthread_cond_signal(&p->some);
	}
	(void)pthread_mutex_unlock(&p->lock);
	return rc;
}

void
worker_free(struct worker_pool *p)
{
	struct job_list jobs;

	if (p == NULL)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->ending = true;
	(void)pthread_cond_broadcast(&p->some);
	(void)pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n_threads; i++)
		(void)pthread_join(p->threads[i], NULL);
	loop_fd_watch(p->loop, &p->wake, 0);
	(void)close(p->wake.fd);
	worker_take_all(p, &p->finished, &jobs);
	worker_finish_all(&jobs);
	worker_take_all(p, &p->waiting, &jobs);
	worker_finish_all(&jobs);
	(void)pthread_cond_destroy(&p->some);
	(void)pthread_mutex_destroy(&p->lock);
	free(p->threads);
	free(p);
}
