/*
 * What the files of libs/bus share, from the lowest layer up: protocol syntax
 * and parser, the socket, the connection, messages, subscriptions, pending
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
#include <sys/types.h>

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

/* ---- protocol: nats_parser.c ---- */

/* Longest line of the server, and largest message with its headers. */
#define BUS_LINE_MAX  ((size_t)64 * 1024)
#define BUS_FRAME_MAX ((size_t)64 * 1024 * 1024)

enum bus_op {
	BUS_OP_MSG,
	BUS_OP_PING,
	BUS_OP_PONG,
	BUS_OP_OK,
	BUS_OP_ERR,
	BUS_OP_INFO
};

/* What a server sends: a message, or a line with a text. */
struct bus_frame {
	enum bus_op op;
	uint64_t sid;
	struct str subject, data;
	struct str reply, headers; /* absent: none */
	struct str text;           /* of the others */
};

/*
 * bus_frame_parse(in, f, n):
 * The frame at the start of in, whose first *n bytes it is; f points into in.
 * RC_RETRY if it is not complete, RC_TOOBIG over a limit, RC_INVALID if it is
 * not NATS.
 */
enum rc bus_frame_parse(struct str in, struct bus_frame *f, size_t *n) RC_CHECK;

/*
 * bus_headers_find(headers, key): The first value of key; absent if none.
 * bus_headers_status(headers): The status of a message of the server's own; 0
 * if there is none.
 */
struct str bus_headers_find(struct str headers, const char *key);
int bus_headers_status(struct str headers);

/* ---- socket: nats_socket.c ---- */

/* Text of an error. */
#define NATS_WHY_MAX 256

struct tls_files;
struct nats_socket;

/*
 * nats_socket_open(host, port, at, why):
 * Connect, at most until the time at.  Blocks: runs on a worker.  NULL and the
 * reason in why if no address accepts.
 * nats_socket_start_tls(s, f, host, at): The TLS handshake; blocks, too.  False
 * if it fails.
 * nats_socket_close(s): NULL is allowed.
 */
struct nats_socket *nats_socket_open(
    const char *host, int port, struct mono at, char why[NATS_WHY_MAX]);
bool nats_socket_start_tls(struct nats_socket *s, const struct tls_files *f,
    const char *host, struct mono at);
void nats_socket_close(struct nats_socket *s);

/* nats_socket_fd(s): Its descriptor, for the loop. */
int nats_socket_fd(const struct nats_socket *s);

/* nats_socket_error(s): Why a call has failed. */
const char *nats_socket_error(const struct nats_socket *s);

/*
 * nats_socket_wait(s, write, at): Until it can be written or read; false at the
 * time at.
 */
bool nats_socket_wait(const struct nats_socket *s, bool write, struct mono at);

/*
 * nats_socket_read(s, dst, max), nats_socket_write(s, p, n):
 * The bytes read or written, 0 if none can be now, -1 if the connection has
 * ended.
 * nats_socket_has_more(s): Whether bytes can be read that the descriptor does
 * not report.
 */
ssize_t nats_socket_read(struct nats_socket *s, char *dst, size_t max);
ssize_t nats_socket_write(struct nats_socket *s, const char *p, size_t n);
bool nats_socket_has_more(const struct nats_socket *s);

/*
 * nats_socket_finish(s, at):
 * Send nothing more, and wait until the server has read everything and closes,
 * at most until the time at.
 */
void nats_socket_finish(struct nats_socket *s, struct mono at);

/* ---- connection: nats_connection.c ---- */

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
	uint64_t first; /* which server is tried first, modulo n_urls */
};

/*
 * What a connection calls, on the loop.  on_end comes last, once, and not
 * inside of another one.  When the server closes, all that it sent is handled
 * before; only bus_conn_break() drops it.
 */
struct bus_conn_handler {
	/* A message, in the order of the server; f ends with the call. */
	void (*on_msg)(
	    struct bus *b, struct bus_sub *s, const struct bus_frame *f);
	void (*on_pong)(struct bus *b);   /* for each bus_conn_ping() */
	void (*on_denied)(struct bus *b); /* a message or subscription */
	void (*on_end)(struct bus *b);
};

/*
 * bus_conn_open(o, out):
 * Connect, trying each server once.  Blocks: runs on a worker.  RC_DOWN if no
 * server accepts, RC_DENIED if one rejects user and password; logged.
 */
enum rc bus_conn_open(
    const struct bus_conn_opts *o, struct bus_conn **out) RC_CHECK;

/*
 * bus_conn_start(c, l, handler, b): Read and write c on the loop, which is this
 * thread's; handler is constant.
 */
void bus_conn_start(struct bus_conn *c, struct loop *l,
    const struct bus_conn_handler *handler, struct bus *b);

/*
 * bus_conn_close(c):
 * Write what is left, let the server read it, half a second at most, and
 * disconnect; on_end is not called.  Not inside a handler's call but on_end.
 * NULL is allowed.
 */
void bus_conn_close(struct bus_conn *c);

/* bus_conn_break(c): Disconnect at once; on_end follows. */
void bus_conn_break(struct bus_conn *c);

/*
 * bus_conn_subscribe(c, subject, queue, s, out):
 * Receive subject (queue NULL: every message) for s.  RC_DOWN if the connection
 * has ended.
 */
enum rc bus_conn_subscribe(struct bus_conn *c, const char *subject,
    const char *queue, struct bus_sub *s, struct bus_conn_sub **out) RC_CHECK;

/*
 * bus_conn_sub_drain(s):
 * Unsubscribe; messages the server has sent already are delivered.  s stays
 * valid.
 */
void bus_conn_sub_drain(struct bus_conn_sub *s);

