/* Child processes of a test, and waiting. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testkit/testkit.h"
#include "testkit/testkit_internal.h"

#define PROCS_MAX 256
#define STRAYS_MS 2000

extern char **environ;

/* Started by tk_spawn() and not reaped yet; the first ones are shared. */
static pid_t own_procs[PROCS_MAX];
static size_t n_own_procs;
static size_t n_shared;

long long
tk_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void
tk_nap(int ms)
{
	struct timespec t = { 0, (ms < 5 ? ms : 5) * 1000000L };

	nanosleep(&t, NULL);
}

bool
tk_until(bool (*fn)(void *arg), void *arg, int ms)
{
	long long end = tk_now_ms() + ms;
	int nap = 1;

	while (!fn(arg)) {
		if (tk_now_ms() >= end)
			return false;
		tk_nap(nap++);
	}
	return true;
}

/*
 * The "K=V" strings of env before this process's: the first of two equal names
 * counts.
 */
static const char **
join_env(const char *const env[])
{
	size_t n_env = 0;
	size_t n_ours = 0;
	size_t n = 0;
	size_t i;
	size_t k;
	size_t len;
	const char **all;

	while (env != NULL && env[n_env] != NULL)
		n_env++;
	while (environ[n_ours] != NULL)
		n_ours++;
	all = calloc(n_env + n_ours + 1, sizeof(*all));
	if (all == NULL)
		abort();
	for (i = 0; i < n_env; i++)
		all[n++] = env[i];
	for (i = 0; i < n_ours; i++) {
		len = strcspn(environ[i], "=");
		for (k = 0; k < n_env; k++) {
			if (strncmp(env[k], environ[i], len) == 0 &&
			    env[k][len] == '=')
				break;
		}
		if (k == n_env)
			all[n++] = environ[i];
	}
	return all;
}

/* The type of the exec family's argument predates const. */
static char *const *
unconst(const char *const *v)
{
	return (char *const *)(uintptr_t)v;
}

/* In the forked child, before the exec: system calls only. */
static _Noreturn void
proc_exec(const char *const argv[], const char **env, int log, int report,
    pid_t parent)
{
	sigset_t none;
	int err;
	int null;
	int sig;

	/*
	 * Signals ignored by the shell or the test are reset to their defaults.
	 */
	for (sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDONLY);
	if (null == -1 || dup2(null, 0) == -1 || dup2(log, 1) == -1 ||
	    dup2(log, 2) == -1 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		goto out;
	if (null > 2)
		close(null);
	/* If the parent has already died, it is too late for the signal. */
	if (getppid() != parent)
		_exit(127);
	execvpe(argv[0], unconst(argv), unconst(env));
out:
	err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* Name a child and open its log. */
static int
begin_child(struct tk_proc *p, const char *name)
{
	int log;
	int n;

	if (n_own_procs == PROCS_MAX)
		ck_abort_msg("%s: more than %d children", name, PROCS_MAX);
	snprintf(p->name, sizeof(p->name), "%s", name);
	n = snprintf(p->log, sizeof(p->log), "%s/%s.log", tk_dir(), p->name);
	if ((size_t)n >= sizeof(p->log))
		ck_abort_msg("%s: %s: path too long", name, tk_dir());
	log = open(p->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log == -1)
		ck_abort_msg("%s: %s", p->log, strerror(errno));
	return log;
}

void
tk_fork(struct tk_proc *p, const char *name, int (*fn)(void *arg), void *arg)
{
	pid_t parent = getpid();
	int log = begin_child(p, name);

	fflush(NULL);
	p->pid = fork();
	if (p->pid == -1)
		ck_abort_msg("fork: %s", strerror(errno));
	if (p->pid == 0) {
		tk_proc_disown();
		if (dup2(log, 1) == -1 || dup2(log, 2) == -1 ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
		    getppid() != parent)
			_exit(127);
		exit(fn(arg));
	}
	close(log);
	own_procs[n_own_procs++] = p->pid;
}

void
tk_spawn(struct tk_proc *p, const char *name, const char *const argv[],
    const char *const env[])
{
	pid_t parent = getpid();
	int log = begin_child(p, name);
	const char **all;
	int err = 0;
	int report[2];
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) != 0)
		ck_abort_msg("%s: %s", name, strerror(errno));
	all = join_env(env);
	p->pid = fork();
	if (p->pid == 0)
		proc_exec(argv, all, log, report[1], parent);
	free(all);
	close(log);
	close(report[1]);
	if (p->pid == -1)
		ck_abort_msg("fork: %s", strerror(errno));
	own_procs[n_own_procs++] = p->pid;
	/* Ends at the exec, which closes the pipe, or with its errno. */
	do
		n = read(report[0], &err, sizeof(err));
	while (n == -1 && errno == EINTR);
	close(report[0]);
	if (n != 0)
		ck_abort_msg("%s: %s", argv[0], strerror(err));
}

