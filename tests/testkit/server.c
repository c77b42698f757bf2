/*
 * Real servers for a test, started and ready once they speak their protocol.
 *
 * The protocols are spoken over a bare socket, so that a bug in a client
 * library cannot make a test server look broken.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/redis_meter.h"
#include "testkit/testkit.h"
#include "testkit/testkit_internal.h"

#define START_MS   20000
#define STOP_MS    20000
#define PORT_TRIES 8
#define ARGS_MAX   20

/* Room for file names below a test's folder. */
#define FILE_MAX 4096

struct args {
	const char *v[ARGS_MAX];
	char port[16];
	char data[FILE_MAX];
	char conf[FILE_MAX];
};

/*
 * Send bytes, then read until text arrives; false on error or 1 s without data.
 */
static bool
server_replies(
    int fd, const void *bytes, size_t n, const char *text, size_t text_n)
{
	char buf[8192];
	size_t len = 0;
	ssize_t got;

	if (n > 0 && send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
		return false;
	while (len < sizeof(buf)) {
		got = recv(fd, buf + len, sizeof(buf) - len, 0);
		if (got <= 0)
			return false;
		len += (size_t)got;
		if (memmem(buf, len, text, text_n) != NULL)
			return true;
	}
	return false;
}

static bool
nats_replies(int fd)
{
	static const char ping[] = "CONNECT {\"verbose\":false}\r\nPING\r\n";

	return server_replies(fd, "", 0, "INFO ", 5) &&
	    server_replies(fd, ping, strlen(ping), "PONG\r\n", 6);
}

/* With settings that may require a user, or TLS. */
static bool
nats_greets(int fd)
{
	return server_replies(fd, "", 0, "INFO ", 5);
}

static bool
redis_replies(int fd)
{
	return server_replies(fd, "PING\r\n", 6, "+PONG\r\n", 7);
}

static bool
redis_greets(int fd)
{
	return server_replies(fd, "PING\r\n", 6, "\r\n", 2);
}

static bool
mosquitto_replies(int fd)
{
	/* CONNECT, MQTT 3.1.1, clean session, 10 s, no client id; CONNACK 0. */
	static const unsigned char connect[] = { 0x10, 12, 0, 4, 'M', 'Q', 'T',
		'T', 4, 2, 0, 10, 0, 0 };
	static const unsigned char disconnect[] = { 0xe0, 0 };

	if (!server_replies(fd, connect, sizeof(connect), "\x20\x02\0\0", 4))
		return false;
	(void)send(fd, disconnect, sizeof(disconnect), MSG_NOSIGNAL);
	return true;
}

static void
nats_args(struct args *a, const char *conf)
{
	/* Without a file of further settings the list ends before "-c". */
	const char *v[] = { "nats-server", "-a", "127.0.0.1", "-p", a->port,
		"-js", "-sd", a->data, conf[0] != '\0' ? "-c" : NULL, conf,
		NULL };

	memcpy(a->v, v, sizeof(v));
}

static void
redis_args(struct args *a, const char *conf)
{
	const char *v[] = { "redis-server", conf, "--bind", "127.0.0.1",
		"--port", a->port, "--dir", a->data, "--appendonly", "yes",
		"--appendfsync", "always", "--save", "", "--daemonize", "no",
		NULL };
	size_t skip = conf[0] != '\0' ? 0 : 1;

	memcpy(a->v, v, sizeof(v));
	memmove(a->v + 1, v + 1 + skip, sizeof(v) - (1 + skip) * sizeof(*v));
}

static void
mosquitto_args(struct args *a, bool persistent)
{
	const char *v[] = { "mosquitto", "-c", a->conf, NULL };
	char text[2 * FILE_MAX];

	/*
	 * Started as root it would change to a user without access to these
	 * files.
	 */
	snprintf(text, sizeof(text),
	    "listener %s 127.0.0.1\n"
	    "allow_anonymous true\n"
	    "user root\n"
	    "log_dest stderr\n"
	    "max_inflight_messages 1000\n"
	    "max_queued_messages 500000\n"
	    "set_tcp_nodelay true\n"
	    "persistence %s\n"
	    "persistence_location %s/\n"
	    "autosave_interval 1\n",
	    a->port, persistent ? "true" : "false", a->data);
	tk_write_file(a->conf, text);
	memcpy(a->v, v, sizeof(v));
}

static const struct {
	const char *name;
	const char *scheme;
	bool (*server_is_up)(int fd);
	bool (*greets)(int fd); /* the same with settings of the test */
} kinds[] = {
	[TK_NATS] = { "nats", "nats", nats_replies, nats_greets },
	[TK_REDIS] = { "redis", "redis", redis_replies, redis_greets },
	[TK_MOSQUITTO] = { "mosquitto", "mqtt", mosquitto_replies, NULL },
	[TK_MOSQUITTO_PERSISTENT] = { "mosquitto", "mqtt", mosquitto_replies,
	    NULL },
};

/* As in deploy/compose.yaml. */
static const char *const nats_env[] = { "GOGC=400", NULL };

static const char *const *
server_env(const struct tk_server *s)
{
	if (s->env != NULL)
		return s->env;
	if (s->kind == TK_REDIS)
		return tk_meter_env();
	return s->kind == TK_NATS ? nats_env : NULL;
}

static void
server_launch(struct tk_server *s)
{
	struct args a;
	char name[sizeof(s->proc.name)];

	memset(&a, 0, sizeof(a));
	snprintf(name, sizeof(name), "%s-%d", kinds[s->kind].name, s->port);
	snprintf(a.port, sizeof(a.port), "%d", s->port);
	snprintf(a.data, sizeof(a.data), "%s/%s", tk_dir(), name);
	snprintf(a.conf, sizeof(a.conf), "%s/%s.conf", tk_dir(), name);
	(void)mkdir(a.data, 0700);
	switch (s->kind) {
	case TK_NATS:
		nats_args(&a, s->conf);
		break;
	case TK_REDIS:
		redis_args(&a, s->conf);
		break;
	case TK_MOSQUITTO:
	case TK_MOSQUITTO_PERSISTENT:
		mosquitto_args(&a, s->kind == TK_MOSQUITTO_PERSISTENT);
		break;
	}
	tk_spawn(&s->proc, name, a.v, server_env(s));
}

static bool
server_is_up(const struct tk_server *s)
{
	bool ok;
	int fd;

	fd = tk_connect(s->port);
	if (fd == -1)
		return false;
	ok = s->conf[0] != '\0' ? kinds[s->kind].greets(fd)
				: kinds[s->kind].server_is_up(fd);
	close(fd);
	return ok;
}

/* Wait until the server replies (true) or has exited (false). */
static bool
server_comes_up(struct tk_server *s)
{
	long long end = tk_now_ms() + START_MS;
	int nap = 1;

	while (tk_now_ms() < end) {
		if (tk_wait(&s->proc, 0) != -1)
			return false;
		if (server_is_up(s))
			return true;
		tk_nap(nap++);
	}
	ck_abort_msg("%s does not reply after %d ms", s->proc.name, START_MS);
	return false;
}

static bool
port_was_taken(const struct tk_server *s)
{
	return tk_log_has(&s->proc, "ddress already in use") ||
	    tk_log_has(&s->proc, "ddress in use");
}

static void
server_start_on(struct tk_server *s)
{
	enum tk_server_kind kind = s->kind;
	int i;

	for (i = 0; i < PORT_TRIES; i++) {
		s->port = tk_port();
		snprintf(s->url, sizeof(s->url), "%s://127.0.0.1:%d",
		    kinds[kind].scheme, s->port);
		server_launch(s);
		if (server_comes_up(s))
			return;
		if (!port_was_taken(s))
			break;
	}
	ck_abort_msg("%s ended instead of starting", s->proc.name);
}

void
tk_server_start(struct tk_server *s, enum tk_server_kind kind)
{
	*s = (struct tk_server){ .kind = kind };
	server_start_on(s);
}

void
tk_server_start_env(
    struct tk_server *s, enum tk_server_kind kind, const char *const *env)
{
	*s = (struct tk_server){ .kind = kind, .env = env };
	server_start_on(s);
}

void
tk_server_start_with(
    struct tk_server *s, enum tk_server_kind kind, const char *text)
{
	static int n;

	*s = (struct tk_server){ .kind = kind };
	ck_assert_int_lt(snprintf(s->conf, sizeof(s->conf), "%s/%s-%d.with",
			     tk_dir(), kinds[kind].name, n++),
	    (int)sizeof(s->conf));
	tk_write_file(s->conf, text);
	server_start_on(s);
}

void
tk_server_restart(struct tk_server *s)
{
	if (s->proc.pid > 0)
		tk_server_stop(s, SIGTERM);
	server_launch(s);
	if (!server_comes_up(s))
		ck_abort_msg("%s did not start again", s->proc.name);
}

void
tk_server_stop(struct tk_server *s, int sig)
{
	tk_signal(&s->proc, sig);
	if (tk_wait(&s->proc, STOP_MS) == -1)
		ck_abort_msg(
		    "%s did not end after signal %d", s->proc.name, sig);
}
