/*
 * tk_nats_cluster: three nats-servers with JetStream as a cluster.
 */
#ifndef TESTKIT_NATS_CLUSTER_H
#define TESTKIT_NATS_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "testkit/testkit.h"

#define TK_NATS_NODES 3

struct tk_nats_cluster {
	struct tk_server node[TK_NATS_NODES]; /* named "n0" and so on */
	int monitor[TK_NATS_NODES];           /* port of its own figures */
	char url[256];                        /* of all */
};

/*
 * tk_nats_cluster_start(c, rights):
 * Start all and wait as tk_nats_cluster_wait() does; with rights, each has the
 * users of tk_rights_nats().
 * tk_nats_cluster_wait(c): Wait until JetStream has a leader and every node
 *     that runs is current.
 * tk_nats_cluster_recovers(c, ms): Whether that, and a leader of each of its
 *     streams whose copies are current, is there within ms.
 * tk_nats_cluster_stop(c): Stop all that run.
 */
void tk_nats_cluster_start(struct tk_nats_cluster *c, bool rights);
void tk_nats_cluster_wait(struct tk_nats_cluster *c);
bool tk_nats_cluster_recovers(struct tk_nats_cluster *c, int ms);
void tk_nats_cluster_stop(struct tk_nats_cluster *c);

/*
 * tk_nats_cluster_leader(c, stream): Wait until a node that runs leads a
 * replicated stream and the others that run are current; its index.
 * tk_nats_cluster_consumer_leader(c, stream): The same for its only consumer.
 */
size_t tk_nats_cluster_leader(
    const struct tk_nats_cluster *c, const char *stream);
size_t tk_nats_cluster_consumer_leader(
    const struct tk_nats_cluster *c, const char *stream);

/*
 * tk_nats_cluster_is_version(c, prefix): Whether its version begins with that.
 */
bool tk_nats_cluster_is_version(
    const struct tk_nats_cluster *c, const char *prefix);

/*
 * tk_nats_cluster_client(c, name): The node that has a client of that name;
 * TK_NATS_NODES if none has.
 */
size_t tk_nats_cluster_client(
    const struct tk_nats_cluster *c, const char *name);

#endif /* !TESTKIT_NATS_CLUSTER_H */
