/*
 * bus: NATS for the loop: publish, subscribe, request, reply, drain.
 *
 * All functions run on the loop thread unless they say otherwise, and none
 * waits for the server; a send waits for room in the socket, half a second at
 * most, after which the connection is given up.
 *
 * NATS calls back on its own thread, which only posts to the loop and waits
 * while the inbox is full.  Behind it the library holds up to 65,536 messages
 * (64 MiB) a subscription; what does not fit there is dropped, logged, and
 * counted in soul_bus_slow_consumer_total.
 *
 * Nothing stale acts: while disconnected every send is RC_DOWN at once, nothing
 * is kept for a later connection, and a message whose deadline has passed when
 * it reaches the loop is answered "deadline_exceeded" and never handed to its
 * handler.
 *
 * Subjects are non-empty tokens of printable ASCII, 1,000 bytes at most;
 * wildcards only where one subscribes.  Any other is RC_INVALID.
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

/* Requests that may wait for their answer at one time. */
#define BUS_INFLIGHT_MAX 16384
/* Largest payload in bytes; with our headers, within nats-server's default. */
#define BUS_PAYLOAD_MAX (1024 * 1024 - 1024)

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
	 * PEM files for tls://, NULL or "": none.  Who signed the server's
	 * certificate, instead of the system's authorities; what this client
	 * shows.  Read anew for each connection.
	 */
	const char *ca_file, *cert_file, *key_file;
	/*
	 * What is sent waits a millisecond for more to leave with it: many
	 * messages at once cost a third then.
	 */
	bool buffered;
	/*
	 * How many servers have a copy of each stream: 1, 3 or 5; 0 means 1.
	 * Existing streams are raised to it and never lowered.
	 */
	int replicas;
	struct metric_set *metrics;           /* may be NULL */
	void (*on_state)(void *arg, bool up); /* may be NULL; on the loop */
	/*
	 * The server stands alone, so that it can never have the replicas; may
	 * be NULL; on the loop.  It is told for each stream, at each try.
	 */
	void (*on_no_cluster)(void *arg);
	void *arg;
};

/* Headers of the sender's own, at most. */
#define BUS_HEADERS_MAX 4

/*
 * One of them: key [A-Za-z0-9_-]{1,64}, value as a msg_id.
 */
struct bus_header {
	const char *key;
	const char *value;
};

/*
 * Until when a command to a body may be sent on, Unix ms: counted from before
 * the sender's last fence, by its clock.  Hosts' clocks are taken to be
 * synchronised, as for Soul-Deadline: what they differ by is added or lost.
 */
#define BUS_HEADER_ACT_BY "Soul-Act-By"

/* What travels beside a payload, as headers. */
struct bus_meta {
	struct wall deadline; /* {0}: none; header Soul-Deadline, Unix ms */
	const struct trace *trace; /* NULL: none; header traceparent */
	/* NULL: none; header Nats-Msg-Id; no control characters, ≤ 256 bytes */
	const char *msg_id;
	const struct bus_header *headers; /* of one's own; not with resend_ms */
	size_t nheaders;                  /* ≤ BUS_HEADERS_MAX */
	/*
	 * Of a request that may be carried out twice: it is sent once more
	 * after that much silence, because who had it may have died.  The first
	 * answer counts.  0: sent once.
	 */
	int64_t resend_ms;
};

/*
 * bus_opts_error(o):
 * What is wrong with URL and files, a constant without a piece of them, or
 * NULL.  Any thread.
 */
const char *bus_opts_error(const struct bus_opts *o);

/*
 * bus_new(o, out):
 * Start connecting, and go on for ever, whatever the server answers: at most a
 * quarter of a second lies between two tries.  Returns at once; subscriptions
 * may be made at once.  o is copied.  Answers come to _INBOX.<name>.>, if the
 * name is [A-Za-z0-9_-]{1,64}, so that a server can keep others from reading
 * them.  What the server does not permit is logged as bus.denied and counted.
 * RC_INVALID if bus_opts_error() finds one, RC_TOOBIG if the URL lists more
 * than 16 servers.
 */
enum rc bus_new(const struct bus_opts *o, struct bus **out) RC_CHECK;

