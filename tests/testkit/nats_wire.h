/*
 * nats_wire: a client of nats-server over a bare socket, without threads, so
 * that what is measured through it is not the client's.  Failures fail the
 * test.
 */
#ifndef TESTKIT_NATS_WIRE_H
#define TESTKIT_NATS_WIRE_H

#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"

struct tk_wire {
	int fd;
	struct buf in;
	size_t taken; /* bytes of the message that was returned last */
};

/*
 * tk_wire_open(w, port): Connect, without a login.
 * tk_wire_close(w): Close the connection.
 */
void tk_wire_open(struct tk_wire *w, int port);
void tk_wire_close(struct tk_wire *w);

/* tk_wire_subscribe(w, subject): The server has it when this returns. */
void tk_wire_subscribe(struct tk_wire *w, const char *subject);

/* tk_wire_publish(w, subject, reply, data): In one write. */
void tk_wire_publish(
    struct tk_wire *w, const char *subject, const char *reply, struct str data);

struct tk_wire_msg {
	struct str subject, data; /* valid until the next call; no headers */
};

/* tk_wire_next(w, ms, m): The next message, which must come within ms. */
void tk_wire_next(struct tk_wire *w, int ms, struct tk_wire_msg *m);

#endif /* !TESTKIT_NATS_WIRE_H */
