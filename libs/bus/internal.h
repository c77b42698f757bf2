/*
 * internal: what the files of libs/bus share.  Loop thread, all of it.
 */
#ifndef BUS_INTERNAL_H
#define BUS_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bus/bus.h"
#include "bus/conn.h"
#include "bus/jetstream.h"
#include "bus/names.h"
#include "bus/port.h"
#include "core/buf.h"
#include "core/rate.h"
#include "core/worker.h"

/* Room for "_INBOX.", a name, '.', 32 digits, '.' and a NUL. */
#define INBOX_MAX 112

enum sub_kind {
	SUB_PLAIN,
	SUB_STREAM, /* a JetStream consumer's deliveries */
	SUB_INBOX   /* the bus's own: answers to its requests */
};

struct bus_sub {
	TAILQ_ENTRY(bus_sub) link; /* in subs, or in ended once dead */
	struct bus *bus;
	enum sub_kind kind;
	char *subject;
	char *queue; /* NULL: every message */
	bus_msg_fn fn;
	void *arg;
	struct conn_sub *on; /* on the connection in force; NULL: not */
	unsigned live;       /* subscriptions whose CONN_SUB_END is to come */
	bool draining;
	bool dead;
};

TAILQ_HEAD(bus_subs, bus_sub);

/* A request that is sent once more unless it is answered soon. */
struct bus_again {
	char *subject;
	struct buf data;
	struct bus_meta meta;
	struct trace trace;
	char *msg_id;
};

/* A request that waits for its answer. */
struct waiter {
	TAILQ_ENTRY(waiter) link; /* in waiting or idle */
	struct bus *bus;
	struct loop_timer timer;
	struct bus_reply_handler to;
	struct wall by;
	struct bus_again *again; /* NULL: not to be sent again */
	uint64_t id;             /* 0: idle */
	uint32_t at;             /* which one it is */
};

TAILQ_HEAD(waiters, waiter);

#define WAITER_CHUNK  256
#define WAITER_CHUNKS (BUS_INFLIGHT_MAX / WAITER_CHUNK)

/* Told when the connection comes and goes; see bus_watch(). */
struct bus_watcher {
	TAILQ_ENTRY(bus_watcher) link;
	void (*on_state)(struct bus_watcher *w, bool up); /* may be NULL */
	void (*on_free)(struct bus_watcher *w);
};

TAILQ_HEAD(bus_watchers, bus_watcher);

enum bus_state {
	BUS_WAITING,  /* for the moment of the next try */
	BUS_OPENING,  /* a worker connects */
	BUS_GREETING, /* subscribed; the server has not confirmed it yet */
	BUS_UP
};

struct bus_metrics {
	struct metric *connected, *reconnects, *published, *received, *stale,
	    *slow, *inflight, *again, *denied;
};

struct bus {
	struct loop *loop;
	struct port *port;
	struct worker_pool *opener;
	char *urls[NAMES_SERVERS_MAX];
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
	struct conn *conn; /* NULL unless greeting or up */
	uint64_t gen;      /* of the connection in force or being opened */
	uint64_t lost;     /* newest connection known to have ended */
	bool been_up;
	bool closing;
	struct mono since; /* of the connection */
	struct backoff backoff;
	struct loop_timer retry; /* the next try, or the greeting's end */

	struct bus_subs subs, ended;
	struct bus_sub inbox;
	char inbox_prefix[INBOX_MAX]; /* with the last '.' */
	struct bus_watchers watchers;

	struct waiters waiting, idle;
	struct waiter *chunks[WAITER_CHUNKS];
	uint32_t n_waiters; /* made so far */
	uint32_t n_waiting;
	uint64_t serial;

	loop_fn drained; /* NULL: not draining, or told already */
	void *drained_arg;
	bool draining; /* stays */
	struct loop_timer drain_timer;
};

/*
 * bus_watch(b, w):
 * Tell w of every change of the connection, after the subscriptions are in
 * force and before the bus's owner is told, and of bus_free().
 */
void bus_watch(struct bus *b, struct bus_watcher *w);

