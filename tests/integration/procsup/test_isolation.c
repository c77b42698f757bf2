/*
 * A hostile engine: what it tries is refused, or the report of the sandbox has
 * that it is not enforced here.  As root, and as another user.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "testkit/procsup_fixture.h"
#include "testkit/testkit.h"

static struct procsup_fixture fixture;
static struct attempt run, other;
static const struct sandbox_report *report;

/* What is attacked. */
struct victims {
	int tcp, tcp_port, allowed, allowed_port, udp, udp_port;
	int local, abstract;
	char abstract_name[64];
};
static struct victims victims;

static int
victim_inet(int type, int *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)(const void *)&at, n), 0);
	ck_assert_int_eq(
	    getsockname(fd, (struct sockaddr *)(void *)&at, &n), 0);
	if (type == SOCK_STREAM)
		ck_assert_int_eq(listen(fd, 8), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

static int
victim_unix(const char *path, bool abstract)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n;

	snprintf(at.sun_path + abstract, sizeof(at.sun_path) - 1, "%s", path);
	n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	    strlen(path));
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)(const void *)&at, n), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

static void
victims_begin(void)
{
	struct victims *v = &victims;

	v->tcp = victim_inet(SOCK_STREAM, &v->tcp_port);
	v->allowed = victim_inet(SOCK_STREAM, &v->allowed_port);
	v->udp = victim_inet(SOCK_DGRAM, &v->udp_port);
	v->local = victim_unix(tk_path("socket"), false);
	snprintf(v->abstract_name, sizeof(v->abstract_name), "soul-test-%d",
	    (int)getpid());
	v->abstract = victim_unix(v->abstract_name, true);
	tk_write_file(tk_path("key"), "secret");
	ck_assert_int_eq(chmod(tk_path("key"), 0644), 0);
}

static void
victims_end(void)
{
	close(victims.tcp);
	close(victims.allowed);
	close(victims.udp);
	close(victims.local);
	close(victims.abstract);
}

/* False: the machine has not what the mode requires. */
static bool
hostile_begin(enum sandbox_mode mode)
{
	procsup_begin(&fixture, 500);
	attempt_prepare(&other, &fixture, "other");
	attempt_prepare(&run, &fixture, "run");
	victims_begin();
	report = attempt_isolate(&run, mode);
	if (report == NULL)
		return false;
	run.spec.sandbox.tcp_port = victims.allowed_port;
	printf("# %s, Landlock ABI %d, uid %d, not enforced:",
	    sandbox_mode_name(report->mode), report->landlock_abi,
	    (int)getuid());
	for (int i = 0; i < SANDBOX_RULES_N; i++)
		if (!sandbox_enforces(report, (enum sandbox_rule)i))
			printf(" %s", sandbox_rule_name((enum sandbox_rule)i));
	printf("\n");
	return true;
}

static void
hostile_end(void)
{
	victims_end();
	attempt_release(&run);
	attempt_release(&other);
	procsup_end(&fixture);
}

/* ---- what it tries ---- */

struct trial {
	char step[400];
	enum sandbox_rule rule; /* SANDBOX_RULES_N: it is allowed */
};
static struct trial trials[ATTEMPT_STEPS];
static size_t n_trials;

__attribute__((format(printf, 2, 3))) static void
trial_add(enum sandbox_rule rule, const char *fmt, ...)
{
	struct trial *t = &trials[n_trials++];
	va_list ap;

	ck_assert_uint_le(n_trials, ATTEMPT_STEPS);
	t->rule = rule;
	va_start(ap, fmt);
	vsnprintf(t->step, sizeof(t->step), fmt, ap);
	va_end(ap);
}

static void
trial_check(const struct trial *t)
{
	const char *equals = strchr(t->step, '=') != NULL ? "" : "=";
	char line[500];

	snprintf(line, sizeof(line), "%.400s%s: %s", t->step, equals,
	    t->rule == SANDBOX_RULES_N ? "done" : "refused (");
	if (attempt_has(&run, line))
		return;
	ck_assert_msg(
	    t->rule != SANDBOX_RULES_N && !sandbox_enforces(report, t->rule),
	    "%s: %s", t->step, attempt_out(&run));
	printf("# not refused here: %s\n", t->step);
}

static void
trials_run(void)
{
	const char *steps[ATTEMPT_STEPS + 1] = { NULL };
	size_t i;

	for (i = 0; i < n_trials; i++)
		steps[i] = trials[i].step;
	attempt_run(&run, steps);
	ck_assert(!run.exit.not_started);
	for (i = 0; i < n_trials; i++)
		trial_check(&trials[i]);
}

