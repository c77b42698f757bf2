/*
 * conn: one connection to NATS, from its opening to its end.  conn.c is the
 * only file that knows the client library.
 *
 * A conn does not reconnect.  When it breaks, or the server ends it, that is
 * its end, and bus.c opens the next one: what was sent into the old one can
 * never turn up in the new one, and no state of the library's can outlive the
 * loop's.
 */
#ifndef BUS_CONN_H
#define BUS_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "bus/port.h"
#include "core/rc.h"
#include "core/str.h"

struct conn;
struct conn_sub; /* a subscription on a connection */

struct conn_conf {
	char *const *urls;
	int n_urls;
	const char *name;
	const char *user; /* NULL: none */
	const char *password;
	const char *ca_file, *cert_file, *key_file; /* NULL: none */
	bool buffered;
	struct port *port;
	uint64_t gen;    /* comes back in every event of the connection */
	loop_fn deliver; /* called on the loop with each event */
};

enum conn_event {
	CONN_MSG,     /* a message */
	CONN_SUB_END, /* no message of this subscription follows */
	CONN_SLOW,    /* messages were dropped, because the loop is behind */
	CONN_DENIED,  /* the server did not permit a message or subscription */
	CONN_CLOSED   /* the connection has ended */
};

/*
 * An event on its way to the loop.  A CONN_MSG becomes the message that its
 * handler owns.  Ended with conn_event_free().
 */
struct bus_msg {
	enum conn_event event;
	uint64_t gen;
	struct port *port;
	struct bus_sub *sub; /* whose, of CONN_MSG and CONN_SUB_END */
	void *in;            /* CONN_MSG: as the library gave it */
	struct bus *bus;     /* from here on set on the loop */
	struct wall deadline;
	bool stored; /* from a stream: ended with an ack, never replied to */
};

/*
 * conn_open(o, out):
 * Connect, trying each server once.  Blocks, for a worker.  RC_DOWN if no
 * server answers, RC_DENIED if one refuses user and password; why is logged.
 */
enum rc conn_open(const struct conn_conf *o, struct conn **out) RC_CHECK;

/*
 * conn_close(c):
 * End the connection; what was sent before is taken by the server first, for
 * which it waits at most half a second.  Events on their way still arrive.
 * NULL is allowed.
 */
void conn_close(struct conn *c);

/*
 * conn_break(c):
 * Give the connection up now, whatever is on its way.  CONN_CLOSED follows.
 */
void conn_break(struct conn *c);

/*
 * conn_subscribe(c, subject, queue, s, out):
 * Receive subject (queue NULL: every message) as events of s, which must live
 * until the CONN_SUB_END.  RC_DOWN if the connection has ended.
 */
enum rc conn_subscribe(struct conn *c, const char *subject, const char *queue,
    struct bus_sub *s, struct conn_sub **out) RC_CHECK;

/*
 * conn_sub_drain(s):
 * Take no more messages; those the server sent already are delivered, then
 * comes the CONN_SUB_END.  RC_DOWN if the connection has ended.
 */
enum rc conn_sub_drain(struct conn_sub *s) RC_CHECK;

/*
 * conn_sub_end(s):
 * Take no more messages; the CONN_SUB_END follows.  s stays.
 */
void conn_sub_end(struct conn_sub *s);

/*
 * conn_sub_free(s):
 * Free a subscription once the library cannot look at it any more: when a
 * message sent after its end has come back, or the connection is closed.  NULL
 * is allowed.
 */
void conn_sub_free(struct conn_sub *s);

struct conn_header {
	const char *key;
	const char *value;
};

struct conn_out {
	const char *subject;
	const char *reply; /* NULL: none */
	struct str data;
	const struct conn_header *headers;
	size_t n_headers;
};

/*
 * conn_send(c, m):
 * Write m to the server, or to the buffer.  Blocks while the socket is full,
 * half a second at most.  RC_TOOBIG over the server's max_payload; RC_DOWN if
 * the connection has ended or must be given up now.
 */
enum rc conn_send(struct conn *c, const struct conn_out *m) RC_CHECK;

/* conn_event_free(m): End an event.  Any thread. */
void conn_event_free(struct bus_msg *m);

/* The parts of a CONN_MSG, valid until it ends; reply may be absent. */
struct str conn_msg_subject(const struct bus_msg *m);
struct str conn_msg_reply(const struct bus_msg *m);
struct str conn_msg_data(const struct bus_msg *m);

/* conn_msg_header(m, key): Its first value; absent if there is none. */
struct str conn_msg_header(const struct bus_msg *m, const char *key);

/* conn_msg_unserved(m): Whether the server says that nobody serves. */
bool conn_msg_unserved(const struct bus_msg *m);

#endif /* !BUS_CONN_H */
