#include "testkit/stack/chaos_redis.h"

#include <stdio.h>
#include <string.h>

#define SERVERS_MAX TK_CLUSTER_NODES

struct tk_server *
chaos_redis_server(struct stack *st, size_t i)
{
	if (st->has_cluster)
		return i < TK_CLUSTER_NODES ? &st->cluster.node[i] : NULL;
	if (st->opts->sentinels)
		return i < st->redis.n ? &st->redis.server[i] : NULL;
	return i == 0 ? &st->server[STACK_REDIS] : NULL;
}

bool
chaos_redis_is_set(const struct stack *st)
{
	return st->has_cluster || st->opts->sentinels;
}

static bool
redis_has_role(const struct tk_server *s, const char *role)
{
	char text[32];

	snprintf(text, sizeof(text), "role:%s", role);
	return tk_redis_has(s, "INFO replication", text);
}

struct tk_server *
chaos_redis_pick(struct stack *st, const char *role, unsigned random)
{
	struct tk_server *found[SERVERS_MAX], *s;
	unsigned n = 0;
	size_t i;

	for (i = 0; (s = chaos_redis_server(st, i)) != NULL; i++)
		if (redis_has_role(s, role))
			found[n++] = s;
	return n > 0 ? found[random % n] : NULL;
}

/* ---- whether they work together ---- */

struct redis_goal {
	struct stack *st;
	const struct tk_server *away;
};

static bool
redis_is_named(const struct tk_sentinels *s, const struct tk_server *master)
{
	char port[16];
	size_t i;

	snprintf(port, sizeof(port), "\r\n%d\r\n", master->port);
	for (i = 0; i < TK_SENTINELS; i++)
		if (!tk_redis_has(&s->sentinel[i],
			"SENTINEL get-master-addr-by-name soul", port))
			return false;
	return true;
}

/* A server of a cluster, or with sentinels, has what it needs. */
static bool
redis_is_in_order(
    const struct redis_goal *g, const struct tk_server *s, bool master)
{
	static const char info[] = "INFO replication";

	if (g->st->has_cluster &&
	    !tk_redis_has(s, "CLUSTER INFO", "cluster_state:ok"))
		return false;
	if (!master)
		return tk_redis_has(s, info, "master_link_status:up");
	if (g->st->opts->sentinels && !redis_is_named(&g->st->redis, s))
		return false;
	/* It has no replica while that is away which was one. */
	return g->away != NULL || tk_redis_has(s, info, "state=online");
}

static bool
redis_is_settled(void *arg)
{
	const struct redis_goal *g = arg;
	size_t masters = 0, i;
	struct tk_server *s;
	bool master;

	for (i = 0; (s = chaos_redis_server(g->st, i)) != NULL; i++) {
		if (s == g->away)
			continue;
		master = redis_has_role(s, "master");
		masters += master;
		if (!redis_is_in_order(g, s, master))
			return false;
	}
	return masters == (g->st->has_cluster ? TK_CLUSTER_MASTERS : 1);
}

bool
chaos_redis_settles(struct stack *st, const struct tk_server *away, int ms)
{
	struct redis_goal g = { st, away };

	return !chaos_redis_is_set(st) || tk_until(redis_is_settled, &g, ms);
}

/* ---- faults ---- */

void
chaos_redis_disconnect(struct stack *st)
{
	struct tk_server *s;
	size_t i;

	for (i = 0; (s = chaos_redis_server(st, i)) != NULL; i++)
		tk_redis_do(s, NULL, 0, "CLIENT KILL TYPE normal");
}

/* The hash tag of some key of a server; false: it has none. */
static bool
redis_find_tag(const struct tk_server *s, char tag[16])
{
	char key[512];
	const char *at;

	tk_redis_do(s, key, sizeof(key), "RANDOMKEY");
	at = strchr(key, '{');
	return at != NULL && sscanf(at, "{%15[^}]}", tag) == 1;
}

bool
chaos_redis_move(struct stack *st, unsigned random)
{
	struct tk_server *from = chaos_redis_pick(st, "master", random);
	struct tk_server *to =
	    chaos_redis_pick(st, "master", random + 1 + (random >> 4) % 2);
	char tag[16];

	if (from == NULL || to == NULL || from == to ||
	    !redis_find_tag(from, tag))
		return false;
	tk_cluster_migrate(&st->cluster, tag, (size_t)(to - st->cluster.node));
	return true;
}
