/*
 * deploy/stack: what "make run", "make up" and "make down" start, report and
 * leave behind.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "testkit/stack/client.h"
#include "testkit/stack/stack.h"

#define MOVED 24

/* One stack: its folder and its ports. */
struct local {
	struct stack st; /* only service[].http */
	char dir[256];
	char env[MOVED + 3][300];
	const char *envp[MOVED + 4];
	size_t n;
};

static const struct {
	const char *name;
	int service; /* the service whose HTTP port it is; -1: none */
} ports[MOVED] = {
	{ "NATS_PORT", -1 },
	{ "REDIS_PORT", -1 },
	{ "MQTT_PORT", -1 },
	{ "CHAT_GATEWAY_PORT", STACK_CHAT_GATEWAY },
	{ "BODY_SIM_PORT", STACK_BODY_SIM },
	{ "EMOTION_ENGINE_PORT", STACK_EMOTION_ENGINE },
	{ "INTENT_FILTER_PORT", STACK_INTENT_FILTER },
	{ "LLM_SIM_PORT", STACK_LLM_SIM },
	{ "STAR_HUB_PORT", -1 },
	{ "ENGINE_PROXY_PORT", -1 },
	{ "CHAT_GATEWAY_ADMIN_PORT", -1 },
	{ "BODY_SIM_ADMIN_PORT", -1 },
	{ "EMOTION_ENGINE_ADMIN_PORT", -1 },
	{ "INTENT_FILTER_ADMIN_PORT", -1 },
	{ "LLM_ORCHESTRATOR_ADMIN_PORT", -1 },
	{ "MEMORY_WORKER_ADMIN_PORT", -1 },
	{ "MQTT_BRIDGE_ADMIN_PORT", -1 },
	{ "LLM_SIM_ADMIN_PORT", -1 },
	{ "ENGINE_RUNNER_ADMIN_PORT", -1 },
	{ "MCP_HOST_ADMIN_PORT", -1 },
	{ "ALARM_CLOCK_ADMIN_PORT", -1 },
	{ "NAVIGATOR_ADMIN_PORT", -1 },
	{ "STAR_HUB_ADMIN_PORT", -1 },
	{ "ENGINE_PROXY_ADMIN_PORT", -1 },
};

static void
set(struct local *l, const char *name, const char *value)
{
	snprintf(l->env[l->n], sizeof(l->env[0]), "%s=%s", name, value);
	l->envp[l->n] = l->env[l->n];
	l->envp[++l->n] = NULL;
}

/* A stack of this build's programs, with its data in the test's folder. */
static void
prepare(struct local *l, const char *name)
{
	char text[16];
	char bin[256];
	int port, i;

	memset(l, 0, sizeof(*l));
	snprintf(l->dir, sizeof(l->dir), "%s", tk_path(name));
	set(l, "STACK_DIR", l->dir);
	snprintf(bin, sizeof(bin), "%s", tk_bin(""));
	set(l, "STACK_BIN", bin);
	for (i = 0; i < MOVED; i++) {
		port = tk_port();
		snprintf(text, sizeof(text), "%d", port);
		set(l, ports[i].name, text);
		if (ports[i].service >= 0)
			l->st.service[ports[i].service].http = port;
	}
}

static void
begin(struct local *l, struct tk_proc *p, const char *command)
{
	const char *argv[] = { "deploy/stack", command, NULL };

	tk_spawn(p, command, argv, l->envp);
}

/* Run a command to its end; returns its exit code. */
static int
stack(struct local *l, struct tk_proc *p, const char *command)
{
	(void)unlink(tk_path("up.log"));
	begin(l, p, command);
	return tk_wait(p, 60000);
}

static void
up(struct local *l)
{
	struct tk_proc p;

	ck_assert_int_eq(stack(l, &p, "up"), 0);
	ck_assert(tk_log_has(&p, "soul: ready"));
}

static void
down(struct local *l)
{
	struct tk_proc p;

	ck_assert_int_eq(stack(l, &p, "down"), 0);
}

/* The pid of the process called name, from the launcher's file. */
static pid_t
pid_of(struct local *l, const char *name)
{
	char path[300], *text, *line;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/pids", l->dir);
	text = tk_read_file(path, NULL);
	line = strstr(text, name);
	ck_assert_msg(line != NULL, "%s is not in %s", name, path);
	pid = (pid_t)strtol(line + strlen(name), NULL, 10);
	free(text);
	ck_assert_int_gt(pid, 1);
	return pid;
}

static bool
nothing_listens(void *arg)
{
	struct local *l = arg;
	size_t i;

	for (i = 2; i < l->n; i++) {
		if (tk_port_open(
			(int)strtol(strchr(l->env[i], '=') + 1, NULL, 10)))
			return false;
	}
	return true;
}

static bool
log_has(struct local *l, const char *name, const char *what)
{
	char path[300], *text;
	bool has;

	snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	text = tk_read_file(path, NULL);
	has = strstr(text, what) != NULL;
	free(text);
	return has;
}

