/*
 * shim_engine: see shim_engine.h.  The shim has one thread, so its child may do
 * anything between fork and exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/bwrap.h"
#include "procsup/cgroup.h"
#include "procsup/shim_engine.h"
#include "procsup/shim_internal.h"
#include "procsup/shim_spec.h"

/* More than the default lets an engine run on while the disk is slow. */
#define PIPE_BYTES (256 * 1024)

/* The type of the exec family's argument predates const. */
static char *const *
engine_unconst(const char *const *v)
{
	return (char *const *)(uintptr_t)v;
}

static void
engine_reset_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* When memory runs out, the engine is killed before the suite's processes. */
static void
engine_set_oom_score(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd == -1)
		return;
	(void)!write(fd, "500", 3);
	close(fd);
}

static _Noreturn void
engine_fail(int report, const char *step)
{
	struct shim_engine_error e = { .err = errno };

	str_copy(str_of(step), e.step, sizeof(e.step));
	(void)!write(report, &e, sizeof(e));
	_exit(127);
}

static _Noreturn void
engine_enter(const struct procsup_spec *s, int report)
{
	const char *what = "";

	if (sandbox_enter(&s->sandbox, &what) != RC_OK)
		engine_fail(report, what);
	execve(s->argv[0], engine_unconst(s->argv), engine_unconst(s->env));
	engine_fail(report, s->argv[0]);
}

/* ---- bubblewrap ---- */

/*
 * Landlock forbids mounts, so it comes after bubblewrap: by this program, which
 * is executed by its descriptor, since its path is not in the box.
 */
static _Noreturn void
engine_exec_bwrap(const struct procsup_spec *s, int report)
{
	const struct bwrap_box box = { s->sandbox.read, s->sandbox.write,
		s->cwd };
	int self = open("/proc/self/exe", O_RDONLY);
	int spec = memfd_create("spec", 0);
	char self_path[32], spec_text[12], report_text[12];
	const char *const command[] = { self_path, "shim", SHIM_ENTER,
		spec_text, report_text, NULL };
	struct buf bytes = BUF_INIT(SHIM_SPEC_FILE_MAX);
	const char *argv[BWRAP_ARGS_MAX];

	shim_spec_write(s, 0, &bytes);
	if (self == -1 || spec == -1 || buf_rc(&bytes) != RC_OK ||
	    write(spec, bytes.p, bytes.n) != (ssize_t)bytes.n ||
	    fcntl(report, F_SETFD, 0) != 0)
		engine_fail(report, "bubblewrap's spec");
	snprintf(self_path, sizeof(self_path), "/proc/self/fd/%d", self);
	snprintf(spec_text, sizeof(spec_text), "%d", spec);
	snprintf(report_text, sizeof(report_text), "%d", report);
	errno = E2BIG;
	if (bwrap_argv(&box, command, argv))
		execve(argv[0], engine_unconst(argv), engine_unconst(s->env));
	engine_fail(report, argv[0]);
}

int
shim_engine_enter(int spec_fd, int report)
{
	struct shim_spec s;

	if (shim_spec_read_file(&s, spec_fd) != RC_OK) {
		errno = EINVAL;
		engine_fail(report, "spec");
	}
	engine_enter(&s.spec, report);
}

/* ---- starting ---- */

