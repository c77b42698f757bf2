/*
 * Fibers that wait for a time, or for a thread.
 */
#include "context.h"
#include "core/fiber.h"
#include "core/worker.h"

struct runner_wait {
	LIST_ENTRY(runner_wait) link;
	struct runner *runner;
	struct loop_timer timer;
	struct fiber *fiber;
	void (*fn)(void *arg);
	void *arg;
};

static void
wait_on_time(void *arg)
{
	struct runner_wait *w = arg;

	LIST_REMOVE(w, link);
	loop_timer_cancel(w->runner->loop, &w->timer);
	fiber_resume(w->fiber);
}

void
runner_sleep(struct runner *r, int64_t ms)
{
	struct runner_wait w = { .runner = r, .fiber = fiber_self() };

	if (r->stopping)
		return;
	LIST_INSERT_HEAD(&r->waits, &w, link);
	loop_timer_set(
	    r->loop, &w.timer, mono_add_ms(clock_mono(), ms), wait_on_time, &w);
	fiber_suspend();
}

void
runner_wake_all(struct runner *r)
{
	while (!LIST_EMPTY(&r->waits))
		wait_on_time(LIST_FIRST(&r->waits));
}

static void
wait_work(void *arg)
{
	struct runner_wait *w = arg;

	w->fn(w->arg);
}

static void
wait_on_done(void *arg)
{
	struct runner_wait *w = arg;

	fiber_resume(w->fiber);
}

enum rc
runner_work(struct runner *r, void (*fn)(void *arg), void *arg)
{
	struct runner_wait w = {
		.runner = r, .fiber = fiber_self(), .fn = fn, .arg = arg
	};
	enum rc rc;

	if (r->stopping)
		return RC_DOWN;
	rc = worker_run(r->disk, wait_work, wait_on_done, &w);
	if (rc == RC_OK)
		fiber_suspend();
	/* A job that was dropped has not run. */
	return rc == RC_OK && r->stopping ? RC_DOWN : rc;
}
