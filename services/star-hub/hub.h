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
#include "cluster/member_set.h"
#include "cluster/remote.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/metric.h"
#include "directory.h"
#include "hub_text.h"
#include "message_span.h"
#include "otlp/otlp.h"
#include "replay.h"
#include "room.h"
#include "state/state_conf.h"
#include "throttle.h"
#include "ws/ws.h"

struct bodies;
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
	int64_t ttl_s;      /* of snapshots of terminals */
	int64_t skills_max; /* bytes */
	int64_t resume_ms;
	int64_t history;
	struct otlp_conf otlp;
};

/* Room for a cursor, "<gen>-<seq>", and a session's id, NUL included. */
#define HUB_CURSOR_MAX  48
#define HUB_SESSION_MAX ID_HEX32_MAX

enum client_phase {
	CLIENT_CLAIMING, /* its identity; what is for it waits in its replay */
	CLIENT_OPEN,
	CLIENT_DETACHED, /* it may resume; the same */
	CLIENT_ENDED
};

/* A client that is connected, or was a moment ago.  What is read for each frame
 * comes first. */
struct client {
	enum client_phase phase;
	bool closing;         /* its messages do not count any more */
	bool full;            /* its queue has no room */
	bool held;            /* it holds its identity */
	bool accepted;        /* its handshake is over; it may be nobody yet */
	bool checking;        /* a token that it has sent */
	bool rechecked;       /* it is in h->callers */
	bool drain_waits;     /* for it */
	struct ws_peer *peer; /* NULL: it has ended, or receive is set */
	/*
	 * Of a resident agent, which has no connection: what it is sent; the
	 * text is valid during the call, in which nothing is sent.  RC_RETRY:
	 * its queue is full.
	 */
	enum rc (*receive)(struct client *c, struct str text);
	uint64_t dropped; /* broadcasts that it missed since its last frame */
	struct replay replay;
	struct identity identity; /* strings are in text */
	void *arg;                /* for receive */
	TAILQ_ENTRY(client)
	link; /* open: by the next heartbeat; claiming, and detached: in order
	       */
	unsigned commands; /* that wait */
	unsigned refs;     /* of fibers, and messages that are not confirmed */
	int64_t gen;       /* of its claim; 0: none yet */
	int64_t newer;     /* another one's, that is known while it claims */
	char session[HUB_SESSION_MAX];
	size_t waiting, waiting_bytes; /* frames that were not sent */
	struct mono detached_until;
	const char *left_reason;    /* when that is over */
	struct mono extended;       /* its claim */
	struct member_set *members; /* of an environment */
	int64_t cursor;             /* seq of its newest broadcast */
	struct history *history;    /* broadcasts to be stored; NULL: none */
	struct str sender;          /* as JSON; in text */
	char *text;
	uint64_t seq; /* of its last message */
	struct throttle messages, bytes, broadcasts;
	struct mono strike[HUB_STRIKES]; /* the last ones; 0: none */
	struct mono heartbeat;
	struct room_member *rooms; /* one, or HUB_ENVIRONMENTS_MAX of a human */
	size_t nrooms;
	char **addressed; /* of a human: keys of environments; NULL: none */
	size_t naddressed;
	/* Whose its identity is: the user or terminal of its access token;
	 * in text; absent: nobody's. */
	struct str user;
	struct auth_caller caller;     /* strings are in text; zero: none */
	TAILQ_ENTRY(client) auth_link; /* in h->authenticating or h->callers */
	struct mono auth_by;           /* in the former, until then; or 0 */
	struct caller_check *recheck;  /* NULL: none is pending */
	/* Of the request; resume_session is empty: not wanted. */
	char resume_session[HUB_SESSION_MAX];
	int64_t resume_last; /* frames that it has */
	char **rejoin;       /* keys of rooms that it was in */
	size_t nrejoin;
	int64_t after_cursor; /* events that it has; -1: not wanted */
	struct trace *trace;  /* of its request; NULL: none that is exported */
};

TAILQ_HEAD(client_list, client);

