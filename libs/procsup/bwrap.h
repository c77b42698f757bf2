/*
 * bwrap: bubblewrap's command line: process ids and a file tree of its own, in
 * which other processes' sockets are not, either.  The network is the host's,
 * because the model proxy is on its loopback.
 */
#ifndef PROCSUP_BWRAP_H
#define PROCSUP_BWRAP_H

#include <stdbool.h>
#include <stddef.h>

/* What of the host is visible, beyond the system's paths; NULL-terminated. */
struct bwrap_box {
	const char *const *read;
	const char *const *write;
	const char *cwd;
};

#define BWRAP_ARGS_MAX 512

/*
 * bwrap_argv(b, command, argv):
 * The arguments that run command (NULL-terminated), and a NULL; argv[0] is the
 * path of the program.  The strings are those of b, of command, and constants.
 * False: more than fit.
 */
bool bwrap_argv(const struct bwrap_box *b, const char *const *command,
    const char *argv[BWRAP_ARGS_MAX]);

/*
 * bwrap_works(): Whether it is installed, and may make namespaces here.  Starts
 * it; blocks for at most 5 s.
 */
bool bwrap_works(void);

#endif /* !PROCSUP_BWRAP_H */
