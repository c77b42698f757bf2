/*
 * mcp_fixture: see mcp_fixture.h.
 */
#include "testkit/mcp_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testkit/json.h"

#define CONFIG_MAX (256UL * 1024)
#define LIST       "soul.tool.mcp-host.list"
#define CALL       "soul.tool.mcp-host.call"
#define CANCEL     "soul.tool.mcp-host.cancel"

/* ---- servers ---- */

void
mh_config(const char *fmt, ...)
{
	char *text = malloc(CONFIG_MAX), next[512];
	va_list ap;
	int n;

	ck_assert_ptr_nonnull(text);
	n = snprintf(text, CONFIG_MAX,
	    "// Servers of a test.\n"
	    "{\"mcpServers\":{");
	va_start(ap, fmt);
	n += vsnprintf(text + n, CONFIG_MAX - (size_t)n, fmt, ap);
	va_end(ap);
	ck_assert_int_lt((int)n, (int)CONFIG_MAX - 8);
	memcpy(text + n, "}}", 3);
	/* As one change. */
	snprintf(next, sizeof(next), "%s.next", tk_path("mcp.json"));
	tk_write_file(next, text);
	ck_assert_int_eq(rename(next, tk_path("mcp.json")), 0);
	free(text);
}

void
mh_start_host(struct mcp_fixture *f, int i, const char *const more[])
{
	struct tk_env e = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "host%d", i + 1);
	tk_env_list(&e, more);
	tk_env_put(&e, "NATS_URL=%s", f->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", f->redis.url);
	tk_env_put(&e, "REDIS_TIMEOUT_MS=5000");
	tk_env_put(&e, "MCP_CONFIG=%s", tk_path("mcp.json"));
	tk_service_start(&f->host[i], "mcp-host", name, &e);
}

void
mh_start(struct mcp_fixture *f)
{
	mh_start_with(f, NULL);
}

void
mh_start_with(struct mcp_fixture *f, const char *const more[])
{
	memset(f, 0, sizeof(*f));
	f->user = "ann";
	tk_server_start(&f->nats, TK_NATS);
	tk_server_start(&f->redis, TK_REDIS);
	f->nc = tk_nats_connect(f->nats.url);
	tk_nats_events(f->nc);
	mh_start_host(f, 0, more);
}

void
mh_stop(struct mcp_fixture *f)
{
	for (int i = 0; i < MH_HOSTS; i++)
		tk_service_end(&f->host[i]);
	mh_await_sims(0);
	natsConnection_Destroy(f->nc);
	tk_server_stop(&f->nats, SIGTERM);
	tk_server_stop(&f->redis, SIGTERM);
}

/* ---- lists ---- */

json_t *
mh_list(struct mcp_fixture *f, const char *text, int max)
{
	char body[1024], code[TK_CODE];
	json_t *j;

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"%s\",\"soul_id\":\"s1\",\"session_id\":\"x1\","
	    "\"text\":\"%s\",\"max\":%d}",
	    f->user, text, max);
	j = tk_nats_request(f->nc, LIST, body, code);
	ck_assert_str_eq(code, "");
	return j;
}

struct mh_wanted {
	struct mcp_fixture *f;
	size_t n;
};

static bool
mh_has_tools(void *arg)
{
	const struct mh_wanted *w = arg;
	json_t *j = mh_list(w->f, "", 64);
	bool has = json_array_size(tk_at(j, "tools")) == w->n &&
	    json_array_size(tk_at(j, "notes")) == 0;

	json_decref(j);
	return has;
}

void
mh_await_tools(struct mcp_fixture *f, size_t n)
{
	struct mh_wanted w = { f, n };

	ck_assert(tk_until(mh_has_tools, &w, MH_MS));
}

static json_t *
mh_find(json_t *list, const char *name)
{
	json_t *t;
	size_t i;

	json_array_foreach (tk_at(list, "tools"), i, t) {
		char other[256];

		snprintf(other, sizeof(other), "%s_%s",
		    tk_find_text(t, "server"), tk_find_text(t, "tool"));
		if (strcmp(tk_find_text(t, "name"), name) == 0 ||
		    strcmp(other, name) == 0)
			return t;
	}
	return NULL;
}

bool
mh_has_tool(struct mcp_fixture *f, const char *name)
{
	json_t *j = mh_list(f, "", 64);
	bool has = mh_find(j, name) != NULL;

	json_decref(j);
	return has;
}

/* ---- calls ---- */

void
mh_begin_as(struct mcp_fixture *f, struct mh_call *c, const char *name,
    const char *arguments, const char *id, const char *more)
{
	static unsigned inboxes;
	char body[16384], inbox[128], definition[128];
	json_t *list = mh_list(f, name, 64), *t = mh_find(list, name);

	*c = (struct mh_call){ .f = f };
	snprintf(c->id, sizeof(c->id), "%s", id);
	snprintf(definition, sizeof(definition), "%s",
	    t != NULL ? tk_text(t, "definition")
		      : "00000000000000000000000000000000"
			"00000000000000000000000000000000");
	json_decref(list);
	snprintf(inbox, sizeof(inbox), "_INBOX.test.%s.%u", id, ++inboxes);
	c->sub = tk_nats_listen(f->nc, inbox);
	snprintf(body, sizeof(body),
	    "{\"call_id\":\"%s\",\"user_id\":\"%s\",\"soul_id\":\"s1\","
	    "\"session_id\":\"x1\",\"turn_id\":\"t1\",\"name\":\"%s\","
	    "\"definition\":\"%s\",\"arguments\":%s%s}",
	    id, f->user, name, definition, arguments, more);
	ck_assert_int_eq(
	    natsConnection_PublishRequestString(f->nc, CALL, inbox, body),
	    NATS_OK);
}

