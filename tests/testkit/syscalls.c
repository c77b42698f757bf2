#include "testkit/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit/testkit.h"

#define THREADS_MAX 1024
#define OPTIONS     (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)
#define AT_SYSCALL  (SIGTRAP | 0x80)

struct tk_syscalls {
	pid_t tracer;
	pid_t thread[THREADS_MAX];
	size_t n;
	struct syscalls_shared {
		atomic_uint_fast64_t calls;
	} * shared;
};

static void
syscalls_list_threads(struct tk_syscalls *s, pid_t pid)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (d == NULL)
		ck_abort_msg("%s: %s", path, strerror(errno));
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		ck_assert_uint_lt(s->n, THREADS_MAX);
		s->thread[s->n++] = (pid_t)strtol(e->d_name, NULL, 10);
	}
	closedir(d);
}

/* A thread may have ended since it was listed. */
static int
syscalls_seize(const struct tk_syscalls *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (ptrace(PTRACE_SEIZE, s->thread[i], NULL, OPTIONS) == -1) {
			if (errno == ESRCH)
				continue;
			return errno;
		}
		(void)ptrace(PTRACE_INTERRUPT, s->thread[i], NULL, NULL);
	}
	return 0;
}

/* Let a thread run to its next system call, or end of one. */
static void
syscalls_resume(struct tk_syscalls *s, pid_t thread, int status)
{
	struct __ptrace_syscall_info info = { 0 };
	int sig = WSTOPSIG(status), event = status >> 16;

	if (sig == AT_SYSCALL) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info),
			&info) != -1 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY)
			atomic_fetch_add(&s->shared->calls, 1);
		sig = 0;
	} else if (event != 0)
		sig = 0;
	(void)ptrace(PTRACE_SYSCALL, thread, NULL, sig);
}

static _Noreturn void
syscalls_trace(struct tk_syscalls *s, int ready)
{
	int error, status;
	pid_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	error = syscalls_seize(s);
	if (write(ready, &error, sizeof(error)) != sizeof(error) || error != 0)
		_exit(1);
	for (;;) {
		thread = waitpid(-1, &status, __WALL);
		if (thread == -1 && errno != EINTR)
			_exit(0);
		if (thread > 0 && WIFSTOPPED(status))
			syscalls_resume(s, thread, status);
	}
}

struct tk_syscalls *
tk_syscalls_new(pid_t pid)
{
	struct tk_syscalls *s = calloc(1, sizeof(*s));
	int ready[2], error = EIO;

	if (s == NULL || pipe(ready) == -1)
		abort();
	s->shared = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(s->shared, MAP_FAILED);
	syscalls_list_threads(s, pid);
	s->tracer = fork();
	ck_assert_int_ne(s->tracer, -1);
	if (s->tracer == 0)
		syscalls_trace(s, ready[1]);
	close(ready[1]);
	if (read(ready[0], &error, sizeof(error)) != sizeof(error))
		error = EIO;
	close(ready[0]);
	if (error == 0)
		return s;
	tk_syscalls_free(s);
	errno = error;
	return NULL;
}

void
tk_syscalls_free(struct tk_syscalls *s)
{
	if (s == NULL)
		return;
	/* The kernel lets go of what it traced. */
	kill(s->tracer, SIGKILL);
	(void)waitpid(s->tracer, NULL, 0);
	munmap(s->shared, sizeof(*s->shared));
	free(s);
}

uint64_t
tk_syscalls_count(const struct tk_syscalls *s)
{
	return atomic_load(&s->shared->calls);
}
