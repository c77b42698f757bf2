/*
 * shim: owns an engine's pipes and outlives the runner.  One thread, and of the
 * suite only what is pure: it must go on whatever happens to the runner.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/mem.h"
#include "procsup/cgroup.h"
#include "procsup/process_table.h"
#include "procsup/procsup.h"
#include "procsup/shim_engine.h"
#include "procsup/shim_internal.h"
#include "procsup/shim_spec.h"
#include "procsup/workspace_size.h"

#define READ_MAX        (64 * 1024)
#define LEFTOVER_MS     200  /* for what the engine left to end its output */
#define KILL_ROUND_MS   5    /* between two searches for descendants */
#define WORKSPACE_MS    2000 /* between two measurements */
#define WORKSPACE_SHARE 20   /* of its time may be spent on them */
#define REMOVALS_MAX    1000 /* of the control group, one a ms */
#define EXIT_OK         0
#define EXIT_SPEC       70
#define EXIT_SPOOL      74

enum shim_phase {
	SHIM_RUNNING,
	SHIM_CLOSING,  /* piped: its stdin has ended */
	SHIM_STOPPING, /* TERM was sent */
	SHIM_LEFT,     /* the engine has ended, its output has not */
	SHIM_KILLING   /* KILL to all, until none is left */
};

struct shim_process {
	struct shim_spec spec;
	struct spool_writer *spool;
	struct shim_engine engine;
	struct spool_exit exit;
	enum shim_phase phase;
	bool engine_ended, discard;
	char cgroup[CGROUP_PATH_MAX];
	int signals; /* signalfd */
	int control; /* piped; -1: none, or it has ended */
	/* Zero: none. */
	struct mono run_end, idle_end, phase_end, workspace_next;
};

/* ---- the end of processes ---- */

static struct mono
shim_after(int64_t ms)
{
	return ms > 0 ? mono_add_ms(clock_mono(), ms) : (struct mono){ 0 };
}

/* Its leader is bubblewrap, with which all in the box are killed. */
static bool
shim_is_boxed(const struct shim_process *p)
{
	return p->spec.spec.sandbox.mode == SANDBOX_BWRAP;
}

static void
shim_terminate(struct shim_process *p)
{
	/* At first bubblewrap is alone. */
	if (!shim_is_boxed(p) ||
	    process_signal_group(p->engine.pid, SIGTERM) == 0)
		(void)kill(-p->engine.pid, SIGTERM);
}

static void
shim_kill(struct shim_process *p)
{
	p->phase = SHIM_KILLING;
	p->phase_end = shim_after(KILL_ROUND_MS);
	if (!p->engine_ended)
		(void)kill(-p->engine.pid, SIGKILL);
	(void)cgroup_kill(p->cgroup);
	(void)process_kill_descendants();
}

static void
shim_begin_stop(struct shim_process *p)
{
	p->phase = SHIM_STOPPING;
	p->phase_end = shim_after(p->spec.grace_ms);
	if (p->phase_end.ns != 0)
		shim_terminate(p);
	else
		shim_kill(p);
}

static void
shim_stop(struct shim_process *p, enum spool_stop why)
{
	if (p->exit.stop == SPOOL_STOP_NONE && !p->engine_ended)
		p->exit.stop = why;
	if (p->phase == SHIM_RUNNING || p->phase == SHIM_CLOSING)
		shim_begin_stop(p);
}

/* The supervisor has closed the engine's stdin, or has died. */
static void
shim_on_control_end(struct shim_process *p)
{
	p->control = -1;
	if (p->phase != SHIM_RUNNING)
		return;
	if (p->exit.stop == SPOOL_STOP_NONE && !p->engine_ended)
		p->exit.stop = SPOOL_STOP_RUNNER;
	p->phase = SHIM_CLOSING;
	p->phase_end = shim_after(p->spec.spec.stdin_grace_ms);
	if (p->phase_end.ns == 0)
		shim_begin_stop(p);
}

