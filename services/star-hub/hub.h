/*
 * hub: what all handlers share: clients, rooms, limits, metrics.
 */
#ifndef STAR_HUB_HUB_H
#define STAR_HUB_HUB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "auth/auth.h"
#include "client_identity.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/loop.h"
#include "core/metric.h"
#include "directory.h"
#include "hub_text.h"
#include "room.h"
#include "state/state_conf.h"
#include "throttle.h"
#include "ws/ws.h"

struct bus;
struct state;
struct svc;
struct worker_pool;

/* Frames of one client that wait to be sent. */
#define HUB_QUEUE_FRAMES 1024
/* Messages of a batch, and environments that a human is in or has addressed. */
#define HUB_BATCH_MAX        256
#define HUB_ENVIRONMENTS_MAX 16
/* Members of an environment, and environments of a tenant. */
#define HUB_MEMBERS_MAX 10000
#define HUB_TENANT_MAX  10000
/* Bytes of one connection per second, and deliveries of all broadcasts. */
#define HUB_BYTES_PER_S      (8 * 1024 * 1024)
#define HUB_DELIVERIES_PER_S 500000
/* Who sends over its rate is not read until it may go on, and for so long at
 * least: each read may take far more than a rate allows in a moment. */
#define HUB_PAUSE_MS 100
/* So many seconds with a message over the rate, of so many: closed. */
#define HUB_STRIKES   3
#define HUB_STRIKES_S 10

/* Room for the name of a session: 128 random bits. */
#define HUB_SESSION_MAX 33
/* Until a client without a token in its handshake has sent one. */
#define HUB_AUTHENTICATE_MS 5000
/* Bytes of its messages until then: a token, and what is around it. */
#define HUB_AUTHENTICATE_BYTES (16 * 1024)

struct hub_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	int64_t connections;
	int64_t handshake_ms;
	int64_t rate, rate_burst;
	int64_t broadcast_rate;
	int64_t queue_bytes, stall_ms;
	int64_t memory_mib;
	int64_t message_bytes;
	int64_t heartbeat_ms, timeout_ms;
	const char *sender;
	const char *global_broadcast;
	bool presence, human_autojoin;
};

/* An open connection. */
struct client {
	TAILQ_ENTRY(client) link; /* by the next heartbeat */
	struct ws_peer *peer;     /* NULL: it has ended */
	struct identity identity; /* strings are in text */
	struct str sender;        /* as JSON; in text */
	char *text;
	uint64_t seq; /* of its last message */
	struct throttle messages, bytes, broadcasts;
	struct mono strike[HUB_STRIKES]; /* the last ones; 0: none */
	uint64_t dropped; /* broadcasts that it missed since its last frame */
	struct mono heartbeat;
	struct room_member *rooms; /* one, or HUB_ENVIRONMENTS_MAX of a human */
	size_t nrooms;
	char **addressed; /* of a human: keys of environments; NULL: none */
	size_t naddressed;
	/* Whose its identity is: the user or terminal of its access token;
	 * in text; absent: nobody's. */
	struct str user;
	struct auth_caller caller; /* strings are in text; zero: none */
	char session[HUB_SESSION_MAX];
	TAILQ_ENTRY(client) auth_link; /* in h->authenticating or h->callers */
	struct mono auth_by;           /* in the former, until then; or 0 */
	bool rechecked;                /* it is in the latter */
	struct caller_check *recheck;  /* NULL: none is pending */
	bool checking;                 /* a token that it has sent */
	bool full;                     /* its queue has no room */
	bool held;                     /* it holds its identity */
	bool closing;                  /* its messages do not count any more */
};

TAILQ_HEAD(client_list, client);

enum hub_how { HUB_LOCAL, HUB_ROOM, HUB_TO_HUB, HUB_HOWS };

/* Why a handshake was rejected, by its status. */
enum hub_rejection {
	HUB_REJECTION_REQUEST,
	HUB_REJECTION_TOKEN,
	HUB_REJECTION_DENIED,
	HUB_REJECTION_PATH,
	HUB_REJECTION_TIMEOUT,
	HUB_REJECTION_RATE,
	HUB_REJECTION_FULL,
	HUB_REJECTIONS
};