/*
 * bus_conn_sub_end(s):
 * Unsubscribe, deliver nothing more, and free s.  NULL is allowed.
 */
void bus_conn_sub_end(struct bus_conn_sub *s);

struct bus_out_msg {
	const char *subject;
	const char *reply; /* NULL: none */
	struct str data;
	const struct bus_header *headers;
	size_t n_headers;
};

/*
 * bus_conn_send(c, m):
 * Write m at the end of this iteration of the loop.  RC_TOOBIG over the
 * server's max_payload; RC_DOWN if the connection has ended, or is ended
 * because over BUS_OUTPUT_MAX bytes are not written yet.
 */
enum rc bus_conn_send(struct bus_conn *c, const struct bus_out_msg *m) RC_CHECK;

/*
 * bus_conn_ping(c):
 * When its reply comes, the server has seen all that was sent before it, and
 * what it had sent before that has been handled.
 */
enum rc bus_conn_ping(struct bus_conn *c) RC_CHECK;

/* ---- the bus ---- */

/* Room for "_INBOX.", a name, '.', 32 digits, '.' and a NUL. */
#define BUS_INBOX_MAX 112

enum sub_kind {
	SUB_PLAIN,
	SUB_STREAM, /* a JetStream consumer's deliveries */
	SUB_INBOX   /* the bus's own: replies to its requests */
};

struct bus_sub {
	TAILQ_ENTRY(bus_sub) link;
	struct bus *bus;
	enum sub_kind kind;
	char *subject;
	char *queue; /* NULL: every message */
	bus_msg_fn fn;
	void *arg;
	struct bus_conn_sub *on; /* on the current connection; NULL: not */
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
	uint64_t ping;             /* of a flush; else 0 */
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
	    *inflight, *resent, *denied;
};

struct bus {
	struct loop *loop;
	struct worker_pool *opener;
	char *urls[BUS_SERVERS_MAX];
	int n_urls;
	char *name, *user, *password, *ca_file, *cert_file, *key_file;
	int replicas;
	void (*on_state)(void *arg, bool up);
	void (*on_no_cluster)(void *arg);
	void *arg;
	struct bus_metrics metric;

	_Atomic bool up;
	uint64_t connections;
	_Atomic bool silent; /* bus_jetstream_silent() */
	enum bus_state state;
	struct bus_conn *conn; /* NULL unless confirming or up */
	uint64_t attempts;     /* to connect, from a random number on */
	bool been_up;
	bool closing;
	struct mono since; /* start of the connection */
	struct backoff backoff;
	struct loop_timer retry; /* next attempt, or time-out of confirming */

	/* Since the connection began; pings come back in order. */
	uint64_t pings, pongs;
	unsigned silent_for; /* periods of ping_timer without a pong */
	struct loop_timer ping_timer;

	struct bus_subs subs;
	struct bus_sub inbox;
	char inbox_prefix[BUS_INBOX_MAX]; /* with the last '.' */
	struct bus_listeners listeners;

	struct bus_pending_list pending, free_slots;
	struct bus_pending *pending_chunks[BUS_PENDING_CHUNKS];
	uint32_t n_pending_slots;      /* allocated so far */
	uint32_t n_pending, n_flushes; /* of them */
	uint64_t serial;

	loop_fn drained; /* NULL: not draining, or called already */
	void *drained_arg;
	bool draining; /* for good */
	/*
	 * Back once all is delivered; 0: disconnected; UINT64_MAX: never, the
	 * connection ends.
	 */
	uint64_t drain_ping;
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
	char deadline[STR_NUM_MAX];
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
 * A received message: its parts end with a NUL.
 * bus_msg_new(b, f): A copy of f.
 * bus_msg_is_unserved(m): Whether the server says that nobody received the
 * request.
 */
struct bus_msg {
	struct bus *bus;
	struct str subject, data;
	struct str reply, headers; /* absent: none */
	struct wall deadline;
	bool stored; /* from a stream: ended with an ack, never replied to */
	char bytes[];
};
struct bus_msg *bus_msg_new(struct bus *b, const struct bus_frame *f);
bool bus_msg_is_unserved(const struct bus_msg *m);

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

/* bus_json_i64(o, key, value), bus_json_bool(o, key, value): A member. */
void bus_json_i64(struct wire_out *o, const char *key, int64_t value);
void bus_json_bool(struct wire_out *o, const char *key, bool value);

/* ---- subscriptions: subscription.c ---- */

/* bus_sub_new(b, kind, subject, queue): A subscription in b's list. */
struct bus_sub *bus_sub_new(
    struct bus *b, enum sub_kind kind, const char *subject, const char *queue);

/*
 * bus_sub_attach(s): Subscribe on the current connection.
 * bus_sub_begin(s): The same, or on the next one.
 */
enum rc bus_sub_attach(struct bus_sub *s) RC_CHECK;
void bus_sub_begin(struct bus_sub *s);

/* bus_subs_detach(b): The connection is closed, and all its subscriptions. */
void bus_subs_detach(struct bus *b);

/* bus_subs_free(b): Free all subscriptions; the connection is closed. */
void bus_subs_free(struct bus *b);

/* bus_sub_deliver(s, m): Pass m to its handler, or reject it. */
void bus_sub_deliver(struct bus_sub *s, struct bus_msg *m);

/* bus_drain_check(b): Call bus_drain()'s callback once all is delivered. */
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

/* bus_pending_reply(b, m): Pass m to its pending request, if any; end m. */
void bus_pending_reply(struct bus *b, struct bus_msg *m);

/* bus_pending_flushed(b): After a pong: end the flushes that it was for. */
void bus_pending_flushed(struct bus *b);

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
