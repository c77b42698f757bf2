/*
 * loop: the one thread that owns a process's state.
 *
 * epoll for file descriptors, a heap of timers, and a bounded inbox through
 * which all other threads hand over work.  Everything runs on the thread that
 * called loop_run(), one callback at a time; only the functions that say "any
 * thread" may be called from another (asserted).
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
 * Posts still in the inbox are run first, so that what they own is not lost;
 * new ones are refused.  Timers and descriptors are forgotten.  Not while
 * loop_run() runs; a thread whose post was taken may still be returning from
 * it.  NULL is allowed.
 */
void loop_free(struct loop *l);

/*
 * loop_run(l):
 * Run callbacks until loop_stop(); the caller becomes the owner.
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
 * As loop_post(), but waits for room instead of RC_RETRY: for threads whose
 * reading must stop while the loop is behind.  Any thread but the loop's.
 * Whoever joins such a thread on the loop calls loop_close() first.
 */
enum rc loop_post_wait(struct loop *l, loop_fn fn, void *arg) RC_CHECK;

/* loop_close(l): Refuse posts from now on (RC_DOWN).  Any thread. */
void loop_close(struct loop *l);

/* A timer; zero-initialised by its owner, who keeps it until it is not set. */
struct loop_timer {
	struct mono at;
	loop_fn fn;
	void *arg;
	size_t pos; /* place in the heap + 1; 0: not set */
};

/*
 * loop_timer_set(l, t, at, fn, arg):
 * Call fn(arg) once, at the moment at or as soon after as the loop can.  A set
 * timer is moved; at {0}, which is never, leaves it not set.  What is due runs
 * in the order of at; what a timer's callback sets runs after the descriptors
 * and posts had their turn, even if it is due.
 */
void loop_timer_set(struct loop *l, struct loop_timer *t, struct mono at,
    loop_fn fn, void *arg);

/* loop_timer_cancel(l, t): No-op if t is not set. */
void loop_timer_cancel(struct loop *l, struct loop_timer *t);

#define LOOP_READ  1U
#define LOOP_WRITE 2U

/* A watched descriptor; zero-initialised by its owner but for fd, fn, arg. */
struct loop_fd {
	int fd;
	/* events: LOOP_READ | LOOP_WRITE; errors and hang-ups are reported as
	 * both, whatever was asked for. */
	void (*fn)(void *arg, unsigned events);
	void *arg;
	unsigned events; /* private: what epoll knows */
};

/*
 * loop_fd_watch(l, w, events):
 * Watch w->fd (level-triggered) for events; 0 stops watching: w->fn is not
 * called again, and w may be freed, from any callback, its own included.  Stop
 * before closing the descriptor.  A descriptor that epoll refuses (a regular
 * file) aborts.
 */
void loop_fd_watch(struct loop *l, struct loop_fd *w, unsigned events);

/*
 * loop_idle_ms(l):
 * Milliseconds since the loop last came round; it does at least once a second
 * unless a callback blocks it.  0 while loop_run() does not run.  Any thread.
 */
int64_t loop_idle_ms(const struct loop *l);

/* loop_inbox_len(l): Posts waiting, at most inbox_max.  Any thread. */
size_t loop_inbox_len(struct loop *l);

#endif /* !CORE_LOOP_H */
