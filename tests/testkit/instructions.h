/*
 * instructions: how many instructions a function takes, which does not depend
 * on the machine's load.
 */
#ifndef TESTKIT_INSTRUCTIONS_H
#define TESTKIT_INSTRUCTIONS_H

#include <stdbool.h>

/* instructions_child(): Whether this process is one that is counted. */
bool instructions_child(void);

/*
 * instructions_count(function, test, calls):
 * Run a test of this program alone under callgrind and return the instructions
 * per call of a function that it calls so often, with what that calls.  The
 * function must not be inlined.  Fails the test if it takes more than 100 s; 0
 * in sanitized builds and where valgrind is not installed.
 */
double instructions_count(const char *function, const char *test, int calls);

#endif /* !TESTKIT_INSTRUCTIONS_H */
