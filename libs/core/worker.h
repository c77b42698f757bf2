/*
 * worker: the named place for calls that must block (name resolution, a
 * reconnect); never the loop.
 */
#ifndef CORE_WORKER_H
#define CORE_WORKER_H

#include <stddef.h>

#include "core/loop.h"
#include "core/rc.h"

struct worker_pool;

/*
 * worker_new(l, threads, queue_max):
 * A pool of threads (≥ 1) with room for queue_max jobs that wait; the jobs that
 * run do not count.  Its threads block all signals.  Loop thread.
 */
struct worker_pool *worker_new(
    struct loop *l, unsigned threads, size_t queue_max);

/*
 * worker_run(p, work, done, arg):
 * Call work(arg) on a pool thread, then done(arg) on the loop, exactly once
 * each (work() is left out if worker_free() came first).  done() takes no room
 * in the loop's inbox and comes after loop_close() too.  RC_RETRY if the queue
 * is full, RC_DOWN in worker_free(); nothing is called then.  Loop thread.
 */
enum rc worker_run(
    struct worker_pool *p, loop_fn work, loop_fn done, void *arg) RC_CHECK;

/*
 * worker_free(p):
 * Wait for the jobs that run; jobs that still wait are dropped.  The done() of
 * both is called here, and worker_run() says RC_DOWN to it.  Loop thread, not
 * from done(), before loop_free().  NULL is allowed.
 */
void worker_free(struct worker_pool *p);

#endif /* !CORE_WORKER_H */