static void
shim_on_engine_end(struct shim_process *p, int status)
{
	p->engine_ended = true;
	if (WIFSIGNALED(status))
		p->exit.signal = WTERMSIG(status);
	else
		p->exit.code = WEXITSTATUS(status);
	/* As bubblewrap reports the signal of what it runs. */
	if (shim_is_boxed(p) && p->exit.code > 128) {
		p->exit.signal = p->exit.code - 128;
		p->exit.code = 0;
	}
	if (p->phase == SHIM_KILLING)
		return;
	p->phase = SHIM_LEFT;
	p->phase_end = shim_after(LEFTOVER_MS);
}

/* False: no child is left. */
static bool
shim_reap(struct shim_process *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == p->engine.pid && !p->engine_ended)
			shim_on_engine_end(p, status);
		/* Others end by themselves, too. */
		else if (p->phase == SHIM_KILLING && WIFSIGNALED(status) &&
		    WTERMSIG(status) == SIGKILL && !shim_is_boxed(p))
			p->exit.orphans++;
	}
	return pid == 0 || errno != ECHILD;
}

static void
shim_read_signals(struct shim_process *p)
{
	struct signalfd_siginfo s;

	while (read(p->signals, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo != SIGTERM)
			continue;
		/* Another's is one of a machine that is being shut down. */
		if (s.ssi_code == SI_QUEUE && s.ssi_int > SPOOL_STOP_NONE &&
		    s.ssi_int < SPOOL_STOPS_N)
			shim_stop(p, (enum spool_stop)s.ssi_int);
		else
			shim_stop(p, SPOOL_STOP_RUNNER);
	}
}

/* ---- output ---- */

static void
shim_close_pipe(struct shim_process *p, enum spool_stream stream)
{
	close(p->engine.pipes[stream]);
	p->engine.pipes[stream] = -1;
}

/* As much of n bytes as the limit allows. */
static size_t
shim_allowed(const struct shim_process *p, size_t n)
{
	const uint64_t max = (uint64_t)p->spec.spec.limits.output_bytes;
	uint64_t used = spool_writer_bytes(p->spool) + SPOOL_RECORD_N;

	if (max == 0 || used + n <= max)
		return n;
	return used < max ? (size_t)(max - used) : 0;
}

/* Whether there may be more now. */
static bool
shim_read_pipe(struct shim_process *p, enum spool_stream stream)
{
	char bytes[READ_MAX];
	ssize_t n = read(p->engine.pipes[stream], bytes, sizeof(bytes));
	size_t allowed;

	if (n == -1 && errno == EINTR)
		return true;
	if (n == -1 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		shim_close_pipe(p, stream);
		return false;
	}
	p->idle_end = shim_after(p->spec.spec.limits.idle_ms);
	if (p->discard)
		return true;
	allowed = shim_allowed(p, (size_t)n);
	if ((allowed > 0 &&
		spool_writer_put(p->spool, stream,
		    (struct str){ bytes, allowed }) != RC_OK) ||
	    allowed < (size_t)n) {
		p->discard = true;
		shim_stop(p, SPOOL_STOP_OUTPUT);
	}
	return true;
}

static void
shim_drain_pipes(struct shim_process *p)
{
	for (int s = 0; s < SPOOL_STREAMS_N; s++)
		while (p->engine.pipes[s] != -1 &&
		    shim_read_pipe(p, (enum spool_stream)s))
			;
}

/* ---- limits ---- */

static bool
shim_is_due(struct mono at, struct mono now)
{
	return at.ns != 0 && mono_diff_ns(at, now) <= 0;
}

static void
shim_measure_workspace(struct shim_process *p)
{
	const struct procsup_limits *l = &p->spec.spec.limits;
	struct mono began = clock_mono();
	int64_t took;

	if (workspace_size_over(
		l->workspace, l->workspace_bytes, l->workspace_files))
		shim_stop(p, SPOOL_STOP_WORKSPACE);
	took = mono_diff_ms(clock_mono(), began) * WORKSPACE_SHARE;
	p->workspace_next =
	    shim_after(took > WORKSPACE_MS ? took : WORKSPACE_MS);
}

