/*
 * engine_runner_fixture: see engine_runner_fixture.h.
 */
#include "testkit/engine_runner_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "state/keys.h"
#include "testkit/rights.h"
#include "testkit/sse.h"

#define PROMPT_MAX  (64UL * 1024)
#define ENVIRON_MAX (64UL * 1024)
#define DEMO        "deploy/demo-engine"
#define SCRIPT      "tests/testkit/engine-script"
#define RUNNER      "engine-runner"

static int64_t
fixture_number(const char *text)
{
	int64_t n;

	ck_assert_int_eq(str_to_i64(str_of(text), 1, INT64_MAX, &n), RC_OK);
	return n;
}

/* ---- processes ---- */

static void
fixture_write_engines(void)
{
	char text[2048], folder[512];

	ck_assert_ptr_nonnull(getcwd(folder, sizeof(folder)));
	snprintf(text, sizeof(text),
	    "{\"engines\":[{\"engine\":\"codex\",\"command\":[\"/bin/sh\","
	    "\"%s/" SCRIPT "\",\"%s\"]}]}",
	    folder, tk_bin("engine-play"));
	tk_write_file(tk_path("engines.json"), text);
}

void
er_use_demo_engine(void)
{
	char text[2048], folder[512];

	ck_assert_ptr_nonnull(getcwd(folder, sizeof(folder)));
	snprintf(text, sizeof(text),
	    "{\"engines\":[{\"engine\":\"codex\",\"command\":[\"%s/" DEMO
	    "\"]}]}",
	    folder);
	tk_write_file(tk_path("engines.json"), text);
}

void
er_spawn_runner(
    struct engine_runner_fixture *f, int i, const char *const more[])
{
	struct tk_env e = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "r%d", i + 1);
	tk_env_list(&e, more);
	tk_env_put(&e, "NATS_URL=%s", f->gw.nats.url);
	if (f->rights) {
		tk_env_put(&e, "NATS_USER=" RUNNER);
		tk_env_put(&e, "NATS_PASSWORD=" TK_PASSWORD RUNNER);
		tk_env_put(&e,
		    "REDIS_URL=redis://" RUNNER ":" TK_PASSWORD RUNNER
		    "@127.0.0.1:%d",
		    f->gw.redis.port);
	} else {
		tk_env_put(&e, "REDIS_URL=%s", f->gw.redis.url);
	}
	tk_env_put(&e, "REDIS_TIMEOUT_MS=5000");
	tk_env_put(&e, "RUNNER_ID=%s", name);
	tk_env_put(&e, "RUNS_DIR=%s/runs-%s", tk_dir(), name);
	tk_env_put(&e, "ENGINES=%s", tk_path("engines.json"));
	tk_env_put(&e, "STOP_GRACE_MS=300");
	tk_env_put(&e, "RUNS_PER_USER=100");
	tk_env_put(&e, "RUNS_DRAIN_MS=0");
	tk_service_spawn(&f->runner[i], "engine-runner", name, &e);
}

void
er_start_runner(
    struct engine_runner_fixture *f, int i, const char *const more[])
{
	er_spawn_runner(f, i, more);
	tk_service_wait(&f->runner[i]);
}

/* A runner is offered once it has renewed itself. */
static bool
fixture_has_engine(void *arg)
{
	struct engine_runner_fixture *f = arg;
	json_t *j = gw_json(&f->gw, "GET", "/v1/engines", NULL);
	bool has = tk_find(j, "items.0") != NULL;

	json_decref(j);
	return has;
}

void
er_start(struct engine_runner_fixture *f, const char *const more[])
{
	memset(f, 0, sizeof(*f));
	fixture_write_engines();
	gateway_fixture_start_alone(&f->gw, NULL);
	er_start_runner(f, 0, more);
	ck_assert(tk_until(fixture_has_engine, f, ER_MS));
}

void
er_start_with_rights(struct engine_runner_fixture *f, const char *const more[])
{
	memset(f, 0, sizeof(*f));
	f->rights = true;
	fixture_write_engines();
	gateway_fixture_join(&f->gw, tk_rights_nats, tk_rights_redis);
	gateway_fixture_spawn(&f->gw, &f->gw.gateway, "chat-gateway", NULL);
	er_start_runner(f, 0, more);
	ck_assert(tk_until(fixture_has_engine, f, ER_MS));
}

