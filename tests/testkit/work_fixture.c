/*
 * The toy runs in a child of a child: libnats has threads by the time it is
 * started again, and a process with threads should not fork.
 */
#include "testkit/work_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/mem.h"

#define KIND    "memory_store"
#define NAME    "toy"
#define SLOW_MS 60

/* ---- the toy ---- */

struct toy {
	struct svc *s;
	struct work *w;
};

struct toy_item {
	struct toy *t;
	struct work_item *i;
	struct loop_timer timer;
	char mode[16], name[64];
};

static struct work_opts toy_opts;

static void
toy_log(const char *file, const char *line)
{
	int fd = open(tk_path(file), O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd < 0 || dprintf(fd, "%s\n", line) < 0)
		abort();
	close(fd);
}

/* Whether nobody has made that file yet. */
static bool
toy_first(const char *prefix, const char *name)
{
	char file[200];
	int fd;

	snprintf(file, sizeof(file), "%s-%s", prefix, name);
	fd = open(tk_path(file), O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool
toy_repaired(void)
{
	return access(tk_path("repaired"), F_OK) == 0;
}

static void
toy_die_at(const struct toy_item *x, const char *mode)
{
	if (strcmp(x->mode, mode) != 0 || !toy_first("died", x->name))
		return;
	toy_log("killed", x->name);
	raise(SIGKILL);
}

/* Of an id, once. */
static void
toy_effect(const struct toy_item *x)
{
	char id[128];

	str_copy(work_item_id(x->i), id, sizeof(id));
	if (toy_first("id", id))
		toy_log("effects", x->name);
}

static enum rc
toy_read(void *arg, struct work_item *i, struct wire_err *err)
{
	struct toy_item *x = arena_alloc(work_item_arena(i), sizeof(*x));
	struct str rest = work_item_data(i), mode;

	memset(x, 0, sizeof(*x));
	mode = str_split(&rest, ' ');
	if (rest.p == NULL) {
		*err = (struct wire_err){ "/name", "is missing" };
		return RC_INVALID;
	}
	x->t = arg;
	x->i = i;
	str_copy(mode, x->mode, sizeof(x->mode));
	str_copy(rest, x->name, sizeof(x->name));
	toy_die_at(x, "read");
	work_item_set(i, x);
	if (strcmp(x->mode, "slow") == 0)
		work_item_set_key(i, (struct str){ x->name, 1 });
	return RC_OK;
}

static void
toy_on_slow(void *arg)
{
	struct toy_item *x = arg;
	char line[80];

	snprintf(line, sizeof(line), "end %s", x->name);
	toy_log("handled", line);
	toy_effect(x);
	work_end(x->i, WORK_DONE, NULL);
}

static void
toy_handle(void *arg, struct work_item *i)
{
	struct toy_item *x = work_item_get(i);
	struct toy *t = arg;

	toy_log("handled", x->name);
	toy_die_at(x, "handle");
	if (strcmp(x->mode, "waits") == 0 && !toy_repaired()) {
		work_end(i, WORK_DEFERRED, NULL);
	} else if (strcmp(x->mode, "fails") == 0 && !toy_repaired()) {
		work_end(i, WORK_FAILED, "not repaired");
	} else if (strcmp(x->mode, "undone") == 0 && !toy_repaired()) {
		toy_effect(x);
		work_end(i, WORK_FAILED, "not repaired");
	} else if (strcmp(x->mode, "invalid") == 0 ||
	    strcmp(x->mode, "dead") == 0) {
		work_end(i, WORK_INVALID, "it cannot be done");
	} else if (strcmp(x->mode, "slow") == 0) {
		loop_timer_set(svc_loop(t->s), &x->timer,
		    mono_add_ms(clock_mono(), SLOW_MS), toy_on_slow, x);
	} else {
		toy_effect(x);
		toy_die_at(x, "effect");
		work_end(i, WORK_DONE, NULL);
	}
}

static void
toy_on_dead(void *arg, const struct work_item *i, const char *why)
{
	(void)arg;
	(void)why;
	/* NULL: it has not been read. */
	if (work_item_get(i) != NULL)
		toy_die_at(work_item_get(i), "dead");
}

static void
toy_stop(void *arg)
{
	struct toy *t = arg;

	work_free(t->w);
	free(t);
}

static void *
toy_start(struct svc *s, const void *conf)
{
	struct toy *t = mem_zalloc(sizeof(*t));
	struct work_opts o = toy_opts;

	(void)conf;
	t->s = s;
	o.svc = s;
	o.kind = KIND;
	o.consumer = NAME;
	o.max_in_flight = 64;
	o.read = toy_read;
	o.handle = toy_handle;
	o.dead = toy_on_dead;
	o.arg = t;
	t->w = work_new(&o);
	return t;
}

static const struct svc_def toy_def = {
	.name = NAME,
	.summary = "does work",
	.http_addr = "",
	.admin_addr = "127.0.0.1:1",
	.conf_size = 1,
	.start = toy_start,
	.stop = toy_stop,
};

/* ---- the process that restarts it ---- */

static pid_t toy_pid;

static void
toy_forward(int sig)
{
	kill(toy_pid, sig);
}

/* The toy's exit code, once it ends otherwise than by SIGKILL. */
static int
toy_main(void *arg)
{
	const struct tk_env *e = arg;
	char name[] = NAME;
	char *argv[] = { name, NULL };
	pid_t parent = getpid();
	int status = 0;
	size_t i;

	for (i = e->n; i-- > 0;)
		putenv((char *)(uintptr_t)e->v[i]);
	do {
		toy_pid = fork();
		if (toy_pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(1);
			exit(svc_main(&toy_def, 1, argv));
		}
		signal(SIGTERM, toy_forward);
		while (waitpid(toy_pid, &status, 0) < 0)
			;
		signal(SIGTERM, SIG_DFL);
	} while (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void
work_fixture_fork(
    struct work_fixture *fx, const char *url, const struct work_opts *o)
{
	struct tk_env e = { 0 };

	toy_opts = *o;
	tk_service_ports(&fx->toy, &e);
	tk_env_put(&e, "NATS_URL=%s", url);
	tk_env_put(&e, "HTTP_WORKERS=24");
	tk_fork(&fx->toy.proc, NAME, toy_main, &e);
}

static bool
work_fixture_has_consumer(void *arg)
{
	return work_fixture_number(arg, WORK_STREAM, "num_pending") >= 0;
}

void
work_fixture_start(struct work_fixture *fx, const struct work_opts *o)
{
	*fx = (struct work_fixture){ 0 };
	tk_server_start(&fx->nats, TK_NATS);
	work_fixture_fork(fx, fx->nats.url, o);
	tk_service_wait(&fx->toy);
	fx->nc = tk_nats_connect(fx->nats.url);
	ck_assert(tk_until(work_fixture_has_consumer, fx, WORK_FIXTURE_MS));
}

void
work_fixture_stop(struct work_fixture *fx)
{
	tk_service_end(&fx->toy);
	natsConnection_Destroy(fx->nc);
	nats_Close();
}

void
work_fixture_repair(void)
{
	tk_write_file(tk_path("repaired"), "");
}

/* ---- items ---- */

void
work_fixture_put_on(struct work_fixture *fx, const char *subject,
    const char *id, const char *data)
{
	natsMsg *m = NULL, *reply = NULL;

	ck_assert_int_eq(
	    natsMsg_Create(&m, subject, NULL, data, (int)strlen(data)),
	    NATS_OK);
	ck_assert_int_eq(natsMsgHeader_Set(m, "Nats-Msg-Id", id), NATS_OK);
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&reply, fx->nc, m, WORK_FIXTURE_MS),
	    NATS_OK);
	ck_assert_msg(strstr(natsMsg_GetData(reply), "\"seq\"") != NULL, "%s",
	    natsMsg_GetData(reply));
	natsMsg_Destroy(m);
	natsMsg_Destroy(reply);
}

void
work_fixture_put(struct work_fixture *fx, const char *item)
{
	work_fixture_put_on(fx, "soul.job." KIND, item, item);
}

long long
work_fixture_number(
    struct work_fixture *fx, const char *stream, const char *key)
{
	char subject[96], code[TK_CODE];
	json_t *j, *v;
	long long n;

	snprintf(
	    subject, sizeof(subject), "$JS.API.CONSUMER.INFO.%s." NAME, stream);
	j = tk_nats_request(fx->nc, subject, "", code);
	v = json_object_get(j, key);
	n = v != NULL ? json_integer_value(v) : -1;
	json_decref(j);
	return n;
}

struct work_fixture_consumer {
	struct work_fixture *fx;
	const char *stream;
};

static bool
work_fixture_idle(void *arg)
{
	const struct work_fixture_consumer *c = arg;

	return work_fixture_number(c->fx, c->stream, "num_pending") == 0 &&
	    work_fixture_number(c->fx, c->stream, "num_ack_pending") == 0;
}

void
work_fixture_wait(struct work_fixture *fx, const char *stream)
{
	struct work_fixture_consumer c = { fx, stream };

	ck_assert(tk_until(work_fixture_idle, &c, WORK_FIXTURE_MS));
}

long long
work_fixture_dead(struct work_fixture *fx)
{
	char code[TK_CODE];
	json_t *j =
	    tk_nats_request(fx->nc, "$JS.API.STREAM.INFO.SOUL_DEAD", "", code);
	long long n = json_integer_value(
	    json_object_get(json_object_get(j, "state"), "messages"));

	json_decref(j);
	return n;
}

/* ---- what it did ---- */

char *
work_fixture_log(const char *file)
{
	size_t n;

	if (access(tk_path(file), F_OK) != 0)
		return mem_strdup("");
	return tk_read_file(tk_path(file), &n);
}

int
work_fixture_count(const char *file, const char *want)
{
	char *text = work_fixture_log(file), *rest = text, *line;
	int n = 0;

	while ((line = strsep(&rest, "\n")) != NULL)
		n += strcmp(line, want) == 0;
	free(text);
	return n;
}

void
work_fixture_command(struct work_fixture *fx, int code, const char *text,
    const char *const args[])
{
	static int nth;
	const char *argv[8] = { tk_bin("memory-worker") };
	char env[96], name[32], *out;
	struct tk_proc p;
	size_t i, n;
	int got;

	for (i = 0; args[i] != NULL; i++)
		argv[i + 1] = args[i];
	snprintf(env, sizeof(env), "NATS_URL=%s", fx->nats.url);
	snprintf(name, sizeof(name), "command-%d", nth++);
	tk_spawn(&p, name, argv, TK_ENV(env));
	got = tk_wait(&p, WORK_FIXTURE_MS);
	out = tk_read_file(p.log, &n);
	ck_assert_msg(got == code && strstr(out, text) != NULL,
	    "%d, not %d: %s", got, code, out);
	free(out);
}
