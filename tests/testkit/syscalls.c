#include "testkit/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "testkit/testkit.h"

#define SYSCALLS_ID "/tracing/events/raw_syscalls/sys_enter/id"

struct tk_syscalls {
	int *fd;
	size_t n;
};

/* The number of the kernel's trace point at the entry of a system call. */
static bool
syscalls_id(uint64_t *id)
{
	static const char *const path[] = { "/sys/kernel" SYSCALLS_ID,
		"/sys/kernel/debug" SYSCALLS_ID };
	unsigned long long v;
	size_t i;
	FILE *f;
	int got;

	for (i = 0; i < 2; i++) {
		f = fopen(path[i], "re");
		if (f == NULL)
			continue;
		got = fscanf(f, "%llu", &v);
		fclose(f);
		*id = v;
		return got == 1;
	}
	return false;
}

static int
syscalls_open(uint64_t id, pid_t thread)
{
	/* A thread that it starts is counted, too. */
	struct perf_event_attr a = { .type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(a),
		.config = id,
		.inherit = 1 };

	return (int)syscall(
	    SYS_perf_event_open, &a, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

struct tk_syscalls *
tk_syscalls_new(pid_t pid)
{
	struct tk_syscalls *s = calloc(1, sizeof(*s));
	char path[64];
	struct dirent *e;
	uint64_t id;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (s == NULL || d == NULL)
		ck_abort_msg("%s: %s", path, strerror(errno));
	if (!syscalls_id(&id))
		goto out;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		fd = syscalls_open(id, (pid_t)strtol(e->d_name, NULL, 10));
		if (fd == -1 && errno == ESRCH)
			continue;
		if (fd == -1)
			goto out;
		s->fd = realloc(s->fd, (s->n + 1) * sizeof(*s->fd));
		if (s->fd == NULL)
			abort();
		s->fd[s->n++] = fd;
	}
	closedir(d);
	return s;
out:
	fd = errno;
	closedir(d);
	tk_syscalls_free(s);
	errno = fd;
	return NULL;
}

void
tk_syscalls_free(struct tk_syscalls *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->n; i++)
		close(s->fd[i]);
	free(s->fd);
	free(s);
}

uint64_t
tk_syscalls_count(const struct tk_syscalls *s)
{
	uint64_t sum = 0, v;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (read(s->fd[i], &v, sizeof(v)) != (ssize_t)sizeof(v))
			ck_abort_msg("perf: %s", strerror(errno));
		sum += v;
	}
	return sum;
}
