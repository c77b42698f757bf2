/* clock_shift: services, and Redis, whose wall clock the test sets. */
#ifndef TESTKIT_CLOCK_SHIFT_H
#define TESTKIT_CLOCK_SHIFT_H

#include <stdint.h>

/* Private: the name of the variable that names the file. */
#define TK_CLOCK_FILE "SOUL_TEST_CLOCK"

/*
 * tk_clock_env(): Variables, and NULL, for a service that is to have such a
 * clock, which is right at first; so have the processes that it starts.
 * tk_clock_shift(s): It is so many seconds ahead, from now on.
 */
const char *const *tk_clock_env(void);
void tk_clock_shift(int64_t s);

#endif /* !TESTKIT_CLOCK_SHIFT_H */