struct hub_metrics {
	struct metric *clients[CLASS_HUB];
	struct metric *messages[CLASS_HUB][HUB_HOWS];
	struct metric *deliveries;
	struct metric *errors[HUB_ERROR_N];
	struct metric *dropped;
	struct metric *shed;
	struct metric *route_seconds;
	struct metric *queue_bytes;
	struct metric *stalled;
	struct metric *rejected[HUB_REJECTIONS];
};

struct hub {
	struct svc *svc;
	struct loop *loop;
	struct ws *ws;
	struct bus *bus;
	struct worker_pool *workers;
	struct state *state;
	const struct hub_conf *conf;
	char name[80];
	struct mono since;
	struct directory *directory;
	struct rooms *rooms;
	struct client_list clients; /* the next heartbeat first */
	struct loop_timer heartbeat;
	struct client_list authenticating; /* the oldest first */
	struct client_list callers; /* authenticated, the next check first */
	size_t ncallers;
	struct loop_timer auth_timer, recheck_timer;
	struct arena *credentials; /* of a terminal that is looked up */
	struct throttle_limit messages, bytes, broadcasts, deliveries;
	struct throttle delivered;
	struct mono shed_at; /* the last time */
	struct arena *arena; /* of the message that is handled */
	struct buf out;      /* the frame that is being written */
	int64_t now_ms;      /* of the timestamp */
	char timestamp[HUB_TIMESTAMP_MAX];
	struct hub_metrics metrics;
	uint64_t events; /* that the hub has made */
	struct rate *replaced_rate;
	int64_t replaced; /* clients since the last audit event of them */
	bool global, rewrite, draining;
};

/* hub_now(h): The timestamp of now, valid until the next call. */
struct str hub_now(struct hub *h);

/* ---- hub_client.c ---- */

/*
 * client_new(h, p, i, who): Of a peer that is accepted; i and who, which may be
 * NULL, are copied.
 * client_set_caller(c, who): Its identity becomes one of who's tenant; c does
 * not hold it yet.
 * client_owner(who, text): Whose the identities of a caller are: the user, of a
 * terminal itself; absent: nobody's.
 * client_is_operator(c): Whether its access token is an operator's.
 * client_free(c): It is in no room, and not in h->clients.
 * client_close(c, code, reason): Its messages do not count any more.
 */
struct client *client_new(struct hub *h, struct ws_peer *p,
    const struct identity *i, const struct auth_caller *who);
void client_set_caller(struct client *c, const struct auth_caller *who);
#define CLIENT_OWNER_MAX 130
struct str client_owner(
    const struct auth_caller *who, char text[CLIENT_OWNER_MAX]);
bool client_is_operator(const struct client *c);
void client_free(struct client *c);
void client_close(struct client *c, unsigned code, struct str reason);

/*
 * client_send(h, c, f):
 * Queue a frame.  RC_RETRY: its queue is full, or the memory of all queues is;
 * RC_DOWN: it is closing.
 *
 * client_drop(h, c): A broadcast was not sent to it, which an event reports
 * before its next frame.
 * client_send_dropped(h, c): Send that event; false: not possible yet.
 */
enum rc client_send(struct hub *h, struct client *c, struct frame *f) RC_CHECK;
void client_drop(struct hub *h, struct client *c);
bool client_send_dropped(struct hub *h, struct client *c);

/* client_set_full(h, c, full): Count those whose queue has no room. */
void client_set_full(struct hub *h, struct client *c, bool full);

/* client_send_text(h, c): Send h->out, and reset it; false: it was not. */
bool client_send_text(struct hub *h, struct client *c);

/* client_fail(h, c, f): Send an error. */
void client_fail(struct hub *h, struct client *c, const struct hub_failure *f);

/* client_heartbeat(h, c): Send a heartbeat. */
void client_heartbeat(struct hub *h, struct client *c);

/* client_env_key(c, dst): The key of the room of an agent or environment. */
struct str client_env_key(const struct client *c, char dst[IDENTITY_KEY_MAX]);

/* client_membership(c, key): Of the room of key; NULL: c is not in it. */
struct room_member *client_membership(
    const struct hub *h, const struct client *c, struct str key);