enum hub_how { HUB_LOCAL, HUB_REMOTE, HUB_ROOM, HUB_TO_HUB, HUB_HOWS };

enum hub_claim {
	HUB_CLAIM_NEW,
	HUB_CLAIM_REPLACED,
	HUB_CLAIM_RESUMED,
	HUB_CLAIMS
};

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
	struct metric *claims[HUB_CLAIMS];
	struct metric *hubs;
	struct metric *remote_seconds;
	struct metric *unconfirmed;
	struct metric *lookups, *directory_misses;
	struct metric *gaps;
	struct metric *queue_bytes;
	struct metric *stalled;
	struct metric *rejected[HUB_REJECTIONS];
};

/* Broadcasts that are sent together, at most. */
#define HUB_BROADCASTS 64

/* To one room; see broadcast_soon(). */
struct broadcasts {
	char room[IDENTITY_KEY_MAX];
	struct broadcast {
		struct frame *frame;
		enum client_class audience; /* CLASS_HUB: any */
		int64_t gen, seq;           /* its cursor; 0: it has none */
	} item[HUB_BROADCASTS];
	size_t n;
};

struct claims;
struct envelope;
struct peers;
struct monitor;

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
	struct bodies *bodies;        /* body/body.h */
	struct client_list residents; /* clients without connections */
	struct client_list clients;   /* the next heartbeat first */
	struct client_list queued, claiming, detached; /* not open */
	struct peers *peers;
	struct claims *claims;
	size_t replay_bytes; /* of all clients */
	struct loop_timer heartbeat;
	struct client_list authenticating; /* the oldest first */
	struct client_list callers; /* authenticated, the next check first */
	size_t ncallers;
	struct loop_timer auth_timer, recheck_timer;
	struct arena *credentials; /* of a terminal that is looked up */
	struct throttle_limit messages, bytes, broadcasts, deliveries;
	struct throttle delivered;
	struct broadcasts soon;
	struct mono shed_at; /* the last time */
	struct arena *arena; /* of the message that is handled */
	struct buf out;      /* the frame that is being written */
	struct buf message;  /* of a client, that is being routed */
	/* Until when that may be delivered, also to one that comes back; {0}:
	 * any time. */
	struct wall deliver_by;
	struct otlp *otlp;        /* NULL: tracing is off */
	struct message_span span; /* of the message that is handled */
	int64_t now_ms;           /* of the timestamp */
	char timestamp[HUB_TIMESTAMP_MAX];
	struct hub_metrics metrics;
	uint64_t events; /* that the hub has made */
	LIST_HEAD(, monitor) monitors;
	size_t nmonitors;
	struct rate *replaced_rate;
	int64_t replaced; /* clients since the last audit event of them */
	bool global, rewrite, draining;
};

/* hub_set_name(h): A new one, as another process has. */
void hub_set_name(struct hub *h);

/* hub_pause(h, ms): Suspend this fiber for so long. */
void hub_pause(struct hub *h, int64_t ms);

/* hub_now(h): The timestamp of now, valid until the next call. */
struct str hub_now(struct hub *h);

/* ---- hub_client.c ---- */

/*
 * client_new(p, i, who): Of a peer that is accepted; i and who, which may be
 *     NULL, are copied.  It is in no list, and has one reference.
 * client_ref(c), client_unref(h, c): The last one frees it: it has ended then.
 * client_set_caller(c, who): Its identity becomes one of who's tenant; c does
 *     not hold it yet.
 * client_owner(who, text): Whose the identities of a caller are: the user, of a
 *     terminal itself; absent: nobody's.
 * client_is_operator(c): Whether its access token is an operator's.
 * client_close(c, code, reason): Its messages do not count any more.
 * client_key(c, dst): Its identity_key().
 */
struct client *client_new(
    struct ws_peer *p, const struct identity *i, const struct auth_caller *who);
struct client *client_ref(struct client *c);
void client_unref(struct hub *h, struct client *c);
void client_set_caller(struct client *c, const struct auth_caller *who);
#define CLIENT_OWNER_MAX 130
struct str client_owner(
    const struct auth_caller *who, char text[CLIENT_OWNER_MAX]);