static void
shim_check_times(struct shim_process *p)
{
	struct mono now = clock_mono();

	if (p->phase == SHIM_RUNNING) {
		if (shim_is_due(p->run_end, now))
			shim_stop(p, SPOOL_STOP_DEADLINE);
		else if (shim_is_due(p->idle_end, now))
			shim_stop(p, SPOOL_STOP_STALLED);
		else if (shim_is_due(p->workspace_next, now))
			shim_measure_workspace(p);
	} else if (!shim_is_due(p->phase_end, now)) {
		return;
	} else if (p->phase == SHIM_CLOSING) {
		shim_begin_stop(p);
	} else {
		shim_kill(p);
	}
}

static int
shim_poll_ms(const struct shim_process *p)
{
	const struct mono times[] = { p->run_end, p->idle_end,
		p->workspace_next };
	struct mono first = p->phase_end;
	int64_t ms;

	if (p->phase == SHIM_RUNNING) {
		first = (struct mono){ 0 };
		for (size_t i = 0; i < NELEM(times); i++)
			if (times[i].ns != 0 &&
			    (first.ns == 0 || times[i].ns < first.ns))
				first = times[i];
	}
	if (first.ns == 0)
		return -1;
	ms = mono_diff_ms(first, clock_mono()) + 1;
	if (ms < 0)
		return 0;
	return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

/* ---- the loop ---- */

static bool
shim_output_ended(const struct shim_process *p)
{
	return p->engine.pipes[SPOOL_OUT] == -1 &&
	    p->engine.pipes[SPOOL_ERR] == -1;
}

static void
shim_wait(struct shim_process *p)
{
	struct pollfd fds[] = {
		{ .fd = p->signals, .events = POLLIN },
		{ .fd = p->engine.pipes[SPOOL_OUT], .events = POLLIN },
		{ .fd = p->engine.pipes[SPOOL_ERR], .events = POLLIN },
		{ .fd = p->control, .events = POLLIN },
	};

	if (poll(fds, NELEM(fds), shim_poll_ms(p)) <= 0)
		return;
	for (int s = 0; s < SPOOL_STREAMS_N; s++)
		if (fds[s + 1].revents != 0)
			(void)shim_read_pipe(p, (enum spool_stream)s);
	if (fds[0].revents != 0)
		shim_read_signals(p);
	if (fds[1 + SPOOL_STREAMS_N].revents != 0)
		shim_on_control_end(p);
}

static void
shim_run(struct shim_process *p)
{
	const struct procsup_limits *l = &p->spec.spec.limits;

	p->run_end = shim_after(l->run_ms);
	p->idle_end = shim_after(l->idle_ms);
	if (l->workspace != NULL &&
	    (l->workspace_bytes > 0 || l->workspace_files > 0))
		p->workspace_next = shim_after(WORKSPACE_MS);
	while (shim_reap(p)) {
		if (p->phase == SHIM_LEFT && shim_output_ended(p))
			shim_kill(p);
		else
			shim_check_times(p);
		shim_wait(p);
	}
	/* Nobody is left who could write. */
	shim_drain_pipes(p);
	for (int s = 0; s < SPOOL_STREAMS_N; s++)
		if (p->engine.pipes[s] != -1)
			shim_close_pipe(p, (enum spool_stream)s);
}

/* ---- start ---- */

/* The reason is output, so that it is shown where an engine's is. */
static void
shim_not_started(struct shim_process *p, const struct shim_engine_error *e)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "shim: cannot start: %s: %s\n",
	    e->step, strerror(e->err));

	p->exit.not_started = true;
	p->exit.code = 127;
	if (n > 0 &&
	    spool_writer_put(
		p->spool, SPOOL_ERR, (struct str){ text, (size_t)n }) != RC_OK)
		p->exit.stop = SPOOL_STOP_OUTPUT;
}

