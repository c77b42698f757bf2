/*
 * With the password of any one service: other services' keys, and commands that
 * none needs, are denied; in scripts as well.
 */
#include <signal.h>

#include "testkit/rights_fixture.h"

struct user {
	const char *name;
	struct rights_fixture raw;
	int allowed, refused;
};

static void
log_in(struct user *u, const struct tk_server *s)
{
	rights_fixture_open(&u->raw, s->port);
	rights_fixture_request(&u->raw, "+OK\r\n",
	    "AUTH %s " TK_PASSWORD "%s\r\n", u->name, u->name);
}

/* Whether the reply is a denial. */
static bool
is_rejection(const char *reply)
{
	return strstr(reply, "-NOPERM ") != NULL ||
	    strstr(reply, "-ERR The user executing the script can't") != NULL ||
	    strstr(reply, "-ERR ACL failure in script") != NULL ||
	    strstr(reply, "-ERR DEBUG command not allowed") != NULL;
}

static void
try_it(struct user *u, bool may, const char *command)
{
	const char *reply =
	    rights_fixture_request(&u->raw, "\r\n", "%s\r\n", command);

	ck_assert_msg(
	    is_rejection(reply) == !may, "%s: %s: %s", u->name, command, reply);
	if (may)
		u->allowed++;
	else
		u->refused++;
}

/* Reading and writing a key of a type, with commands that are in the table and
 * some that are not. */
static const struct {
	const char *kind, *read, *write;
} ways[] = {
	{ "string", "GET %s", "SET %s x" },
	{ "hash", "HGET %s f", "HSET %s f x" },
	{ "list", "LRANGE %s 0 0", "RPUSH %s x" },
	{ "set", "SMEMBERS %s", "SADD %s x" },
	{ "sorted set", "ZRANGE %s 0 0", "ZADD %s 1 x" },
	{ "stream", "XRANGE %s - + COUNT 1", "XADD %s * f x" },
};

/* Whether any row of the table permits this command. */
static bool
has_command(const json_t *all, const char *name, const char *command)
{
	char verb[32];
	size_t i;
	json_t *e;

	snprintf(
	    verb, sizeof(verb), "%.*s", (int)strcspn(command, " "), command);
	json_array_foreach (json_object_get(all, "redis"), i, e) {
		bool writes = rights_fixture_lists(e, "write", name);

		if (((writes || rights_fixture_lists(e, "read", name)) &&
			rights_fixture_lists(e, "reads", verb)) ||
		    (writes && rights_fixture_lists(e, "writes", verb)))
			return true;
	}
	return false;
}

__attribute__((format(printf, 1, 2))) static const char *
text(const char *fmt, ...)
{
	static char v[4][600];
	static unsigned turn;
	char *dst = v[turn++ % 4];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(dst, sizeof(v[0]), fmt, ap);
	va_end(ap);
	return dst;
}

/* The command itself, and in a script that declares the key or does not. */
static void
try_ways(struct user *u, bool may, const char *fmt, const char *key)
{
	const char *command = rights_fixture_fill(fmt, '%', 's', key);
	char call[400] = "redis.call(", sha[41], *reply;
	const char *s = command;
	size_t n;

	try_it(u, may, command);
	for (; *s != '\0'; s += n + (s[n] != '\0')) {
		n = strcspn(s, " ");
		snprintf(call + strlen(call), sizeof(call) - strlen(call),
		    "%s'%.*s'", s == command ? "" : ",", (int)n, s);
	}
	reply = (char *)(uintptr_t)rights_fixture_request(
	    &u->raw, "\r\n", "SCRIPT LOAD \"%s) return 1\"\r\n", call);
	ck_assert_msg(reply[0] == '$', "%s", reply);
	snprintf(sha, sizeof(sha), "%s", strchr(reply, '\n') + 1);
	ck_assert_uint_eq(strlen(sha), 40);
	try_it(u, may, text("EVALSHA %s 0", sha));
	try_it(u, may, text("EVALSHA %s 1 %s", sha, key));
}

