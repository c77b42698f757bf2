/*
 * peers: the other hubs: which are alive, what is sent to them, and what
 * comes from them.
 *
 * Hubs tell each other by notices who joins and leaves, which corrects what
 * each knows; Redis decides.  Messages to a client of another hub are numbered
 * and confirmed, so that a sender gets an error for each that may be lost.
 */
#ifndef STAR_HUB_CLUSTER_HANDLERS_H
#define STAR_HUB_CLUSTER_HANDLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cluster/link_record.h"
#include "cluster/peer_link.h"
#include "cluster/remote.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/loop.h"
#include "core/rc.h"
#include "hub.h"

struct bus_msg;
struct bus_sub;

/* A hub that renews nothing for so long is dead. */
#define PEERS_TTL_MS   3000
#define PEERS_RENEW_MS 500
/* A message without a confirmation for so long may be lost. */
#define PEERS_CONFIRM_MAX_MS 3000
/* Confirmations are sent after so long, or so many messages. */
#define PEERS_CONFIRM_MS 20
#define PEERS_CONFIRM_N  256
/* Bytes of one message of NATS, beyond which records are sent. */
#define PEERS_BATCH_BYTES (256UL * 1024)

#define PEERS_SUBS 5

/* Another hub. */
struct peer {
	TAILQ_ENTRY(peer) link;
	struct peers *peers;
	char *name;
	char *subject;
	struct peer_link *messages;
	struct buf out; /* records of this iteration */
	struct loop_deferred flush;
	struct loop_timer confirm;
	int64_t confirmed; /* of its messages */
	struct buf part;   /* of its next record's bytes */
	struct mono since; /* when it was heard of */
	bool listed;       /* by the newest renewal */
	bool known;        /* it has been before, or is dead */
	uint64_t added;    /* after so many renewals had begun */
};
TAILQ_HEAD(peer_list, peer);

struct peers {
	struct hub *hub;
	struct peer_list list;
	size_t n;
	struct remotes *remotes;
	size_t lookups; /* fibers */
	size_t moving;  /* identities that have an "after" */
	struct buf notices;
	struct loop_deferred flush;
	struct loop_timer renew;
	struct bus_sub *sub[PEERS_SUBS];
	char former[80]; /* name that it had; empty: none, or it is dead */
	bool renewing, first, sweeping;
	bool reload;       /* what Redis has could not be read */
	bool announces;    /* soon, what this hub holds */
	uint64_t renewals; /* that have begun */
	/* When a renewal was successful; since when all were. */
	struct mono renewed, steady;
	struct mono ticked;    /* the last one of its timer */
	uint64_t connections;  /* of the bus, when it was last looked at */
	struct mono connected; /* since when it has the newest */
	bool stopped;
};

/* ---- peers.c ---- */

/*
 * peers_new(h, out): Begin to renew; RC_INVALID: it cannot listen.
 * peers_stop(c): It renews no more, and looks nobody up.
 * peers_free(c): NULL is allowed.
 */
enum rc peers_new(struct hub *h, struct peers **out) RC_CHECK;
void peers_stop(struct peers *c);
void peers_free(struct peers *c);

/*
 * peers_is_overdue(c, now):
 * Whether this process stood still for so long that others may have declared it
 * dead; all clients are closed then, before anything is delivered.
 */
bool peers_is_overdue(struct peers *c, struct mono now);

/*
 * peers_bus_is_steady(c, now):
 * Whether NATS has been connected for so long that all hubs are, which are
 * alive.
 */
bool peers_bus_is_steady(const struct peers *c, struct mono now);

/*
 * peers_find(c, name): NULL: no hub of that name is known to be alive.
 * peers_add(c, name): It, or a new one, of which was just heard.
 * peers_refresh(c): Renew now, so that the list of hubs is new; in a fiber.
 */
struct peer *peers_find(const struct peers *c, struct str name);
struct peer *peers_add(struct peers *c, struct str name);
enum rc peers_refresh(struct peers *c) RC_CHECK;

/* ---- peer_send.c ---- */

/*
 * peer_put(p, r): Send a record.
 * peer_send(p, r, o): Send a message with the next number; o is p's until it
 *     is confirmed.  RC_RETRY: too many are not; RC_DOWN: NATS is not
 *     connected.  o is the caller's then.
 * peer_end(p): It is dead: all that is not confirmed may be lost.
 * peer_check_overdue(p): The same for what was not confirmed in time.
 * notice_put(c, r): Send a record to all hubs.
 */