static void
try_files(void)
{
	trial_add(SANDBOX_FILES, "read=/etc/shadow");
	trial_add(SANDBOX_FILES, "read=%s", tk_path("key"));
	trial_add(SANDBOX_FILES, "write=%s", tk_path("key"));
	trial_add(SANDBOX_FILES, "list=%s", other.dir);
	trial_add(SANDBOX_FILES, "write=%s/x", other.work);
	trial_add(SANDBOX_FILES, "list=%s", run.spool);
	trial_add(SANDBOX_FILES, "write=%s/journal", run.spool);
	trial_add(SANDBOX_TRUNCATE, "truncate=%s/journal", run.spool);
	trial_add(SANDBOX_FILES, "list=/root");
	trial_add(SANDBOX_FILES, "list=/tmp");
	trial_add(SANDBOX_FILES, "write=/usr/bin/x");
	trial_add(SANDBOX_FILES, "read=/dev/mem");
	trial_add(SANDBOX_FILES, "read=/etc/ssl/private");
	trial_add(SANDBOX_RULES_N, "write=mine");
	trial_add(SANDBOX_RULES_N, "read=mine");
	trial_add(SANDBOX_RULES_N, "truncate=mine");
	trial_add(SANDBOX_RULES_N, "read=/etc/passwd");
	trial_add(SANDBOX_RULES_N, "write=/dev/null");
	trials_run();
}

static void
try_processes(void)
{
	const int self = (int)getpid();

	trial_add(SANDBOX_MEMORY, "read=/proc/%d/environ", self);
	trial_add(SANDBOX_MEMORY, "list=/proc/%d/cwd", self);
	trial_add(SANDBOX_MEMORY, "read=/proc/%d/maps", self);
	trial_add(SANDBOX_MEMORY, "read=/proc/%d/mem", self);
	trial_add(SANDBOX_MEMORY, "memory=%d", self);
	trial_add(SANDBOX_SIGNALS, "signal=%d", self);
	trial_add(SANDBOX_PRIVILEGES, "gain");
	trial_add(SANDBOX_PRIVILEGES, "descriptors");
	trial_add(SANDBOX_RULES_N, "read=/proc/self/environ");
	trials_run();
}

static void
try_sockets(void)
{
	trial_add(SANDBOX_TCP, "tcp=%d", victims.tcp_port);
	trial_add(SANDBOX_RULES_N, "tcp=%d", victims.allowed_port);
	trial_add(SANDBOX_UDP, "udp=%d", victims.udp_port);
	trial_add(SANDBOX_UNIX, "unix=%s", tk_path("socket"));
	trial_add(SANDBOX_ABSTRACT, "abstract=%s", victims.abstract_name);
	trial_add(SANDBOX_RULES_N, "listen=own");
	trial_add(SANDBOX_RULES_N, "netlink");
	trials_run();
}

static void
try_resources(void)
{
	run.spec.sandbox.processes = 200;
	run.spec.sandbox.file_bytes = 1 << 20;
	trial_add(SANDBOX_FILE_SIZE, "fill=16000000");
	trial_add(SANDBOX_PROCESSES, "forks=400");
	trial_add(SANDBOX_RULES_N, "daemon");
	/* If nothing is left for it. */
	if (sandbox_enforces(report, SANDBOX_PROCESSES))
		n_trials--;
	trials_run();
}

static void
hostile_test(enum sandbox_mode mode, bool drop_root, void (*try)(void))
{
	if (drop_root)
		procsup_drop_root();
	if (hostile_begin(mode))
		try();
	hostile_end();
}