void
er_stop(struct engine_runner_fixture *f)
{
	for (int i = 0; i < ER_RUNNERS; i++)
		tk_service_end(&f->runner[i]);
	gateway_fixture_stop(&f->gw);
	ck_assert_uint_eq(er_processes(), 0);
}

/* ---- requests ---- */

/* Steps as a prompt, as the inside of a JSON string. */
static void
fixture_put_steps(struct buf *b, const char *const steps[])
{
	for (size_t i = 0; steps[i] != NULL; i++) {
		for (const char *p = steps[i]; *p != '\0'; p++) {
			if (*p == '"' || *p == '\\')
				buf_putc(b, '\\');
			buf_putc(b, *p);
		}
		buf_puts(b, "\\n");
	}
}

int
er_post(struct engine_runner_fixture *f, struct tk_response *a,
    const char *const steps[], const char *more)
{
	struct buf b = BUF_INIT(PROMPT_MAX);
	int status;

	buf_puts(&b, "{\"user_id\":\"ann\",\"engine\":\"codex\",");
	buf_puts(&b, more);
	buf_puts(&b, "\"prompt\":\"");
	fixture_put_steps(&b, steps);
	buf_puts(&b, "\"}");
	status = gw_request(&f->gw, a, "POST", "/v1/runs", b.p);
	buf_free(&b);
	return status;
}

void
er_begin(struct engine_runner_fixture *f, char id[RUN_ID_MAX],
    const char *const steps[], const char *more)
{
	struct tk_response a = { 0 };
	json_t *j;

	er_post(f, &a, steps, more);
	j = gw_response_json(&a, 202);
	snprintf(id, RUN_ID_MAX, "%s", tk_text(j, "run_id"));
	json_decref(j);
	tk_response_free(&a);
}

/* content is the inside of a JSON string. */
static int
fixture_reply(struct engine_runner_fixture *f, struct tk_response *a,
    const char *id, const char *question, struct str content)
{
	struct buf b = BUF_INIT(PROMPT_MAX);
	char path[256];
	int status;

	buf_printf(&b,
	    "{\"user_id\":\"ann\",\"interaction_id\":\"%s\",\"content\":\"",
	    question);
	buf_put_str(&b, content);
	buf_puts(&b, "\"}");
	snprintf(path, sizeof(path), "/v1/runs/%s/reply", id);
	status = gw_request(&f->gw, a, "POST", path, b.p);
	buf_free(&b);
	return status;
}

int
er_reply_text(struct engine_runner_fixture *f, struct tk_response *a,
    const char *id, const char *question, const char *text)
{
	return fixture_reply(f, a, id, question, str_of(text));
}

int
er_reply(struct engine_runner_fixture *f, struct tk_response *a, const char *id,
    const char *question, const char *const steps[])
{
	struct buf b = BUF_INIT(PROMPT_MAX);
	int status;

	fixture_put_steps(&b, steps);
	status = fixture_reply(f, a, id, question, buf_str(&b));
	buf_free(&b);
	return status;
}

bool
er_cancel(struct engine_runner_fixture *f, const char *id)
{
	char path[256];
	json_t *j;
	bool accepted;

	snprintf(path, sizeof(path), "/v1/runs/%s/cancel?user_id=ann", id);
	j = gw_json(&f->gw, "POST", path, NULL);
	accepted = json_is_true(tk_at(j, "accepted"));
	json_decref(j);
	return accepted;
}

/* ---- records ---- */

json_t *
er_record(struct engine_runner_fixture *f, const char *id)
{
	char path[256];

	snprintf(path, sizeof(path), "/v1/runs/%s?user_id=ann", id);
	return gw_json(&f->gw, "GET", path, NULL);
}

struct fixture_wait {
	struct engine_runner_fixture *f;
	const char *id, *text;
	size_t n;
};

static bool
fixture_is_in_state(void *arg)
{
	struct fixture_wait *w = arg;
	json_t *j = er_record(w->f, w->id);
	bool is = strcmp(tk_text(j, "state"), w->text) == 0;

	json_decref(j);
	return is;
}