bool client_is_operator(const struct client *c);
void client_close(struct client *c, unsigned code, struct str reason);
struct str client_key(const struct client *c, char dst[IDENTITY_KEY_MAX]);

/* client_accept(c, head): Its handshake is over; head is its request. */
void client_accept(struct client *c, const struct http_head *head);

/*
 * client_send(h, c, f):
 * Queue a frame (replay.h).  RC_RETRY: its queue is full, or the memory of all
 * queues is; RC_DOWN: it is closing.
 *
 * client_may_wait(h, c, n, bytes): Whether c, which is not open, may have n
 *     more frames that wait for it.
 *
 * client_open(h, c): It is open: send what waits of its replay.
 * client_forget_replay(h, c): Free it.
 *
 * client_drop(h, c): A broadcast was not sent to it, which an event reports
 * before its next frame.
 * client_send_dropped(h, c): Send that event; false: not possible yet.
 */
enum rc client_send(struct hub *h, struct client *c, struct frame *f) RC_CHECK;
bool client_may_wait(
    const struct hub *h, const struct client *c, uint64_t n, size_t bytes);
void client_open(struct hub *h, struct client *c, uint64_t has);
void client_forget_replay(struct hub *h, struct client *c);
void client_drop(struct hub *h, struct client *c);
bool client_send_dropped(struct hub *h, struct client *c);

/* client_may_resume(h, end): Whether a client may come back after this end of
 * its connection: not if either side wanted it. */
bool client_may_resume(const struct hub *h, const struct ws_end *end);

/* client_set_full(h, c, full): Count those whose queue has no room. */
void client_set_full(struct hub *h, struct client *c, bool full);

/*
 * client_send_text(h, c): Send h->out, and reset it; false: it was not.
 * client_send_uncounted(h, c): The same, as no frame of the session, if it is
 *     open and has room.
 */
bool client_send_text(struct hub *h, struct client *c);
void client_send_uncounted(struct hub *h, struct client *c);

/* client_fail(h, c, f): Send an error. */
void client_fail(struct hub *h, struct client *c, const struct hub_failure *f);

/*
 * client_heartbeat(h, c, first): Send a heartbeat; first: the first of its
 * connection, with more about that; else NULL.  It is no frame of the session.
 */
struct client_beginning {
	bool authenticated;   /* in a message */
	bool wanted, resumed; /* to resume */
	int64_t lost;         /* frames, if it was not; -1: not known */
	/* Events follow that were broadcast before; some before them have
	 * expired; there are more. */
	bool history, gap, more;
};
void client_heartbeat(
    struct hub *h, struct client *c, const struct client_beginning *first);

/* client_env_key(c, dst): The key of the room of an agent or environment. */
struct str client_env_key(const struct client *c, char dst[IDENTITY_KEY_MAX]);

/* client_membership(c, key): Of the room of key; NULL: c is not in it. */
struct room_member *client_membership(
    const struct hub *h, const struct client *c, struct str key);

/* client_add_addressed(c, key), client_has_addressed(c, key): That a human has
 * written to an environment. */
void client_add_addressed(struct client *c, struct str key);
bool client_has_addressed(const struct client *c, struct str key);

/* ---- monitor.c ---- */

/*
 * monitor_on_message(arg, m): A bus_msg_fn: an operator follows an environment;
 * arg is struct peers. monitors_report(h, c, e): c has sent a message.
 * monitors_expire(h, all): End those whose time is over.
 */
struct bus_msg;
void monitor_on_message(void *arg, struct bus_msg *m);
void monitors_report(
    struct hub *h, const struct client *c, const struct envelope *e);
void monitors_expire(struct hub *h, bool all);

/* ---- human.c ---- */

/*
 * human_join(h, c, key): c becomes a member of the environment of key; in a
 *     fiber.  RC_NOENT: that is not connected; RC_TOOBIG: c is in
 *     HUB_ENVIRONMENTS_MAX; RC_RETRY: it has HUB_MEMBERS_MAX; else Redis cannot
 *     be reached.
 * human_autojoin(h, c, e, key): The same, if STAR_HUMAN_AUTOJOIN is on, and e,
 * which was sent to the environment, is the action by which the SDK joins.
 */