/*
 * bus_free(b):
 * Close.  Requests that wait end with RC_DOWN (their fn is called here).
 * Messages not yet replied to must be freed first.  Not from inside a callback
 * of b, but for that of bus_drain().  Waits until the server has taken what was
 * sent, half a second at most, and for a try to connect, two seconds a server
 * at most.  What is still on its way to the loop is dropped; the loop may be
 * freed next.  NULL is allowed.
 */
void bus_free(struct bus *b);

/*
 * bus_up(b):
 * Whether connected and all subscriptions made before are served.  Any thread.
 */
bool bus_up(const struct bus *b);

/*
 * Message callback: fn owns m and ends it with bus_reply(), bus_reply_error()
 * or bus_msg_free(), now or later.
 */
typedef void (*bus_msg_fn)(void *arg, struct bus_msg *m);

/*
 * bus_subscribe(b, subject, queue, fn, arg, out):
 * Receive subject (wildcards allowed); queue NULL for every message, else the
 * queue group.  Kept across reconnects.  out may be NULL.  RC_INVALID if a name
 * is not one, RC_DOWN after bus_drain().
 */
enum rc bus_subscribe(struct bus *b, const char *subject, const char *queue,
    bus_msg_fn fn, void *arg, struct bus_sub **out) RC_CHECK;

/*
 * bus_unsubscribe(s):
 * End s; no message is delivered after it, and those delivered live on.  Also
 * from s's own fn.  NULL is allowed.
 */
void bus_unsubscribe(struct bus_sub *s);

/*
 * bus_drain(b, fn, arg):
 * Stop taking messages, for good; those the server has sent already are still
 * delivered; then fn(arg) once, on the loop, after the last of them and never
 * from inside bus_drain().  If the connection breaks meanwhile, that was the
 * end.  Sending and requests go on, after a reconnect too.  fn may free b.
 * Once per bus.
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

/* bus_msg_free(m): End m without an answer. */
void bus_msg_free(struct bus_msg *m);

/*
 * bus_reply(m, data), bus_reply_error(m, rc, data):
 * Answer and end m.  An error is marked with the headers Nats-Service-Error
 * (rc_name) and Nats-Service-Error-Code (rc_http_status); data is its body.
 * RC_DOWN if disconnected, RC_INVALID if m wants no reply, RC_TOOBIG if data
 * is (who asked is told so); m is ended all the same.
 */
enum rc bus_reply(struct bus_msg *m, struct str data) RC_CHECK;
enum rc bus_reply_error(
    struct bus_msg *m, enum rc rc, struct str data) RC_CHECK;

/*
 * bus_reply_partial(m, data):
 * Send an answer before the last; m stays, and is ended by another.  Only to
 * who waits for many (struct bus_reply_handler).
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
 * Answer callback: called exactly once per bus_request() that returned RC_OK
 * (but see struct bus_reply_handler), on the loop, never from inside
 * bus_request(). rc is RC_OK; RC_TIMEOUT; RC_NOENT (nobody serves the subject);
 * RC_DOWN (the connection broke); or the code of an error answer, data being
 * its body.  data is valid until fn returns.
 */
typedef void (*bus_reply_fn)(void *arg, enum rc rc, struct str data);

/*
 * Where an answer goes.  With many, each answer that is no error calls fn, and
 * the request goes on until bus_request_cancel() (allowed in fn) or its
 * deadline.
 */
struct bus_reply_handler {
	bus_reply_fn fn;
	void *arg;
	bool many;
};

/*
 * bus_request(b, subject, data, meta, waiter, id):
 * Send and wait for one answer until meta->deadline, which must be set.  The
 * waiter is called only on RC_OK.  RC_INVALID if meta->resend_ms is set and
 * many answers are wanted, or there are headers of one's own.  RC_RETRY over
 * BUS_INFLIGHT_MAX, RC_TIMEOUT if the deadline has passed already, else as
 * bus_publish().  *id (id may be NULL) names the request for
 * bus_request_cancel(), after which the waiter is not called; a request that
 * has ended is no more there to cancel.
 */
enum rc bus_request(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_reply_handler waiter,
    uint64_t *id) RC_CHECK;
void bus_request_cancel(struct bus *b, uint64_t id);

#endif /* !BUS_BUS_H */
