/* Starting, killing and checking the processes of a stack. */
#include "testkit/stack/stack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/rights.h"
#include "testkit/stack/capture.h"
#include "testkit/stack/client.h"
#include "testkit/stack/lock.h"
#include "testkit/stack/secrets.h"

#define END_MS 20000

static const struct {
	const char *name;
	bool http;
} services[STACK_SERVICES] = {
	[STACK_LLM_SIM] = { "llm-sim", true },
	[STACK_INTENT_FILTER] = { "intent-filter", true },
	[STACK_EMOTION_ENGINE] = { "emotion-engine", true },
	[STACK_MEMORY_WORKER] = { "memory-worker", false },
	[STACK_LLM_ORCHESTRATOR] = { "llm-orchestrator", false },
	[STACK_MQTT_BRIDGE] = { "mqtt-bridge", false },
	[STACK_CHAT_GATEWAY] = { "chat-gateway", true },
	[STACK_BODY_SIM] = { "body-sim", true },
};

const char *
stack_name(enum stack_service i)
{
	return services[i].name;
}

/* ---- start ---- */

const char *
stack_nats_url(const struct stack *st)
{
	return st->opts->nats_cluster ? st->nats.url
				      : st->server[STACK_NATS].url;
}

static const char *
stack_redis_url(const struct stack *st, const char *user, struct arena *a)
{
	const char *url = st->has_cluster ? st->cluster.url
	    : st->opts->sentinels         ? st->redis.url
					  : st->server[STACK_REDIS].url;
	int scheme = (int)(strstr(url, "://") + 3 - url);

	return arena_printf(a, "REDIS_URL=%.*s%s:" TK_PASSWORD "%s@%s", scheme,
	    url, user, user, url + scheme)
	    .p;
}

/* The servers, as the service sees them, and its ports. */
static size_t
stack_env_put(const struct stack *st, const char *service,
    const struct stack_proc *p, struct arena *a, const char *env[], size_t n)
{
	env[n++] = arena_printf(a, "NATS_URL=%s", stack_nats_url(st)).p;
	env[n++] = arena_printf(a, "NATS_USER=%s", service).p;
	env[n++] =
	    arena_printf(a, "NATS_PASSWORD=" TK_PASSWORD "%s", service).p;
	env[n++] = stack_redis_url(st, service, a);
	env[n++] = arena_printf(a, "HTTP_ADDR=127.0.0.1:%d", p->http).p;
	env[n++] = arena_printf(a, "ADMIN_ADDR=127.0.0.1:%d", p->admin).p;
	return n;
}

/* A program that is no part of the stack, with its servers; ends with NULL. */
static void
stack_spawn_beside(const struct stack *st, const char *const argv[],
    const char *service, const char *const more[], struct stack_proc *p)
{
	struct arena *a = arena_new(4096);
	const char *env[16];
	size_t n;

	*p = (struct stack_proc){ .http = tk_port(), .admin = tk_port() };
	n = stack_env_put(st, service, p, a, env, 0);
	while (*more != NULL)
		env[n++] = *more++;
	env[n] = NULL;
	tk_spawn(&p->proc, service, argv, env);
	arena_free(a);
}

void
stack_spawn_hub(const struct stack *st, struct stack_proc *p)
{
	static const char *const none[] = { NULL };
	const char *const argv[] = { tk_bin("star-hub"), NULL };

	stack_spawn_beside(st, argv, "star-hub", none, p);
}

void
stack_spawn_mcp_host(
    const struct stack *st, const char *servers, struct stack_proc *p)
{
	const char *const argv[] = { tk_bin("mcp-host"), NULL };
	struct arena *a = arena_new(4096);
	const char *const more[] = {
		arena_printf(a, "MCP_CONFIG=%s", tk_path("mcp.json")).p, NULL
	};

	if (servers == NULL)
		servers = "\"none\":{\"command\":\"/bin/false\"}";
	tk_write_file(tk_path("mcp.json"),
	    arena_printf(a, "{\"mcpServers\":{%s}}", servers).p);
	stack_spawn_beside(st, argv, "mcp-host", more, p);
	arena_free(a);
}

