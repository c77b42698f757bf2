/*
 * JetStream: streams, durable consumers, acknowledged publishing, and reading
 * single stored messages for operators.
 *
 * A publish that was acknowledged is on the server's disk and survives the
 * kill of any process.  Delivery is at least once: a handler may get a message
 * a second time after a crash of its own process, of the server or of the
 * network.  Acknowledged messages stay in the stream until they exceed its age
 * or size (limits retention).
 *
 * All functions run on the loop thread and never block.
 */
#ifndef BUS_JETSTREAM_H
#define BUS_JETSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

/* Subjects of one stream. */
#define BUS_STREAM_SUBJECTS_MAX 16

/*
 * State of a desired configuration (a stream, a consumer): RC_OK each time the
 * server has confirmed it, otherwise why it has not; it is then retried.  On
 * the loop, never from inside the call that requested it.
 */
typedef void (*bus_ready_fn)(void *arg, enum rc rc);

struct bus_stream {
	const char *name;            /* [A-Za-z0-9_-]{1,64} */
	const char *const *subjects; /* stored subjects; wildcards allowed */
	size_t n_subjects;           /* 1 to BUS_STREAM_SUBJECTS_MAX */
	int64_t max_age_s;           /* 0: no limit */
	int64_t max_bytes;           /* the oldest are discarded; 0: no limit */
	int64_t duplicates_s;        /* deduplication window of msg_id; > 0 */
	bool no_update;              /* accept an existing stream unchanged */
	bus_ready_fn ready;          /* may be NULL */
	void *arg;
};

/*
 * bus_stream_ensure(b, s):
 * Create the stream or update it to s: now or as soon as connected, and after
 * every reconnect (the server may have lost its disk), with retries.  An
 * existing stream is updated unless no_update is set; its replicas (bus_opts)
 * are raised and never lowered.  s is copied.  RC_INVALID if s breaks the rules
 * above.
 */
enum rc bus_stream_ensure(struct bus *b, const struct bus_stream *s) RC_CHECK;

/* The server's acknowledgement of a publish. */
struct bus_pub_ack {
	int64_t seq;    /* sequence number in the stream */
	bool duplicate; /* msg_id was stored before; seq is the first one's */
};

/*
 * Called exactly once per bus_stream_publish() that returned RC_OK, on the
 * loop, never from inside it.  rc is RC_OK: stored; RC_NOENT: not stored, no
 * stream has the subject, or its cluster elects a leader at this moment;
 * RC_TIMEOUT or RC_DOWN: unknown, publish again with the same msg_id (an
 * election, too, if others have subscribed to the subject); other: rejected by
 * the server.  ack is NULL unless RC_OK.
 */
typedef void (*bus_pub_ack_fn)(
    void *arg, enum rc rc, const struct bus_pub_ack *ack);

struct bus_pub_ack_handler {
	bus_pub_ack_fn fn;
	void *arg;
};

/*
 * bus_stream_publish(b, subject, data, meta, handler):
 * Publish to a stream and wait for its acknowledgement.  meta->msg_id must be
 * set, and so must meta->deadline: how long to wait for the acknowledgement;
 * it is not sent, as a stored message has no deadline.  Errors as
 * bus_request().
 */
enum rc bus_stream_publish(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_pub_ack_handler handler) RC_CHECK;

/*
 * bus_jetstream_silent(b):
 * Whether the server, which is connected, let the deadline of a publish to a
 * stream pass and has sent no JetStream reply since.  The streams and consumers
 * of b are requested again until it does.  Any thread.
 */
bool bus_jetstream_silent(const struct bus *b);

/* ---- durable consumers ---- */

struct bus_consumer {
	const char *stream;
	const char *name;      /* [A-Za-z0-9_-]{1,64} */
	const char *filter;    /* this subject only; NULL: all of the stream */
	int64_t ack_wait_ms;   /* redelivered after this long without an ack */
	int64_t max_in_flight; /* unacknowledged deliveries, all members */
	bus_msg_fn fn;
	bus_ready_fn ready; /* may be NULL */
	void *arg;          /* of both */
};

