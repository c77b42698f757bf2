/*
 * What the files of libs/bus share, from the lowest layer up: protocol syntax,
 * the port to the loop, the connection, messages, subscriptions, pending
 * requests, the life of a bus, replies of the JetStream API.
 *
 * All functions run on the loop thread unless they say otherwise.
 */
#ifndef BUS_INTERNAL_H
#define BUS_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/rate.h"
#include "core/worker.h"
#include "wire/msgs.h"
#include "wire/out.h"

/* ---- syntax: nats_syntax.c ---- */

/* Longest subject, in bytes; the server's own limit is 4 KiB a line. */
#define BUS_SUBJECT_MAX 1000
/* Longest header value, e.g. a message id. */
#define BUS_HEADER_VALUE_MAX 256
/* Servers in one URL list. */
#define BUS_SERVERS_MAX 16

/*
 * bus_subject_valid(s, wild):
 * Whether s may be published to or, with wild, subscribed to: non-empty tokens
 * of printable ASCII without blanks; '*' and '>' only with wild, only as whole
 * tokens, and '>' only as the last one.  False for NULL.
 */
bool bus_subject_valid(const char *s, bool wild);

/* bus_queue_valid(s): Whether s may name a queue group.  False for NULL. */
bool bus_queue_valid(const char *s);

/* bus_token_valid(s): Whether s is [A-Za-z0-9_-]{1,64}.  False for NULL. */
bool bus_token_valid(const char *s);

/* bus_header_value_valid(s): False for NULL. */
bool bus_header_value_valid(const char *s);

/*
 * bus_servers_parse(urls, out, n):
 * Split "nats://[user[:password]@]host[:port],…" into *n heap copies, to be
 * freed with bus_servers_free().  All are nats:// or all are tls://.
 * RC_INVALID for anything else, RC_TOOBIG over BUS_SERVERS_MAX.
 */
enum rc bus_servers_parse(
    const char *urls, char *out[BUS_SERVERS_MAX], int *n) RC_CHECK;

/* bus_servers_free(v, n): Free what bus_servers_parse() returned. */
void bus_servers_free(char *v[], int n);

/* bus_url_is_tls(url): Whether a server is connected to with TLS. */
bool bus_url_is_tls(const char *url);

/* ---- port to the loop: nats_connection.c ---- */

/*
 * The way from the threads of cnats to the loop.  A port outlives its bus for
 * as long as a thread of the library may call back; each such callback holds a
 * reference.  A closed port accepts nothing, so that a bus can be freed while
 * those threads run.
 */
struct bus_port;

/* bus_port_new(l, b): An open port of b with one reference, the caller's. */
struct bus_port *bus_port_new(struct loop *l, struct bus *b);

/* bus_port_ref(p), bus_port_unref(p): Any thread.  The last one frees. */
void bus_port_ref(struct bus_port *p);
void bus_port_unref(struct bus_port *p);

/*
 * bus_port_close(p):
 * Reject posts from now on and release the threads that wait in
 * bus_port_post(); after it no thread uses the loop through p.
 */
void bus_port_close(struct bus_port *p);

/* bus_port_bus(p): The bus, or NULL after bus_port_close(). */
struct bus *bus_port_bus(const struct bus_port *p);

/*
 * bus_port_post(p, fn, arg):
 * loop_post() that waits while the inbox is full.  RC_DOWN when the port or
 * the loop is closed; the caller then still owns arg.  On RC_OK the post holds
 * a reference, which fn drops.  Any thread but the loop's.
 */
enum rc bus_port_post(struct bus_port *p, loop_fn fn, void *arg) RC_CHECK;

/* ---- connection: nats_connection.c, the only user of cnats ---- */

/*
 * One connection, from connecting to its end.  It does not reconnect: bus.c
 * opens the next one, so that nothing sent into the old connection can arrive
 * through the new one.
 */
struct bus_conn;
struct bus_conn_sub; /* a subscription on a connection */

struct bus_conn_opts {
	char *const *urls;
	int n_urls;
	const char *name;
	const char *user; /* NULL: none */
	const char *password;
	const char *ca_file, *cert_file, *key_file; /* NULL: none */
	bool buffered;
	struct bus_port *port;
	uint64_t gen;    /* copied into every event of the connection */
	loop_fn deliver; /* called on the loop with each event */
};

enum bus_event {
	BUS_EVENT_MSG,     /* a message */
	BUS_EVENT_SUB_END, /* the last event of a subscription */
	BUS_EVENT_SLOW,    /* messages were dropped: the loop is too slow */
	BUS_EVENT_DENIED,  /* no permission for a message or subscription */
	BUS_EVENT_CLOSED   /* the last event of a connection */
};

