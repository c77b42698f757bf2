/*
 * bus: NATS on the loop: publish, subscribe, request, reply, drain.
 *
 * All functions run on the loop thread unless they say otherwise, and none
 * waits for the server.  What is sent in one iteration of the loop leaves
 * in one write at its end, over 256 KiB sooner.  A server that reads too slowly
 * is disconnected before more than BUS_OUTPUT_MAX bytes wait for it.
 *
 * The loop reads only what it then handles: messages to a slow loop wait in the
 * socket and in the server, which disconnects a client that is too far behind
 * (max_pending, write_deadline).  Messages are handled in the order in which
 * the server sends them, also those of different subscriptions, and before the
 * end of the connection, if it is the server that ends it.
 *
 * Nothing is sent or handled late: while disconnected every send is RC_DOWN at
 * once and nothing is buffered for a later connection; a request whose deadline
 * has passed when it reaches the loop is replied to with "deadline_exceeded"
 * and never passed to its handler.
 *
 * Subjects are non-empty tokens of printable ASCII, 1,000 bytes at most;
 * wildcards only in subscriptions.  Any other is RC_INVALID.
 */
#ifndef BUS_BUS_H
#define BUS_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/* Pending requests at one time. */
#define BUS_INFLIGHT_MAX 16384
/* Largest payload in bytes; with our headers, within nats-server's default. */
#define BUS_PAYLOAD_MAX (1024 * 1024 - 1024)

/* Bytes that wait to be written to the server. */
#define BUS_OUTPUT_MAX (16 * 1024 * 1024)

struct bus;
struct bus_msg;
struct bus_sub;

struct bus_opts {
	struct loop *loop;
	const char
	    *url; /* nats:// or tls://[user[:password]@]host[:port][,…] */
	const char *name; /* of the connection, as the server lists it */
	const char *user; /* NULL or "": none */
	const char *password;
	/*
	 * PEM files for tls://, NULL or "": none.  ca_file replaces the
	 * system's authorities; cert_file and key_file are the client's.  Read
	 * for each connection.
	 */
	const char *ca_file, *cert_file, *key_file;
	/*
	 * Replicas of each stream: 1, 3 or 5; 0 means 1.  Existing streams are
	 * raised to it and never lowered.
	 */
	int replicas;
	struct metric_set *metrics;           /* may be NULL */
	void (*on_state)(void *arg, bool up); /* may be NULL; on the loop */
	/*
	 * The server is not in a cluster and cannot have the replicas; called
	 * for each stream and attempt; may be NULL; on the loop.
	 */
	void (*on_no_cluster)(void *arg);
	void *arg;
};

/* Custom headers of one message. */
#define BUS_HEADERS_MAX 4

/* A custom header: key [A-Za-z0-9_-]{1,64}, value as a msg_id. */
struct bus_header {
	const char *key;
	const char *value;
};

/*
 * Until when a command may be forwarded to a terminal, Unix ms by the sender's
 * clock, counted from before its last fence.  Clocks are assumed to be
 * synchronised, as for Soul-Deadline; their difference is added or lost.
 */
#define BUS_HEADER_ACT_BY "Soul-Act-By"

/* Metadata of a message, sent as headers. */
struct bus_meta {
	struct wall deadline; /* {0}: none; header Soul-Deadline, Unix ms */
	const struct trace *trace; /* NULL: none; header traceparent */
	/* NULL: none; header Nats-Msg-Id; no control characters, ≤ 256 bytes */
	const char *msg_id;
	const struct bus_header *headers; /* custom; not with resend_ms */
	size_t nheaders;                  /* ≤ BUS_HEADERS_MAX */
	/*
	 * Of an idempotent request: send it a second time after this long
	 * without a reply, because its receiver may have died.  The first reply
	 * counts.  0: sent once.
	 */
	int64_t resend_ms;
};

/*
 * bus_opts_error(o):
 * What is wrong with URL and files, a constant without any part of them; NULL:
 * nothing.  Any thread.
 */
const char *bus_opts_error(const struct bus_opts *o);

/*
 * bus_new(o, out):
 * Connect, and reconnect for ever, with at most a quarter of a second between
 * two attempts.  Of several servers a random one is tried first, then the next
 * ones; others, which a server may name, are not.  Returns at once;
 * subscriptions may be made at once.  o is copied.  Replies come to
 * _INBOX.<name>.>, if the name is [A-Za-z0-9_-]{1,64}, so that a server can
 * deny others to read them.  Permission errors are logged as bus.denied and
 * counted.  RC_INVALID if bus_opts_error() finds one, RC_TOOBIG if the URL
 * lists more than 16 servers.
 */
enum rc bus_new(const struct bus_opts *o, struct bus **out) RC_CHECK;

/*
 * bus_free(b):
 * Flush and close.  Pending requests end with RC_DOWN (their fn is called
 * here).  Messages not yet replied to must be freed first.  Not from inside a
 * callback of b, except that of bus_drain().  Blocks for the flush, half a
 * second at most, and for an attempt to connect, two seconds a server at most.
 * The loop may be freed next.  NULL is allowed.
 */
void bus_free(struct bus *b);

/*
 * bus_up(b):
 * Whether connected, with all earlier subscriptions served.  Any thread.
 */
