/*
 * ws_internal: what the files of the library share.
 */
#ifndef WS_WS_INTERNAL_H
#define WS_WS_INTERNAL_H

#include <sys/queue.h>

#include "core/buf.h"
#include "core/loop.h"
#include "core/map.h"
#include "core/tcp_listener.h"
#include "ws/frame_reader.h"
#include "ws/handshake.h"
#include "ws/send_queue.h"
#include "ws/ws.h"

/* Bytes that one socket may read, and write, in an iteration of the loop. */
#define WS_READ_MAX  (64UL * 1024)
#define WS_WRITE_MAX (256UL * 1024)
/* How long a closed connection may take to read its last bytes. */
#define WS_LINGER_MS 2000
/* Connections over the limit that get their 503. */
#define WS_REJECTED_MAX 256

enum ws_phase {
	WS_HEAD,    /* the request is being read */
	WS_PENDING, /* it waits for ws_accept() or ws_reject() */
	WS_OPEN,
	WS_CLOSING, /* the last bytes are being sent */
	WS_LINGER   /* they are, the peer is to close */
};

/* What only a connection has that is not open, or just became so. */
struct ws_http {
	struct buf head;     /* bytes of the request, and behind it */
	size_t head_used;    /* of the request; 0: not whole */
	struct buf response; /* bytes still to be sent */
	struct str body;     /* of a file, behind them */
	struct handshake handshake;
};

/* Each idle connection has one: it is small.  What is read for each frame comes
 * first. */
struct ws_peer {
	enum ws_phase phase;
	bool is_dirty;
	bool requested; /* on_request() was called */
	bool wants_room;
	bool close_received;
	bool dead;                 /* to be freed at the end of the iteration */
	bool counted;              /* in the listener's by_address */
	LIST_ENTRY(ws_peer) dirty; /* in the listener's list if is_dirty */
	struct ws *w;
	struct ws_http *http; /* NULL: open, and the response is sent */
	struct send_queue queue;
	struct mono taken;    /* the last progress of sending */
	struct mono received; /* the last byte */
	struct mono paused;   /* until then nothing is read; 0: it is */
	struct loop_fd watch;
	struct loop_timer timer;
	void *arg;
	struct frame_reader *reader; /* NULL: before it is open */
	struct ws_end *end;          /* NULL: not yet */
	TAILQ_ENTRY(ws_peer) link;
	struct client_addr address;
};

struct ws {
	struct ws_opts o;
	struct tcp_listener listener;
	struct loop_deferred flush;
	TAILQ_HEAD(, ws_peer) peers;
	LIST_HEAD(, ws_peer) dirty; /* with something to send, or to free */
	size_t n, pending;
	struct tally *by_address; /* connections, by the key of the client's */
	struct proxy_nets proxies;
	struct frame_reader_pool *pool;
	char bytes[WS_READ_MAX]; /* being read */
};

/*
 * ws_peer_new(w, fd, address): A connection that was accepted; address is the
 * one that is connected.
 * ws_peer_free(p): At once; on_end() is called if it has had its request.
 */
struct ws_peer *ws_peer_new(
    struct ws *w, int fd, const struct client_addr *address);
void ws_peer_free(struct ws_peer *p);

/* ws_peer_flush(p): Send what is queued; p may be freed. */
void ws_peer_flush(struct ws_peer *p);

/* ws_count_rejected(w, status): Report a rejection to the handler. */
void ws_count_rejected(struct ws *w, int status);

/* ws_flush_later(p): ws_peer_flush() at the end of the loop's iteration. */
void ws_flush_later(struct ws_peer *p);

#endif /* !WS_WS_INTERNAL_H */