/*
 * An event on its way to the loop.  A BUS_EVENT_MSG becomes the message that
 * its handler owns.  Ended with bus_event_free().
 */
struct bus_msg {
	enum bus_event event;
	uint64_t gen;
	struct bus_port *port;
	struct bus_sub *sub; /* of BUS_EVENT_MSG and BUS_EVENT_SUB_END */
	void *in;            /* natsMsg of BUS_EVENT_MSG */
	struct bus *bus;     /* from here on set on the loop */
	struct wall deadline;
	bool stored; /* from a stream: ended with an ack, never replied to */
};

/*
 * bus_conn_open(o, out):
 * Connect, trying each server once.  Blocks: runs on a worker.  RC_DOWN if no
 * server accepts, RC_DENIED if one rejects user and password; logged.
 */
enum rc bus_conn_open(
    const struct bus_conn_opts *o, struct bus_conn **out) RC_CHECK;

/*
 * bus_conn_close(c):
 * Flush, waiting at most half a second for the server, and disconnect.  Events
 * on their way still arrive.  NULL is allowed.
 */
void bus_conn_close(struct bus_conn *c);

/* bus_conn_break(c): Disconnect at once.  BUS_EVENT_CLOSED follows. */
void bus_conn_break(struct bus_conn *c);

/*
 * bus_conn_subscribe(c, subject, queue, s, out):
 * Receive subject (queue NULL: every message) as events of s, which must live
 * until the BUS_EVENT_SUB_END.  RC_DOWN if the connection has ended.
 */
enum rc bus_conn_subscribe(struct bus_conn *c, const char *subject,
    const char *queue, struct bus_sub *s, struct bus_conn_sub **out) RC_CHECK;

/*
 * bus_conn_sub_drain(s):
 * Unsubscribe; messages the server has sent already are delivered, then comes
 * the BUS_EVENT_SUB_END.  RC_DOWN if the connection has ended.
 */
enum rc bus_conn_sub_drain(struct bus_conn_sub *s) RC_CHECK;

/*
 * bus_conn_sub_unsubscribe(s):
 * Unsubscribe; the BUS_EVENT_SUB_END follows.  s stays valid.
 */
void bus_conn_sub_unsubscribe(struct bus_conn_sub *s);

/*
 * bus_conn_sub_free(s):
 * Free a subscription once the library cannot use it any more: when a message
 * sent after its end has come back, or the connection is closed.  NULL is
 * allowed.
 */
void bus_conn_sub_free(struct bus_conn_sub *s);

struct bus_out_msg {
	const char *subject;
	const char *reply; /* NULL: none */
	struct str data;
	const struct bus_header *headers;
	size_t n_headers;
};

/*
 * bus_conn_send(c, m):
 * Write m to the server, or to the buffer.  Blocks while the socket is full,
 * half a second at most.  RC_TOOBIG over the server's max_payload; RC_DOWN if
 * the connection has ended or had to be ended.
 */
enum rc bus_conn_send(struct bus_conn *c, const struct bus_out_msg *m) RC_CHECK;

/* bus_event_free(m): End an event.  Any thread. */
void bus_event_free(struct bus_msg *m);

/* The parts of a BUS_EVENT_MSG, valid until it ends; reply may be absent. */
struct str bus_conn_msg_subject(const struct bus_msg *m);
struct str bus_conn_msg_reply(const struct bus_msg *m);
struct str bus_conn_msg_data(const struct bus_msg *m);

/* bus_conn_msg_header(m, key): Its first value; absent if there is none. */
struct str bus_conn_msg_header(const struct bus_msg *m, const char *key);

/* bus_conn_msg_no_responders(m): Whether it is the server's status 503. */
bool bus_conn_msg_no_responders(const struct bus_msg *m);

/* ---- the bus ---- */

/* Room for "_INBOX.", a name, '.', 32 digits, '.' and a NUL. */
#define BUS_INBOX_MAX 112

enum sub_kind {
	SUB_PLAIN,
	SUB_STREAM, /* a JetStream consumer's deliveries */
	SUB_INBOX   /* the bus's own: replies to its requests */
};

struct bus_sub {
	TAILQ_ENTRY(bus_sub) link; /* in subs, or in ended once dead */
	struct bus *bus;
	enum sub_kind kind;
	char *subject;
	char *queue; /* NULL: every message */
	bus_msg_fn fn;
	void *arg;
	struct bus_conn_sub *on; /* on the current connection; NULL: not */
	unsigned live;           /* BUS_EVENT_SUB_ENDs to come */
	bool draining;
	bool dead;
};

