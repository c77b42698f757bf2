/*
 * transport: the way of JSON-RPC messages to one MCP server and back: pipes of
 * a process (stdio_transport.c) or HTTP (http_transport.c).
 *
 * A transport knows no protocol beyond its own: it passes messages as text.  It
 * is made by its kind's function, opens by itself, and is closed one time, by
 * the peer or by transport_close().  All on the loop; handlers are never called
 * from inside a function of this header.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct mcp_server;
struct transport;

/* Longest message of a server, in bytes: a line, a body, an event. */
#define TRANSPORT_MESSAGE_MAX (8UL * 1024 * 1024)
/* Bytes that wait to be written to a server. */
#define TRANSPORT_OUTPUT_MAX (1024UL * 1024)
/* What a server has written to stderr, the last of it. */
#define TRANSPORT_STDERR_MAX (64UL * 1024)

/* A message to a server. */
struct transport_message {
	struct str json;   /* on one line, without its end; copied */
	int64_t id;        /* of a request; 0: a notification or a response */
	struct str method; /* absent: a response */
	/*
	 * Of tools/call, for the headers of the stateless protocol; else
	 * absent: the tool's name, its arguments and its schema, as JSON.
	 */
	struct str name, arguments, schema;
};

/* Why a transport is closed, or a request has failed. */
enum transport_why {
	TRANSPORT_UNREACHABLE,  /* it could not be started or connected */
	TRANSPORT_EXITED,       /* the server has ended the connection */
	TRANSPORT_SESSION_LOST, /* HTTP 400 or 404 after a success */
	TRANSPORT_UNAUTHORIZED, /* HTTP 401 or 403 */
	TRANSPORT_REJECTED,     /* any other HTTP status */
	TRANSPORT_BROKEN,       /* what it sends is no message, or too long */
	TRANSPORT_CLOSED        /* by transport_close() */
};

struct transport_end {
	enum transport_why why;
	int status; /* of HTTP, or an exit code; 0: none */
	struct str
	    text; /* for operators: "exit code 1", "connection refused" */
	/*
	 * Of the end of all: what it has written to stderr, at most the last
	 * TRANSPORT_STDERR_MAX bytes; absent over HTTP.
	 */
	struct str log;
	/*
	 * The request may have reached the server, which may have acted: it
	 * must not be sent a second time.
	 */
	bool may_have_run;
};

struct transport_handler {
	/* Messages may be sent. */
	void (*on_open)(void *arg);
	/*
	 * One message of the server, JSON or not: an object, or an array of a
	 * batch.  json is valid until it returns.
	 */
	void (*on_message)(void *arg, struct str json);
	/*
	 * The request id will have no response: the transport is not closed,
	 * as it is with stdio.
	 */
	void (*on_failed)(void *arg, int64_t id, const struct transport_end *e);
	/*
	 * The end of all: requests without a response have none; t is freed
	 * on return.  Called also without on_open() before.
	 */
	void (*on_closed)(void *arg, const struct transport_end *e);
	void *arg;
};

/* What a kind of transport does; see below. */
struct transport_ops {
	enum rc (*send)(struct transport *t, const struct transport_message *m);
	void (*cancel)(struct transport *t, int64_t id);
	void (*set_version)(struct transport *t, const char *version);
	void (*close)(struct transport *t);
	void (*free)(struct transport *t);
};

/* The first member of each kind's struct. */
struct transport {
	const struct transport_ops *ops;
	struct transport_handler h;
};

/*
 * transport_send(t, m):
 * Send m, after those before it.  RC_RETRY: over TRANSPORT_OUTPUT_MAX, or, over
 * HTTP, too many requests are open; RC_DOWN: not open, or closing.  In both
 * cases nothing was sent.
 */
enum rc transport_send(
    struct transport *t, const struct transport_message *m) RC_CHECK;

/*
 * transport_cancel(t, id):
 * No response to the request id is wanted any more: over HTTP its stream is
 * closed.  No-op over stdio, where notifications/cancelled is sent, and of a
 * request that has ended.
 */
void transport_cancel(struct transport *t, int64_t id);

/*
 * transport_set_version(t, version):
 * The protocol version that was negotiated, a constant: HTTP sends it.
 */
void transport_set_version(struct transport *t, const char *version);

/*
 * transport_close(t): Begin to end; on_closed() comes within 6 s, with
 * TRANSPORT_CLOSED.  No-op if it is closing.
 * transport_free(t): At once, without a callback.  NULL is allowed.
 */
void transport_close(struct transport *t);
void transport_free(struct transport *t);

#endif /* !TRANSPORT_H */
