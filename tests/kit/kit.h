/*
 * kit: what tests share: test registration, a temporary folder, child
 * processes, real servers on free ports, waiting for conditions.
 *
 * KIT_TEST(name) { … } is a test; there is no list to keep.  Each test runs in
 * a forked process of its own (Check), with the timeout KIT_TIMEOUT.  Children
 * started through the kit die with the test that started them; what all tests
 * of a program share is made and ended by KIT_SHARE().
 */
#ifndef KIT_KIT_H
#define KIT_KIT_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kit_test {
	TTest check; /* name, function, file and line, as Check wants them */
	void (*fn)(void);
	double timeout_s;
	struct kit_test *next;
};

/* Add a test; called by KIT_TEST before main(). */
void kit_test_add(struct kit_test *t);

#define KIT_TIMEOUT 30

/* A test function, registered by itself; T: with its own timeout in seconds. */
#define KIT_TEST(name) KIT_TEST_T(name, KIT_TIMEOUT)
#define KIT_TEST_T(id, seconds)                                                \
	static void id(void);                                                  \
	__attribute__((constructor)) static void kit_add_##id(void)            \
	{                                                                      \
		static struct kit_test t = {                                   \
			{ #id, NULL, __FILE__, __LINE__ }, id, (seconds), NULL \
		};                                                             \
		kit_test_add(&t);                                              \
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
struct kit_share {
	void (*begin)(void);
	void (*check)(void);
	const char *(*end)(void);
};

/* Set it; called by KIT_SHARE before main(). */
void kit_share_set(const struct kit_share *s);

#define KIT_SHARE(begin_fn, check_fn, end_fn)                               \
	__attribute__((constructor)) static void kit_set_share(void)        \
	{                                                                   \
		static const struct kit_share s = { (begin_fn), (check_fn), \
			(end_fn) };                                         \
		kit_share_set(&s);                                          \
	}

/*
 * kit_dir(): This test's own empty temporary folder, removed with it.
 * kit_path(name): "<kit_dir()>/name"; valid until the test ends.
 */
const char *kit_dir(void);
const char *kit_path(const char *name);

/* kit_write_file(path, text): Create or replace a file; fails the test. */
void kit_write_file(const char *path, const char *text);

/* kit_read_file(path): Its content, NUL-terminated, freed by the caller. */
char *kit_read_file(const char *path, size_t *n);

/* kit_port(): A TCP port on 127.0.0.1 that is free now. */
int kit_port(void);

/* Whether a TCP connect to 127.0.0.1:port succeeds. */
bool kit_port_open(int port);

/* A connected TCP socket to 127.0.0.1:port with 1 s deadlines, or -1. */
int kit_connect(int port);

/*
 * kit_until(fn, arg, ms):
 * Ask fn(arg) every few milliseconds until it is true (returns true) or ms have
 * passed (false).  The one way of waiting in tests.
 */
bool kit_until(bool (*fn)(void *arg), void *arg, int ms);

/* kit_bin(name): Path of a program of the suite, of this build variant. */
const char *kit_bin(const char *name);

/* A child process; its output goes to <kit_dir()>/<name>.log. */
struct kit_proc {
	pid_t pid;
	char name[32];
	char log[256];
};

/*
 * kit_spawn(p, name, argv, env):
 * Start argv[0] with the parent's environment plus env ("K=V" strings, NULL at
 * the end; NULL for none).
 */
void kit_spawn(struct kit_proc *p, const char *name, const char *const argv[],
    const char *const env[]);

/*
 * kit_fork(p, name, fn, arg):
 * The same for a process that runs fn(arg) and exits with what it returns.
 * Before the test has made a thread.
 */
void kit_fork(
    struct kit_proc *p, const char *name, int (*fn)(void *arg), void *arg);

/*
 * kit_proc_status(pid, key):
 * A number of /proc/<pid>/status, "VmRSS" (KiB) or "Threads"; fails the test if
 * there is none.
 */
long kit_proc_status(pid_t pid, const char *key);

/* kit_signal(p, sig): Send a signal. */
void kit_signal(struct kit_proc *p, int sig);

/* kit_wait(p, ms): Wait for the end: exit code, 128 + signal, -1 on timeout. */
int kit_wait(struct kit_proc *p, int ms);

/* kit_alive(p): Whether it still runs; also what the tests share. */
bool kit_alive(const struct kit_proc *p);

/* kit_log_has(p, text): Whether the child's output contains text so far. */
bool kit_log_has(const struct kit_proc *p, const char *text);

/* KIT_MOSQUITTO forgets everything when it ends, …_KEEP saves each second. */
enum kit_server_kind { KIT_NATS, KIT_REDIS, KIT_MOSQUITTO, KIT_MOSQUITTO_KEEP };

/* A server on 127.0.0.1 with its data in the temporary folder. */
struct kit_server {
	enum kit_server_kind kind;
	int port;
	char url[64];   /* nats://, redis://, mqtt://127.0.0.1:port */
	char conf[256]; /* a file of more settings; empty: none */
	struct kit_proc proc;
};

/*
 * kit_server_start(s, kind): Start it on a free port and wait until it answers.
 * kit_server_start_with(s, kind, text):
 *                            The same with more settings, as the server's own
 *                            configuration has them; not for mosquitto.
 * kit_server_restart(s):     Start it again, same port, settings and data.
 * kit_server_stop(s, sig):   Signal it (SIGKILL included) and wait for its end.
 */
void kit_server_start(struct kit_server *s, enum kit_server_kind kind);
void kit_server_start_with(
    struct kit_server *s, enum kit_server_kind kind, const char *text);
void kit_server_restart(struct kit_server *s);
void kit_server_stop(struct kit_server *s, int sig);

#endif /* !KIT_KIT_H */
