#include "testkit/redis_set.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS        20000
#define REPLY_MAX      65536
#define LINE_MAX_BYTES 16384
#define SLOTS          16384

/* ---- commands ---- */

/* What follows the reply at text, which ends at end; NULL: it is incomplete. */
static const char *
reply_skip(const char *text, const char *end)
{
	const char *line = memmem(text, (size_t)(end - text), "\r\n", 2);
	long n;

	if (line == NULL)
		return NULL;
	n = strtol(text + 1, NULL, 10);
	line += 2;
	if (text[0] == '$' && n >= 0)
		return end - line >= n + 2 ? line + n + 2 : NULL;
	if (text[0] == '*')
		while (n-- > 0 && line != NULL)
			line = reply_skip(line, end);
	return line;
}

static bool
redis_exchange(int port, const char *line, char *text)
{
	int fd = tk_connect(port);
	size_t n = 0, len = strlen(line);
	ssize_t got;

	text[0] = '\0';
	if (fd == -1)
		return false;
	if (send(fd, line, len, MSG_NOSIGNAL) == (ssize_t)len)
		while (
		    n + 1 < REPLY_MAX && reply_skip(text, text + n) == NULL) {
			got = recv(fd, text + n, REPLY_MAX - 1 - n, 0);
			if (got <= 0)
				break;
			n += (size_t)got;
			text[n] = '\0';
		}
	close(fd);
	return n > 0;
}

void
tk_redis_do(
    const struct tk_server *s, char *out, size_t size, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES], *text = malloc(REPLY_MAX), *start;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 2, fmt, ap);
	va_end(ap);
	ck_assert_int_lt(n, (int)sizeof(line) - 2);
	snprintf(line + n, 3, "\r\n");
	ck_assert_msg(redis_exchange(s->port, line, text),
	    "no reply to %s of %s", line, s->proc.name);
	start = text;
	if (text[0] == '$')
		start = strstr(text, "\r\n") + 2;
	else if (text[0] == '+' || text[0] == ':')
		start++;
	if (text[0] != '*' && text[0] != '$')
		start[strcspn(start, "\r\n")] = '\0';
	if (out != NULL)
		snprintf(out, size, "%s", start);
	else
		ck_assert_msg(text[0] != '-', "%s: %s", line, text);
	free(text);
}

struct expected {
	const struct tk_server *s;
	const char *command, *text;
	char reply[REPLY_MAX];
};

static bool
reply_has(void *arg)
{
	struct expected *e = arg;

	return redis_exchange(e->s->port, e->command, e->reply) &&
	    strstr(e->reply, e->text) != NULL;
}

bool
tk_redis_has(const struct tk_server *s, const char *command, const char *text)
{
	struct expected *e = malloc(sizeof(*e));
	char line[256];
	bool has;

	snprintf(line, sizeof(line), "%s\r\n", command);
	*e = (struct expected){ .s = s, .command = line, .text = text };
	has = reply_has(e);
	free(e);
	return has;
}

void
tk_redis_wait(const struct tk_server *s, const char *command, const char *text)
{
	struct expected *e = malloc(sizeof(*e));
	char line[256];

	snprintf(line, sizeof(line), "%s\r\n", command);
	*e = (struct expected){ .s = s, .command = line, .text = text };
	ck_assert_msg(tk_until(reply_has, e, WAIT_MS), "%s: %s: no %s in %s",
	    s->proc.name, command, text, e->reply);
	free(e);
}

/* ---- sentinels ---- */

static bool
server_replies(void *arg)
{
	const struct tk_server *s = arg;
	char text[REPLY_MAX];

	/* One that requires a login replies with an error. */
	return redis_exchange(s->port, "PING\r\n", text);
}

static void
sentinel_start(struct tk_sentinels *s, size_t i, const char *user)
{
	struct tk_server *x = &s->sentinel[i];
	char text[1024], conf[512], login[256] = "";
	const char *v[] = { "redis-server", conf, "--sentinel", NULL };

	*x = (struct tk_server){ .kind = TK_REDIS, .port = tk_port() };
	if (user != NULL)
		snprintf(login, sizeof(login),
		    "user default off\n"
		    "user %s on >sentinel-secret allchannels allcommands\n"
		    "sentinel sentinel-user %s\n"
		    "sentinel sentinel-pass sentinel-secret\n",
		    user, user);
	/* A busy machine stands still for a second, and a failover from a
	 * master that is alive may lose what one of two replicas has. */
	snprintf(text, sizeof(text),
	    "port %d\nbind 127.0.0.1\ndir %s\n"
	    "sentinel monitor soul 127.0.0.1 %d 2\n"
	    "sentinel down-after-milliseconds soul 2500\n"
	    "sentinel failover-timeout soul 5000\n%s",
	    x->port, tk_dir(), s->server[0].port, login);
	snprintf(conf, sizeof(conf), "%s/sentinel-%d.conf", tk_dir(), x->port);
	tk_write_file(conf, text);
	snprintf(text, sizeof(text), "sentinel-%d", x->port);
	tk_spawn(&x->proc, text, v, NULL);
	ck_assert(tk_until(server_replies, x, WAIT_MS));
}

