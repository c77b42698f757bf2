/* The kit's servers: start, data over a restart, stop by any signal. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit/kit.h"

static void
starts_and_restarts(enum kit_server_kind kind, int sig, int code)
{
	struct kit_server s;
	int port;
	pid_t pid;

	kit_server_start(&s, kind);
	ck_assert(kit_port_open(s.port));
	port = s.port;
	kit_signal(&s.proc, sig);
	ck_assert_int_eq(kit_wait(&s.proc, 20000), code);
	ck_assert(!kit_port_open(port));
	kit_server_restart(&s);
	ck_assert_int_eq(s.port, port);
	ck_assert(kit_port_open(port));
	pid = s.proc.pid;
	/* Running, it is stopped first. */
	kit_server_restart(&s);
	ck_assert_int_ne(s.proc.pid, pid);
	kit_server_stop(&s, SIGKILL);
	ck_assert(!kit_port_open(port));
}

KIT_TEST(nats)
{
	starts_and_restarts(KIT_NATS, SIGINT, 0);
	starts_and_restarts(KIT_NATS, SIGKILL, 128 + SIGKILL);
}

KIT_TEST(redis)
{
	starts_and_restarts(KIT_REDIS, SIGTERM, 0);
	starts_and_restarts(KIT_REDIS, SIGKILL, 128 + SIGKILL);
}

KIT_TEST(mosquitto)
{
	starts_and_restarts(KIT_MOSQUITTO, SIGTERM, 0);
	starts_and_restarts(KIT_MOSQUITTO_KEEP, SIGKILL, 128 + SIGKILL);
}

KIT_TEST(several_at_once)
{
	struct kit_server s[6];
	size_t i;

	for (i = 0; i < 6; i++)
		kit_server_start(&s[i], (enum kit_server_kind)(i % 3));
	for (i = 0; i < 6; i++)
		ck_assert(kit_port_open(s[i].port));
	ck_assert(strncmp(s[0].url, "nats://127.0.0.1:", 17) == 0);
	ck_assert(strncmp(s[1].url, "redis://127.0.0.1:", 18) == 0);
	ck_assert(strncmp(s[2].url, "mqtt://127.0.0.1:", 17) == 0);
	kit_server_stop(&s[0], SIGTERM);
	/* The others end with the test. */
}

/* Send text to the server and read until want has come. */
static void
talk(const struct kit_server *s, const char *text, const char *want)
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

KIT_TEST(redis_keeps_what_it_acknowledged)
{
	struct kit_server s;

	kit_server_start(&s, KIT_REDIS);
	talk(&s, "SET k soul\r\n", "+OK");
	kit_server_stop(&s, SIGKILL);
	kit_server_restart(&s);
	talk(&s, "GET k\r\n", "\r\nsoul\r\n");
	talk(&s, "CONFIG GET save\r\n", "$0\r\n\r\n");
	talk(&s, "CONFIG GET appendfsync\r\n", "always");
}

/* A JetStream request, answered to the connection's own subject. */
static void
jetstream(const struct kit_server *s, const char *what, const char *body,
    const char *want)
{
	char text[512];

	snprintf(text, sizeof(text),
	    "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\n"
	    "PUB %s answer %zu\r\n%s\r\n",
	    what, strlen(body), body);
	talk(s, text, want);
}

KIT_TEST(nats_keeps_its_streams)
{
	struct kit_server s;

	kit_server_start(&s, KIT_NATS);
	jetstream(&s, "$JS.API.STREAM.CREATE.S",
	    "{\"name\":\"S\",\"subjects\":[\"s.>\"],\"storage\":\"file\"}",
	    "\"did_create\":true");
	jetstream(&s, "s.one", "hello", "\"seq\":1");
	kit_server_stop(&s, SIGKILL);
	kit_server_restart(&s);
	jetstream(&s, "$JS.API.STREAM.INFO.S", "", "\"messages\":1");
}

static void
run_client(const struct kit_server *s, const char *name, const char *topic,
    const char *const rest[4])
{
	char port[16];
	const char *argv[] = { name, "-h", "127.0.0.1", "-p", port, "-q", "1",
		"-t", topic, rest[0], rest[1], rest[2], rest[3], NULL };
	struct kit_proc p;

	snprintf(port, sizeof(port), "%d", s->port);
	kit_spawn(&p, "client", argv, NULL);
	ck_assert_int_eq(kit_wait(&p, 20000), 0);
	if (strcmp(name, "mosquitto_sub") == 0)
		ck_assert(kit_log_has(&p, "soul\n"));
}

KIT_TEST(mosquitto_keeps_its_retained_messages_if_told)
{
	static const char *const pub[] = { "-m", "soul", "-r", NULL };
	static const char *const sub[] = { "-C", "1", "-W", "10" };
	struct kit_server s;

	kit_server_start(&s, KIT_MOSQUITTO_KEEP);
	run_client(&s, "mosquitto_pub", "a/b", pub);
	kit_server_restart(&s);
	run_client(&s, "mosquitto_sub", "a/b", sub);
}
