/*
 * tk_syscalls: system calls of other processes, all threads, counted by the
 * kernel without stopping them (perf_event_open).
 */
#ifndef TESTKIT_SYSCALLS_H
#define TESTKIT_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tk_syscalls;

/*
 * tk_syscalls_new(pid): Count those of a process from now on; NULL if the
 * kernel does not let this process, with errno.
 * tk_syscalls_free(s): s may be NULL.
 */
struct tk_syscalls *tk_syscalls_new(pid_t pid);
void tk_syscalls_free(struct tk_syscalls *s);

/* tk_syscalls_count(s): System calls so far. */
uint64_t tk_syscalls_count(const struct tk_syscalls *s);

#endif /* !TESTKIT_SYSCALLS_H */