/* A sentinel's own view, with a login if it requires one. */
static void
sentinel_wait(const struct tk_sentinels *s, size_t i, const char *user)
{
	struct expected *e = malloc(sizeof(*e));
	char line[256], want[64];

	snprintf(line, sizeof(line), "%s%s%sINFO sentinel\r\n",
	    user != NULL ? "AUTH " : "", user != NULL ? user : "",
	    user != NULL ? " sentinel-secret\r\n" : "");
	snprintf(want, sizeof(want), "slaves=%zu,sentinels=%d", s->n - 1,
	    TK_SENTINELS);
	*e = (struct expected){
		.s = &s->sentinel[i], .command = line, .text = want
	};
	ck_assert_msg(
	    tk_until(reply_has, e, WAIT_MS), "%s: %s", want, e->reply);
	free(e);
}

void
tk_sentinels_start(struct tk_sentinels *s, size_t n, const char *user)
{
	size_t i;

	*s = (struct tk_sentinels){ .n = n };
	for (i = 0; i < n; i++)
		tk_server_start(&s->server[i], TK_REDIS);
	tk_sentinels_watch(s, user);
}

void
tk_sentinels_watch(struct tk_sentinels *s, const char *user)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		tk_redis_do(&s->server[i], NULL, 0,
		    "CONFIG SET repl-diskless-sync-delay 0");
	for (i = 1; i < s->n; i++)
		tk_redis_do(&s->server[i], NULL, 0, "REPLICAOF 127.0.0.1 %d",
		    s->server[0].port);
	for (i = 1; i < s->n; i++)
		tk_redis_wait(
		    &s->server[i], "INFO replication", "master_link_status:up");
	for (i = 0; i < TK_SENTINELS; i++)
		sentinel_start(s, i, user);
	for (i = 0; i < TK_SENTINELS; i++)
		if (user == NULL)
			sentinel_wait(s, i, user);
	snprintf(s->url, sizeof(s->url),
	    "redis+sentinel://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/soul",
	    s->sentinel[0].port, s->sentinel[1].port, s->sentinel[2].port);
}

size_t
tk_sentinels_master(const struct tk_sentinels *s)
{
	char reply[256], port[16];
	size_t i, k;

	for (i = 0; i < TK_SENTINELS; i++) {
		if (!tk_alive(&s->sentinel[i].proc))
			continue;
		tk_redis_do(&s->sentinel[i], reply, sizeof(reply),
		    "SENTINEL get-master-addr-by-name soul");
		for (k = 0; k < s->n; k++) {
			snprintf(port, sizeof(port), "\r\n%d\r\n",
			    s->server[k].port);
			if (strstr(reply, port) != NULL)
				return k;
		}
	}
	ck_abort_msg("no sentinel names a master");
	return 0;
}

void
tk_sentinels_wait_master(const struct tk_sentinels *s, size_t i)
{
	char port[16];
	size_t k;

	snprintf(port, sizeof(port), "\r\n%d\r\n", s->server[i].port);
	for (k = 0; k < TK_SENTINELS; k++)
		tk_redis_wait(&s->sentinel[k],
		    "SENTINEL get-master-addr-by-name soul", port);
}

void
tk_sentinels_stop(struct tk_sentinels *s)
{
	size_t i;

	for (i = 0; i < TK_SENTINELS; i++)
		if (s->sentinel[i].proc.pid > 0)
			tk_server_stop(&s->sentinel[i], SIGTERM);
	for (i = 0; i < s->n; i++)
		if (s->server[i].proc.pid > 0)
			tk_server_stop(&s->server[i], SIGTERM);
}

/* A server's position in the stream of writes. */
static long long
replication_offset(const struct tk_server *s, const char *name)
{
	char text[REPLY_MAX];
	const char *at;

	tk_redis_do(s, text, sizeof(text), "INFO replication");
	at = strstr(text, name);
	ck_assert_msg(at != NULL, "no %s in %s", name, text);
	return strtoll(at + strlen(name), NULL, 10);
}

struct replica_goal {
	const struct tk_server *replica;
	long long offset;
};

static bool
replica_is_current(void *arg)
{
	const struct replica_goal *g = arg;

	return replication_offset(g->replica, "slave_repl_offset:") >=
	    g->offset;
}