void
stack_spawn_catalogue(
    const struct stack *st, const char *entries, struct stack_proc *p)
{
	const char *const argv[] = { tk_bin("mcp-host"), NULL };
	struct arena *a = arena_new(16384);
	const char *const more[] = { arena_printf(a, "MCP_CATALOGUE=%s",
					 tk_path("catalogue.json"))
					 .p,
		NULL };

	tk_write_file(tk_path("catalogue.json"),
	    arena_printf(a, "{\"mcpServers\":{%s}}", entries).p);
	stack_spawn_beside(st, argv, "mcp-host", more, p);
	arena_free(a);
}

void
stack_spawn_navigator(
    const struct stack *st, struct stack_proc *llm, struct stack_proc *p)
{
	static const char *const none[] = { NULL };
	const char *const model[] = { tk_bin("llm-sim"), NULL };
	const char *const argv[] = { tk_bin("navigator"), NULL };
	struct arena *a = arena_new(4096);

	stack_spawn_beside(st, model, "llm-sim", none, llm);
	const char *const more[] = {
		arena_printf(
		    a, "OPENAI_BASE_URL=http://127.0.0.1:%d/v1", llm->http)
		    .p,
		"CYCLE_TRIGGER_COUNT=1", "CYCLE_IDLE_SECONDS=0",
		"NAV_GAP_SECONDS=0", NULL
	};
	stack_spawn_beside(st, argv, "navigator", more, p);
	arena_free(a);
}

void
stack_spawn_alarm_clock(const struct stack *st, struct stack_proc *p)
{
	static const char *const none[] = { NULL };
	const char *const argv[] = { tk_bin("alarm-clock"), NULL };

	stack_spawn_beside(st, argv, "alarm-clock", none, p);
}

void
stack_spawn_navigator_plain(const struct stack *st, struct stack_proc *p)
{
	const char *const argv[] = { tk_bin("navigator"), NULL };
	struct arena *a = arena_new(4096);
	const char *const more[] = {
		arena_printf(a, "OPENAI_BASE_URL=http://127.0.0.1:%d/v1",
		    st->service[STACK_LLM_SIM].http)
		    .p,
		"NAV_GAP_SECONDS=0", NULL
	};

	stack_spawn_beside(st, argv, "navigator", more, p);
	arena_free(a);
}

void
stack_spawn_engines(const struct stack *st, const char *engine,
    struct stack_proc *runner, struct stack_proc *proxy)
{
	struct arena *a = arena_new(4096);
	const char *const run[] = { tk_bin("engine-runner"), NULL };
	const char *const pass[] = { run[0], "proxy", NULL };
	static const char *const names[] = { "codex", "gemini", "opencode" };
	struct buf b = BUF_INIT(4096);
	int port = tk_port();
	size_t i;
	const char *const more[] = {
		arena_printf(a, "RUNS_DIR=%s", tk_path("runs")).p,
		arena_printf(a, "ENGINES=%s", tk_path("engines.json")).p,
		arena_printf(a, "ENGINE_PROXY_ADDR=127.0.0.1:%d", port).p,
		"RUNNER_ID=r1", "RUNS_DRAIN_MS=0", NULL
	};

	for (i = 0; i < NELEM(names); i++)
		buf_printf(&b,
		    "%s{\"engine\":\"%s\",\"command\":[\"/bin/sh\",\"%s\"],"
		    "\"base_url\":\"http://127.0.0.1:1/v1\"}",
		    i == 0 ? "{\"engines\":[" : ",", names[i], engine);
	buf_puts(&b, "]}");
	tk_write_file(tk_path("engines.json"), b.p);
	buf_free(&b);
	stack_spawn_beside(st, run, "engine-runner", more, runner);
	stack_spawn_beside(st, pass, "engine-runner", more, proxy);
	proxy->http = port;
	arena_free(a);
}

