/* tk_loop: running a loop inside a test until a condition holds. */
#ifndef TESTKIT_LOOP_H
#define TESTKIT_LOOP_H

#include <stdbool.h>

#include "core/loop.h"

/*
 * tk_loop_until(l, fn, arg, ms): Run the loop, calling fn(arg) every few
 * milliseconds. Returns true as soon as fn does, false after ms milliseconds.
 * Choose ms for the slowest machine; it only costs time when the test fails.
 */
bool tk_loop_until(struct loop *l, bool (*fn)(void *arg), void *arg, int ms);

/* tk_loop_step(l): Handle only what is due now. */
void tk_loop_step(struct loop *l);

#endif /* !TESTKIT_LOOP_H */
