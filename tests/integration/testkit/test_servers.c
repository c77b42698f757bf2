/* The testkit's servers: start, data across a restart, stop by any signal. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testkit/testkit.h"

static void
check_restart(enum tk_server_kind kind, int sig, int code)
{
	struct tk_server s;
	int port;
	pid_t pid;

	tk_server_start(&s, kind);
	ck_assert(tk_port_open(s.port));
	port = s.port;
	tk_signal(&s.proc, sig);
	ck_assert_int_eq(tk_wait(&s.proc, 20000), code);
	ck_assert(!tk_port_open(port));
	tk_server_restart(&s);
	ck_assert_int_eq(s.port, port);
	ck_assert(tk_port_open(port));
	pid = s.proc.pid;
	/* A running server is stopped first. */
	tk_server_restart(&s);
	ck_assert_int_ne(s.proc.pid, pid);
	tk_server_stop(&s, SIGKILL);
	ck_assert(!tk_port_open(port));
}

TEST(nats_can_be_stopped_killed_and_restarted)
{
	check_restart(TK_NATS, SIGINT, 0);
	check_restart(TK_NATS, SIGKILL, 128 + SIGKILL);
}

TEST(redis_can_be_stopped_killed_and_restarted)
{
	check_restart(TK_REDIS, SIGTERM, 0);
	check_restart(TK_REDIS, SIGKILL, 128 + SIGKILL);
}

TEST(mosquitto_can_be_stopped_killed_and_restarted)
{
	check_restart(TK_MOSQUITTO, SIGTERM, 0);
	check_restart(TK_MOSQUITTO_PERSISTENT, SIGKILL, 128 + SIGKILL);
}

TEST(several_servers_run_side_by_side)
{
	struct tk_server s[6];
	size_t i;

	for (i = 0; i < 6; i++)
		tk_server_start(&s[i], (enum tk_server_kind)(i % 3));
	for (i = 0; i < 6; i++)
		ck_assert(tk_port_open(s[i].port));
	ck_assert(strncmp(s[0].url, "nats://127.0.0.1:", 17) == 0);
	ck_assert(strncmp(s[1].url, "redis://127.0.0.1:", 18) == 0);
	ck_assert(strncmp(s[2].url, "mqtt://127.0.0.1:", 17) == 0);
	tk_server_stop(&s[0], SIGTERM);
	/* The others are stopped by the testkit. */
}

/* Send text to the server and read until want was received. */
static void
send_and_expect(const struct tk_server *s, const char *text, const char *want)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)s->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char got[65536];
	size_t len = 0;
	ssize_t n;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	n = send(fd, text, strlen(text), MSG_NOSIGNAL);
	ck_assert_int_eq(n, (ssize_t)strlen(text));
	do {
		ck_assert_uint_lt(len, sizeof(got) - 1);
		n = recv(fd, got + len, sizeof(got) - 1 - len, 0);
		ck_assert_int_gt(n, 0);
		len += (size_t)n;
		got[len] = '\0';
	} while (strstr(got, want) == NULL);
	close(fd);
}

TEST(redis_persists_acknowledged_writes)
{
	struct tk_server s;

	tk_server_start(&s, TK_REDIS);
	send_and_expect(&s, "SET k soul\r\n", "+OK");
	tk_server_stop(&s, SIGKILL);
	tk_server_restart(&s);
	send_and_expect(&s, "GET k\r\n", "\r\nsoul\r\n");
	send_and_expect(&s, "CONFIG GET save\r\n", "$0\r\n\r\n");
	send_and_expect(&s, "CONFIG GET appendfsync\r\n", "always");
}

/* A JetStream request; the reply goes to the connection's own subject. */
static void
jetstream(const struct tk_server *s, const char *what, const char *body,
    const char *want)
{
	char text[512];

	snprintf(text, sizeof(text),
	    "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\n"
	    "PUB %s answer %zu\r\n%s\r\n",
	    what, strlen(body), body);
	send_and_expect(s, text, want);
}

TEST(nats_persists_its_streams)
{
	struct tk_server s;

	tk_server_start(&s, TK_NATS);
	jetstream(&s, "$JS.API.STREAM.CREATE.S",
	    "{\"name\":\"S\",\"subjects\":[\"s.>\"],\"storage\":\"file\"}",
	    "\"did_create\":true");
	jetstream(&s, "s.one", "hello", "\"seq\":1");
	tk_server_stop(&s, SIGKILL);
	tk_server_restart(&s);
	jetstream(&s, "$JS.API.STREAM.INFO.S", "", "\"messages\":1");
}

static void
run_client(const struct tk_server *s, const char *name, const char *topic,
    const char *const rest[4])
{
	char port[16];
	const char *argv[] = { name, "-h", "127.0.0.1", "-p", port, "-q", "1",
		"-t", topic, rest[0], rest[1], rest[2], rest[3], NULL };
	struct tk_proc p;

	snprintf(port, sizeof(port), "%d", s->port);
	tk_spawn(&p, "client", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 20000), 0);
	if (strcmp(name, "mosquitto_sub") == 0)
		ck_assert(tk_log_has(&p, "soul\n"));
}

TEST(mosquitto_persists_retained_messages_if_configured)
{
	static const char *const pub[] = { "-m", "soul", "-r", NULL };
	static const char *const sub[] = { "-C", "1", "-W", "10" };
	struct tk_server s;

	tk_server_start(&s, TK_MOSQUITTO_PERSISTENT);
	run_client(&s, "mosquitto_pub", "a/b", pub);
	tk_server_restart(&s);
	run_client(&s, "mosquitto_sub", "a/b", sub);
}
