/*
 * peer: a plain MQTT client (libmosquitto, a thread of its own): an independent
 * subscriber, or a terminal that does only what the test scripts.
 */
#ifndef TESTKIT_STACK_PEER_H
#define TESTKIT_STACK_PEER_H

#include <jansson.h>
#include <stdbool.h>

#include "testkit/stack/stack.h"

struct peer;

/* Options of a peer; members may be omitted. */
struct peer_opts {
	const char *client_id;
	const char *will_topic; /* QoS 1, retained */
	const char *will;
	bool lasting; /* persistent session */
	/* In a locked stack: the terminal whose password it uses; NULL: the
	 * user with all permissions. */
	const char *as;
};

/*
 * peer_new(st, o): Connect and wait for the acknowledgement.
 * peer_free(p): Disconnect normally, without a will.
 * peer_drop(p): Close the socket without DISCONNECT, and free.
 */
struct peer *peer_new(struct stack *st, const struct peer_opts *o);
void peer_free(struct peer *p);
void peer_drop(struct peer *p);

/*
 * peer_subscribe(p, filter): Subscribe with QoS 1, and wait for the
 * acknowledgement.
 * peer_try_subscribe(p, filter): The same; returns whether the broker granted
 * it.
 */
void peer_subscribe(struct peer *p, const char *filter);
bool peer_try_subscribe(struct peer *p, const char *filter);

/* peer_watch(st, terminal): A peer that receives all topics of a terminal. */
struct peer *peer_watch(struct stack *st, const char *terminal);

/* peer_is_up(p): Whether it is connected now. */
bool peer_is_up(struct peer *p);

/* QoS and retain of a message. */
enum peer_flags {
	PEER_QOS0 = 0,
	PEER_QOS1 = 1,
	PEER_RETAIN = 4,
	PEER_REPORT = PEER_QOS1 | PEER_RETAIN
};

/* peer_send(p, topic, payload, n, how): Publish; returns when it is
 * acknowledged. */
void peer_send(struct peer *p, const char *topic, const void *payload, size_t n,
    unsigned how);

/*
 * peer_next(p, end, ms):
 * Take the oldest message whose topic ends with end:
 * {"topic", "payload" (JSON, or a text), "qos", "retain", "at_ms" (monotonic)};
 * NULL if none comes within ms.  The caller frees it.
 */
json_t *peer_next(struct peer *p, const char *end, int ms);

/*
 * peer_await(p, end, path, part):
 * The next of them that has part at path; earlier ones are dropped.  The test
 * fails if none comes within STACK_MS.  The caller frees it.
 */
json_t *peer_await(
    struct peer *p, const char *end, const char *path, const char *part);

/*
 * peer_count(p, end): How many such messages can be taken, once all messages
 * that the broker accepted before this call have arrived.
 */
size_t peer_count(struct peer *p, const char *end);

/* ---- a terminal ---- */

/* How a terminal replies to an invoke. */
enum terminal_manner {
	TERMINAL_OBEYS,    /* ok=true */
	TERMINAL_FAILS,    /* ok=false, error "servo timeout" */
	TERMINAL_IS_SILENT /* no result */
};

struct terminal {
	const char *terminal;
	const char *user; /* it is bound to; NULL: unbound */
	struct peer *peer;
	enum terminal_manner manner;
};

/* The protocol version and its sample documents that a terminal sends. */
enum terminal_version {
	TERMINAL_0220,      /* no intent catalog */
	TERMINAL_0220_BARE, /* the same; its skills are a bare array */
	TERMINAL_0222,
	TERMINAL_UNSUBSCRIBED /* the later one, without subscribing */
};

/*
 * terminal_connect(b, st, terminal, speaks):
 * Connect with a will, subscribe, announce: online, skills, intent_catalog,
 * heartbeat, with the protocol's samples, and wait until its user sees it.
 */
void terminal_connect(struct terminal *b, struct stack *st,
    const char *terminal, enum terminal_version speaks);

/* terminal_report(b, leaf, report): Publish a report; takes it. */
void terminal_report(struct terminal *b, const char *leaf, json_t *report);

/* terminal_free(b): Publish offline, and disconnect. */
void terminal_free(struct terminal *b);

#endif /* !TESTKIT_STACK_PEER_H */