void
tk_signal(struct tk_proc *p, int sig)
{
	if (p->pid <= 0 || kill(p->pid, sig) != 0)
		ck_abort_msg(
		    "%s (pid %d) is not running", p->name, (int)p->pid);
}

static void
proc_forget(pid_t pid)
{
	size_t i;

	for (i = 0; i < n_own_procs; i++) {
		if (own_procs[i] != pid)
			continue;
		if (i < n_shared) {
			own_procs[i] = own_procs[--n_shared];
			i = n_shared;
		}
		own_procs[i] = own_procs[--n_own_procs];
		return;
	}
}

int
tk_wait(struct tk_proc *p, int ms)
{
	long long end = tk_now_ms() + ms;
	int nap = 1;
	int status;
	pid_t got;

	if (p->pid <= 0)
		ck_abort_msg("%s is not running", p->name);
	for (;;) {
		got = waitpid(p->pid, &status, WNOHANG);
		if (got == p->pid)
			break;
		if (got == -1 && errno != EINTR)
			ck_abort_msg("%s: %s", p->name, strerror(errno));
		if (tk_now_ms() >= end)
			return -1;
		tk_nap(nap++);
	}
	proc_forget(p->pid);
	p->pid = -1;
	/* Not an assertion: shared processes end after the tests. */
	if (tk_log_has(p, "ev=state.blocks_loop"))
		return -2;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

bool
tk_log_has(const struct tk_proc *p, const char *text)
{
	size_t n;
	char *log;
	bool has;

	log = tk_read_file(p->log, &n);
	has = memmem(log, n, text, strlen(text)) != NULL;
	free(log);
	return has;
}

void
tk_proc_end_own(void)
{
	size_t i;

	for (i = n_shared; i < n_own_procs; i++)
		(void)kill(own_procs[i], SIGKILL);
	for (i = n_shared; i < n_own_procs; i++)
		(void)waitpid(own_procs[i], NULL, 0);
	n_own_procs = n_shared;
}

void
tk_proc_share(void)
{
	n_shared = n_own_procs;
}

void
tk_proc_unshare(void)
{
	n_shared = 0;
}

void
tk_proc_disown(void)
{
	n_own_procs = 0;
	n_shared = 0;
}

static bool
is_shared(pid_t pid)
{
	size_t i;

	for (i = 0; i < n_shared; i++) {
		if (own_procs[i] == pid)
			return true;
	}
	return false;
}

/*
 * The parent of a process and whether it is a zombie; 0 if it does not exist.
 */
static pid_t
parent_of(pid_t pid, bool *zombie)
{
	char path[64];
	char buf[512];
	char state;
	char *p;
	size_t n;
	FILE *f;
	int ppid;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	n = fread(buf, 1, sizeof(buf) - 1, f);
	fclose(f);
	buf[n] = '\0';
	/*
	 * The name in parentheses may contain anything, parentheses included.
	 */
	p = strrchr(buf, ')');
	if (p == NULL || sscanf(p, ") %c %d", &state, &ppid) != 2)
		return 0;
	*zombie = state == 'Z';
	return ppid;
}

bool
tk_alive(const struct tk_proc *p)
{
	bool zombie;

	return p->pid > 0 && parent_of(p->pid, &zombie) != 0 && !zombie;
}

/*
 * Kill children of this process that do not belong to the program, and reap the
 * dead. Returns their number; *living is the number that still ran.
 */
static int
end_children(int *living)
{
	struct dirent *e;
	bool zombie;
	pid_t pid;
	int n = 0;
	DIR *d;

	*living = 0;
	d = opendir("/proc");
	if (d == NULL)
		return 0;
	while ((e = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (parent_of(pid, &zombie) != getpid() || is_shared(pid))
			continue;
		n++;
		if (!zombie) {
			(void)kill(pid, SIGKILL);
			*living += 1;
		}
		(void)waitpid(pid, NULL, 0);
	}
	closedir(d);
	return n;
}

int
tk_proc_end_strays(void)
{
	long long end = tk_now_ms() + STRAYS_MS;
	int strays = 0;
	int living;

	/* The children of a killed process may be reparented to this one. */
	while (end_children(&living) > 0 && tk_now_ms() < end) {
		strays += living;
		tk_nap(1);
	}
	return strays;
}

long
tk_proc_status(pid_t pid, const char *key)
{
	char path[64], want[64], *text, *at;
	long v;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	snprintf(want, sizeof(want), "\n%s:", key);
	text = tk_read_file(path, NULL);
	at = strstr(text, want);
	ck_assert_msg(at != NULL, "no %s of %d", key, (int)pid);
	v = strtol(at + strlen(want), NULL, 10);
	free(text);
	return v;
}