void
stack_spawn(struct stack *st, enum stack_service i, struct stack_proc *p,
    const char *name)
{
	struct arena *a = arena_new(4096);
	const char *argv[] = { tk_bin(services[i].name), NULL };
	const char *env[16 + STACK_ENV_MAX + SECRETS_ENV_MAX];
	size_t n = 0, k;

	if (p->admin == 0) {
		p->admin = tk_port();
		p->http = services[i].http ? tk_port() : 0;
	}
	for (k = 0; k < STACK_ENV_MAX && st->opts->env[i][k] != NULL; k++)
		env[n++] = st->opts->env[i][k];
	if (st->opts->locked)
		n = lock_env(st, i, a, env, n);
	n = stack_env_put(st, services[i].name, p, a, env, n);
	env[n++] =
	    arena_printf(a, "MQTT_BROKER_URL=%s", st->server[STACK_MQTT].url).p;
	env[n++] = arena_printf(a, "OPENAI_BASE_URL=http://127.0.0.1:%d/v1",
	    st->service[STACK_LLM_SIM].http)
		       .p;
	env[n++] = arena_printf(a, "ANTHROPIC_BASE_URL=http://127.0.0.1:%d",
	    st->service[STACK_LLM_SIM].http)
		       .p;
	n = secrets_plant(env, n);
	env[n] = NULL;
	tk_spawn(&p->proc, name, argv, env);
	p->wanted = true;
	arena_free(a);
}

