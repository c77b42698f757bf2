/*
 * fiber: a function on a stack of its own, which can wait without blocking its
 * thread.
 *
 * A handler that waits for a reply suspends its fiber; whatever receives the
 * reply resumes it.  Between the two, other callbacks of the loop run: what a
 * fiber has read before it waited may have changed afterwards, as between two
 * callbacks.  Fibers never run in parallel and are never interrupted.  The
 * trace id of log lines (log_trace_set()) is a fiber's own.
 *
 * A fiber belongs to the thread that started it; all functions run on that
 * thread.
 */
#ifndef CORE_FIBER_H
#define CORE_FIBER_H

#include <stddef.h>
#include <stdint.h>

struct fiber;

typedef void (*fiber_fn)(void *arg);

/*
 * fiber_start(fn, arg):
 * Run fn(arg) in a new fiber until it returns or suspends, whichever is first.
 * May be called in a fiber.  Its stack has 1 MiB, of which only what was used
 * takes memory; one that overflows is a segmentation fault.  Aborts if there is
 * no memory for it: callers limit how many they start.
 */
void fiber_start(fiber_fn fn, void *arg);

/* fiber_call(fn, arg): fn(arg) in this fiber, or in a new one outside. */
void fiber_call(fiber_fn fn, void *arg);

/* fiber_self(): The fiber that is running; NULL outside of fibers. */
struct fiber *fiber_self(void);

/*
 * fiber_suspend():
 * Return to the caller of fiber_start() or fiber_resume(), until
 * fiber_resume() continues this fiber.  Only in a fiber.
 */
void fiber_suspend(void);

/*
 * fiber_resume(f):
 * Continue f, which is suspended, until it returns or suspends again.  May be
 * called in another fiber.
 */
void fiber_resume(struct fiber *f);

/*
 * fiber_cpu_begin(), fiber_cpu_ns():
 * Measure the processor time of this fiber, and what it has used since, in ns,
 * without the time in which it was suspended.  Only in a fiber.
 */
void fiber_cpu_begin(void);
int64_t fiber_cpu_ns(void);

/* fiber_count(): Fibers of this thread that have not returned. */
size_t fiber_count(void);

/* Fibers that one waits for; zero-initialised by its owner. */
struct fiber_group {
	size_t n; /* have not returned */
	struct fiber *waits;
};

/*
 * fiber_group_start(g, fn, arg): As fiber_start(), in g.
 * fiber_group_wait(g): Suspend until all of g have returned.  Only in a fiber
 *     that is not in g; g must not be freed before.
 */
void fiber_group_start(struct fiber_group *g, fiber_fn fn, void *arg);
void fiber_group_wait(struct fiber_group *g);

/*
 * A lock among fibers, first come, first served; zero-initialised by its owner.
 * Its holder may suspend.
 */
struct fiber_lock {
	struct fiber *holder;
	struct fiber_pending *first, **end;
};

/*
 * fiber_lock(l), fiber_unlock(l):
 * Unlocking hands l to the first that waits, which runs once the thread's own
 * stack is reached again.  Only in a fiber.
 */
void fiber_lock(struct fiber_lock *l);
void fiber_unlock(struct fiber_lock *l);

#endif /* !CORE_FIBER_H */