void
tk_redis_wait_replica(
    const struct tk_server *master, const struct tk_server *replica)
{
	struct replica_goal g = { replica,
		replication_offset(master, "master_repl_offset:") };

	ck_assert(tk_until(replica_is_current, &g, WAIT_MS));
}

/* ---- a cluster ---- */

size_t
tk_cluster_owner(const struct tk_cluster *c, int slot)
{
	size_t i = 0;

	(void)c;
	while (slot >= (int)(i + 1) * SLOTS / TK_CLUSTER_MASTERS)
		i++;
	return i;
}

static void
cluster_node_start(struct tk_cluster *c, size_t i, int bus,
    void (*start)(struct tk_server *s, const char *conf))
{
	/* Where no server is killed, none may seem dead on a busy machine. */
	int timeout_ms = getenv("SOUL_TEST_CLUSTER") != NULL ? 20000 : 1000;
	char conf[256];

	snprintf(conf, sizeof(conf),
	    "cluster-enabled yes\ncluster-port %d\n"
	    "cluster-node-timeout %d\ncluster-replica-validity-factor 0\n"
	    "repl-diskless-sync-delay 0\n",
	    bus, timeout_ms);
	start(&c->node[i], conf);
	tk_redis_do(&c->node[i], c->id[i], sizeof(c->id[i]), "CLUSTER MYID");
	c->id[i][40] = '\0';
}

static void
cluster_server_start(struct tk_server *s, const char *conf)
{
	tk_server_start_with(s, TK_REDIS, conf);
}

void
tk_cluster_start(struct tk_cluster *c)
{
	tk_cluster_start_with(c, cluster_server_start);
}

void
tk_cluster_stop(struct tk_cluster *c)
{
	for (size_t i = 0; i < TK_CLUSTER_NODES; i++)
		if (c->node[i].proc.pid > 0)
			tk_server_stop(&c->node[i], SIGTERM);
}

void
tk_cluster_start_with(
    struct tk_cluster *c, void (*start)(struct tk_server *s, const char *conf))
{
	int bus[TK_CLUSTER_NODES];
	size_t i, k;

	*c = (struct tk_cluster){ 0 };
	for (i = 0; i < TK_CLUSTER_NODES; i++) {
		bus[i] = tk_port();
		cluster_node_start(c, i, bus[i], start);
	}
	for (i = 0; i < TK_CLUSTER_MASTERS; i++) {
		tk_redis_do(&c->node[i], NULL, 0, "CLUSTER ADDSLOTSRANGE %d %d",
		    (int)i * SLOTS / TK_CLUSTER_MASTERS,
		    (int)(i + 1) * SLOTS / TK_CLUSTER_MASTERS - 1);
		tk_redis_do(&c->node[i], NULL, 0,
		    "CLUSTER SET-CONFIG-EPOCH %zu", i + 1);
	}
	for (i = 1; i < TK_CLUSTER_NODES; i++)
		tk_redis_do(&c->node[0], NULL, 0,
		    "CLUSTER MEET 127.0.0.1 %d %d", c->node[i].port, bus[i]);
	for (i = 0; i < TK_CLUSTER_NODES; i++)
		for (k = 0; k < TK_CLUSTER_NODES; k++)
			tk_redis_wait(&c->node[i], "CLUSTER NODES", c->id[k]);
	for (i = TK_CLUSTER_MASTERS; i < TK_CLUSTER_NODES; i++)
		tk_redis_do(&c->node[i], NULL, 0, "CLUSTER REPLICATE %s",
		    c->id[i - TK_CLUSTER_MASTERS]);
	for (i = TK_CLUSTER_MASTERS; i < TK_CLUSTER_NODES; i++)
		tk_redis_wait(
		    &c->node[i], "INFO replication", "master_link_status:up");
	for (i = 0; i < TK_CLUSTER_NODES; i++)
		tk_redis_wait(&c->node[i], "CLUSTER INFO", "cluster_state:ok");
	snprintf(c->url, sizeof(c->url),
	    "redis+cluster://127.0.0.1:%d,127.0.0.1:%d", c->node[0].port,
	    c->node[1].port);
}

void
tk_cluster_migrate_begin(struct tk_cluster *c, int slot, size_t from, size_t to)
{
	tk_redis_do(&c->node[to], NULL, 0, "CLUSTER SETSLOT %d IMPORTING %s",
	    slot, c->id[from]);
	tk_redis_do(&c->node[from], NULL, 0, "CLUSTER SETSLOT %d MIGRATING %s",
	    slot, c->id[to]);
}