static bool
is_ready(void *arg)
{
	struct stack_proc *p = arg;
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	bool is = false;

	if (!tk_alive(&p->proc))
		ck_abort_msg("%s does not start", p->proc.name);
	if (!tk_port_open(p->admin))
		return false;
	tk_http_open(&c, p->admin);
	if (tk_http_puts(&c, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		is = tk_http_read(&c, &a, 2000) && a.status == 200;
	tk_response_free(&a);
	tk_http_close(&c);
	return is;
}

void
stack_wait_ready(struct stack_proc *p)
{
	ck_assert_msg(
	    tk_until(is_ready, p, STACK_MS), "%s is not ready", p->proc.name);
}

static bool
capture_is_ready(void *arg)
{
	return tk_log_has(arg, CAPTURE_READY);
}

static bool
reports_are_read(void *arg)
{
	return tk_log_has(arg, "ev=bridge.caught_up");
}

static void
start_nats(struct stack *st)
{
	char monitor[64];

	if (st->opts->nats_cluster) {
		tk_nats_cluster_start(&st->nats, true);
		return;
	}
	if (!st->opts->metered) {
		tk_rights_nats(&st->server[STACK_NATS]);
		return;
	}
	st->nats_monitor = tk_port();
	snprintf(monitor, sizeof(monitor), "http: \"127.0.0.1:%d\"\n",
	    st->nats_monitor);
	tk_rights_nats_with(&st->server[STACK_NATS], monitor);
}

static void
start_servers(struct stack *st)
{
	if (st->opts->locked) {
		lock_servers(st);
		return;
	}
	if (st->opts->metered)
		st->meter = tk_meter_begin();
	start_nats(st);
	st->has_cluster = st->opts->cluster ||
	    (!st->opts->sentinels && !st->opts->metered &&
		getenv("SOUL_TEST_CLUSTER") != NULL);
	if (st->has_cluster) {
		tk_cluster_start_with(&st->cluster, tk_rights_redis_with);
	} else if (st->opts->sentinels) {
		st->redis.n = TK_SENTINEL_SERVERS;
		for (size_t i = 0; i < st->redis.n; i++)
			tk_rights_redis(&st->redis.server[i]);
		tk_sentinels_watch(&st->redis, NULL);
	} else
		tk_rights_redis(&st->server[STACK_REDIS]);
	tk_server_start(&st->server[STACK_MQTT], TK_MOSQUITTO_PERSISTENT);
}

static void
stack_start_capture(struct stack *st)
{
	char url[128];
	struct capture_source where = { stack_nats_url(st),
		st->server[STACK_MQTT].port };

	if (st->opts->locked) {
		snprintf(url, sizeof(url),
		    "nats://" TK_WITNESS ":" TK_PASSWORD TK_WITNESS
		    "@127.0.0.1:%d",
		    st->server[STACK_NATS].port);
		where = (struct capture_source){ url, st->lock.witness };
	}
	if (st->opts->no_mqtt_capture)
		where.mqtt_port = 0;
	tk_fork(&st->capture, "capture", capture_main, &where);
	ck_assert_msg(
	    tk_until(capture_is_ready, &st->capture, STACK_MS), "no capture");
}

void
stack_start(struct stack *st, const struct stack_opts *o)
{
	enum stack_service i;

	*st = (struct stack){ .opts = o };
	/* Benchmarks run without the capture. */
	if (!o->no_capture)
		secrets_begin();
	start_servers(st);
	if (!o->no_capture)
		stack_start_capture(st);
	for (i = 0; i < STACK_BODY_SIM; i++) {
		if (!o->without[i])
			stack_spawn(st, i, &st->service[i], services[i].name);
	}
	for (i = 0; i < STACK_BODY_SIM; i++) {
		if (!o->without[i])
			stack_wait_ready(&st->service[i]);
	}
	if (o->without[STACK_BODY_SIM])
		return;
	if (o->locked)
		lock_bodies(st);
	/*
	 * Without a subscriber an announcement takes effect at the next
	 * heartbeat.
	 */
	ck_assert(tk_until(
	    reports_are_read, &st->service[STACK_MQTT_BRIDGE].proc, STACK_MS));
	stack_restart(st, STACK_BODY_SIM);
	client_wait_terminal(st, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
}

/* ---- kill ---- */

void
stack_kill(struct stack *st, enum stack_service i)
{
	struct stack_proc *p = &st->service[i];

	p->wanted = false;
	tk_signal(&p->proc, SIGKILL);
	ck_assert_int_eq(tk_wait(&p->proc, STACK_MS), 128 + SIGKILL);
}

void
stack_restart(struct stack *st, enum stack_service i)
{
	stack_spawn(st, i, &st->service[i], services[i].name);
	stack_wait_ready(&st->service[i]);
}

/* ---- checks ---- */

/*
 * Copy the first line of a log that contains text into dst; false if there is
 * none.
 */
static bool
stack_find_line(
    const struct tk_proc *p, const char *text, char *dst, size_t size)
{
	char *log = tk_read_file(p->log, NULL);
	const char *at = strstr(log, text);

	if (at != NULL)
		snprintf(dst, size, "%.*s", (int)strcspn(at, "\n"), at);
	free(log);
	return at != NULL;
}

size_t
stack_lines(const struct stack *st, enum stack_service i, const char *text)
{
	char *log = tk_read_file(st->service[i].proc.log, NULL), *line, *rest;
	size_t n = 0;

	for (line = strtok_r(log, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		n += strstr(line, text) != NULL;
	free(log);
	return n;
}

/* The metrics of a service contain no secret and no user text. */
static void
check_metrics(struct stack_proc *p)
{
	struct tk_response a = { 0 };
	const char *what = NULL;

	if (tk_http_request(p->admin, &a, "GET", "/metrics", NULL) == 200)
		what = secrets_in(buf_str(&a.body), true);
	ck_assert_msg(
	    what == NULL, "metrics of %s contain %s", p->proc.name, what);
	tk_response_free(&a);
}

void
stack_check(struct stack *st)
{
	const char *leaked = secrets_leaked();
	char line[1024];
	size_t i;

	ck_assert_msg(leaked == NULL, "%s", leaked);

	ck_assert_msg(st->opts->no_capture || tk_alive(&st->capture),
	    "the capture ended");
	if (!st->opts->no_capture &&
	    stack_find_line(&st->capture, CAPTURE_WRONG, line, sizeof(line)))
		ck_abort_msg("%s", line);
	for (i = 0; i < STACK_SERVICES; i++) {
		ck_assert_msg(
		    !st->service[i].wanted || tk_alive(&st->service[i].proc),
		    "%s has died", services[i].name);
		if (st->service[i].wanted)
			check_metrics(&st->service[i]);
	}
}

/* Stop a child with SIGTERM; returns its exit status. */
static int
stack_stop(struct tk_proc *p)
{
	if (!tk_alive(p))
		return tk_wait(p, 0);
	tk_signal(p, SIGTERM);
	return tk_wait(p, END_MS);
}

/* A Redis server of the stack; NULL from the last on. */
static const struct tk_server *
stack_redis(const struct stack *st, size_t i)
{
	if (st->has_cluster)
		return i < TK_CLUSTER_NODES ? &st->cluster.node[i] : NULL;
	if (i > 0)
		return NULL;
	return st->opts->sentinels
	    ? &st->redis.server[tk_sentinels_master(&st->redis)]
	    : &st->server[STACK_REDIS];
}

static const struct tk_server *
stack_nats(const struct stack *st, size_t i)
{
	if (st->opts->nats_cluster)
		return i < TK_NATS_NODES ? &st->nats.node[i] : NULL;
	return i == 0 ? &st->server[STACK_NATS] : NULL;
}

/* The first operation that a server denied a client, "" if none. */
static const char *
stack_denied(const struct stack *st)
{
	const struct tk_server *nats, *redis;
	const char *why = "";
	size_t i, k;

	for (i = 0; *why == '\0' && (nats = stack_nats(st, i)) != NULL; i++)
		for (k = 0;
		     *why == '\0' && (redis = stack_redis(st, k)) != NULL; k++)
			why = tk_rights_denied(nats, redis);
	return why;
}

const char *
stack_end(struct stack *st)
{
	static char why[1200];
	const char *leaked;
	char line[1024];
	int status;
	size_t i;

	why[0] = '\0';
	for (i = STACK_SERVICES; i-- > 0;) {
		if (!st->service[i].wanted)
			continue;
		status = stack_stop(&st->service[i].proc);
		if (status != 0 && why[0] == '\0')
			snprintf(why, sizeof(why), "%s ended with %d",
			    services[i].name, status);
	}
	if (!st->opts->no_capture) {
		(void)stack_stop(&st->capture);
		if (stack_find_line(
			&st->capture, CAPTURE_WRONG, line, sizeof(line)))
			snprintf(why, sizeof(why), "%s", line);
		else if (!stack_find_line(
			     &st->capture, "capture: ", line, sizeof(line)))
			snprintf(
			    why, sizeof(why), "the capture printed no summary");
	}
	/* In a locked stack the tests themselves are denied operations. */
	if (st->opts->locked) {
		status = lock_end(st);
		if (status != 0)
			snprintf(why, sizeof(why),
			    "mqtt-bridge passwords ended with %d", status);
	} else if (why[0] == '\0')
		snprintf(why, sizeof(why), "%s", stack_denied(st));
	for (i = 0; i < STACK_SERVERS; i++)
		if (st->server[i].proc.pid > 0)
			tk_server_stop(&st->server[i], SIGTERM);
	tk_sentinels_stop(&st->redis);
	tk_cluster_stop(&st->cluster);
	tk_nats_cluster_stop(&st->nats);
	leaked = secrets_leaked();
	if (leaked != NULL)
		snprintf(why, sizeof(why), "%s", leaked);
	return why[0] != '\0' ? why : NULL;
}