json_t *
er_await(struct engine_runner_fixture *f, const char *id, const char *state)
{
	struct fixture_wait w = { f, id, state, 0 };
	bool is = tk_until(fixture_is_in_state, &w, ER_MS);
	json_t *j = er_record(f, id);

	ck_assert_msg(
	    is, "%s is not %s: %s", id, state, json_dumps(j, JSON_COMPACT));
	return j;
}

void
er_is(struct engine_runner_fixture *f, const char *id, const char *state,
    const char *code)
{
	json_t *j = er_await(f, id, state);
	const char *is = tk_find_text(j, "facts.error.code");

	if (is[0] == '\0')
		is = tk_find_text(j, "facts.reason_code");
	if (code != NULL)
		ck_assert_str_eq(is, code);
	json_decref(j);
}

/* ---- events ---- */

static void
fixture_put_type(struct buf *b, json_t *event)
{
	static const char *const names[][2] = {
		{ "conversation.started", "started" },
		{ "assistant.message.delta", "delta" },
		{ "assistant.message.final", "final" },
		{ "user.input.required", "asks" },
		{ "user.input.replied", "replied" },
		{ "conversation.completed", "completed" },
		{ "conversation.failed", "failed" },
		{ "diagnostic.warning", "warning" },
	};
	const char *type = tk_text(event, "type");

	if (b->n > 0)
		buf_putc(b, ' ');
	for (size_t i = 0; i < NELEM(names); i++)
		if (strcmp(names[i][0], type) == 0)
			buf_puts(b, names[i][1]);
	if (strcmp(type, "conversation.failed") == 0)
		buf_printf(b, ":%s", tk_text(event, "data.error.code"));
	if (strcmp(type, "diagnostic.warning") == 0)
		buf_printf(b, ":%s", tk_text(event, "data.code"));
}

void
er_events(struct engine_runner_fixture *f, const char *id, const char *types)
{
	struct buf got = BUF_INIT(65536);
	json_t *rec = er_record(f, id);
	json_int_t n = tk_int(rec, "events"), i;
	struct tk_sse s = { 0 };
	struct tk_sse_event e;
	char path[256];

	snprintf(
	    path, sizeof(path), "/v1/runs/%s/events?cursor=0&user_id=ann", id);
	tk_sse_open(&s, f->gw.gateway.http, path);
	for (i = 1; i <= n; i++) {
		ck_assert_msg(
		    tk_sse_next(&s, TK_SSE_MS, &e), "no event %d", (int)i);
		ck_assert_int_eq(fixture_number(e.id), i);
		ck_assert_int_eq(tk_int(e.j, "seq"), i);
		ck_assert_str_eq(tk_text(e.j, "run_id"), id);
		fixture_put_type(&got, e.j);
		json_decref(e.j);
	}
	tk_sse_close(&s);
	json_decref(rec);
	ck_assert_str_eq(got.n > 0 ? got.p : "", types);
	buf_free(&got);
}

static bool
fixture_has_events(void *arg)
{
	struct fixture_wait *w = arg;
	json_t *j = er_record(w->f, w->id);
	bool has = tk_int(j, w->text) >= (json_int_t)w->n;

	json_decref(j);
	return has;
}

void
er_await_events(struct engine_runner_fixture *f, const char *id, size_t n)
{
	struct fixture_wait w = { f, id, "events", n };

	ck_assert_msg(tk_until(fixture_has_events, &w, ER_MS),
	    "%s has no %zu events", id, n);
}

void
er_await_turn(struct engine_runner_fixture *f, const char *id)
{
	/* run.started, then one for each of both rows. */
	struct fixture_wait w = { f, id, "rasp_events", 3 };

	ck_assert_msg(
	    tk_until(fixture_has_events, &w, ER_MS), "%s has no turn", id);
}

void
er_make_due(struct engine_runner_fixture *f, const char *id)
{
	char key[STATE_KEY_MAX];
	unsigned bucket;
	struct str due;

	ck_assert_int_eq(run_id_bucket(str_of(id), &bucket), RC_OK);
	ck_assert_int_eq(
	    state_bucket_key(key, KEY_RUNS_DUE, bucket, &due), RC_OK);
	ck_assert_int_eq(
	    state_cmd(f->gw.db.s,
		STATE_ARGS(STR("ZADD"), due, STR("0"), str_of(id)), NULL),
	    RC_OK);
}