static void
try_rows(struct user *u, const json_t *all)
{
	size_t i, k;
	json_t *e;

	json_array_foreach (json_object_get(all, "redis"), i, e) {
		bool writes = rights_fixture_lists(e, "write", u->name);
		bool reads = writes || rights_fixture_lists(e, "read", u->name);
		/* Keys with ids of hostile callers. */
		char key[200];

		snprintf(key, sizeof(key), "%s",
		    rights_fixture_fill(
			rights_fixture_fill(
			    rights_fixture_member(e, "key"), '#', '#', "b0001"),
			'%', '%', "~x1"));
		for (k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
			if (strcmp(ways[k].kind,
				rights_fixture_member(e, "kind")) != 0)
				continue;
			try_ways(u,
			    reads && has_command(all, u->name, ways[k].read),
			    ways[k].read, key);
			try_ways(u,
			    writes && has_command(all, u->name, ways[k].write),
			    ways[k].write, key);
		}
		try_ways(u, writes && has_command(all, u->name, "DEL"),
		    "DEL %s", key);
	}
}

/* Commands that no service needs, whatever its keys are. */
static void
try_dangers(struct user *u)
{
	static const char *const dangers[] = { "FLUSHALL", "FLUSHDB", "KEYS *",
		"SCAN 0", "RANDOMKEY", "CONFIG GET *", "CONFIG SET maxmemory 1",
		"CONFIG REWRITE", "DEBUG SLEEP 0", "SHUTDOWN NOSAVE", "SAVE",
		"BGSAVE", "BGREWRITEAOF", "ACL LIST",
		"ACL SETUSER x on nopass ~* +@all", "ACL WHOAMI", "ACL LOG",
		"CLIENT LIST", "CLIENT KILL 127.0.0.1:1", "CLIENT PAUSE 1",
		"MONITOR", "SUBSCRIBE x", "PSUBSCRIBE *", "PUBLISH x y",
		"EVAL 'return 1' 0", "EVAL_RO 'return 1' 0", "SCRIPT FLUSH",
		"SCRIPT KILL", "SCRIPT EXISTS x", "FUNCTION LIST",
		"FUNCTION FLUSH", "SWAPDB 0 1", "REPLICAOF NO ONE",
		"MIGRATE 127.0.0.1 1 k 0 1", "MODULE LIST", "INFO",
		"SLOWLOG GET", "LATENCY RESET", "MEMORY DOCTOR", "LASTSAVE",
		"FAILOVER", "CLUSTER RESET HARD", "SORT soul:idle:{b0001}:1",
		"RENAME soul:idle:{b0001}:1 soul:x", "DUMP soul:idle:{b0001}:1",
		"OBJECT ENCODING soul:idle:{b0001}:1",
		"TYPE soul:idle:{b0001}:1", "GET x", "SET x y", "DEL x",
		"GET soul:x", "SET soul:x y", "HSET soul:x f y", "SELECT 0 1" };
	/* The last is only invalid, not denied. */
	size_t i, n = sizeof(dangers) / sizeof(*dangers) - 1;

	for (i = 0; i < n; i++)
		try_it(u, false, dangers[i]);
	try_it(u, true, dangers[n]);
	try_it(u, true, "PING");
}

TEST_T(a_service_has_what_is_its_own_and_nothing_else, 120)
{
	struct tk_server redis;
	json_t *all = rights_fixture_tables(), *e;
	size_t i, users = 0;

	tk_rights_redis(&redis);
	json_array_foreach (json_object_get(all, "peers"), i, e) {
		struct user u = { .name = rights_fixture_member(e, "name") };

		/* It has no access there. */
		if (strcmp(u.name, "llm-sim") == 0)
			continue;
		log_in(&u, &redis);
		try_rows(&u, all);
		try_dangers(&u);
		ck_assert_int_gt(u.allowed, 3);
		ck_assert_int_gt(u.refused, 60);
		printf("%s: %d refused, %d its own\n", u.name, u.refused,
		    u.allowed);
		rights_fixture_close(&u.raw);
		users++;
	}
	ck_assert_uint_ge(users, 6);
	json_decref(all);
}