struct envelope;
enum rc human_join(struct hub *h, struct client *c, struct str key) RC_CHECK;
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
 * client_auth_accepted(h, c), client_auth_rejected(h, c, rc, why): c has its
 * identity now, or gets none.
 */
struct envelope;
void client_auth_expect(struct hub *h, struct client *c);
void client_auth_end(struct hub *h, struct client *c);
bool client_auth_is_request(struct hub *h, const struct envelope *e);
bool client_auth_handle(struct hub *h, struct client *c,
    const struct envelope *e, struct hub_failure *f);
void client_auth_accepted(struct hub *h, struct client *c);
void client_auth_rejected(
    struct hub *h, struct client *c, enum rc rc, const char *why);

/* ---- on_admin.c ---- */

/*
 * hub_kick(h, key, why): Close the client that holds the identity, at this hub,
 * with 1008 and why, of at most 123 bytes.  False: none does.
 */
bool hub_kick(struct hub *h, struct str key, const char *why);

/* Room for a close reason, NUL included. */
#define HUB_REASON_MAX 124

/*
 * hub_kick_reason(reason, why): What the client reads.
 * hub_kick_anywhere(h, key, why, a, hub): The same at whichever hub it is,
 * which is asked to; in a fiber.  RC_NOENT: nowhere.
 */
void hub_kick_reason(struct str reason, char why[HUB_REASON_MAX]);
enum rc hub_kick_anywhere(struct hub *h, struct str key, const char *why,
    struct arena *a, struct str *hub) RC_CHECK;

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

/* ---- body/body.c: souls in environments ---- */

/*
 * bodies_start(h): Of h->bodies; false: it is not possible.
 * bodies_drain(h): Leave all: other hubs may have them.
 * bodies_stop(h): Free all; no fiber runs any more.
 *
 * bodies_up(h, c), bodies_down(h, c): The environment c has connected, and
 * holds its identity; or it does not any more.
 */
bool bodies_start(struct hub *h);
void bodies_drain(struct hub *h);
void bodies_stop(struct hub *h);
void bodies_up(struct hub *h, struct client *c);
void bodies_down(struct hub *h, struct client *c);

/* hub_receive(h, c, text): A message from c, which has no connection; not in
 * c->receive(). */
void hub_receive(struct hub *h, struct client *c, struct str text);

/* ---- spans.c ---- */

/*
 * Spans of messages that are part of a trace: "star.route", from reading one to
 * queueing it, and "star.deliver", until another hub confirms it.
 *
 * A message is part of the trace that it says, in an outer member traceparent,
 * else of that of its connection's request, if there is one.  Without, or
 * without a collector, none is made.
 */
/*
 * message_spans_start(h): RC_INVALID: the configuration is wrong.
 * message_spans_stop(h): Send what waits, for a few seconds at most; the loop
 * does not run any more.
 */
enum rc message_spans_start(struct hub *h) RC_CHECK;
void message_spans_stop(struct hub *h);

/* message_span_connect(h, c, head): c's connection is part of the trace of its
 * request. */
void message_span_connect(
    struct hub *h, struct client *c, const struct http_head *head);

/*
 * message_span_begin(h, c, e, start): e, of c, is handled now.
 * message_span_routed(h, c, f): It was, or is wrong, as f says.
 */
void message_span_begin(struct hub *h, const struct client *c,
    const struct envelope *e, struct mono start);
void message_span_routed(
    struct hub *h, const struct client *c, const struct hub_failure *f);

/*
 * message_span_deliver(h, o): The message that is handled goes to another hub.
 * message_span_delivered(h, o, error): It is there, or not, with error.
 */
void message_span_deliver(struct hub *h, struct outgoing *o);
void message_span_delivered(
    struct hub *h, const struct outgoing *o, const char *error);

/* ---- heartbeat.c ---- */