/* ---- processes ---- */

/* A file of a process, with its NULs as line ends; false: it has ended. */
static bool
process_read(const char *pid, const char *name, struct buf *b)
{
	char path[300], bytes[4096];
	ssize_t n = 0;
	int fd;

	buf_reset(b);
	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd != -1 && (n = read(fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (bytes[i] == '\0')
				bytes[i] = '\n';
		buf_put(b, bytes, (size_t)n);
	}
	if (fd != -1)
		close(fd);
	return fd != -1 && b->n > 0;
}

/* Whether a folder of runs of this test has this run. */
static bool
process_is_shim(const struct buf *cmdline)
{
	const char *mark = strstr(cmdline->p, "shim\n");
	char path[400], run[128];

	if (strncmp(cmdline->p, "procsup\n", 8) != 0 || mark == NULL)
		return false;
	snprintf(run, sizeof(run), "%s", mark + 5);
	run[strcspn(run, ".\n")] = '\0';
	/* Those of other tests have the same names. */
	if (strncmp(run, "probe-", 6) == 0)
		return false;
	for (int i = 1; i <= ER_RUNNERS; i++) {
		snprintf(
		    path, sizeof(path), "%s/runs-r%d/%s", tk_dir(), i, run);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool
process_is_engine(const struct buf *environ)
{
	char text[400];

	snprintf(text, sizeof(text), "HOME=%s/runs-", tk_dir());
	return strstr(environ->p, text) != NULL;
}

enum process_kind { PROCESS_SHIM = 1, PROCESS_ENGINE = 2 };

/* only: the number of the one that gets the signal; PROCESS_ALL: all do. */
#define PROCESS_ALL SIZE_MAX

static size_t
process_each(unsigned kinds, int sig, size_t only)
{
	struct buf b = BUF_INIT(ENVIRON_MAX);
	DIR *d = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		bool is;

		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		is = (kinds & PROCESS_SHIM) != 0 &&
		    process_read(e->d_name, "cmdline", &b) &&
		    process_is_shim(&b);
		is = is ||
		    ((kinds & PROCESS_ENGINE) != 0 &&
			process_read(e->d_name, "environ", &b) &&
			process_is_engine(&b));
		if (is && sig != 0 && (only == PROCESS_ALL || only == n))
			(void)kill((pid_t)fixture_number(e->d_name), sig);
		n += is;
	}
	closedir(d);
	buf_free(&b);
	return n;
}

size_t
er_processes(void)
{
	return process_each(PROCESS_SHIM | PROCESS_ENGINE, 0, PROCESS_ALL);
}

static bool
fixture_has_processes(void *arg)
{
	const struct fixture_wait *w = arg;

	return er_processes() == w->n;
}

void
er_await_processes(size_t n)
{
	struct fixture_wait w = { .n = n };

	ck_assert_msg(tk_until(fixture_has_processes, &w, ER_MS),
	    "%zu processes", er_processes());
}

size_t
er_shims(pid_t *pid, size_t max)
{
	struct buf b = BUF_INIT(ENVIRON_MAX);
	DIR *d = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while (n < max && (e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    process_read(e->d_name, "cmdline", &b) &&
		    process_is_shim(&b))
			pid[n++] = (pid_t)fixture_number(e->d_name);
	closedir(d);
	buf_free(&b);
	return n;
}

size_t
er_kill_shims(void)
{
	return process_each(PROCESS_SHIM, SIGKILL, PROCESS_ALL);
}

size_t
er_kill_engines(void)
{
	return process_each(PROCESS_ENGINE, SIGKILL, PROCESS_ALL);
}

void
er_kill_one(bool shim, size_t i)
{
	unsigned kind = shim ? PROCESS_SHIM : PROCESS_ENGINE;
	size_t n = process_each(kind, 0, PROCESS_ALL);

	if (n > 0)
		process_each(kind, SIGKILL, i % n);
}
