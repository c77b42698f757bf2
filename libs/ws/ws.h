/*
 * ws: WebSocket connections to a server (RFC 6455), on its loop.
 *
 * Frames are read and written by the loop's thread: what a connection sends in
 * one iteration leaves in one write.  Extensions are declined.  A peer that
 * does not read loses frames, never delays others.  Loop thread only.
 */
#ifndef WS_WS_H
#define WS_WS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "http/client_address.h"
#include "http/head_reader.h"
#include "ws/frame.h"

struct loop;
struct ws;
struct ws_peer;

/* What a plain GET of a path gets: bytes from data to end. */
struct ws_file {
	const char *path; /* "/x.js"; a query is ignored */
	const char *type; /* "text/javascript; charset=utf-8" */
	const char *data, *end;
};

/* How a connection has ended. */
struct ws_end {
	unsigned code; /* close code of either side; 1006: none was sent */
	bool by_peer;  /* it closed first, or was disconnected */
	char why[124]; /* in words, for logs; may be empty */
};

struct ws_handler {
	/*
	 * A client requests to open a WebSocket; its handshake is valid.  To be
	 * followed, now or later, by ws_accept() or ws_reject().  h is valid
	 * during the call; its strings until then.
	 */
	void (*on_request)(
	    void *arg, struct ws_peer *p, const struct http_head *h);
	/* A message.  data is valid during the call. */
	void (*on_message)(
	    void *arg, struct ws_peer *p, struct str data, bool binary);
	/* After the on_message() calls of what one read has brought, without
	 * anything between; may be NULL. */
	void (*on_read)(void *arg, struct ws_peer *p);
	/* There is room again, after ws_send() has returned RC_RETRY. */
	void (*on_room)(void *arg, struct ws_peer *p);
	/* The last call of a peer that has had its on_request(); it is freed
	 * next.  Never from inside of ws_*(), but for ws_free(). */
	void (*on_end)(void *arg, struct ws_peer *p, const struct ws_end *end);
	/* A handshake was rejected with this HTTP status, by ws or by
	 * ws_reject().  To be counted only; may be NULL. */
	void (*on_reject)(void *arg, int status);

	/*
	 * A client requests one of the files, with a plain GET or HEAD.  False:
	 * it was rejected, by ws_reject().  NULL: everybody gets them.
	 */
	bool (*on_file)(
	    void *arg, struct ws_peer *p, const struct http_head *h);
	void *arg;
};

struct ws_opts {
	struct loop *loop;
	const char *addr; /* "127.0.0.1:9014"; port 0: any */
	struct ws_handler handler;
	size_t connections_max; /* more get 503 */
	size_t per_address;     /* of a client; more get 429; 0: unlimited */
	/* Whose X-Forwarded-For counts; copied.  NULL: nobody's. */
	const struct proxy_nets *proxies;
	/* Not copied.  They are sent with a strict policy for pages: scripts,
	 * styles and connections of the same origin only, none inline. */
	const struct ws_file *files;
	size_t nfiles;
	size_t message_max; /* bytes of a message that is read */
	/* Of one peer, waiting to be sent; see ws_send(). */
	size_t queue_bytes, queue_frames;
	int64_t handshake_ms; /* until the request is whole */
	int64_t ping_ms;      /* a ping when nothing has come for so long */
	int64_t timeout_ms;   /* nothing has come: closed with 1001 */
	int64_t stall_ms;     /* nothing was taken of a full queue: 1013 */
};

/*
 * ws_new(o, out): Listen.  o is copied, its strings are not.  RC_INVALID:
 * addr is no IPv4 address with a port; RC_DOWN: it cannot be listened on.
 * ws_port(w): The port.
 * ws_stop(w): Accept no more connections.
 * ws_free(w): Close all connections at once; on_end() is called for each.  NULL
 * is allowed.
 */
enum rc ws_new(const struct ws_opts *o, struct ws **out) RC_CHECK;
int ws_port(const struct ws *w);
void ws_stop(struct ws *w);
void ws_free(struct ws *w);

/* ws_count(w): Connections, handshakes included. */
size_t ws_count(const struct ws *w);

/*
 * ws_accept(p, protocol): Open it; protocol is the subprotocol that is
 * selected, absent: none. ws_reject(p, status, why): Respond with an HTTP
 * status (400 to 599) and why, in words, and close.
 */
void ws_accept(struct ws_peer *p, struct str protocol);
void ws_reject(struct ws_peer *p, int status, const char *why);

/* ws_peer_set(p, arg), ws_peer_arg(p): The caller's pointer; NULL at first. */
void ws_peer_set(struct ws_peer *p, void *arg);
void *ws_peer_arg(const struct ws_peer *p);

/*
 * ws_peer_head(p, h):
 * The request of p; strings of h are valid until it is accepted or rejected.
 * False: it was already, or is closed.
 */
bool ws_peer_head(const struct ws_peer *p, struct http_head *h) RC_CHECK;

/*
 * ws_peer_address(p):
 * The client's address, as text: the one that is connected, or what a trusted
 * proxy says.
 */
const char *ws_peer_address(const struct ws_peer *p);

/*
 * ws_send(p, f): Send a frame, to which p takes a reference.  RC_RETRY: its
 * queue is full, on_room() follows; RC_DOWN: it is not open.
 */
enum rc ws_send(struct ws_peer *p, struct frame *f) RC_CHECK;

/* ws_peer_end(p): How it ends, once ws_send() returns RC_DOWN; NULL: it does
 * not. */
const struct ws_end *ws_peer_end(const struct ws_peer *p);

/*
 * ws_set_message_max(p, n):
 * Messages that p begins from now on may have n bytes, at most the listener's
 * message_max, which it is at first.  p is open.
 */
void ws_set_message_max(struct ws_peer *p, size_t n);

/*
 * ws_pause(p, until):
 * Leave what p sends in its socket until then, so that a client that sends too
 * much waits; what one read() has taken already is handled.  Meanwhile p gets
 * no pings, and its silence does not count; that it has disconnected is found
 * afterwards.  A longer pause stays; no-op if it is not open.
 */
void ws_pause(struct ws_peer *p, struct mono until);

/* ws_pending(p): Bytes that are still to be sent. */
size_t ws_pending(const struct ws_peer *p);

/*
 * ws_close(p, code, reason): What is queued is sent first.  Its messages are
 * not read any more.  No-op if it is closing.
 */
void ws_close(struct ws_peer *p, unsigned code, struct str reason);

/*
 * ws_close_some(w, n, code, reason):
 * ws_close() n connections that are not closing yet.  Returns how many are left
 * of those.
 */
size_t ws_close_some(struct ws *w, size_t n, unsigned code, struct str reason);

/*
 * ws_pending_all(w): The bytes that all connections have to send, each by
 * itself: a frame of several counts for each.
 */
size_t ws_pending_all(const struct ws *w);

#endif /* !WS_WS_H */
