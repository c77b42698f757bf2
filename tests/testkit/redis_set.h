/*
 * tk_redis_set: several redis-servers as one: a master with replicas and
 * sentinels, or a cluster of three masters with a replica each.
 */
#ifndef TESTKIT_REDIS_SET_H
#define TESTKIT_REDIS_SET_H

#include <stddef.h>

#include "testkit/testkit.h"

/*
 * tk_redis_do(s, out, size, fmt, …):
 * Run a command, given as one line, and put the text of its reply into out (may
 * be NULL): a status, an error with its '-', a number, or a string; an array as
 * it comes.  Fails the test without a reply.
 */
void tk_redis_do(const struct tk_server *s, char *out, size_t size,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* tk_redis_has(s, command, text): Whether its reply contains text now. */
bool tk_redis_has(
    const struct tk_server *s, const char *command, const char *text);

/* tk_redis_wait(s, command, text): Wait until it does, at most 20 s. */
void tk_redis_wait(
    const struct tk_server *s, const char *command, const char *text);

/* Wait until a replica has what its master has now. */
void tk_redis_wait_replica(
    const struct tk_server *master, const struct tk_server *replica);

#define TK_SENTINEL_SERVERS 3
#define TK_SENTINELS        3

struct tk_sentinels {
	struct tk_server server[TK_SENTINEL_SERVERS]; /* the master first */
	size_t n;
	struct tk_server sentinel[TK_SENTINELS];
	char url[256]; /* redis+sentinel://…/soul */
};

/*
 * tk_sentinels_start(s, n, user):
 * A master and n - 1 (0 to 2) replicas that are in sync, and three sentinels
 * which know them.  user (may be NULL) is a user of the sentinels, who then
 * require a login; its password is "sentinel-secret".
 * tk_sentinels_watch(s, user): The same with s->n servers that were started,
 *     and on which a client without a login has all permissions.
 * tk_sentinels_master(s): The index of the server that they name.
 * tk_sentinels_wait_master(s, i): Wait until all sentinels name server i.
 * tk_sentinels_stop(s): Stop all that run.
 */
void tk_sentinels_start(struct tk_sentinels *s, size_t n, const char *user);
void tk_sentinels_watch(struct tk_sentinels *s, const char *user);
size_t tk_sentinels_master(const struct tk_sentinels *s);
void tk_sentinels_wait_master(const struct tk_sentinels *s, size_t i);
void tk_sentinels_stop(struct tk_sentinels *s);

#define TK_CLUSTER_MASTERS 3
#define TK_CLUSTER_NODES   6

struct tk_cluster {
	/* Masters, which serve a third of the slots each, then replicas. */
	struct tk_server node[TK_CLUSTER_NODES];
	char id[TK_CLUSTER_NODES][41];
	char url[256]; /* redis+cluster://… */
};

/*
 * tk_cluster_start(c): It serves all slots, and its replicas are in sync.
 * tk_cluster_start_with(c, start): The same with servers that start() starts,
 *     given the configuration of a node; a client without a login must have all
 *     permissions.
 * tk_cluster_stop(c): Stop all that run.
 * tk_cluster_owner(c, slot): The index of the master that serves a slot at the
 *     start.
 */
void tk_cluster_start(struct tk_cluster *c);
void tk_cluster_start_with(
    struct tk_cluster *c, void (*start)(struct tk_server *s, const char *conf));
void tk_cluster_stop(struct tk_cluster *c);
size_t tk_cluster_owner(const struct tk_cluster *c, int slot);

/*
 * tk_cluster_migrate_begin(c, slot, from, to): Begin to move a slot: keys that
 *     the first has are served by it, others by the second.
 * tk_cluster_migrate_key(c, key, from, to): Move a key.
 * tk_cluster_migrate_end(c, slot, to): The second serves the slot.
 * tk_cluster_migrate(c, tag, to): All of it, for the slot of the keys with
 *     {tag}, while clients write to it.
 * tk_cluster_serving(c, tag): The index of the server that serves that slot
 * now.
 */
void tk_cluster_migrate_begin(
    struct tk_cluster *c, int slot, size_t from, size_t to);
void tk_cluster_migrate_key(
    struct tk_cluster *c, const char *key, size_t from, size_t to);
void tk_cluster_migrate_end(struct tk_cluster *c, int slot, size_t to);

void tk_cluster_migrate(struct tk_cluster *c, const char *tag, size_t to);
size_t tk_cluster_serving(const struct tk_cluster *c, const char *tag);

#endif /* !TESTKIT_REDIS_SET_H */
