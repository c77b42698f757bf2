/*
 * NATS and Redis accept only services: unauthenticated clients are rejected,
 * and the credentials of one service permit nothing beyond its own subjects,
 * keys and commands.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/rights.h"
#include "testkit/stack/load.h"
#include "testkit/stack/lock.h"

STACK_SHARED({ .locked = true })

/* Send a line to a server; return whether its reply contains part. */
static bool
responds(enum stack_server s, const char *send_line, const char *part)
{
	struct tk_http c = { 0 };
	bool does;

	tk_http_open(&c, stack.server[s].port);
	ck_assert(tk_http_puts(&c, send_line));
	does = tk_http_has(&c, part, 5000);
	tk_http_close(&c);
	return does;
}

/* ---- NATS ---- */

static const char *
nats_login(const char *user, const char *password)
{
	static char text[256];

	snprintf(text, sizeof(text),
	    "CONNECT {\"verbose\":false,\"user\":\"%s\",\"pass\":\"%s\"}\r\n"
	    "PING\r\n",
	    user, password);
	return text;
}

static const char *const strangers[] = {
	"CONNECT {}\r\nPING\r\n",
	"CONNECT {\"verbose\":false}\r\nPING\r\n",
	"CONNECT {\"user\":\"\",\"pass\":\"\"}\r\nPING\r\n",
	"CONNECT {\"user\":\"chat-gateway\"}\r\nPING\r\n",
	"CONNECT {\"user\":\"chat-gateway\",\"pass\":\"\"}\r\nPING\r\n",
	"CONNECT {\"user\":\"chat-gateway\",\"pass\":\"secret-of-mqtt-bridge\""
	"}\r\nPING\r\n",
	"CONNECT {\"user\":\"test\",\"pass\":\"\"}\r\nPING\r\n",
	"CONNECT {\"user\":\"sys\",\"pass\":\"sys\"}\r\nPING\r\n",
	"CONNECT {\"auth_token\":\"secret-of-chat-gateway\"}\r\nPING\r\n",
	"CONNECT {\"jwt\":\"a.b.c\",\"sig\":\"x\"}\r\nPING\r\n",
	"PUB soul.event.x.y 2\r\nhi\r\n",
	"SUB > 1\r\n",
};

TEST_T(nats_rejects_clients_without_a_user, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	size_t i;

	for (i = 0; i < NELEM(strangers); i++)
		ck_assert_msg(responds(STACK_NATS, strangers[i],
				  "Authorization Violation"),
		    "%s", strangers[i]);
	ck_assert(responds(STACK_NATS,
	    nats_login("chat-gateway", TK_PASSWORD "chat-gateway"), "PONG"));
	load_end(n, NULL);
}

/* Samples; the complete table has its own integration test. */
static const struct {
	const char *user, *send_line;
} foreign[] = {
	{ "chat-gateway", "PUB soul.result.victim-1.r 2\r\nhi\r\n" },
	{ "chat-gateway", "PUB soul.body.main.x.emotion_update 2\r\nhi\r\n" },
	{ "chat-gateway", "PUB soul.event.user_input.ada 2\r\nhi\r\n" },
	{ "chat-gateway", "PUB $JS.API.STREAM.DELETE.SOUL_EVENTS 2\r\nhi\r\n" },
	{ "chat-gateway", "PUB $JS.API.STREAM.PURGE.SOUL_JOBS 2\r\nhi\r\n" },
	{ "chat-gateway", "PUB $SYS.REQ.SERVER.PING 2\r\nhi\r\n" },
	{ "chat-gateway", "SUB > 1\r\n" },
	{ "chat-gateway", "SUB soul.> 1\r\n" },
	{ "chat-gateway", "SUB _INBOX.> 1\r\n" },
	{ "chat-gateway", "SUB _INBOX.llm-orchestrator.> 1\r\n" },
	{ "chat-gateway", "SUB soul.rpc.turn.start 1\r\n" },
	{ "chat-gateway", "SUB $SYS.> 1\r\n" },
	{ "intent-filter", "PUB soul.rpc.turn.start 2\r\nhi\r\n" },
	{ "intent-filter", "PUB soul.rpc.memory.list 2\r\nhi\r\n" },
	{ "intent-filter", "SUB soul.stream.*.* 1\r\n" },
	{ "emotion-engine", "PUB soul.body.main.x.invoke 2\r\nhi\r\n" },
	{ "emotion-engine", "SUB soul.result.*.* 1\r\n" },
	{ "memory-worker", "PUB soul.body.main.x.invoke 2\r\nhi\r\n" },
	{ "memory-worker", "SUB soul.stream.> 1\r\n" },
	{ "mqtt-bridge", "PUB soul.rpc.turn.start 2\r\nhi\r\n" },
	{ "mqtt-bridge", "PUB soul.rpc.memory.forget 2\r\nhi\r\n" },
	{ "mqtt-bridge", "SUB soul.stream.*.* 1\r\n" },
	{ "llm-sim", "PUB soul.rpc.turn.start 2\r\nhi\r\n" },
	{ "llm-sim", "SUB soul.> 1\r\n" },
	{ "operator", "PUB soul.body.main.x.invoke 2\r\nhi\r\n" },
	{ "operator", "SUB soul.stream.> 1\r\n" },
};