void
mh_begin(struct mcp_fixture *f, struct mh_call *c, const char *name,
    const char *arguments)
{
	static unsigned n;
	char id[64];

	snprintf(id, sizeof(id), "call-%d-%u", (int)getpid(), ++n);
	mh_begin_as(f, c, name, arguments, id, "");
}

/* The next reply, which is counted. */
static json_t *
mh_next(struct mh_call *c)
{
	json_t *j = tk_nats_next(c->sub, MH_MS, NULL);

	ck_assert_msg(j != NULL, "%s: no reply", c->id);
	ck_assert_str_eq(tk_text(j, "call_id"), c->id);
	if (strcmp(tk_text(j, "state"), "running") == 0) {
		c->running++;
		c->progress += tk_find(j, "progress") != NULL;
	}
	return j;
}

json_t *
mh_await(struct mh_call *c)
{
	json_t *j = mh_next(c);

	while (strcmp(tk_text(j, "state"), "ended") != 0) {
		json_decref(j);
		j = mh_next(c);
	}
	natsSubscription_Destroy(c->sub);
	return j;
}

void
mh_await_progress(struct mh_call *c)
{
	json_t *j;

	while (c->progress == 0) {
		j = mh_next(c);
		ck_assert_str_eq(tk_text(j, "state"), "running");
		json_decref(j);
	}
}

void
mh_cancel(struct mh_call *c)
{
	char body[128];

	snprintf(body, sizeof(body), "{\"call_id\":\"%s\"}", c->id);
	tk_nats_send(c->f->nc, CANCEL, body);
}

json_t *
mh_call(struct mcp_fixture *f, const char *name, const char *arguments)
{
	struct mh_call c;

	mh_begin(f, &c, name, arguments);
	return mh_await(&c);
}

void
mh_ok(struct mcp_fixture *f, const char *name, const char *arguments,
    const char *text)
{
	json_t *j = mh_call(f, name, arguments);

	ck_assert_msg(json_is_true(tk_at(j, "ok")), "%s: %s: %s", name,
	    tk_find_text(j, "error.code"), tk_find_text(j, "error.message"));
	ck_assert_str_eq(tk_text(j, "text"), text);
	json_decref(j);
}

void
mh_fails(struct mcp_fixture *f, const char *name, const char *arguments,
    const char *code)
{
	json_t *j = mh_call(f, name, arguments);

	ck_assert(json_is_false(tk_at(j, "ok")));
	ck_assert_msg(strcmp(tk_find_text(j, "error.code"), code) == 0,
	    "%s: %s", tk_find_text(j, "error.code"),
	    tk_find_text(j, "error.message"));
	json_decref(j);
}

/* ---- processes ---- */

/* With the environment of this test, which others do not have. */
static bool
mh_is_sim(const char *pid)
{
	char path[320], text[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	for (size_t i = 0; i + 1 < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return strstr(text, "mcp-sim") != NULL &&
	    strstr(text, tk_dir()) != NULL;
}

static size_t
mh_each_sim(int sig)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9' ||
		    !mh_is_sim(e->d_name))
			continue;
		n++;
		if (sig != 0)
			kill((pid_t)strtol(e->d_name, NULL, 10), sig);
	}
	closedir(d);
	return n;
}

size_t
mh_sims(void)
{
	return mh_each_sim(0);
}

static bool
mh_has_sims(void *arg)
{
	return mh_sims() == *(size_t *)arg;
}

void
mh_await_sims(size_t n)
{
	ck_assert_msg(tk_until(mh_has_sims, &n, MH_MS),
	    "%zu processes, not %zu", mh_sims(), n);
}

size_t
mh_kill_sims(void)
{
	return mh_each_sim(SIGKILL);
}

static bool
mh_is_zombie(int pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f == NULL)
		return true;
	(void)!fscanf(f, "%*d %*[^)]) %c", &state);
	fclose(f);
	return state == 'Z';
}

/* Kill the children of a host; whether all of them have ended. */
static bool
mh_shims_have_ended(void *arg)
{
	const pid_t *host = arg;
	char path[64];
	bool ended = true;
	int pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)*host,
	    (int)*host);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fscanf(f, "%d", &pid) == 1)
		if (!mh_is_zombie(pid)) {
			kill(pid, SIGKILL);
			ended = false;
		}
	fclose(f);
	return ended;
}

void
mh_kill_shims(pid_t host)
{
	ck_assert(tk_until(mh_shims_have_ended, &host, MH_MS));
}

size_t
mh_log_lines(const char *path, const char *part)
{
	char line[8192];
	size_t n = 0;
	FILE *f = fopen(path, "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, part) != NULL;
	if (f != NULL)
		fclose(f);
	return n;
}
