/*
 * cluster: Redis Cluster: slots of keys, who serves them, redirections.
 */
#ifndef STATE_CLUSTER_H
#define STATE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "state/state_internal.h"

#define CLUSTER_SLOTS 16384
/* Servers of a cluster, replicas not counted. */
#define CLUSTER_NODES_MAX 256

/* ---- slot.c; pure ---- */

/* The slot of a call without a key, which any server executes. */
#define SLOT_ANY (-1)

/* slot_crc16(s): CRC-16/XMODEM. */
uint16_t slot_crc16(struct str s);

/* slot_of_key(key): The slot, by CRC16 of the hash tag if there is one. */
int slot_of_key(struct str key);

/*
 * slot_of_command(args, n):
 * The slot of a command's first key; SLOT_ANY if it has none.  Other keys of
 * the command are the server's to check.
 */
int slot_of_command(const struct str *args, size_t n);

/*
 * slot_of_keys(keys, n, other):
 * The slot that all keys have; SLOT_ANY if n is 0.  If they have not, -2, and
 * keys[*other] is one that is not in the slot of keys[0].
 */
int slot_of_keys(const struct str *keys, size_t n, size_t *other);
#define SLOT_MIXED (-2)

/* ---- slot_map.c; pure ---- */

#define SLOT_UNSERVED UINT16_MAX

/* Who serves which slot, as one server of the cluster reports it. */
struct slot_map {
	struct redis_address nodes[CLUSTER_NODES_MAX];
	size_t n;
	uint16_t owner[CLUSTER_SLOTS]; /* an index of nodes, or unserved */
};

/*
 * slot_map_read(r, host, m):
 * Read the reply to CLUSTER SLOTS of the server that was addressed as host.
 * RC_INVALID if it is none, RC_TOOBIG over CLUSTER_NODES_MAX masters, RC_NOENT
 * if no slot is served.
 */
enum rc slot_map_read(
    const struct state_reply *r, const char *host, struct slot_map *m) RC_CHECK;

/* slot_map_address_eq(a, b): Whether both have the same host and port. */
bool slot_map_address_eq(
    const struct redis_address *a, const struct redis_address *b);

/* MOVED: from now on; ASK: this call only, to a server that imports the slot.
 */
enum redirect_kind { REDIRECT_NONE, REDIRECT_MOVED, REDIRECT_IMPORTING };

struct redirect {
	enum redirect_kind kind;
	int slot;
	struct redis_address to; /* no host: that of the server that sent it */
};

/* redirect_parse(text, d): Read an error; kind is NONE if it is no redirect. */
void redirect_parse(struct str text, struct redirect *d);

/* ---- cluster.c ---- */

/* cluster_new(s): Learn the slots from the addresses of s, and connect. */
struct cluster *cluster_new(struct state *s);

/* cluster_stop(c), cluster_free(c): As of a client; NULL is allowed. */
void cluster_stop(struct cluster *c);
void cluster_free(struct cluster *c);

/*
 * cluster_up(c):
 * Whether its masters are connected: all of them at first, from then on most,
 * because a failover of one leaves the others usable.  Any thread.
 */
bool cluster_up(const struct cluster *c);

/* cluster_route(c, slot): As state_route(). */
struct state_node *cluster_route(struct cluster *c, int slot);

/*
 * cluster_slot_imported(c, slot, a):
 * The server at a, which imports a slot and gets a call of it; NULL if there
 * are too many servers. cluster_importer(c, slot): Such a server, if there was
 * a call, until the slot is its own; NULL: none.
 */
struct state_node *cluster_slot_imported(
    struct cluster *c, int slot, const struct redis_address *a);
struct state_node *cluster_importer(const struct cluster *c, int slot);

/* cluster_slot_moved(c, slot, a): From now on, the server at a has the slot. */
void cluster_slot_moved(
    struct cluster *c, int slot, const struct redis_address *a);

/*
 * cluster_owner_since(c, slot):
 * The client's version when the server of a slot began to serve any.  A slot
 * that moves between two masters takes its data along; a replica that becomes a
 * master may lack some.
 */
uint32_t cluster_owner_since(const struct cluster *c, int slot);

/* cluster_refresh(c): Learn the slots anew, soon. */
void cluster_refresh(struct cluster *c);

#endif /* !STATE_CLUSTER_H */
