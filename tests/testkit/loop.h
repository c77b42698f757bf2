/*
 * tk_loop: running a loop inside a test until something has happened.
 */
#ifndef TESTKIT_LOOP_H
#define TESTKIT_LOOP_H

#include <stdbool.h>

#include "core/loop.h"

/*
 * tk_loop_until(l, fn, arg, ms):
 * Run the loop; fn(arg) is asked every few milliseconds.  True when it was
 * true, false after ms milliseconds.  Scale ms for the slowest machine; it only
 * costs time when the test fails.
 */
bool tk_loop_until(struct loop *l, bool (*fn)(void *arg), void *arg, int ms);

/* tk_loop_step(l): Let the loop handle what is due now, and no more. */
void tk_loop_step(struct loop *l);

#endif /* !TESTKIT_LOOP_H */