static bool
is_up(void *arg)
{
	struct local *l = arg;
	char ready[300];

	snprintf(ready, sizeof(ready), "%s/ready", l->dir);
	return access(ready, F_OK) == 0;
}

static void
chat(struct local *l, const char *soul_name)
{
	struct client o = { &l->st, STACK_USER, "s1", STACK_BODY };
	json_t *r;

	client_select_soul(&l->st, STACK_USER, STACK_BODY,
	    client_create_soul(&l->st, STACK_USER, soul_name, "INFJ"));
	r = client_chat(&o, "把灯变成绿色");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"control_light\"]"));
	json_decref(r);
}

TEST_T(up_to_the_first_chat_takes_less_than_ten_seconds, 120)
{
	struct mono began = clock_mono();
	struct local l;
	int64_t ms;

	prepare(&l, "stack");
	up(&l);
	chat(&l, "小元");
	ms = mono_diff_ms(clock_mono(), began);
	printf("# up and first chat: %lld ms\n", (long long)ms);
	ck_assert_int_lt(ms,
	    10000 *
		(getenv("SAN") != NULL && getenv("SAN")[0] != '\0' ? 4 : 1));
	down(&l);
	ck_assert(nothing_listens(&l));
}

TEST_T(the_first_chats_read_and_write_a_file, 120)
{
	struct client o = { NULL, STACK_USER, "s1", STACK_BODY };
	struct local l;

	prepare(&l, "stack");
	up(&l);
	o.st = &l.st;
	client_select_soul(&l.st, STACK_USER, STACK_BODY,
	    client_create_soul(&l.st, STACK_USER, "小元", "INFJ"));
	/* The tools of the server are known some time after its start. */
	client_await_reply(
	    &o, "把 a.txt 里的内容读给我听", "The sea is calm today.");
	client_ck_reply(
	    &o, "把「moon」写到 a.txt", "要用 files 的工具「write_file」");
	client_ck_reply(&o, "不要", "没有做");
	ck_assert(log_has(&l, "demo-files/a.txt", "The sea is calm today."));
	down(&l);
	ck_assert(nothing_listens(&l));
}

TEST_T(souls_and_sessions_outlive_the_stack, 120)
{
	struct local l;
	json_t *j;

	prepare(&l, "stack");
	up(&l);
	chat(&l, "小元");
	down(&l);
	ck_assert(nothing_listens(&l));
	up(&l);
	j = client_ok(&l.st, "GET", "/v1/souls", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	ck_assert_str_eq(tk_text(j, "items.0.name"), "小元");
	json_decref(j);
	j = client_ok(&l.st, "GET", "/v1/sessions/s1/messages", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 4);
	json_decref(j);
	down(&l);
}

TEST_T(two_stacks_run_side_by_side, 120)
{
	struct local a, b;
	struct tk_proc p;

	prepare(&a, "a");
	prepare(&b, "b");
	up(&a);
	up(&b);
	/* A stack is already running in this folder. */
	ck_assert_int_eq(stack(&a, &p, "up"), 1);
	ck_assert(tk_log_has(&p, "already running in"));
	chat(&a, "甲");
	chat(&b, "乙");
	down(&a);
	ck_assert(nothing_listens(&a));
	json_decref(client_ok(&b.st, "GET", "/v1/souls", NULL));
	down(&b);
	ck_assert(nothing_listens(&b));
}

TEST(a_taken_port_is_named_before_anything_starts)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	socklen_t len = sizeof(any);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[16], wanted[64], path[300];
	struct local l;
	struct tk_proc p;

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&any, len), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&any, &len), 0);
	prepare(&l, "stack");
	snprintf(text, sizeof(text), "%d", ntohs(any.sin_port));
	set(&l, "MQTT_PORT", text);
	/* The last of two equal variables counts; remove the first one. */
	l.envp[2 + 2] = "SOUL_NOTHING=1";
	ck_assert_int_eq(stack(&l, &p, "up"), 1);
	snprintf(wanted, sizeof(wanted), "  %s, needed by mosquitto", text);
	ck_assert(tk_log_has(&p, "are in use"));
	ck_assert(tk_log_has(&p, wanted));
	ck_assert(tk_log_has(&p, "PORT_SHIFT"));
	snprintf(path, sizeof(path), "%s/pids", l.dir);
	ck_assert_int_ne(access(path, F_OK), 0);
	close(fd);
}

TEST(two_programs_do_not_get_one_port)
{
	struct local l;
	struct tk_proc p;

	prepare(&l, "stack");
	/* The same number for REDIS_PORT as for NATS_PORT. */
	snprintf(l.env[3], sizeof(l.env[3]), "REDIS_PORT=%s",
	    strchr(l.env[2], '=') + 1);
	ck_assert_int_eq(stack(&l, &p, "up"), 1);
	ck_assert(
	    tk_log_has(&p, "assigned to both nats-server and redis-server"));
}

