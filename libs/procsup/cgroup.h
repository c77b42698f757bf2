/*
 * cgroup: a control group of an attempt, where the kernel's version 2 is
 * mounted and ours is delegated: all of it can be killed by one write, whatever
 * it did to its parents, its session or its environment.
 */
#ifndef PROCSUP_CGROUP_H
#define PROCSUP_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CGROUP_PATH_MAX 1024

/*
 * cgroup_make(mark, path): A group below the caller's; false: it may make none,
 * and path is "".
 */
bool cgroup_make(const char *mark, char path[CGROUP_PATH_MAX]);

/* cgroup_is_of(path, mark): Whether cgroup_make() may have made it. */
bool cgroup_is_of(const char *path, const char *mark);

/*
 * All of these do nothing for "", and ignore failures.
 *
 * cgroup_fork(path): fork() whose child is in it from the beginning; for a
 * process with one thread.
 * cgroup_kill(path): All processes in it; how many there were.
 * cgroup_remove(path): False: it has processes yet.
 */
pid_t cgroup_fork(const char *path);
size_t cgroup_kill(const char *path);
bool cgroup_remove(const char *path);

#endif /* !PROCSUP_CGROUP_H */