/*
 * bus_consume(b, c):
 * Join the durable consumer c: every message of the stream goes to one of its
 * members.  The consumer is created as bus_stream_ensure() creates a stream; an
 * existing one continues at its position and outlives its members.  fn owns the
 * message and ends it with bus_ack(), bus_nak() or bus_msg_free(), after which
 * it is redelivered once ack_wait is over.  Ended by bus_drain() and
 * bus_free().  c is copied.  RC_INVALID if c breaks the rules above, RC_DOWN
 * after bus_drain().
 */
enum rc bus_consume(struct bus *b, const struct bus_consumer *c) RC_CHECK;

/* Metadata of a consumer's delivery. */
struct bus_delivery {
	int64_t delivered;  /* number of this delivery: 1 for the first */
	int64_t seq;        /* sequence number in the stream */
	int64_t pending;    /* messages after it, not delivered yet */
	struct wall stored; /* when the stream got it, by the server's clock */
};

/* bus_msg_delivery(m, d): False if m did not come from a consumer. */
bool bus_msg_delivery(const struct bus_msg *m, struct bus_delivery *d);

/* bus_msg_id(m): Its Nats-Msg-Id, valid until it ends; absent if none. */
struct str bus_msg_id(const struct bus_msg *m);

/*
 * bus_ack(m):           Done; m is not redelivered.
 * bus_nak(m, delay_ms): Failed; redeliver it after delay_ms (≥ 0).
 * bus_ack_progress(m):  In progress; ack_wait starts anew.
 * The first two end m.  RC_DOWN while disconnected: it is redelivered.
 * RC_INVALID if m did not come from a consumer.
 */
enum rc bus_ack(struct bus_msg *m) RC_CHECK;
enum rc bus_nak(struct bus_msg *m, int64_t delay_ms) RC_CHECK;
enum rc bus_ack_progress(struct bus_msg *m) RC_CHECK;

/* ---- stream inspector: stored messages one by one, without a consumer ---- */

/* A stored message; its texts are valid until the callback returns. */
struct bus_stream_msg {
	int64_t seq;
	struct wall stored; /* by the server's clock */
	struct str subject;
	struct str headers; /* raw lines; see bus_stream_msg_header() */
	struct str data;    /* never absent */
};

/* bus_stream_msg_header(m, key): Its first value; absent if there is none. */
struct str bus_stream_msg_header(
    const struct bus_stream_msg *m, const char *key);

struct bus_stream_result {
	int64_t first_seq; /* of bus_stream_info(): of the oldest message */
	int64_t last_seq;  /* of bus_stream_info(); 0: always empty */
	int64_t count;     /* of bus_stream_count() */
	struct bus_stream_msg m; /* of bus_stream_msg_get() and …_next() */
};

/*
 * Called exactly once per query that returned RC_OK, on the loop, never from
 * inside it.  rc is RC_OK; RC_NOENT: no such message; RC_INVALID: no such
 * stream; RC_DENIED: no JetStream; RC_TIMEOUT or RC_DOWN: unknown; RC_BUG:
 * another error of the server, which is logged.  r is NULL unless RC_OK.
 */
typedef void (*bus_stream_query_fn)(
    void *arg, enum rc rc, const struct bus_stream_result *r);

struct bus_stream_query {
	const char *stream; /* [A-Za-z0-9_-]{1,64} */
	struct wall deadline;
	bus_stream_query_fn fn;
	void *arg;
};

/*
 * bus_stream_info(b, q):            First and last sequence number.
 * bus_stream_count(b, q, subject):  How many messages of that subject it has.
 * bus_stream_msg_get(b, q, seq):    The message seq.
 * bus_stream_msg_next(b, q, seq):   The first message at or after seq.
 * bus_stream_msg_delete(b, q, seq): Delete the message seq for good.
 * Errors as bus_request(); RC_INVALID for a bad stream name, subject
 * or seq ≤ 0.
 */
enum rc bus_stream_info(
    struct bus *b, const struct bus_stream_query *q) RC_CHECK;
enum rc bus_stream_count(struct bus *b, const struct bus_stream_query *q,
    const char *subject) RC_CHECK;
enum rc bus_stream_msg_get(
    struct bus *b, const struct bus_stream_query *q, int64_t seq) RC_CHECK;
enum rc bus_stream_msg_next(
    struct bus *b, const struct bus_stream_query *q, int64_t seq) RC_CHECK;
enum rc bus_stream_msg_delete(
    struct bus *b, const struct bus_stream_query *q, int64_t seq) RC_CHECK;

#endif /* !BUS_JETSTREAM_H */
