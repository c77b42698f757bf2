/*
 * peer: a plain MQTT client (libmosquitto, a thread of its own): an independent
 * watcher, or a body that does what the test says and nothing else.
 */
#ifndef TESTKIT_STACK_PEER_H
#define TESTKIT_STACK_PEER_H

#include <jansson.h>
#include <stdbool.h>

#include "testkit/stack/stack.h"

struct peer;

/* What a peer is; members may be left out. */
struct peer_opts {
	const char *client_id;
	const char *will_topic; /* QoS 1, retained */
	const char *will;
	bool lasting; /* keeps its session */
	/* Of a locked stack: a body it has the password of; NULL: one who may
	 * do everything. */
	const char *as;
};

/*
 * peer_new(st, o): Connect and wait until that is done.
 * peer_free(p):    Disconnect in peace; no will.
 * peer_cut(p):     End the connection without a word, and free.
 */
struct peer *peer_new(struct stack *st, const struct peer_opts *o);
void peer_free(struct peer *p);
void peer_cut(struct peer *p);

/*
 * peer_hear(p, filter):     Subscribe, QoS 1, and wait until that is done.
 * peer_may_hear(p, filter): The same where the broker may refuse: whether it
 *                           agreed.
 */
void peer_hear(struct peer *p, const char *filter);
bool peer_may_hear(struct peer *p, const char *filter);

/* peer_is_up(p): Whether it is connected now. */
bool peer_is_up(struct peer *p);

/* How a message is sent. */
enum peer_how {
	PEER_QOS0 = 0,
	PEER_QOS1 = 1,
	PEER_RETAIN = 4,
	PEER_REPORT = PEER_QOS1 | PEER_RETAIN
};

/* peer_send(p, topic, payload, n, how): Publish; returns when it is taken. */
void peer_send(struct peer *p, const char *topic, const void *payload, size_t n,
    unsigned how);

/*
 * peer_next(p, end, ms):
 * The oldest message not taken yet whose topic ends so, taken out:
 * {"topic", "payload" (JSON, or a text), "qos", "retain", "at_ms" (monotonic)};
 * NULL if none comes within ms.  The caller frees it.
 */
json_t *peer_next(struct peer *p, const char *end, int ms);

/*
 * peer_await(p, end, path, part):
 * The next of them that says part at path; those before it are dropped.  The
 * test fails if none comes within STACK_MS.  The caller frees it.
 */
json_t *peer_await(
    struct peer *p, const char *end, const char *path, const char *part);

/*
 * peer_count(p, end):
 * How many such messages wait to be taken, when all have come that the broker
 * has taken before this call.
 */
size_t peer_count(struct peer *p, const char *end);

/* ---- a body ----------------------------------------------------------------
 */

/* What a body does with an invoke. */
enum body_manner {
	BODY_OBEYS,    /* ok=true */
	BODY_FAILS,    /* ok=false, error "servo timeout" */
	BODY_IS_SILENT /* no result */
};

struct body {
	const char *terminal;
	const char *user; /* who has bound it; NULL: nobody */
	struct peer *peer;
	enum body_manner manner;
};

/* Which of the protocol's sample documents a body sends. */
enum body_speaks {
	BODY_SPEAKS_0220, /* no intent catalog */
	BODY_IS_TERSE,    /* the same; its skills are a bare array */
	BODY_SPEAKS_0222,
	BODY_IS_DEAF /* the later one, without subscribing */
};

/*
 * body_connect(b, st, terminal, speaks):
 * Connect with a will, subscribe, announce: online, skills, intent_catalog,
 * heartbeat, as the protocol's samples say, and wait until the owner sees it.
 */
void body_connect(struct body *b, struct stack *st, const char *terminal,
    enum body_speaks speaks);

/* body_report(b, leaf, report): One of its reports, given away. */
void body_report(struct body *b, const char *leaf, json_t *report);

/* body_free(b): It says that it goes, and goes. */
void body_free(struct body *b);

#endif /* !TESTKIT_STACK_PEER_H */
