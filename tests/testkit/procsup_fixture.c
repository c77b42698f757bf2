/*
 * procsup_fixture: see procsup_fixture.h.
 */
#include "testkit/procsup_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "procsup/process_table.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define OUT_MAX (64UL * 1024 * 1024)
#define NOBODY  65534

extern char **environ;

/* Before main(), which would run tests. */
__attribute__((constructor)) static void
fixture_run_shim(int argc, char *argv[])
{
	if (argc > 1 && strcmp(argv[1], "shim") == 0)
		exit(procsup_shim_main(argc - 1, argv + 1));
}

void
procsup_begin(struct procsup_fixture *f, int64_t grace_ms)
{
	struct procsup_opts o = { .env = (const char *const *)environ,
		.stop_grace_ms = grace_ms };

	f->loop = o.loop = loop_new(64);
	ck_assert_int_eq(procsup_new(&o, &f->procsup), RC_OK);
}

void
procsup_end(struct procsup_fixture *f)
{
	procsup_free(f->procsup);
	loop_free(f->loop);
}

/* The folders of a run of the tests are root's alone. */
static void
fixture_open_folders(void)
{
	char path[400];
	char *p;

	snprintf(path, sizeof(path), "%s", tk_dir());
	p = strstr(path, "/soul-test-");
	while (p != NULL && (p = strchr(p + 1, '/')) != NULL) {
		*p = '\0';
		ck_assert_int_eq(chmod(path, 0711), 0);
		*p = '/';
	}
}

void
procsup_drop_root(void)
{
	if (getuid() != 0)
		return;
	fixture_open_folders();
	ck_assert_int_eq(chown(tk_dir(), NOBODY, NOBODY), 0);
	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setgid(NOBODY), 0);
	ck_assert_int_eq(setuid(NOBODY), 0);
	/* /proc/self/exe and environ are root's otherwise. */
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

/* ---- attempts ---- */

static const char *
fixture_player(void)
{
	static const char *path;

	if (path == NULL)
		path = tk_bin("engine-play");
	return path;
}

static void
attempt_folder(const struct attempt *a, const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s%s%s", a->dir,
	    name[0] != '\0' ? "/" : "", name);
	if (mkdir(path, 0700) != 0)
		ck_abort_msg("%s: %s", path, strerror(errno));
}

/* A variable of this process, for its children. */
static void
attempt_pass_env(struct attempt *a, const char *name)
{
	size_t n = 0;

	for (char **e = environ; *e != NULL; e++) {
		if (strncmp(*e, name, strlen(name)) != 0 ||
		    (*e)[strlen(name)] != '=')
			continue;
		while (a->env[n] != NULL)
			n++;
		a->env[n] = *e;
	}
}

void
attempt_prepare(struct attempt *a, struct procsup_fixture *f, const char *name)
{
	*a = (struct attempt){ .fixture = f };
	snprintf(a->mark, sizeof(a->mark), "%s-%d.1", name, (int)getpid());
	snprintf(a->dir, sizeof(a->dir), "%s/%s", tk_dir(), name);
	snprintf(a->spool, sizeof(a->spool), "%s/1", a->dir);
	snprintf(a->work, sizeof(a->work), "%s/work", a->dir);
	attempt_folder(a, "");
	attempt_folder(a, "1");
	attempt_folder(a, "work");
	attempt_folder(a, "home");
	attempt_folder(a, "tmp");
	buf_init(&a->out[SPOOL_OUT], OUT_MAX);
	buf_init(&a->out[SPOOL_ERR], OUT_MAX);
	a->argv[0] = fixture_player();
	a->env[0] = "PATH=/usr/bin:/bin";
	/* Leftovers are found by it. */
	attempt_pass_env(a, "SOUL_TEST_RUN");
	a->spec = (struct procsup_spec){ .dir = a->spool,
		.mark = a->mark,
		.argv = a->argv,
		.env = a->env,
		.cwd = a->work,
		.sandbox = { .mode = SANDBOX_NONE, .tcp_port = -1 } };
}

void
attempt_steps(struct attempt *a, const char *const *steps)
{
	size_t n = 0;

	for (; steps[n] != NULL; n++) {
		ck_assert_uint_lt(n, ATTEMPT_STEPS);
		a->argv[n + 1] = steps[n];
	}
	a->argv[n + 1] = NULL;
}

static void
attempt_on_chunk(void *arg, const struct spool_chunk *c)
{
	struct attempt *a = arg;

	ck_assert(!a->ended);
	ck_assert_uint_eq(c->from, a->out[c->stream].n);
	ck_assert_uint_gt(c->data.n, 0);
	ck_assert_int_ge(c->ns, a->last_ns);
	if (a->first_ns == 0)
		a->first_ns = c->ns;
	a->last_ns = c->ns;
	a->chunks++;
	a->records += c->last;
	buf_put_str(&a->out[c->stream], c->data);
}