/* From here on the spec is on no descriptor, and none is the runner's. */
static void
shim_set_up_process(struct shim_process *p)
{
	const int last =
	    p->spec.spec.dir != NULL ? SHIM_LOCK_FD : SHIM_PIPES_FD + 2;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t set;

	/* Its stderr stays, for what it would abort with. */
	for (int fd = 0; fd < 2 && null != -1; fd++)
		(void)dup2(null, fd);
	(void)close_range((unsigned)last + 1, ~0U, 0);
	for (int fd = SHIM_LOCK_FD; fd <= last; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	(void)!chdir("/");
	(void)prctl(PR_SET_NAME, "shim");
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)signal(SIGPIPE, SIG_IGN);
	/* Blocked and not read: what a terminal sends to the runner. */
	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGABRT);
	sigdelset(&set, SIGFPE);
	sigdelset(&set, SIGILL);
	(void)sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	p->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* The number and the control group, for a runner that finds it dead. */
static void
shim_write_file(const struct shim_process *p)
{
	char text[32 + CGROUP_PATH_MAX];
	int n =
	    snprintf(text, sizeof(text), "%d\n%s\n", (int)getpid(), p->cgroup);

	if (n > 0)
		(void)!pwrite(SHIM_LOCK_FD, text, (size_t)n, 0);
}

/* A process may be in it for a moment after it was waited for. */
static void
shim_remove_cgroup(const struct shim_process *p)
{
	for (int i = 0; i < REMOVALS_MAX && !cgroup_remove(p->cgroup); i++)
		(void)poll(NULL, 0, 1);
}

/* A descriptor's number; -1: it is none. */
static int
shim_descriptor(const char *text)
{
	int64_t fd;

	return str_to_i64(str_of(text), 0, INT32_MAX, &fd) == RC_OK ? (int)fd
								    : -1;
}

/* ---- the two forms ---- */

/* The engine's output goes to a spool. */
static int
shim_run_spooled(struct shim_process *p)
{
	struct shim_engine_error e;
	int code = EXIT_OK;

	shim_write_file(p);
	if (spool_writer_open(p->spec.spec.dir, &p->spool) != RC_OK)
		return EXIT_SPOOL;
	if (shim_engine_start(&p->spec.spec, p->cgroup, &p->engine, &e) ==
	    RC_OK)
		shim_run(p);
	else
		shim_not_started(p, &e);
	if (spool_writer_end(p->spool, &p->exit) != RC_OK)
		code = EXIT_SPOOL;
	return code;
}

/* The supervisor has the other ends of its pipes. */
static int
shim_run_piped(struct shim_process *p)
{
	struct shim_report r = { .why = "" };
	struct shim_engine_error e;

	p->control = SHIM_CONTROL_FD;
	if (shim_engine_start(&p->spec.spec, p->cgroup, &p->engine, &e) ==
	    RC_OK) {
		shim_run(p);
	} else {
		p->exit.not_started = true;
		p->exit.code = 127;
		(void)snprintf(
		    r.why, sizeof(r.why), "%s: %s", e.step, strerror(e.err));
	}
	r.exit = p->exit;
	return send(SHIM_CONTROL_FD, &r, sizeof(r), MSG_NOSIGNAL) ==
		(ssize_t)sizeof(r)
	    ? EXIT_OK
	    : EXIT_SPOOL;
}

int
procsup_shim_main(int argc, char *argv[])
{
	struct shim_process p = { .engine.pipes = { -1, -1 }, .control = -1 };
	char mark[sizeof(PROCESS_MARK) + 1 + PROCSUP_MARK_MAX];
	int code;

	if (argc == 4 && strcmp(argv[1], SHIM_ENTER) == 0)
		shim_engine_enter(
		    shim_descriptor(argv[2]), shim_descriptor(argv[3]));
	if (shim_spec_read_file(&p.spec, 0) != RC_OK) {
		shim_spec_free(&p.spec);
		return EXIT_SPEC;
	}
	shim_set_up_process(&p);
	(void)cgroup_make(p.spec.spec.mark, p.cgroup);
	(void)snprintf(
	    mark, sizeof(mark), PROCESS_MARK "=%s", p.spec.spec.mark);
	p.spec.env[p.spec.envc++] = mark;
	code =
	    p.spec.spec.dir != NULL ? shim_run_spooled(&p) : shim_run_piped(&p);
	shim_remove_cgroup(&p);
	close(p.signals);
	shim_spec_free(&p.spec);
	return code;
}
