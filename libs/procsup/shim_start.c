/*
 * shim_start: no fork, since the process of the caller has many threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/procsup_spec.h"
#include "procsup/shim_internal.h"
#include "procsup/shim_spec.h"
#include "procsup/shim_start.h"

/* Above the numbers that a shim's descriptors get. */
#define SOURCE_FD_MIN 16

int
shim_spec_file(const struct procsup_spec *spec, int64_t grace_ms)
{
	struct buf bytes = BUF_INIT(SHIM_SPEC_FILE_MAX);
	int fd = memfd_create("spec", MFD_CLOEXEC);

	shim_spec_write(spec, grace_ms, &bytes);
	if (fd != -1 &&
	    (buf_rc(&bytes) != RC_OK ||
		write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n)) {
		close(fd);
		fd = -1;
	}
	buf_free(&bytes);
	return fd;
}

/* The type of posix_spawn's arguments predates const. */
static char *const *
shim_unconst(const char *const *v)
{
	return (char *const *)(uintptr_t)v;
}

/* sources[0] becomes 0, the others 3 and so on.  Returns 0 or an errno. */
static int
shim_spawn_process(const struct shim_program *o, const char *mark,
    const int *sources, size_t n, pid_t *pid)
{
	static const char *const none[] = { NULL };
	const char *program = o->path != NULL ? o->path : "/proc/self/exe";
	const char *const argv[] = { "procsup", "shim", mark, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t blocked, all;
	int err = 0;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM); /* until it is ready for it */
	sigfillset(&all);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attr);
	for (size_t i = 0; i < n && err == 0; i++)
		err = posix_spawn_file_actions_adddup2(
		    &files, sources[i], i == 0 ? 0 : (int)i + 2);
	(void)posix_spawnattr_setsigmask(&attr, &blocked);
	(void)posix_spawnattr_setsigdefault(&attr, &all);
	(void)posix_spawnattr_setflags(&attr,
	    POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
		POSIX_SPAWN_SETSIGDEF);
	if (err == 0)
		err =
		    posix_spawn(pid, program, &files, &attr, shim_unconst(argv),
			shim_unconst(o->env != NULL ? o->env : none));
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&files);
	return err;
}

static int
shim_pidfd(pid_t pid)
{
	int fd = pidfd_open(pid, 0), err;

	if (fd == -1) {
		err = errno;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		errno = err;
	}
	return fd;
}

int
shim_spawn(const struct shim_program *o, const struct procsup_spec *spec,
    const int *fds, size_t n)
{
	int sources[SHIM_FDS_MAX + 1];
	size_t made = 0;
	int err = 0, fd = -1;
	pid_t pid;

	sources[0] = shim_spec_file(spec, o->grace_ms);
	if (sources[0] == -1)
		return -1;
	for (; made < n && made < SHIM_FDS_MAX; made++) {
		sources[made + 1] =
		    fcntl(fds[made], F_DUPFD_CLOEXEC, SOURCE_FD_MIN);
		if (sources[made + 1] == -1)
			break;
	}
	if (made < n)
		err = errno;
	else
		err = shim_spawn_process(o, spec->mark, sources, n + 1, &pid);
	for (size_t i = 0; i <= made; i++)
		close(sources[i]);
	if (err == 0)
		fd = shim_pidfd(pid);
	else
		errno = err;
	return fd;
}
