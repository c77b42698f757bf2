/*
 * stream: JetStream: messages that the server keeps, so that events and jobs
 * outlive every process.
 *
 * A publish that was acknowledged is on the server's disk and survives the
 * kill of any process.  Delivery is at least once: a handler may see a message
 * again after a crash of its own, of the server, or of the network, and must
 * bear it.  Streams keep what was acknowledged by consumers too, until it is
 * old or the stream is full (limits retention).
 *
 * Everything runs on the loop thread, and nothing blocks.
 */
#ifndef BUS_STREAM_H
#define BUS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "core/rc.h"
#include "core/str.h"

/* Subjects of one stream. */
#define BUS_STREAM_SUBJECTS_MAX 16

/*
 * How a standing wish (a stream, a consumer) fares: RC_OK each time the server
 * has confirmed it; otherwise why it has not yet, and it is tried again.  On
 * the loop, never from inside the call that made the wish.
 */
typedef void (*bus_ready_fn)(void *arg, enum rc rc);

struct bus_stream {
	const char *name;            /* [A-Za-z0-9_-]{1,64} */
	const char *const *subjects; /* what it stores; wildcards allowed */
	size_t n_subjects;           /* 1 to BUS_STREAM_SUBJECTS_MAX */
	int64_t max_age_s;           /* what is older goes; 0: nothing does */
	int64_t max_bytes;           /* beyond it the oldest go; 0: no limit */
	int64_t duplicates_s;        /* how long a msg_id is remembered; > 0 */
	bool no_update;              /* one that exists is good as it is */
	bus_ready_fn ready;          /* may be NULL */
	void *arg;
};

/*
 * bus_stream_ensure(b, s):
 * See to it that the stream exists as s says: now or as soon as connected, and
 * again after every reconnect (the server may have lost its disk), retried
 * until it does.  One that exists with other limits is changed, unless it is
 * good as it is; replicas (bus_opts) are raised by that and never lowered.  s
 * is copied.  RC_INVALID if s breaks the rules above.
 */
enum rc bus_stream_ensure(struct bus *b, const struct bus_stream *s) RC_CHECK;

/* What became of a publish. */
struct bus_pub_ack {
	int64_t seq;    /* its place in the stream */
	bool duplicate; /* its msg_id was there already; seq is that one's */
};

/*
 * Called exactly once per bus_stream_publish() that returned RC_OK, on the
 * loop, never from inside it.  rc is RC_OK: stored; RC_NOENT: no stream has
 * the subject; RC_TIMEOUT or RC_DOWN: not known, publish again with the same
 * msg_id; another: refused by the server.  s is NULL unless RC_OK.
 */
typedef void (*bus_pub_ack_fn)(
    void *arg, enum rc rc, const struct bus_pub_ack *s);

/* Where the acknowledgement goes. */
struct bus_pub_ack_handler {
	bus_pub_ack_fn fn;
	void *arg;
};

/*
 * bus_stream_publish(b, subject, data, meta, waiter):
 * Publish to a stream and learn whether it was stored.  meta->msg_id must be
 * set, and so must meta->deadline: how long to wait for the acknowledgement;
 * it does not travel, as nothing stored is late.  Fails as bus_request().
 */
enum rc bus_stream_publish(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_pub_ack_handler waiter) RC_CHECK;

struct bus_consumer {
	const char *stream;
	const char *name;      /* [A-Za-z0-9_-]{1,64} */
	const char *filter;    /* this subject only; NULL: all of the stream */
	int64_t ack_wait_ms;   /* silence after which it is delivered again */
	int64_t max_in_flight; /* delivered and not acknowledged, all members */
	bus_msg_fn fn;
	bus_ready_fn ready; /* may be NULL */
	void *arg;          /* of both */
};

/*
 * bus_consume(b, c):
 * Take part in the durable consumer c: every message of the stream goes to one
 * of its members.  The consumer is made as bus_stream_ensure() makes a stream;
 * one that exists goes on where it stood, and stays when its members leave.
 * fn owns the message and ends it with bus_ack(), bus_nak() or bus_msg_free(),
 * after which it is delivered again when its ack_wait is over.  Ended by
 * bus_drain() and bus_free().  c is copied.  RC_INVALID if c breaks the rules
 * above, RC_DOWN after bus_drain().
 */
enum rc bus_consume(struct bus *b, const struct bus_consumer *c) RC_CHECK;

/* What the server says of a message beside its content. */
struct bus_delivery {
	int64_t delivered; /* how often so far: 1 the first time */
	int64_t seq;       /* its place in the stream */
	int64_t pending;   /* messages behind it that wait for the consumer */
};

/* bus_msg_delivery(m, j): False if m did not come from a consumer. */
bool bus_msg_delivery(const struct bus_msg *m, struct bus_delivery *j);

/* bus_msg_id(m): Its Nats-Msg-Id, valid until it ends; absent if none. */
struct str bus_msg_id(const struct bus_msg *m);

/*
 * bus_ack(m):                Done; m is not delivered again.
 * bus_nak(m, delay_ms):      Not done; deliver it again after delay_ms (≥ 0).
 * bus_ack_progress(m):            Still at it: ack_wait begins anew.
 * The first two end m.  RC_DOWN while disconnected: it is delivered again.
 * RC_INVALID if m did not come from a consumer.
 */
enum rc bus_ack(struct bus_msg *m) RC_CHECK;
enum rc bus_nak(struct bus_msg *m, int64_t delay_ms) RC_CHECK;
enum rc bus_ack_progress(struct bus_msg *m) RC_CHECK;

#endif /* !BUS_STREAM_H */
