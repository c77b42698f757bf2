/*
 * testkit: the base of all tests: test registration, a temporary folder, child
 * processes, real servers on free ports, waiting for conditions.
 *
 * TEST(name) { … } defines a test; no list has to be maintained. Each test runs
 * in a forked process of its own (Check), with the timeout TK_TIMEOUT. Children
 * started through the testkit die with the test that started them; a fixture
 * shared by all tests of a program is started and stopped by TK_SHARE().
 */
#ifndef TESTKIT_H
#define TESTKIT_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tk_test {
	TTest check; /* name, function, file and line, as Check requires */
	void (*fn)(void);
	double timeout_s;
	struct tk_test *next;
};

/* Register a test; called by TEST before main(). */
void tk_test_add(struct tk_test *t);

#define TK_TIMEOUT 30

/* A self-registering test function; TEST_T has its own timeout in seconds. */
#define TEST(name) TEST_T(name, TK_TIMEOUT)
#define TEST_T(id, seconds)                                                    \
	static void id(void);                                                  \
	__attribute__((constructor)) static void tk_add_##id(void)             \
	{                                                                      \
		static struct tk_test t = { { #id, NULL, __FILE__, __LINE__ }, \
			id, (seconds), NULL };                                 \
		tk_test_add(&t);                                               \
	}                                                                      \
	static void id(void)

/*
 * Something that all tests of a program share, at most one in a program:
 * begin:  makes it, before the first test, in the program's own process; what
 *         it started, its ports and its folder stay until the program ends,
 *         and its global variables are as they were then in every test.
 * check:  asked in each test's process after the test: it fails a test that
 *         broke what is shared (ck_assert); may be NULL.
 * end:    ends it, after the last test; the text it returns (NULL: all is
 *         well) fails the program.  Children that still run are killed then.
 * If begin fails, so do all tests.
 */
struct tk_share {
	void (*begin)(void);
	void (*check)(void);
	const char *(*end)(void);
};

/* Register it; called by TK_SHARE before main(). */
void tk_share_set(const struct tk_share *s);

#define TK_SHARE(begin_fn, check_fn, end_fn)                               \
	__attribute__((constructor)) static void tk_set_share(void)        \
	{                                                                  \
		static const struct tk_share s = { (begin_fn), (check_fn), \
			(end_fn) };                                        \
		tk_share_set(&s);                                          \
	}

/*
 * tk_dir(): The test's own temporary folder, empty at first and removed after
 * the test.
 * tk_path(name): "<tk_dir()>/name"; valid until the test ends.
 */
const char *tk_dir(void);
const char *tk_path(const char *name);

/* tk_write_file(path, text): Create or replace a file, at once. */
void tk_write_file(const char *path, const char *text);

/* tk_read_file(path): Its content, NUL-terminated, freed by the caller. */
char *tk_read_file(const char *path, size_t *n);

/* tk_port(): A free TCP port on 127.0.0.1. */
int tk_port(void);

/*
 * tk_port_shift(ports, n): A number that, added to each of the ports, gives
 * free ones.
 */
int tk_port_shift(const int *ports, size_t n);

/* Whether a TCP connect to 127.0.0.1:port succeeds. */
bool tk_port_open(int port);

/* A connected TCP socket to 127.0.0.1:port with 1 s deadlines, or -1. */
int tk_connect(int port);

/*
 * tk_until(fn, arg, ms): Call fn(arg) every few milliseconds until it returns
 * true (result true) or ms have passed (false). Tests wait with this function
 * only.
 */
bool tk_until(bool (*fn)(void *arg), void *arg, int ms);

/* tk_bin(name): Path of a program of the suite, of this build variant. */
const char *tk_bin(const char *name);

/* A child process; its output goes to <tk_dir()>/<name>.log. */
struct tk_proc {
	pid_t pid;
	char name[32];
	char log[256];
};

/*
 * tk_spawn(p, name, argv, env): Start argv[0] with the parent's environment
 * plus env ("K=V" strings, NULL-terminated; NULL for none).
 */
void tk_spawn(struct tk_proc *p, const char *name, const char *const argv[],
    const char *const env[]);

/*
 * tk_fork(p, name, fn, arg): The same for a process that runs fn(arg) and exits
 * with its result. Must be called before the test creates a thread.
 */
void tk_fork(
    struct tk_proc *p, const char *name, int (*fn)(void *arg), void *arg);

/*
 * tk_proc_status(pid, key): A number of /proc/<pid>/status, "VmRSS" (KiB) or
 * "Threads"; fails the test if it is missing.
 */
long tk_proc_status(pid_t pid, const char *key);

/* tk_signal(p, sig): Send a signal. */
void tk_signal(struct tk_proc *p, int sig);

/*
 * tk_wait(p, ms): Wait for the process to end: its exit code, 128 + signal, -1
 * on timeout, -2 if it is a service whose loop has waited for Redis.
 */
int tk_wait(struct tk_proc *p, int ms);

/* tk_alive(p): Whether it is running; works for shared processes, too. */
bool tk_alive(const struct tk_proc *p);

/* tk_log_has(p, text): Whether the child's output contains text so far. */
bool tk_log_has(const struct tk_proc *p, const char *text);

/* TK_MOSQUITTO_PERSISTENT saves its state each second. */
enum tk_server_kind {
	TK_NATS,
	TK_REDIS,
	TK_MOSQUITTO,
	TK_MOSQUITTO_PERSISTENT
};

/* A server on 127.0.0.1 with its data in the temporary folder. */
struct tk_server {
	enum tk_server_kind kind;
	int port;
	char url[64];           /* nats://, redis://, mqtt://127.0.0.1:port */
	char conf[256];         /* file of further settings; empty: none */
	const char *const *env; /* of further variables; NULL: none */
	struct tk_proc proc;
};

/*
 * tk_server_start(s, kind): Start it on a free port and wait until it replies.
 * tk_server_start_with(s, kind, text): The same with further settings in the
 * format of the server's configuration file; not for mosquitto.
 * tk_server_start_env(s, kind, env): The same with further variables, "K=V",
 * which live as long as the server.
 * tk_server_restart(s): Start it again with the same port, settings and data.
 * tk_server_stop(s, sig): Signal it (SIGKILL included) and wait for its end.
 */
void tk_server_start(struct tk_server *s, enum tk_server_kind kind);
void tk_server_start_with(
    struct tk_server *s, enum tk_server_kind kind, const char *text);
void tk_server_start_env(
    struct tk_server *s, enum tk_server_kind kind, const char *const *env);
void tk_server_restart(struct tk_server *s);
void tk_server_stop(struct tk_server *s, int sig);

#endif /* !TESTKIT_H */
