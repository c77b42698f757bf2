/*
 * tk_syscalls: system calls of another process, all threads, counted by a
 * process that traces it (ptrace).  A traced process is several times slower:
 * its times mean nothing.
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
 * tk_syscalls_free(s): It is no longer traced.  s may be NULL.
 */
struct tk_syscalls *tk_syscalls_new(pid_t pid);
void tk_syscalls_free(struct tk_syscalls *s);

/* tk_syscalls_count(s): System calls so far. */
uint64_t tk_syscalls_count(const struct tk_syscalls *s);

#endif /* !TESTKIT_SYSCALLS_H */