TEST(the_operator_sees_health_and_no_data)
{
	static const char *const may[] = { "PING", "INFO server", "ACL LOG 1",
		"CLIENT LIST" };
	static const char *const may_not[] = { "GET soul:idle:{b0001}:1",
		"HGET soul:terminal:{x} f", "KEYS *", "FLUSHALL",
		"CONFIG GET *", "SCRIPT LOAD 'return 1'", "ACL LIST",
		"SHUTDOWN" };
	struct tk_server redis;
	struct user u = { .name = "operator" };
	size_t i;

	tk_rights_redis(&redis);
	for (i = 0; i < sizeof(may) / sizeof(*may); i++) {
		log_in(&u, &redis);
		try_it(&u, true, may[i]);
		rights_fixture_close(&u.raw);
	}
	log_in(&u, &redis);
	for (i = 0; i < sizeof(may_not) / sizeof(*may_not); i++)
		try_it(&u, false, may_not[i]);
	rights_fixture_close(&u.raw);
}

/* The file as shipped: no user has a password, so none can log in. */
TEST(without_passwords_no_user_can_log_in)
{
	char *rights = tk_read_file(TK_REDIS_RIGHTS, NULL);
	struct tk_server redis;
	struct rights_fixture r;

	tk_server_start_with(&redis, TK_REDIS, rights);
	rights_fixture_open(&r, redis.port);
	rights_fixture_request(&r, "-NOAUTH", "PING\r\n");
	rights_fixture_request(&r, "-WRONGPASS", "AUTH chat-gateway \"\"\r\n");
	rights_fixture_request(&r, "-WRONGPASS", "AUTH operator x\r\n");
	rights_fixture_request(&r, "-WRONGPASS", "AUTH default \"\"\r\n");
	rights_fixture_close(&r);
	free(rights);
}

/* It replies before that. */
static bool
has_read_its_file(void *raw)
{
	return strstr(rights_fixture_request(raw, "\r\n", "PING\r\n"),
		   "+PONG") != NULL;
}

/* Redis loads it as a user that may not log in. */
TEST(what_was_written_together_survives_a_kill)
{
	struct tk_server nats, redis;
	struct user u = { .name = TK_WITNESS };

	tk_rights_closed(&nats, &redis);
	log_in(&u, &redis);
	rights_fixture_request(
	    &u.raw, "*2\r\n", "MULTI\r\nSET a 1\r\nSET b 2\r\nEXEC\r\n");
	rights_fixture_request(&u.raw, ":7\r\n",
	    "EVAL \"redis.call('set','c','3') redis.call('set','d','4') "
	    "return 7\" 0\r\n");
	rights_fixture_close(&u.raw);
	tk_server_stop(&redis, SIGKILL);
	tk_server_restart(&redis);
	log_in(&u, &redis);
	ck_assert(tk_until(has_read_its_file, &u.raw, 10000));
	rights_fixture_request(&u.raw,
	    "*4\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n",
	    "MGET a b c d\r\n");
	rights_fixture_close(&u.raw);
}

/* The check of the end-to-end tests detects a denial. */
TEST(denials_are_detected)
{
	struct tk_server nats, redis;
	struct user u = { .name = "intent-filter" };

	tk_rights_nats(&nats);
	tk_rights_redis(&redis);
	ck_assert_str_eq(tk_rights_denied(&nats, &redis), "");
	log_in(&u, &redis);
	try_it(&u, false, "HSET soul:terminal:{x} f y");
	ck_assert_ptr_nonnull(
	    strstr(tk_rights_denied(&nats, &redis), "intent-filter"));
	rights_fixture_close(&u.raw);
}