/* bus_sub_make(b, kind, subject, queue): A subscription in b's list. */
struct bus_sub *bus_sub_make(
    struct bus *b, enum sub_kind kind, const char *subject, const char *queue);

/* bus_sub_put(s): Subscribe on the connection in force. */
enum rc bus_sub_put(struct bus_sub *s) RC_CHECK;

/* bus_subs_lost(b): The connection is closed, all subscriptions with it. */
void bus_subs_lost(struct bus *b);

/*
 * bus_sub_passed(b):
 * A message that bus_unsubscribe() sent to ourselves came back: whoever reads
 * the connection is done with the subscription for which it was sent.
 */
void bus_sub_passed(struct bus *b);

/* bus_sub_end(s): A CONN_SUB_END of the connection gen has come. */
void bus_sub_end(struct bus_sub *s, uint64_t gen);

/* bus_subs_free(b): Free all subscriptions; the connection is closed. */
void bus_subs_free(struct bus *b);

/* bus_sub_deliver(s, m): Hand m to its handler, or refuse it. */
void bus_sub_deliver(struct bus_sub *s, struct bus_msg *m);

/* bus_drain_check(b): Tell bus_drain()'s caller once nothing is left. */
void bus_drain_check(struct bus *b);

/*
 * bus_greet(b): Send a message to ourselves, over the connection in force.
 * bus_greeted(b): It came back: the subscriptions made before are served, and
 * the library is done with those ended before.
 */
enum rc bus_greet(struct bus *b) RC_CHECK;
void bus_greeted(struct bus *b);

/* bus_send(b, m): conn_send() that counts; RC_DOWN while disconnected. */
enum rc bus_send(struct bus *b, const struct conn_out *m) RC_CHECK;

/* Headers of a message, with room for their texts. */
struct bus_headers {
	struct conn_header v[3 + BUS_HEADERS_MAX];
	size_t n;
	char deadline[24];
	char trace[TRACE_PARENT_MAX];
};

/*
 * bus_headers_of(meta, h):
 * meta (NULL: none) as headers, whose own texts are not copied.  RC_INVALID if
 * a text is not fit for one.
 */
enum rc bus_headers_of(
    const struct bus_meta *meta, struct bus_headers *h) RC_CHECK;

/* bus_msg_refuse(m, rc): End m; who asked gets rc with {"error", "code"}. */
void bus_msg_refuse(struct bus_msg *m, enum rc rc);

/* A request as it goes out. */
struct bus_question {
	const char *subject;
	struct str data;
	const struct bus_headers *headers; /* NULL: none */
	struct wall by;
};

/* bus_ask(b, q, waiter, id): bus_request() with headers of one's own. */
enum rc bus_ask(struct bus *b, const struct bus_question *q,
    struct bus_reply_handler waiter, uint64_t *id) RC_CHECK;

/* bus_answered(b, m): m came to the inbox; give it to who waits for it. */
void bus_answered(struct bus *b, struct bus_msg *m);

/* bus_waiters_fail(b): End every request that waits with RC_DOWN. */
void bus_waiters_fail(struct bus *b);

/* bus_waiters_free(b): Free their memory; none waits. */
void bus_waiters_free(struct bus *b);

/*
 * Something the JetStream API is asked for until it agrees, on every new
 * connection: an object with a configuration.
 */
struct bus_wish {
	const char *create; /* subject that creates; copied */
	const char *update; /* that changes one that differs; NULL: it stays */
	const char *look;   /* that tells its replicas; NULL: it has none */
	struct str config;  /* JSON; copied */
	bus_ready_fn ready;
	void *arg;
};

/* bus_wish_keep(b, w): Ask for w until bus_free(). */
void bus_wish_keep(struct bus *b, const struct bus_wish *w);

/* Headers of ours. */
#define HEADER_DEADLINE   "Soul-Deadline"
#define HEADER_TRACE      "traceparent"
#define HEADER_MSG_ID     "Nats-Msg-Id"
#define HEADER_ERROR      "Nats-Service-Error"
#define HEADER_ERROR_CODE "Nats-Service-Error-Code"

#endif /* !BUS_INTERNAL_H */
