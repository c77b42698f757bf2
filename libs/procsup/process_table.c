/*
 * process_table: see process_table.h.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/process_table.h"

#define PROCESSES_MAX   65536
#define ENVIRONMENT_MAX (256UL * 1024)

struct process {
	pid_t pid, parent;
	bool ours;
};

pid_t
process_pid(const char *name)
{
	int64_t pid;

	if (str_to_i64(str_of(name), 1, INT32_MAX, &pid) != RC_OK)
		return 0;
	return (pid_t)pid;
}

struct process_stat {
	pid_t parent;
	int64_t start; /* in clock ticks since the machine's start */
};

/* Of a process that runs; false: it does not. */
static bool
process_read_stat(pid_t pid, struct process_stat *out)
{
	char path[64], text[512], *p, state = 0;
	int fd, parent = 0;
	long long start = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* The name in parentheses may have anything, parentheses included. */
	p = strrchr(text, ')');
	if (p == NULL ||
	    sscanf(p,
		") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
		"%*d %*d %*d %*d %lld",
		&state, &parent, &start) != 3)
		return false;
	*out = (struct process_stat){ (pid_t)parent, start };
	return state != 'Z' && state != 'X';
}

/* 0: it does not run. */
static pid_t
process_parent(pid_t pid)
{
	struct process_stat st;

	return process_read_stat(pid, &st) ? st.parent : 0;
}

int64_t
process_start(pid_t pid)
{
	struct process_stat st;

	return process_read_stat(pid, &st) ? st.start : 0;
}

static struct process *
process_read_all(size_t *n)
{
	struct process *all = mem_calloc(PROCESSES_MAX, sizeof(*all));
	DIR *dir = opendir("/proc");
	const struct dirent *e;

	*n = 0;
	while (
	    dir != NULL && *n < PROCESSES_MAX && (e = readdir(dir)) != NULL) {
		pid_t pid = process_pid(e->d_name), parent;

		if (pid == 0)
			continue;
		parent = process_parent(pid);
		if (parent != 0)
			all[(*n)++] = (struct process){ pid, parent, false };
	}
	if (dir != NULL)
		closedir(dir);
	return all;
}

static bool
process_is_ours(const struct process *all, size_t n, pid_t pid)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && all[lo].pid == pid && all[lo].ours;
}

static int
process_compare(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

size_t
process_kill_descendants(void)
{
	const pid_t self = getpid();
	bool changed = true;
	size_t n, i, killed = 0;
	struct process *all = process_read_all(&n);

	qsort(all, n, sizeof(*all), process_compare);
	while (changed) {
		changed = false;
		for (i = 0; i < n; i++) {
			if (all[i].ours ||
			    (all[i].parent != self &&
				!process_is_ours(all, n, all[i].parent)))
				continue;
			all[i].ours = changed = true;
		}
	}
	for (i = 0; i < n; i++)
		if (all[i].ours && kill(all[i].pid, SIGKILL) == 0)
			killed++;
	free(all);
	return killed;
}

size_t
process_signal_group(pid_t leader, int sig)
{
	size_t n, signaled = 0;
	struct process *all = process_read_all(&n);

	for (size_t i = 0; i < n; i++)
		if (all[i].pid != leader && getpgid(all[i].pid) == leader &&
		    kill(all[i].pid, sig) == 0)
			signaled++;
	free(all);
	return signaled;
}

/* A file of a process in *bytes, with room for ENVIRONMENT_MAX; -1: none. */
static ssize_t
process_read(pid_t pid, const char *name, char *bytes)
{
	char path[64];
	size_t total = 0;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	while (total < ENVIRONMENT_MAX &&
	    (n = read(fd, bytes + total, ENVIRONMENT_MAX - total)) > 0)
		total += (size_t)n;
	close(fd);
	return n == -1 ? -1 : (ssize_t)total;
}

bool
process_mark_find(struct str environment, char *dst, size_t size)
{
	const struct str name = STR(PROCESS_MARK "=");
	struct str one;

	while (environment.n > 0) {
		one = str_split(&environment, '\0');
		if (!str_starts(one, name))
			continue;
		one.p += name.n;
		one.n -= name.n;
		str_copy(one, dst, size);
		return true;
	}
	return false;
}

enum process_mark
process_mark(pid_t pid, char *dst, size_t size)
{
	enum process_mark found = PROCESS_UNMARKED;
	char *bytes = mem_alloc(ENVIRONMENT_MAX);
	ssize_t n = process_read(pid, "environ", bytes);

	/* Neither environment nor arguments, but no kernel's thread. */
	if (n == 0 && process_read(pid, "cmdline", bytes) == 0 &&
	    process_parent(pid) > 2)
		found = PROCESS_UNKNOWN;
	else if (n > 0 &&
	    process_mark_find((struct str){ bytes, (size_t)n }, dst, size))
		found = PROCESS_MARKED;
	free(bytes);
	return found;
}
