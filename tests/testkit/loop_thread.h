/*
 * tk_loop_thread: a loop on a thread of its own, for tests of objects that live
 * on a loop.
 */
#ifndef TESTKIT_LOOP_THREAD_H
#define TESTKIT_LOOP_THREAD_H

#include <pthread.h>

#include "core/loop.h"

struct tk_loop {
	struct loop *l;
	pthread_t thread;
};

/* tk_loop_new(k, inbox_max): Create the loop; create the objects on it next. */
void tk_loop_new(struct tk_loop *k, size_t inbox_max);

/* tk_loop_start(k): Run it on its thread. */
void tk_loop_start(struct tk_loop *k);

/* tk_loop_call(k, fn, arg): Run fn(arg) on it and wait for its return. */
void tk_loop_call(struct tk_loop *k, loop_fn fn, void *arg);

/*
 * tk_loop_stop(k): Stop its thread; the caller may then use the objects on it.
 */
void tk_loop_stop(struct tk_loop *k);

#endif /* !TESTKIT_LOOP_THREAD_H */