/* heartbeats_start(h), heartbeats_stop(h): Of all clients. */
void heartbeats_start(struct hub *h);
void heartbeats_stop(struct hub *h);

/* ---- presence.c ---- */

/*
 * presence_member(h, env, member, event, reason): Notify an environment of this
 * hub about a member (its key); event is without the class: "joined".  reason
 * NULL: without.
 * presence_environment(h, key, reason): Notify the members here that the
 * environment of key is up, with NULL, or down.
 */
void presence_member(struct hub *h, struct client *env, struct str member,
    const char *event, const char *reason);
void presence_environment(struct hub *h, struct str key, const char *reason);

/* ---- membership.c ---- */

/*
 * membership_enter(h, m, key, resumed): m's client joins the room of key, of
 *     which its environment is notified, wherever that is; Redis knows.
 * membership_exit(h, m, reason): The opposite; Redis is updated later.
 * membership_exit_all(h, c, reason).
 * membership_detached(h, c): Its environments are notified.
 */
void membership_enter(
    struct hub *h, struct room_member *m, struct str key, bool resumed);
void membership_exit(struct hub *h, struct room_member *m, const char *reason);
void membership_exit_all(struct hub *h, struct client *c, const char *reason);
void membership_detached(struct hub *h, const struct client *c);

/*
 * What is known of a member (its key) of the environment of key, which is
 * notified if it is here.
 *
 * membership_send_cursor(h, key, member, peer): If it is here, peer is notified
 * with which number its broadcasts begin to reach the member.
 */
void membership_entered(struct hub *h, struct str key, struct str member,
    struct peer *peer, int64_t gen);
void membership_resumed(struct hub *h, struct str key, struct str member,
    struct peer *peer, int64_t gen);
void membership_send_cursor(
    struct hub *h, struct str key, struct str member, struct peer *peer);
void membership_exited(struct hub *h, struct str key, struct str member,
    int64_t gen, const char *reason);
void membership_was_detached(
    struct hub *h, struct str key, struct str member, int64_t gen);

/*
 * environment_came(h, key, peer, gen), environment_went(h, key, gen, reason):
 * An environment is at a hub (NULL: this one), or nowhere; its members here are
 * notified.
 */
void environment_came(
    struct hub *h, struct str key, struct peer *peer, int64_t gen);
void environment_went(
    struct hub *h, struct str key, int64_t gen, const char *reason);

/*
 * membership_load(h, env): Compare what an environment knows with Redis, and
 *     tell it what differs.
 * membership_load_all(h): All of this hub, and where the environments of the
 *     members here are.
 * membership_forget_peer(h, p): What was at that hub is not.
 */
void membership_load(struct hub *h, struct client *env);
void membership_load_all(struct hub *h);
void membership_forget_peer(struct hub *h, const struct peer *p);

/* ---- undelivered.c ---- */

/* undelivered_report(h, c): c's session ends: who has sent what waits for it
 * gets an error. */
void undelivered_report(struct hub *h, struct client *c);

/* ---- claims.c ---- */

/*
 * Identities that this hub's clients hold, as Redis knows them: a
 * connection claims its identity in a fiber; Redis is updated about what has
 * ended later, for as long as it takes.
 */
/* Of a connection whose identity a newer one has. */
#define CLOSE_REPLACED        4409
#define CLOSE_REPLACED_REASON "replaced by a newer connection"

/* claims_new(h), claims_free(c): NULL is allowed.  Fibers have ended. */
struct claims *claims_new(struct hub *h);
void claims_free(struct claims *c);