void peer_put(struct peer *p, const struct link_record *r);
enum rc peer_send(
    struct peer *p, struct link_record *r, struct outgoing *o) RC_CHECK;
void peer_end(struct peer *p);
void peer_check_overdue(struct peer *p);
void notice_put(struct peers *c, const struct link_record *r);

/*
 * outgoing_fail(c, o, error): Tell its sender, who may have come back to its
 *     session, and free it.
 * outgoing_end(c, o): Free it.
 */
void outgoing_fail(struct peers *c, struct outgoing *o, enum hub_error error);
void outgoing_end(struct peers *c, struct outgoing *o);

/* ---- peer_receive.c ---- */

/* peer_on_message(arg, m): A bus_msg_fn of this hub's own subject; arg is the
 * peers. */
void peer_on_message(void *arg, struct bus_msg *m);

/* ---- notice.c ---- */

/*
 * notice_on_message(arg, m): A bus_msg_fn of all hubs.
 * notice_send_client(c, kind, client, reason): About its claim.
 * notice_sync(c): Notices may be missing: find out again what they said.
 * notice_announce(c): Notify the others of the clients here, of which they may
 *     still have older claims.
 */
void notice_on_message(void *arg, struct bus_msg *m);
void notice_send_client(struct peers *c, enum link_kind kind,
    const struct client *client, const char *reason);
void notice_sync(struct peers *c);
void notice_announce(struct peers *c);

/* ---- remote_route.c ---- */

/*
 * remote_route(c, o, bytes): Send bytes to the client o->to, which is not at
 *     this hub; o's sender gets an error if it is not possible.
 * remote_is_pending(c, key): Whether messages to it wait, or are on their way
 *     to where it was before: one that is sent now takes that way, too, though
 *     it may be at this hub.
 * remote_returned(c, o, bytes): p did not have the client.
 * remote_joined(c, key, p, gen), remote_left(c, key, gen): Notices; p NULL: at
 *     this hub.
 * remote_peer_done(c, p): Something is confirmed; or p is dead.
 * remote_forget(c, p): All that is at p; NULL: all.
 *
 * remote_locate(c, key, a, out): Where the client of key is; in a fiber.
 *     RC_NOENT: nowhere; *out NULL: at this hub.
 */
struct remote_location {
	struct peer *peer;
	int64_t gen;
};
void remote_route(struct peers *c, struct outgoing *o, struct str bytes);
bool remote_is_pending(const struct peers *c, struct str key);
void remote_returned(struct peers *c, struct outgoing *o, struct str bytes);
void remote_joined(
    struct peers *c, struct str key, struct peer *p, int64_t gen);
void remote_left(struct peers *c, struct str key, int64_t gen);
void remote_peer_done(struct peers *c, const struct peer *p);
void remote_forget(struct peers *c, const struct peer *p);
enum rc remote_locate(struct peers *c, struct str key, struct arena *a,
    struct remote_location *out) RC_CHECK;

/* ---- takeover.c ---- */

/*
 * takeover_on_message(arg, m): A bus_msg_fn: another hub has claimed a client's
 *     identity, and may want its session.
 * takeover_begin(c, client, before, first): The hub before gives up client's
 *     identity; get what its session there still has, if client resumes it.
 *     In a fiber; returns when that hub has given it up, or is dead.
 */
void takeover_on_message(void *arg, struct bus_msg *m);
void takeover_begin(struct peers *c, struct client *client,
    const struct peer *before, struct client_beginning *first);

/* ---- outdated.c ---- */

/*
 * outdated_give_up(c, client, hub, awaited): Have hub, which NATS does not
 *     reach, give up client's identity; if awaited, return when it has, or is
 *     dead.  In a fiber.
 * outdated_read(c): Give up what others want; in a fiber.
 */
void outdated_give_up(
    struct peers *c, const struct client *client, struct str hub, bool awaited);
void outdated_read(struct peers *c);

/* ---- query.c ---- */

/* query_on_message(arg, m): A bus_msg_fn: what is at this hub. */
void query_on_message(void *arg, struct bus_msg *m);

/* ---- dead_hub.c ---- */

/* dead_hub_sweep(c, name): Remove its members from Redis' rooms, for as long as
 * it takes; no-op while this is done for a hub. */
void dead_hub_sweep(struct peers *c, struct str name);

#endif /* !STAR_HUB_CLUSTER_HANDLERS_H */