TAILQ_HEAD(bus_subs, bus_sub);

/* A request that is sent a second time unless its reply comes soon. */
struct bus_resend {
	char *subject;
	struct buf data;
	struct bus_meta meta;
	struct trace trace;
	char *msg_id;
};

/* A request without its reply, or a free slot for one. */
struct bus_pending {
	TAILQ_ENTRY(bus_pending) link; /* in pending or free_slots */
	struct bus *bus;
	struct loop_timer timer;
	struct bus_reply_handler to;
	struct wall deadline;
	struct bus_resend *resend; /* NULL: not to be sent again */
	uint64_t id;               /* 0: free */
	uint32_t slot;
};

TAILQ_HEAD(bus_pending_list, bus_pending);

#define BUS_PENDING_CHUNK  256
#define BUS_PENDING_CHUNKS (BUS_INFLIGHT_MAX / BUS_PENDING_CHUNK)

/* See bus_listener_add(). */
struct bus_listener {
	TAILQ_ENTRY(bus_listener) link;
	void (*on_state)(struct bus_listener *l, bool up); /* may be NULL */
	void (*on_free)(struct bus_listener *l);
};

TAILQ_HEAD(bus_listeners, bus_listener);

enum bus_state {
	BUS_BACKOFF,    /* until the next attempt to connect */
	BUS_CONNECTING, /* a worker connects */
	BUS_CONFIRMING, /* subscribed; the server has not confirmed it yet */
	BUS_UP
};

struct bus_metrics {
	struct metric *connected, *reconnects, *published, *received, *stale,
	    *slow, *inflight, *resent, *denied;
};

struct bus {
	struct loop *loop;
	struct bus_port *port;
	struct worker_pool *opener;
	char *urls[BUS_SERVERS_MAX];
	int n_urls;
	char *name, *user, *password, *ca_file, *cert_file, *key_file;
	bool buffered;
	int replicas;
	void (*on_state)(void *arg, bool up);
	void (*on_no_cluster)(void *arg);
	void *arg;
	struct bus_metrics metric;

	_Atomic bool up;
	_Atomic bool silent; /* bus_jetstream_silent() */
	enum bus_state state;
	struct bus_conn *conn; /* NULL unless confirming or up */
	uint64_t gen;          /* of the current or next connection */
	uint64_t lost;         /* newest connection known to have ended */
	bool been_up;
	bool closing;
	struct mono since; /* start of the connection */
	struct backoff backoff;
	struct loop_timer retry; /* next attempt, or time-out of confirming */

	struct bus_subs subs, ended;
	struct bus_sub inbox;
	char inbox_prefix[BUS_INBOX_MAX]; /* with the last '.' */
	struct bus_listeners listeners;

	struct bus_pending_list pending, free_slots;
	struct bus_pending *pending_chunks[BUS_PENDING_CHUNKS];
	uint32_t n_pending_slots; /* allocated so far */
	uint32_t n_pending;
	uint64_t serial;

	loop_fn drained; /* NULL: not draining, or called already */
	void *drained_arg;
	bool draining; /* for good */
	struct loop_timer drain_timer;
};

/* ---- messages: message.c ---- */

#define HEADER_DEADLINE   "Soul-Deadline"
#define HEADER_TRACE      "traceparent"
#define HEADER_MSG_ID     "Nats-Msg-Id"
#define HEADER_ERROR      "Nats-Service-Error"
#define HEADER_ERROR_CODE "Nats-Service-Error-Code"

/* Headers of a message, with room for their texts. */
struct bus_headers {
	struct bus_header v[3 + BUS_HEADERS_MAX];
	size_t n;
	char deadline[24];
	char trace[TRACE_PARENT_MAX];
};

/*
 * bus_headers_make(meta, h):
 * meta (NULL: none) as headers; its texts are not copied.  RC_INVALID if a key
 * or value is not valid.
 */
enum rc bus_headers_make(
    const struct bus_meta *meta, struct bus_headers *h) RC_CHECK;

/* bus_send(b, m): bus_conn_send() with metrics; RC_DOWN while disconnected. */
enum rc bus_send(struct bus *b, const struct bus_out_msg *m) RC_CHECK;

/*
 * bus_send_ping(b):
 * Send a message to our own inbox.  When it comes back the server has seen
 * every subscription and unsubscription sent before it.
 */
enum rc bus_send_ping(struct bus *b) RC_CHECK;