bool bus_up(const struct bus *b);

/*
 * bus_connections(b):
 * How often it has connected: if that has changed, messages to subscriptions
 * may have been missed.
 */
uint64_t bus_connections(const struct bus *b);

/*
 * Message callback: fn owns m and ends it with bus_reply(), bus_reply_error()
 * or bus_msg_free(), now or later.
 */
typedef void (*bus_msg_fn)(void *arg, struct bus_msg *m);

/*
 * bus_subscribe(b, subject, queue, fn, arg, out):
 * Receive subject (wildcards allowed); queue NULL for every message, else the
 * queue group.  Restored after reconnects.  out may be NULL.  RC_INVALID for a
 * bad subject or queue, RC_DOWN after bus_drain().
 */
enum rc bus_subscribe(struct bus *b, const char *subject, const char *queue,
    bus_msg_fn fn, void *arg, struct bus_sub **out) RC_CHECK;

/*
 * bus_unsubscribe(s):
 * End s; no message is delivered after it, and delivered ones stay valid.
 * Allowed in s's own fn.  NULL is allowed.
 */
void bus_unsubscribe(struct bus_sub *s);

/*
 * bus_drain(b, fn, arg):
 * End all subscriptions, for good; messages the server has sent already are
 * still delivered; then fn(arg) is called once, on the loop, never from inside
 * bus_drain().  A connection that breaks ends the drain.  Publishing and
 * requests go on, also after a reconnect.  fn may free b.  Once per bus.
 */
void bus_drain(struct bus *b, loop_fn fn, void *arg);

/* The parts of a message, valid until it ends; data is never absent. */
struct str bus_msg_subject(const struct bus_msg *m);
struct str bus_msg_data(const struct bus_msg *m);
struct wall bus_msg_deadline(const struct bus_msg *m); /* {0}: none */
bool bus_msg_wants_reply(const struct bus_msg *m);

/* bus_msg_trace(m, t): The sender's trace; false if it sent none. */
bool bus_msg_trace(const struct bus_msg *m, struct trace *t);

/* bus_msg_header(m, key): A header's first value; absent if there is none. */
struct str bus_msg_header(const struct bus_msg *m, const char *key);

/* bus_msg_free(m): End m without a reply. */
void bus_msg_free(struct bus_msg *m);

/*
 * bus_reply(m, data), bus_reply_error(m, rc, data):
 * Reply to and end m.  An error has the headers Nats-Service-Error (rc_name)
 * and Nats-Service-Error-Code (rc_http_status); data is its body.  RC_DOWN if
 * disconnected, RC_INVALID if m wants no reply, RC_TOOBIG if data is too big
 * (the requester gets this error); m is ended in any case.
 */
enum rc bus_reply(struct bus_msg *m, struct str data) RC_CHECK;
enum rc bus_reply_error(
    struct bus_msg *m, enum rc rc, struct str data) RC_CHECK;

/*
 * bus_reply_partial(m, data):
 * Send a reply before the last one without ending m.  Only for requesters that
 * expect many (struct bus_reply_handler).
 */
enum rc bus_reply_partial(const struct bus_msg *m, struct str data) RC_CHECK;

/*
 * bus_publish(b, subject, data, meta):
 * Send; meta may be NULL.  RC_DOWN while disconnected, RC_TOOBIG over
 * BUS_PAYLOAD_MAX.
 */
enum rc bus_publish(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta) RC_CHECK;

/*
 * Reply callback: called exactly once per bus_request() that returned RC_OK
 * (but see struct bus_reply_handler), on the loop, never from inside
 * bus_request().  rc is RC_OK; RC_TIMEOUT; RC_NOENT (no responders); RC_DOWN
 * (the connection broke); or the code of an error reply, data being its body.
 * data is valid until fn returns.
 */
typedef void (*bus_reply_fn)(void *arg, enum rc rc, struct str data);

/*
 * Receiver of a reply.  With many, fn is called for each reply, and the request
 * stays pending until an error, bus_request_cancel() (allowed in fn) or its
 * deadline.
 */
struct bus_reply_handler {
	bus_reply_fn fn;
	void *arg;
	bool many;
};

/*
 * bus_request(b, subject, data, meta, handler, id):
 * Send and wait for a reply until meta->deadline, which must be set.  The
 * handler is called only if this returns RC_OK.  RC_INVALID if meta->resend_ms
 * is set together with handler.many or custom headers, RC_RETRY over
 * BUS_INFLIGHT_MAX, RC_TIMEOUT if the deadline has passed already, else as
 * bus_publish().  *id (id may be NULL) is for bus_request_cancel(), after which
 * the handler is not called; cancelling a request that has ended does nothing.
 */
enum rc bus_request(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_reply_handler handler,
    uint64_t *id) RC_CHECK;
void bus_request_cancel(struct bus *b, uint64_t id);

/*
 * bus_flush(b, deadline, handler, id):
 * A request to the server itself: RC_OK when it has handled what was sent
 * before, so that messages of others reach subscriptions made before (of others
 * at another server of a cluster, some time later).  Else as bus_request().
 */
enum rc bus_flush(struct bus *b, struct wall deadline,
    struct bus_reply_handler handler, uint64_t *id) RC_CHECK;

#endif /* !BUS_BUS_H */