static void
attempt_on_end(void *arg, const struct spool_exit *e)
{
	struct attempt *a = arg;

	ck_assert(!a->ended);
	a->ended = true;
	a->shim = NULL;
	a->damaged = e == NULL;
	if (e != NULL)
		a->exit = *e;
}

void
attempt_start(struct attempt *a)
{
	const struct procsup_handler h = { attempt_on_chunk, attempt_on_end,
		a };

	ck_assert_int_eq(
	    procsup_start(a->fixture->procsup, &a->spec, &h, &a->shim), RC_OK);
}

void
attempt_take_over(struct attempt *a)
{
	const struct procsup_handler h = { attempt_on_chunk, attempt_on_end,
		a };

	ck_assert_int_eq(procsup_take_over(a->fixture->procsup, a->spool,
			     a->mark, &h, &a->shim),
	    RC_OK);
}

void
attempt_release(struct attempt *a)
{
	buf_free(&a->out[SPOOL_OUT]);
	buf_free(&a->out[SPOOL_ERR]);
}

const struct sandbox_report *
attempt_isolate(struct attempt *a, enum sandbox_mode mode)
{
	static struct sandbox_report report;
	const char *why;
	static char bin[300];
	char *slash;

	if (sandbox_probe(mode, &report, &why) != RC_OK) {
		printf("# %s: %s\n", sandbox_mode_name(mode), why);
		return NULL;
	}
	snprintf(bin, sizeof(bin), "%s", fixture_player());
	slash = strrchr(bin, '/');
	ck_assert_ptr_nonnull(slash);
	*slash = '\0';
	a->spec.sandbox.mode = report.mode;
	a->spec.sandbox.tcp_port = 0;
	a->spec.sandbox.read[0] = bin;
	a->spec.sandbox.write[0] = a->work;
	return &report;
}

static bool
attempt_has_ended(void *arg)
{
	return ((const struct attempt *)arg)->ended;
}

void
attempt_await_end(struct attempt *a)
{
	ck_assert_msg(
	    tk_loop_until(a->fixture->loop, attempt_has_ended, a, ATTEMPT_WAIT),
	    "%s has no end", a->mark);
	ck_assert(!a->damaged);
	ck_assert_uint_eq(attempt_processes(a), 0);
}

struct attempt_text {
	const struct attempt *attempt;
	const char *text;
};

static bool
attempt_has_text(void *arg)
{
	const struct attempt_text *t = arg;

	return attempt_has(t->attempt, t->text);
}

void
attempt_await_text(struct attempt *a, const char *text)
{
	struct attempt_text t = { a, text };

	ck_assert_msg(
	    tk_loop_until(a->fixture->loop, attempt_has_text, &t, ATTEMPT_WAIT),
	    "%s: no %s in %s", a->mark, text, attempt_out(a));
}

void
attempt_run(struct attempt *a, const char *const *steps)
{
	attempt_steps(a, steps);
	attempt_start(a);
	attempt_await_end(a);
}

const char *
attempt_out(const struct attempt *a)
{
	return a->out[SPOOL_OUT].n > 0 ? a->out[SPOOL_OUT].p : "";
}

const char *
attempt_err(const struct attempt *a)
{
	return a->out[SPOOL_ERR].n > 0 ? a->out[SPOOL_ERR].p : "";
}

bool
attempt_has(const struct attempt *a, const char *text)
{
	return memmem(attempt_out(a), a->out[SPOOL_OUT].n, text,
		   strlen(text)) != NULL;
}

/* ---- processes ---- */

struct attempt_pid {
	const struct attempt *attempt;
	pid_t pid;
};

static bool
attempt_read_pid(void *arg)
{
	struct attempt_pid *p = arg;
	char path[400], *text;
	size_t n;

	snprintf(path, sizeof(path), "%s/shim", p->attempt->spool);
	text = tk_read_file(path, &n);
	p->pid = (pid_t)strtol(text, NULL, 10);
	free(text);
	return p->pid > 0;
}

pid_t
attempt_shim_pid(struct attempt *a)
{
	struct attempt_pid p = { a, 0 };

	ck_assert(tk_until(attempt_read_pid, &p, ATTEMPT_WAIT));
	return p.pid;
}

size_t
attempt_processes(const struct attempt *a)
{
	char mark[PROCSUP_MARK_MAX + 1];
	DIR *d = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		pid_t pid = process_pid(e->d_name);

		if (pid != 0 &&
		    process_mark(pid, mark, sizeof(mark)) == PROCESS_MARKED &&
		    strcmp(mark, a->mark) == 0)
			n++;
	}
	closedir(d);
	return n;
}

size_t
procsup_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}
