/*
 * loop: the event loop, whose thread owns the state of a process.
 *
 * epoll for file descriptors, a heap of timers, and a bounded inbox for work
 * from other threads.  All callbacks run on the thread of loop_run(), one at a
 * time; only functions marked "any thread" may be called from another
 * (asserted).
 */
#ifndef CORE_LOOP_H
#define CORE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"

struct loop;

typedef void (*loop_fn)(void *arg);

/*
 * loop_new(inbox_max):
 * A loop whose inbox holds at most inbox_max (> 0) posts.
 */
struct loop *loop_new(size_t inbox_max);

/*
 * loop_free(l):
 * Posts in the inbox are run first, so that their resources are freed; new ones
 * fail.  Timers, deferred work and descriptors are dropped.  Not while
 * loop_run() runs; a thread may still be returning from its last post.  NULL is
 * allowed.
 */
void loop_free(struct loop *l);

/*
 * loop_run(l):
 * Run callbacks until loop_stop(), on this thread.
 */
void loop_run(struct loop *l);

/*
 * loop_stop(l):
 * Make loop_run() return after the current callback; before loop_run(), make it
 * return at once.
 */
void loop_stop(struct loop *l);

/*
 * loop_post(l, fn, arg):
 * Call fn(arg) on the loop, in the order of posting.  Any thread, never blocks.
 * RC_RETRY if the inbox is full, RC_DOWN after loop_close(); the caller then
 * still owns arg.
 */
enum rc loop_post(struct loop *l, loop_fn fn, void *arg) RC_CHECK;

/*
 * loop_post_wait(l, fn, arg):
 * As loop_post(), but wait for room instead of RC_RETRY: for threads that must
 * stop reading while the loop is behind.  Any thread but the loop's.  Call
 * loop_close() before joining such a thread on the loop.
 */
enum rc loop_post_wait(struct loop *l, loop_fn fn, void *arg) RC_CHECK;

/* loop_close(l): Make posts fail from now on (RC_DOWN).  Any thread. */
void loop_close(struct loop *l);

/* A timer; zero-initialised by its owner, valid as long as it is set. */
struct loop_timer {
	struct mono at;
	loop_fn fn;
	void *arg;
	size_t pos; /* position in the heap + 1; 0: not set */
};

/*
 * loop_timer_set(l, t, at, fn, arg):
 * Call fn(arg) one time, at the time at or as soon as possible after it.  A
 * timer that is set is moved; at {0}, which is never, cancels it.  Due timers
 * run in the order of at; one set by a timer's callback runs after the next
 * descriptors and posts, even if it is due.
 */
void loop_timer_set(struct loop *l, struct loop_timer *t, struct mono at,
    loop_fn fn, void *arg);

/* loop_timer_cancel(l, t): No-op if t is not set. */
void loop_timer_cancel(struct loop *l, struct loop_timer *t);

/* Deferred work; zero-initialised by its owner, valid as long as it is due. */
struct loop_deferred {
	loop_fn fn;
	void *arg;
	struct loop_deferred *next, **prev; /* prev is NULL: not due */
};

/*
 * loop_defer(l, d, fn, arg):
 * Call fn(arg) one time at the end of this iteration, after its descriptors,
 * timers and posts; outside of callbacks, at the end of the next.  No-op if d
 * is due already.  What is deferred by deferred work runs in the next
 * iteration, which does not sleep.
 */
void loop_defer(struct loop *l, struct loop_deferred *d, loop_fn fn, void *arg);

/* loop_defer_cancel(l, d): No-op if d is not due. */
void loop_defer_cancel(struct loop *l, struct loop_deferred *d);

#define LOOP_READ  1U
#define LOOP_WRITE 2U

/* A watched descriptor; zero-initialised by its owner but for fd, fn, arg. */
struct loop_fd {
	int fd;
	/* events: LOOP_READ | LOOP_WRITE; errors and hang-ups are reported as
	 * both, whichever are watched. */
	void (*fn)(void *arg, unsigned events);
	void *arg;
	unsigned events; /* private: registered with epoll */
};

/*
 * loop_fd_watch(l, w, events):
 * Watch w->fd (level-triggered) for events; 0 stops watching: w->fn is not
 * called any more and w may be freed, in any callback, its own included.  Stop
 * before closing the descriptor.  Aborts for a descriptor that epoll does not
 * support, such as a regular file.
 */
void loop_fd_watch(struct loop *l, struct loop_fd *w, unsigned events);

/* loop_is_running(l): Whether loop_run() runs.  Loop thread. */
bool loop_is_running(const struct loop *l);

/*
 * loop_idle_ms(l):
 * Milliseconds since the last iteration of the loop; there is one each second
 * unless a callback blocks it.  0 while loop_run() does not run.  Any thread.
 */
int64_t loop_idle_ms(const struct loop *l);

/* loop_inbox_len(l): Posts in the inbox, at most inbox_max.  Any thread. */
size_t loop_inbox_len(struct loop *l);

#endif /* !CORE_LOOP_H */