/* client_add_addressed(c, key), client_has_addressed(c, key): That a human has
 * written to an environment. */
void client_add_addressed(struct client *c, struct str key);
bool client_has_addressed(const struct client *c, struct str key);

/* ---- human.c ---- */

/*
 * human_join(h, c, key): c becomes a member of the environment of key.  NULL,
 * or why not, in words.
 * human_autojoin(h, c, e, key): The same, if STAR_HUMAN_AUTOJOIN is on, and e,
 * which was sent to the environment, is the action by which the SDK joins.
 */
struct envelope;
const char *human_join(struct hub *h, struct client *c, struct str key);
void human_autojoin(
    struct hub *h, struct client *c, const struct envelope *e, struct str key);

/* ---- client_auth.c ---- */

/*
 * client_auth_expect(h, c): c, which is accepted, has no token: it is closed
 * unless it sends one in time.
 * client_auth_end(h, c): It has ended.
 * client_auth_is_request(h, e): Whether e authenticates its sender: a message
 * of that type, or the stream of the SDK for it.
 * client_auth_handle(h, c, e, f): Such a message.  False: it is wrong, as f
 * says.
 */
struct envelope;
void client_auth_expect(struct hub *h, struct client *c);
void client_auth_end(struct hub *h, struct client *c);
bool client_auth_is_request(struct hub *h, const struct envelope *e);
bool client_auth_handle(struct hub *h, struct client *c,
    const struct envelope *e, struct hub_failure *f);

/* ---- on_admin.c ---- */

/*
 * hub_kick(h, i, why): Close the client that holds i with 1008 and why, of at
 * most 123 bytes.  False: nobody does.
 */
bool hub_kick(struct hub *h, const struct identity *i, const char *why);

/* ---- hub_audit.c ---- */

/*
 * hub_audit_start(h), hub_audit_stop(h): Around the others.
 * hub_audit_kicked(h, by, i): by has disconnected the client that held i.
 * hub_audit_drained(h, by): by has ended the hub.
 * hub_audit_replaced(h, by, owner): by has taken its identity from another
 * connection, of that owner; several within a moment are one event.
 */
struct rate;
void hub_audit_start(struct hub *h);
void hub_audit_stop(struct hub *h);
void hub_audit_kicked(
    struct hub *h, const struct client *by, const struct identity *i);
void hub_audit_drained(struct hub *h, const struct client *by);
void hub_audit_replaced(
    struct hub *h, const struct client *by, struct str owner);

/* ---- caller_recheck.c ---- */

/*
 * caller_recheck_start(h), caller_recheck_stop(h): With authentication: accept
 * tokens of terminals, and check the callers of open connections from time to
 * time.
 * caller_recheck_begin(h, c), caller_recheck_end(h, c): c is one of them.
 */
struct caller_check;
void caller_recheck_start(struct hub *h);
void caller_recheck_stop(struct hub *h);
void caller_recheck_begin(struct hub *h, struct client *c);
void caller_recheck_end(struct hub *h, struct client *c);

/* ---- heartbeat.c ---- */

/* heartbeats_start(h), heartbeats_stop(h): Of all clients. */
void heartbeats_start(struct hub *h);
void heartbeats_stop(struct hub *h);

/* ---- presence.c ---- */

/*
 * presence_joined(h, c, key): Notify the environment of key about c.
 * presence_left(h, c, key, reason): The same.
 * presence_environment(h, c, reason): Notify the members that their environment
 * c is up, with NULL, or down.
 */
void presence_joined(struct hub *h, const struct client *c, struct str key);
void presence_left(
    struct hub *h, const struct client *c, struct str key, const char *reason);
void presence_environment(
    struct hub *h, const struct client *c, const char *reason);

/* ---- broadcast.c ---- */

/*
 * broadcast_room(h, key, audience, from, f): Send f to the members of a room of
 * a class (CLASS_HUB: any) but from.
 * broadcast_all(h, audience, from, f): To all of from's tenant.
 */
void broadcast_room(struct hub *h, struct str key, enum client_class audience,
    const struct client *from, struct frame *f);
void broadcast_all(struct hub *h, enum client_class audience,
    const struct client *from, struct frame *f);

#endif /* !STAR_HUB_HUB_H */