/*
 * claims_begin(s, c):
 * Claim c's identity; then its connection is accepted, or rejected.
 *
 * claims_enter(s, c):
 * The same of c, which has no connection, in a fiber: it has returned when c is
 * open, in h->residents, or has no identity.
 *
 * claims_end(s, c, reason):
 * c does not hold it any more, of which environments are notified.  No-op if it
 * has none.
 *
 * claims_outdate(s, key, gen):
 * Newer connections have the identity of key: older claims than gen are closed,
 * be they known or on their way.
 * claims_moved(s, c): The same of c, whose session continues: it has not left.
 *
 * claims_detach(s, c, reason):
 * The connection of c has ended, but its client may come back for it; reason is
 * given if it does not.
 *
 * claims_drain(s): This hub drains: clients come back to another one soon, or
 * never.
 *
 * claims_extend(s, c): Extend c's claim in Redis.
 *
 * claims_leave(s, c, key): Remove c from the room of key in Redis.
 * claims_undo_leave(s, c, key): It does not happen, unless it has.  False: it
 * is happening.
 *
 * claims_drop_all(s): This hub has none: close all clients.
 */
void claims_begin(struct claims *s, struct client *c);
void claims_enter(struct claims *s, struct client *c);
void claims_end(struct claims *s, struct client *c, const char *reason);
void claims_outdate(struct claims *s, struct str key, int64_t gen);
void claims_moved(struct claims *s, struct client *c);
void claims_detach(struct claims *s, struct client *c, const char *reason);
void claims_drain(struct claims *s);
void claims_extend(struct claims *s, struct client *c);
void claims_leave(struct claims *s, const struct client *c, struct str key);
bool claims_undo_leave(
    struct claims *s, const struct client *c, struct str key);
void claims_drop_all(struct claims *s);

/* ---- client_session.c ---- */

/*
 * session_resume(h, c, old, first):
 * c continues the session whose frames are old's, which is empty then; or it
 * begins anew, as first says.
 * session_resume_here(h, c, old, first): That of old, and its rooms.
 * session_rejoin(c, key, gen, seq): c was in the room of key before, and has
 * the events of its environment's claim gen up to seq.
 */
void session_resume(struct hub *h, struct client *c, struct replay *old,
    struct client_beginning *first);
void session_resume_here(struct hub *h, struct client *c, struct client *old,
    struct client_beginning *first);
void session_rejoin(struct client *c, struct str key, int64_t gen, int64_t seq);

/* ---- history.c ---- */

/*
 * history_cursor(env, dst): The next cursor of env's broadcasts.
 * history_store(h, env, json): Store the broadcast with that cursor, soon.
 * history_flush_all(h): What Redis did not take before.
 * history_free(env).
 *
 * history_catch_up(h, c, first): Events of c's environment after the one that
 *     it has go before the frames that wait for it; in a fiber.
 */
struct str history_cursor(struct client *env, char dst[HUB_CURSOR_MAX]);
void history_store(struct hub *h, struct client *env, struct str json);
void history_flush_all(struct hub *h);
void history_free(struct client *env);
void history_catch_up(
    struct hub *h, struct client *c, struct client_beginning *first);

/* ---- broadcast.c ---- */

/*
 * broadcast_here(h, r, f): Send f to the members of the room r->to of a class,
 * r->audience (CLASS_HUB: any), that are at this hub; its cursor, if it has
 * one, is of r->gen and r->seq.
 * broadcast_soon(h, r, f): The same, but by broadcast_now(h), which the caller
 * calls before anything else is done to any member: to send several to each in
 * turn is faster than each to all.
 * broadcast_here_all(h, tenant, audience, from, f): To all of a tenant but
 * from.
 */
struct link_record;
void broadcast_here(
    struct hub *h, const struct link_record *r, struct frame *f);
void broadcast_soon(
    struct hub *h, const struct link_record *r, struct frame *f);
void broadcast_now(struct hub *h);
void broadcast_here_all(struct hub *h, struct str tenant,
    enum client_class audience, const struct client *from, struct frame *f);

/*
 * broadcast_skip(h, m, gen, seq): m gets no broadcast of its environment's
 * claim gen up to seq any more; those that it has not got are reported to it.
 * broadcast_skip_all(h, key, gen, seq): The same of all members here of the
 * room of key.
 */
void broadcast_skip(
    struct hub *h, struct room_member *m, int64_t gen, int64_t seq);
void broadcast_skip_all(
    struct hub *h, struct str key, int64_t gen, int64_t seq);

#endif /* !STAR_HUB_HUB_H */