static _Noreturn void
engine_exec(
    const struct procsup_spec *s, const int fds[3], int report, pid_t shim)
{
	int i;

	engine_reset_signals();
	if (setsid() == -1)
		engine_fail(report, "setsid");
	/* So that a killed shim takes at least its child with it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		engine_fail(report, "prctl");
	if (getppid() != shim)
		_exit(127);
	for (i = 0; i < 3; i++)
		if (dup2(fds[i], i) == -1)
			engine_fail(report, "dup2");
	engine_set_oom_score();
	if (s->sandbox.mode == SANDBOX_BWRAP)
		engine_exec_bwrap(s, report);
	if (chdir(s->cwd) != 0)
		engine_fail(report, s->cwd);
	engine_enter(s, report);
}

/* Wait for the exec, which closes the pipe, or for what has failed. */
static enum rc
engine_await_exec(pid_t pid, int report, struct shim_engine_error *e)
{
	ssize_t n;

	do
		n = read(report, e, sizeof(*e));
	while (n == -1 && errno == EINTR);
	if (n == 0)
		return RC_OK;
	if (n != (ssize_t)sizeof(*e))
		*e = (struct shim_engine_error){ "pipe", EIO };
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
	return RC_DOWN;
}

static void
engine_close(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] != -1)
			close(fds[i]);
}

static enum rc
engine_start_spooled(const struct procsup_spec *s, const char *cgroup,
    struct shim_engine *out, struct shim_engine_error *e)
{
	/* Read and write end of each: stdout, stderr, the report of the exec.
	 */
	int pipes[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	const char *in = s->stdin_path != NULL ? s->stdin_path : "/dev/null";
	int fds[3] = { open(in, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), -1, -1 };
	const pid_t shim = getpid();
	enum rc rc = RC_DOWN;

	*e = (struct shim_engine_error){ .step = "stdin" };
	if (fds[0] == -1)
		goto out;
	str_copy(STR("pipe"), e->step, sizeof(e->step));
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0)
			goto out;
	for (int i = 0; i < SPOOL_STREAMS_N; i++) {
		fds[i + 1] = pipes[i][1];
		(void)fcntl(pipes[i][0], F_SETPIPE_SZ, PIPE_BYTES);
		if (fcntl(pipes[i][0], F_SETFL, O_NONBLOCK) != 0)
			goto out;
	}
	str_copy(STR("fork"), e->step, sizeof(e->step));
	out->pid = cgroup_fork(cgroup);
	if (out->pid == 0)
		engine_exec(s, fds, pipes[2][1], shim);
	if (out->pid == -1)
		goto out;
	close(pipes[2][1]);
	pipes[2][1] = -1;
	errno = 0;
	rc = engine_await_exec(out->pid, pipes[2][0], e);
	errno = e->err;
	for (int i = 0; i < SPOOL_STREAMS_N && rc == RC_OK; i++) {
		out->pipes[i] = pipes[i][0];
		pipes[i][0] = -1;
	}
out:
	e->err = errno;
	engine_close(fds, 1);
	engine_close(&pipes[0][0], 6);
	return rc;
}

/* Piped: what the supervisor has made. */
static enum rc
engine_start_piped(const struct procsup_spec *s, const char *cgroup,
    struct shim_engine *out, struct shim_engine_error *e)
{
	int fds[3] = { SHIM_PIPES_FD, SHIM_PIPES_FD + 1, SHIM_PIPES_FD + 2 };
	const pid_t shim = getpid();
	int report[2];
	enum rc rc = RC_DOWN;

	*e = (struct shim_engine_error){ .step = "pipe" };
	for (int i = 0; i < SPOOL_STREAMS_N; i++)
		out->pipes[i] = -1;
	if (pipe2(report, O_CLOEXEC) != 0) {
		e->err = errno;
		engine_close(fds, 3);
		return RC_DOWN;
	}
	str_copy(STR("fork"), e->step, sizeof(e->step));
	out->pid = cgroup_fork(cgroup);
	if (out->pid == 0)
		engine_exec(s, fds, report[1], shim);
	e->err = errno;
	close(report[1]);
	engine_close(fds, 3);
	if (out->pid != -1)
		rc = engine_await_exec(out->pid, report[0], e);
	close(report[0]);
	return rc;
}

enum rc
shim_engine_start(const struct procsup_spec *s, const char *cgroup,
    struct shim_engine *out, struct shim_engine_error *e)
{
	return s->dir != NULL ? engine_start_spooled(s, cgroup, out, e)
			      : engine_start_piped(s, cgroup, out, e);
}