/* bus_msg_reject(m, rc): End m; a requester gets rc with {"error", "code"}. */
void bus_msg_reject(struct bus_msg *m, enum rc rc);

struct bus_delivery;

/*
 * bus_ack_subject_parse(subject, d):
 * Parse "$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer
 * seq>.<time>.<pending>", or the newer form with domain and account after ACK
 * and possibly more at the end.  RC_INVALID if subject is neither.
 */
enum rc bus_ack_subject_parse(
    struct str subject, struct bus_delivery *d) RC_CHECK;

/* bus_json_str(o, key, value): A member; value NULL is written as "". */
void bus_json_str(struct wire_out *o, const char *key, const char *value);

/* bus_json_i64(o, key, value): A member. */
void bus_json_i64(struct wire_out *o, const char *key, int64_t value);

/* ---- subscriptions: subscription.c ---- */

/* bus_sub_new(b, kind, subject, queue): A subscription in b's list. */
struct bus_sub *bus_sub_new(
    struct bus *b, enum sub_kind kind, const char *subject, const char *queue);

/* bus_sub_attach(s): Subscribe on the current connection. */
enum rc bus_sub_attach(struct bus_sub *s) RC_CHECK;

/* bus_subs_detach(b): The connection is closed, and all its subscriptions. */
void bus_subs_detach(struct bus *b);

/*
 * bus_sub_unsubscribed(b):
 * A ping sent by bus_unsubscribe() has come back: the library is done with the
 * subscription for which it was sent.
 */
void bus_sub_unsubscribed(struct bus *b);

/* bus_sub_on_end(s, gen): A BUS_EVENT_SUB_END of the connection gen. */
void bus_sub_on_end(struct bus_sub *s, uint64_t gen);

/* bus_subs_free(b): Free all subscriptions; the connection is closed. */
void bus_subs_free(struct bus *b);

/* bus_sub_deliver(s, m): Pass m to its handler, or reject it. */
void bus_sub_deliver(struct bus_sub *s, struct bus_msg *m);

/* bus_drain_check(b): Call bus_drain()'s callback once nothing is left. */
void bus_drain_check(struct bus *b);

/* ---- pending requests: pending_request.c ---- */

struct bus_request_out {
	const char *subject;
	struct str data;
	const struct bus_headers *headers; /* NULL: none */
	struct wall deadline;
};

/* bus_request_send(b, q, handler, id): bus_request() with made headers. */
enum rc bus_request_send(struct bus *b, const struct bus_request_out *q,
    struct bus_reply_handler handler, uint64_t *id) RC_CHECK;

/* bus_reply_is_ping(b, m): Whether this connection's bus_send_ping() sent m. */
bool bus_reply_is_ping(const struct bus *b, const struct bus_msg *m);

/* bus_pending_reply(b, m): Pass m to its pending request, if any; end m. */
void bus_pending_reply(struct bus *b, struct bus_msg *m);

/* bus_pending_fail(b): End every pending request with RC_DOWN. */
void bus_pending_fail(struct bus *b);

/* bus_pending_free(b): Free the slots; none is pending. */
void bus_pending_free(struct bus *b);

/* ---- the life of a bus: bus.c ---- */

/*
 * bus_listener_add(b, l):
 * Call l on every change of the connection, after the subscriptions are served
 * and before the bus's owner is called, and on bus_free().
 */
void bus_listener_add(struct bus *b, struct bus_listener *l);

/* ---- replies of the JetStream API: jetstream.c ---- */

/* Arena for bus_jetstream_reply_decode(). */
#define BUS_JETSTREAM_ARENA_MAX (64 * 1024)

/* err_code of nats-server. */
enum bus_jetstream_error {
	JETSTREAM_NO_MESSAGE = 10037,
	JETSTREAM_NO_SEQUENCE = 10043,
	JETSTREAM_STORE_FAILED = 10057,  /* also: a seq after the last */
	JETSTREAM_STREAM_EXISTS = 10058, /* with another configuration */
	JETSTREAM_NO_STREAM = 10059,
	JETSTREAM_NO_CLUSTER = 10074, /* no replicas on a single server */
};

/*
 * bus_jetstream_reply_decode(data, a, in):
 * Decode a reply; its texts live in a.  An error reply is RC_NOENT,
 * RC_CONFLICT, RC_RETRY or RC_INVALID, and in->error is set; RC_INVALID without
 * it: not a reply of the API.
 */
enum rc bus_jetstream_reply_decode(struct str data, struct arena *a,
    struct wire_jetstream_answer *in) RC_CHECK;

#endif /* !BUS_INTERNAL_H */
