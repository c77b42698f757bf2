/*
 * landlock: the kernel's allow-lists of files, TCP ports and signals.  Debian
 * 12's header ends at ABI 2, so what newer kernels have is declared here, and
 * masked by what the kernel answers.
 */
#ifndef PROCSUP_LANDLOCK_H
#define PROCSUP_LANDLOCK_H

#include <stdint.h>

#include "core/rc.h"

/* The first ABI that has a rule. */
#define LANDLOCK_ABI_TRUNCATE 3
#define LANDLOCK_ABI_TCP      4
#define LANDLOCK_ABI_DEVICES  5
#define LANDLOCK_ABI_SCOPES   6

/* landlock_abi(): Of the kernel; 0: it has no Landlock, or it is switched off.
 */
int landlock_abi(void);

/* What a process may do below a path. */
enum landlock_access {
	LANDLOCK_READ,    /* read files and folders */
	LANDLOCK_EXECUTE, /* that, and execute */
	LANDLOCK_DEVICE,  /* read, write, ioctl */
	LANDLOCK_ALL
};

/*
 * landlock_open(abi, limit_tcp):
 * A ruleset that denies everything, for the ABI of the kernel; its descriptor,
 * or -1 with errno.
 */
int landlock_open(int abi, int limit_tcp);

/*
 * landlock_allow_path(ruleset, abi, path, access): RC_NOENT: there is no such
 * path; RC_DOWN with errno.
 * landlock_allow_tcp(ruleset, port): Connecting to it.  RC_DOWN with errno.
 * landlock_restrict(ruleset): The calling thread, for ever; it has
 * no_new_privs.  RC_DOWN with errno.
 */
enum rc landlock_allow_path(int ruleset, int abi, const char *path,
    enum landlock_access access) RC_CHECK;
enum rc landlock_allow_tcp(int ruleset, int port) RC_CHECK;
enum rc landlock_restrict(int ruleset) RC_CHECK;

#endif /* !PROCSUP_LANDLOCK_H */