struct expected {
	struct local *l;
	const char *text;
};

static bool
is_reported(void *arg)
{
	struct expected *e = arg;

	return log_has(e->l, "stack.log", e->text);
}

TEST_T(a_crash_is_reported_with_the_last_log_lines, 120)
{
	struct expected e;
	struct local l;

	prepare(&l, "stack");
	up(&l);
	ck_assert_int_eq(kill(pid_of(&l, "intent-filter "), SIGKILL), 0);
	e = (struct expected){ &l,
		"soul: intent-filter was killed by SIGKILL" };
	ck_assert(tk_until(is_reported, &e, STACK_MS));
	e.text = "  | ts=";
	ck_assert(tk_until(is_reported, &e, STACK_MS));
	/* The other processes continue. */
	json_decref(client_ok(&l.st, "GET", "/v1/souls", NULL));
	down(&l);
	ck_assert(nothing_listens(&l));
}

/* The real programs, except for one replaced by a script. */
static void
replace(struct local *l, const char *name, const char *script)
{
	static const char *const all[] = { "llm-sim", "intent-filter",
		"emotion-engine", "memory-worker", "llm-orchestrator",
		"mqtt-bridge", "chat-gateway", "star-hub", "engine-runner",
		"mcp-host", "alarm-clock", "navigator", "body-sim" };
	char dir[200], path[400], real[400];

	snprintf(dir, sizeof(dir), "%s", tk_path("bin"));
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, all[i]);
		snprintf(real, sizeof(real), "%s", tk_bin(all[i]));
		if (strcmp(all[i], name) != 0) {
			ck_assert_int_eq(symlink(real, path), 0);
			continue;
		}
		tk_write_file(path, script);
		ck_assert_int_eq(chmod(path, 0700), 0);
	}
	/* The last of two variables counts. */
	set(l, "STACK_BIN", dir);
}

TEST_T(an_exit_before_ready_is_reported, 120)
{
	char script[1024], real[400];
	struct expected e;
	struct local l;

	prepare(&l, "stack");
	/* The device starts last; all others are ready by then. */
	snprintf(real, sizeof(real), "%s", tk_bin("body-sim"));
	snprintf(script, sizeof(script),
	    "#!/bin/sh\n"
	    "pid=$(sed -n 's/^intent-filter //p' '%s/pids')\n"
	    "kill -KILL \"$pid\"\n"
	    "while grep -q '^State:[[:space:]]*[^Z[:space:]]' "
	    "\"/proc/$pid/status\" 2>/dev/null; do :; done\n"
	    "exec '%s'\n",
	    l.dir, real);
	replace(&l, "body-sim", script);
	up(&l);
	e = (struct expected){ &l,
		"soul: intent-filter was killed by SIGKILL" };
	ck_assert(tk_until(is_reported, &e, STACK_MS));
	down(&l);
	ck_assert(nothing_listens(&l));
}

TEST_T(a_failed_start_is_reported_and_stops_the_rest, 120)
{
	struct local l;
	struct tk_proc p;

	prepare(&l, "stack");
	set(&l, "LOG_LEVEL", "loud");
	ck_assert_int_eq(stack(&l, &p, "up"), 1);
	ck_assert(tk_log_has(&p, "failed to start"));
	ck_assert(tk_log_has(&p, "LOG_LEVEL"));
	ck_assert(nothing_listens(&l));
}

TEST_T(a_killed_launcher_takes_its_processes_along, 120)
{
	struct tk_proc run;
	struct local l;

	prepare(&l, "stack");
	begin(&l, &run, "run");
	ck_assert(tk_until(is_up, &l, 60000));
	tk_signal(&run, SIGKILL);
	ck_assert_int_eq(tk_wait(&run, STACK_MS), 128 + SIGKILL);
	ck_assert(tk_until(nothing_listens, &l, STACK_MS));
	/* The next start is not obstructed. */
	up(&l);
	down(&l);
}

TEST_T(an_interrupt_stops_everything, 120)
{
	struct tk_proc run;
	struct local l;

	prepare(&l, "stack");
	begin(&l, &run, "run");
	ck_assert(tk_until(is_up, &l, 60000));
	tk_signal(&run, SIGINT);
	ck_assert_int_eq(tk_wait(&run, 60000), 0);
	ck_assert(nothing_listens(&l));
	ck_assert(!is_up(&l));
}

TEST(wrong_arguments_are_reported)
{
	struct tk_proc p;
	struct local l;

	prepare(&l, "stack");
	ck_assert_int_eq(stack(&l, &p, "start"), 64);
	ck_assert(tk_log_has(&p, "usage: deploy/stack run"));
	ck_assert_int_eq(stack(&l, &p, "down"), 0);
	ck_assert(tk_log_has(&p, "no stack is running in"));
	set(&l, "PORT_SHIFT", "much");
	ck_assert_int_eq(stack(&l, &p, "env"), 1);
	ck_assert(tk_log_has(&p, "PORT_SHIFT is much"));
}
