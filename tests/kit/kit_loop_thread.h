/*
 * kit_loop_thread: a loop on a thread of its own, for tests of what lives on
 * one.
 */
#ifndef KIT_KIT_LOOP_THREAD_H
#define KIT_KIT_LOOP_THREAD_H

#include <pthread.h>

#include "core/loop.h"

struct kit_loop {
	struct loop *l;
	pthread_t thread;
};

/* kit_loop_new(k, inbox_max): Make the loop; what lives on it is made next. */
void kit_loop_new(struct kit_loop *k, size_t inbox_max);

/* kit_loop_start(k): Run it on its thread. */
void kit_loop_start(struct kit_loop *k);

/* kit_loop_call(k, fn, arg): Run fn(arg) on it and wait for its return. */
void kit_loop_call(struct kit_loop *k, loop_fn fn, void *arg);

/* kit_loop_stop(k): End its thread; the caller may then use what lives on it.
 */
void kit_loop_stop(struct kit_loop *k);

#endif /* !KIT_KIT_LOOP_THREAD_H */
