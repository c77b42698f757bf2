/*
 * flags: arguments that stand for variables of the environment.
 */
#ifndef BODY_SIM_FLAGS_H
#define BODY_SIM_FLAGS_H

#include <stddef.h>

#include "core/rc.h"

/* Arguments that a flag takes, at most. */
#define FLAG_ARGS_MAX 2

struct flag {
	const char *name;               /* "--count" */
	const char *env[FLAG_ARGS_MAX]; /* one for each argument it takes */
	const char *fixed; /* value of env[0] of a flag that takes none */
};

/*
 * flags_apply(flags, n, argc, argv):
 * Set the variables of the flags in argv and take these out of it; the others
 * stay.  Before any thread is started.  RC_INVALID if an argument is missing,
 * which is told on stderr.
 */
enum rc flags_apply(
    const struct flag *flags, size_t n, int *argc, char *argv[]) RC_CHECK;

#endif /* !BODY_SIM_FLAGS_H */