void
tk_cluster_migrate_key(
    struct tk_cluster *c, const char *key, size_t from, size_t to)
{
	tk_redis_do(&c->node[from], NULL, 0, "MIGRATE 127.0.0.1 %d %s 0 1000",
	    c->node[to].port, key);
}

/* Replicas have the slot's keys, too, and reject SETSLOT. */
static bool
cluster_is_other_master(struct tk_cluster *c, size_t i, size_t to)
{
	return i != to &&
	    tk_redis_has(&c->node[i], "INFO replication", "role:master");
}

void
tk_cluster_migrate_end(struct tk_cluster *c, int slot, size_t to)
{
	char left[REPLY_MAX];
	size_t i;

	/* A server that learns of the new owner first would delete its keys. */
	for (i = 0; i < TK_CLUSTER_NODES; i++) {
		if (!cluster_is_other_master(c, i, to))
			continue;
		tk_redis_do(&c->node[i], left, sizeof(left),
		    "CLUSTER GETKEYSINSLOT %d 10", slot);
		ck_assert_msg(
		    strncmp(left, "*0", 2) == 0, "not moved: %s", left);
	}
	/* The new owner first, so that the slot is never without one. */
	tk_redis_do(&c->node[to], NULL, 0, "CLUSTER SETSLOT %d NODE %s", slot,
	    c->id[to]);
	for (i = 0; i < TK_CLUSTER_NODES; i++)
		if (cluster_is_other_master(c, i, to))
			tk_redis_do(&c->node[i], NULL, 0,
			    "CLUSTER SETSLOT %d NODE %s", slot, c->id[to]);
}

/* A slot may have thousands of keys. */
#define MIGRATE_MS 120000
/* Keys that one MIGRATE moves. */
#define MIGRATE_KEYS "40"

static int
cluster_slot(const struct tk_server *s, const char *tag)
{
	char reply[64];

	tk_redis_do(s, reply, sizeof(reply), "CLUSTER KEYSLOT {%s}", tag);
	return (int)strtol(reply, NULL, 10);
}

size_t
tk_cluster_serving(const struct tk_cluster *c, const char *tag)
{
	char reply[256];
	size_t i;

	/* Only the server that serves the slot does not redirect. */
	for (i = 0; i < TK_CLUSTER_NODES; i++) {
		if (!tk_alive(&c->node[i].proc))
			continue;
		tk_redis_do(
		    &c->node[i], reply, sizeof(reply), "EXISTS {%s}probe", tag);
		if (reply[0] == '0')
			return i;
	}
	ck_abort_msg("no server has {%s}", tag);
	return 0;
}

struct cluster_move {
	struct tk_cluster *c;
	int slot;
	size_t from, to;
};

/* The strings of an array, with a space before each. */
static void
reply_join(const char *text, char *dst, size_t size)
{
	const char *end = text + strlen(text), *line;
	size_t n = 0, len;

	dst[0] = '\0';
	for (line = strstr(text, "\r\n"); line != NULL && line + 2 < end;
	     line = strstr(line + len, "\r\n")) {
		ck_assert_msg(line[2] == '$', "%s", text);
		len = strtoul(line + 3, NULL, 10);
		line = strstr(line + 2, "\r\n") + 2;
		ck_assert_uint_lt(n + len + 2, size);
		n += (size_t)snprintf(
		    dst + n, size - n, " %.*s", (int)len, line);
	}
}

/* Move some keys; whether the first server has none left. */
static bool
cluster_move_some(void *arg)
{
	struct cluster_move *m = arg;
	const struct tk_server *from = &m->c->node[m->from];
	char reply[LINE_MAX_BYTES], keys[LINE_MAX_BYTES];

	tk_redis_do(from, reply, sizeof(reply),
	    "CLUSTER GETKEYSINSLOT %d " MIGRATE_KEYS, m->slot);
	ck_assert_msg(reply[0] == '*', "%s", reply);
	reply_join(reply, keys, sizeof(keys));
	/* Those that have expired meanwhile go by themselves. */
	if (keys[0] != '\0')
		tk_redis_do(from, NULL, 0,
		    "MIGRATE 127.0.0.1 %d \"\" 0 5000 KEYS%s",
		    m->c->node[m->to].port, keys);
	return keys[0] == '\0';
}

void
tk_cluster_migrate(struct tk_cluster *c, const char *tag, size_t to)
{
	size_t from = tk_cluster_serving(c, tag);
	struct cluster_move m = { c, cluster_slot(&c->node[from], tag), from,
		to };

	tk_cluster_migrate_begin(c, m.slot, from, to);
	ck_assert(tk_until(cluster_move_some, &m, MIGRATE_MS));
	tk_cluster_migrate_end(c, m.slot, to);
}
