/*
 * worker: a thread pool for calls that block, such as name resolution.
 */
#ifndef CORE_WORKER_H
#define CORE_WORKER_H

#include <stddef.h>

#include "core/loop.h"
#include "core/rc.h"

struct worker_pool;

/*
 * worker_new(l, threads, queue_max):
 * A pool of threads (≥ 1) with a queue of at most queue_max jobs, without the
 * running ones.  Its threads block all signals.  Loop thread.
 */
struct worker_pool *worker_new(
    struct loop *l, unsigned threads, size_t queue_max);

/*
 * worker_run(p, work, done, arg):
 * Call work(arg) on a pool thread, then done(arg) on the loop, exactly once
 * each (work() is skipped if worker_free() is called first).  done() needs no
 * room in the loop's inbox and is also called after loop_close().  RC_RETRY if
 * the queue is full, RC_DOWN in worker_free(); nothing is called then.  Loop
 * thread.
 */
enum rc worker_run(
    struct worker_pool *p, loop_fn work, loop_fn done, void *arg) RC_CHECK;

/*
 * worker_free(p):
 * Wait for running jobs and drop queued ones.  done() of both is called here,
 * where worker_run() returns RC_DOWN.  Loop thread, not from done(), before
 * loop_free().  NULL is allowed.
 */
void worker_free(struct worker_pool *p);

#endif /* !CORE_WORKER_H */
