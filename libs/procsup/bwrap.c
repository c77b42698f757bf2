/*
 * bwrap: see bwrap.h.
 */
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "procsup/bwrap.h"
#include "procsup/system_path.h"

#define BWRAP_PROGRAM  "/usr/bin/bwrap"
#define BWRAP_PROBE_MS 5000

static const char *const bwrap_options[] = { BWRAP_PROGRAM, "--unshare-user",
	"--unshare-pid", "--unshare-ipc", "--unshare-uts",
	"--unshare-cgroup-try", "--die-with-parent" };
/* After the system's folders, and before those of the run. */
static const char *const bwrap_mounts[] = { "--proc", "/proc", "--dev",
	"/dev" };

struct bwrap_args {
	const char **argv;
	size_t n;
	bool over;
};

static void
bwrap_add(struct bwrap_args *a, const char *arg)
{
	if (a->n + 1 < BWRAP_ARGS_MAX)
		a->argv[a->n++] = arg;
	else
		a->over = true;
	a->argv[a->n] = NULL;
}

static void
bwrap_add_all(struct bwrap_args *a, const char *const *args, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bwrap_add(a, args[i]);
}

static void
bwrap_bind(struct bwrap_args *a, const char *option, const char *path)
{
	bwrap_add(a, option);
	bwrap_add(a, path);
	bwrap_add(a, path);
}

bool
bwrap_argv(const struct bwrap_box *b, const char *const *command,
    const char *argv[BWRAP_ARGS_MAX])
{
	struct bwrap_args a = { argv, 0, false };
	size_t i;

	bwrap_add_all(&a, bwrap_options, NELEM(bwrap_options));
	for (i = 0; system_paths[i].path != NULL; i++)
		if (!system_paths[i].virtual)
			bwrap_bind(&a, "--ro-bind-try", system_paths[i].path);
	bwrap_add_all(&a, bwrap_mounts, NELEM(bwrap_mounts));
	for (i = 0; b->read[i] != NULL; i++)
		bwrap_bind(&a, "--ro-bind-try", b->read[i]);
	for (i = 0; b->write[i] != NULL; i++)
		bwrap_bind(&a, "--bind-try", b->write[i]);
	bwrap_add(&a, "--chdir");
	bwrap_add(&a, b->cwd);
	bwrap_add(&a, "--");
	for (i = 0; command[i] != NULL; i++)
		bwrap_add(&a, command[i]);
	return !a.over;
}

/* Its status, as of waitpid(); -1: it does not end. */
static int
bwrap_wait(pid_t pid)
{
	struct pollfd p = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	int status = -1;

	if (p.fd == -1 || poll(&p, 1, BWRAP_PROBE_MS) != 1)
		(void)kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		status = -1;
	if (p.fd != -1)
		close(p.fd);
	return status;
}

bool
bwrap_works(void)
{
	static const char *const none[] = { NULL };
	static const char *const command[] = { "/bin/true", NULL };
	const struct bwrap_box box = { none, none, "/" };
	const char *argv[BWRAP_ARGS_MAX];
	posix_spawn_file_actions_t files;
	pid_t pid = -1;
	int err;

	if (!bwrap_argv(&box, command, argv))
		return false;
	(void)posix_spawn_file_actions_init(&files);
	/* Its complaint is a result here. */
	err = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
	if (err == 0)
		err = posix_spawn(&pid, argv[0], &files, NULL,
		    (char *const *)(uintptr_t)argv,
		    (char *const *)(uintptr_t)none);
	(void)posix_spawn_file_actions_destroy(&files);
	return err == 0 && bwrap_wait(pid) == 0;
}
