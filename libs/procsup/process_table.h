/*
 * process_table: processes, as /proc shows them.
 */
#ifndef PROCSUP_PROCESS_TABLE_H
#define PROCSUP_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/str.h"

/* The variable by which an attempt's processes are found. */
#define PROCESS_MARK "SOUL_RUN"

/*
 * process_kill_descendants():
 * KILL to all descendants of the calling process; their number.  What forks
 * meanwhile is missed: call it until no child is left.
 */
size_t process_kill_descendants(void);

/*
 * process_signal_group(leader, sig): To all of the group but its leader; how
 * many there were.
 */
size_t process_signal_group(pid_t leader, int sig);

/* What process_mark() found. */
enum process_mark {
	PROCESS_MARKED,
	PROCESS_UNMARKED, /* it has none, or is another user's, or has ended */
	PROCESS_UNKNOWN   /* it executes a program at this instant */
};

/*
 * process_mark(pid, dst, size):
 * The value of PROCESS_MARK in the environment with which a process was
 * started, in dst.  It reads at most 256 KiB.
 */
enum process_mark process_mark(pid_t pid, char *dst, size_t size);

/*
 * process_mark_find(environment, dst, size):
 * The same in the bytes of an environment, strings with a NUL each; false:
 * it has none.
 */
bool process_mark_find(struct str environment, char *dst, size_t size);

/*
 * process_start(pid): When a process was started, in clock ticks since the
 * machine was; 0: it does not run.  With the pid it identifies a process.
 */
int64_t process_start(pid_t pid);

/* process_pid(name): The pid that a folder of /proc is; 0: none. */
pid_t process_pid(const char *name);

#endif /* !PROCSUP_PROCESS_TABLE_H */