TEST_T(a_service_may_use_its_own_subjects_only, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	char send_line[512], password[64];
	size_t i;

	for (i = 0; i < NELEM(foreign); i++) {
		snprintf(password, sizeof(password), TK_PASSWORD "%s",
		    foreign[i].user);
		snprintf(send_line, sizeof(send_line), "%s%s",
		    nats_login(foreign[i].user, password),
		    foreign[i].send_line);
		ck_assert_msg(
		    responds(STACK_NATS, send_line, "Permissions Violation"),
		    "%s: %s", foreign[i].user, foreign[i].send_line);
	}
	load_end(n, NULL);
}

/* ---- Redis ---- */

static const struct {
	const char *user; /* NULL: unauthenticated */
	const char *send_line, *answer;
} redis[] = {
	{ NULL, "PING\r\n", "-NOAUTH" },
	{ NULL, "KEYS *\r\n", "-NOAUTH" },
	{ NULL, "AUTH x\r\n", "-WRONGPASS" },
	{ NULL, "AUTH default x\r\n", "-WRONGPASS" },
	{ NULL, "AUTH chat-gateway secret-of-mqtt-bridge\r\n", "-WRONGPASS" },
	{ NULL, "AUTH admin admin\r\n", "-WRONGPASS" },
	{ NULL, "HELLO 3 AUTH default x\r\n", "-WRONGPASS" },
	{ NULL, "FLUSHALL\r\n", "-NOAUTH" },
	{ "chat-gateway", "FLUSHALL\r\n", "-NOPERM" },
	{ "chat-gateway", "KEYS *\r\n", "-NOPERM" },
	{ "chat-gateway", "SCAN 0\r\n", "-NOPERM" },
	{ "chat-gateway", "CONFIG GET *\r\n", "-NOPERM" },
	{ "chat-gateway", "SHUTDOWN\r\n", "-NOPERM" },
	{ "chat-gateway", "REPLICAOF 127.0.0.1 1\r\n", "-NOPERM" },
	{ "chat-gateway", "ACL LIST\r\n", "-NOPERM" },
	{ "chat-gateway", "EVAL \"return 1\" 0\r\n", "-NOPERM" },
	{ "chat-gateway", "MONITOR\r\n", "-NOPERM" },
	{ "chat-gateway", "SET other 1\r\n", "-NOPERM" },
	{ "intent-filter", "HGETALL soul:credential:{victim-1}\r\n",
	    "-NOPERM" },
	{ "intent-filter", "HGET soul:credential:{victim-1} hash\r\n",
	    "-NOPERM" },
	{ "intent-filter", "HSET soul:terminal:{victim-1} user x\r\n",
	    "-NOPERM" },
	{ "emotion-engine", "HGET soul:credential:{victim-1} hash\r\n",
	    "-NOPERM" },
	{ "emotion-engine", "DEL soul:terminal:{victim-1}\r\n", "-NOPERM" },
	{ "llm-orchestrator", "HGET soul:credential:{victim-1} hash\r\n",
	    "-NOPERM" },
	{ "llm-orchestrator", "HSET soul:terminal:{victim-1} user x\r\n",
	    "-NOPERM" },
	{ "memory-worker", "HGET soul:terminal:{victim-1} user\r\n",
	    "-NOPERM" },
	{ "mqtt-bridge", "DEL soul:credential:{victim-1}\r\n", "-NOPERM" },
	{ "mqtt-bridge", "HGETALL soul:session:{b0818}:ada:s1\r\n", "-NOPERM" },
	{ "operator", "GET soul:idle:{b0001}:1\r\n", "-NOPERM" },
	{ "operator", "CONFIG GET *\r\n", "-NOPERM" },
};

TEST_T(redis_limits_services_to_their_keys, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	char send_line[512];
	size_t i;

	for (i = 0; i < NELEM(redis); i++) {
		send_line[0] = '\0';
		if (redis[i].user != NULL)
			snprintf(send_line, sizeof(send_line),
			    "AUTH %s " TK_PASSWORD "%s\r\n", redis[i].user,
			    redis[i].user);
		snprintf(send_line + strlen(send_line),
		    sizeof(send_line) - strlen(send_line), "%s",
		    redis[i].send_line);
		ck_assert_msg(responds(STACK_REDIS, send_line, redis[i].answer),
		    "%s: %s", redis[i].user != NULL ? redis[i].user : "no user",
		    redis[i].send_line);
	}
	load_end(n, NULL);
}