#define AS_ROOT_AND_NOBODY(what)                                      \
	TEST(what##_are_denied)                                       \
	{                                                             \
		hostile_test(SANDBOX_LANDLOCK, false, try_##what);    \
	}                                                             \
	TEST(what##_are_denied_to_an_unprivileged_engine)             \
	{                                                             \
		hostile_test(SANDBOX_LANDLOCK, true, try_##what);     \
	}                                                             \
	TEST(what##_are_denied_in_bubblewrap)                         \
	{                                                             \
		hostile_test(SANDBOX_BWRAP, false, try_##what);       \
	}                                                             \
	TEST(what##_are_denied_in_bubblewrap_of_an_unprivileged_user) \
	{                                                             \
		hostile_test(SANDBOX_BWRAP, true, try_##what);        \
	}

AS_ROOT_AND_NOBODY(files)
AS_ROOT_AND_NOBODY(processes)
AS_ROOT_AND_NOBODY(sockets)
AS_ROOT_AND_NOBODY(resources)

/* So that a test of what is refused cannot pass because all is. */
TEST(without_a_sandbox_they_are_done)
{
	ck_assert(hostile_begin(SANDBOX_NONE));
	run.spec.sandbox.tcp_port = -1;
	trial_add(SANDBOX_RULES_N, "read=%s", tk_path("key"));
	trial_add(SANDBOX_RULES_N, "list=%s", other.dir);
	trial_add(SANDBOX_RULES_N, "list=%s", run.spool);
	trial_add(SANDBOX_RULES_N, "read=/proc/%d/environ", (int)getpid());
	trial_add(SANDBOX_RULES_N, "signal=%d", (int)getpid());
	trial_add(SANDBOX_RULES_N, "tcp=%d", victims.tcp_port);
	trial_add(SANDBOX_RULES_N, "udp=%d", victims.udp_port);
	trial_add(SANDBOX_RULES_N, "unix=%s", tk_path("socket"));
	trial_add(SANDBOX_RULES_N, "abstract=%s", victims.abstract_name);
	trials_run();
	hostile_end();
}

/* A shell, which needs libraries, /dev/null, a pipe and its folder. */
static void
try_shell(void)
{
	static const char *const argv[] = { "/bin/sh", "-c",
		"echo one | tr o 0 >file 2>/dev/null && cat <file && "
		"mkdir folder && mv file folder/ && ls folder && "
		"date +%Z >/dev/null && rm -r folder",
		NULL };

	run.spec.argv = argv;
	attempt_start(&run);
	attempt_await_end(&run);
	ck_assert_str_eq(attempt_out(&run), "0ne\nfile\n");
	ck_assert_str_eq(attempt_err(&run), "");
	ck_assert_int_eq(run.exit.code, 0);
}

TEST(programs_of_the_system_run)
{
	hostile_test(SANDBOX_LANDLOCK, true, try_shell);
}

TEST(programs_of_the_system_run_in_bubblewrap)
{
	hostile_test(SANDBOX_BWRAP, true, try_shell);
}

/* Only where their number is limited. */
static void
try_bomb(void)
{
	if (!sandbox_enforces(report, SANDBOX_PROCESSES))
		return;
	run.spec.sandbox.processes = 60;
	attempt_steps(&run, STEPS("ignore", "bomb"));
	attempt_start(&run);
	attempt_await_text(&run, "bomb\n");
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
}

TEST(a_fork_bomb_is_stopped)
{
	hostile_test(SANDBOX_LANDLOCK, true, try_bomb);
}

TEST(a_fork_bomb_is_stopped_in_bubblewrap)
{
	hostile_test(SANDBOX_BWRAP, true, try_bomb);
}

/* ---- the end in bubblewrap, whose first process is not the engine ---- */

static void
try_polite(void)
{
	attempt_steps(&run, STEPS("polite", "daemon", "out=up", "silent"));
	attempt_start(&run);
	attempt_await_text(&run, "up");
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert(attempt_has(&run, "bye\n"));
	ck_assert_int_eq(run.exit.code, 7);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_CANCELED);
}

TEST(an_engine_ends_itself_after_term)
{
	hostile_test(SANDBOX_LANDLOCK, false, try_polite);
}

TEST(an_engine_ends_itself_after_term_in_bubblewrap)
{
	hostile_test(SANDBOX_BWRAP, false, try_polite);
}

static void
try_signal(void)
{
	attempt_run(&run, STEPS("out=x", "die=11"));
	ck_assert_int_eq(run.exit.signal, SIGSEGV);
	ck_assert_int_eq(run.exit.code, 0);
}

TEST(a_signal_in_bubblewrap_is_a_signal)
{
	hostile_test(SANDBOX_BWRAP, false, try_signal);
}

static void
try_missing(void)
{
	run.argv[0] = "/usr/bin/no-such-engine";
	attempt_run(&run, STEPS("out=x"));
	ck_assert(run.exit.not_started);
	ck_assert_str_eq(attempt_err(&run),
	    "shim: cannot start: /usr/bin/no-such-engine: "
	    "No such file or directory\n");
}

TEST(an_engine_that_is_missing_in_bubblewrap_is_an_end)
{
	hostile_test(SANDBOX_BWRAP, false, try_missing);
}

static void
try_shim_kill(void)
{
	attempt_steps(
	    &run, STEPS("ignore", "child", "daemon", "out=up", "silent"));
	attempt_start(&run);
	attempt_await_text(&run, "up");
	ck_assert_int_eq(kill(attempt_shim_pid(&run), SIGKILL), 0);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
}

TEST(a_killed_shim_leaves_nothing_in_bubblewrap)
{
	hostile_test(SANDBOX_BWRAP, false, try_shim_kill);
}

static void
try_stop(void)
{
	attempt_steps(
	    &run, STEPS("ignore", "child", "daemon", "out=up", "silent"));
	attempt_start(&run);
	attempt_await_text(&run, "up");
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.signal, SIGKILL);
	ck_assert_int_eq(run.exit.orphans, 0);
}

static void
try_stop_early(void)
{
	attempt_steps(&run, STEPS("out=up", "silent"));
	attempt_start(&run);
	procsup_stop(run.shim, SPOOL_STOP_CANCELED);
	attempt_await_end(&run);
	ck_assert_int_eq(run.exit.stop, SPOOL_STOP_CANCELED);
}

TEST(a_stop_right_after_the_start_works_in_bubblewrap)
{
	hostile_test(SANDBOX_BWRAP, false, try_stop_early);
}

TEST(a_stop_leaves_nothing_in_bubblewrap)
{
	hostile_test(SANDBOX_BWRAP, false, try_stop);
}
