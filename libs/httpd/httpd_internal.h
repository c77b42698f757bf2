/*
 * What the files of libs/httpd share: a request's header and route;
 * the request between worker and handler; the server; a connection's requests
 * and responses; limits.
 *
 * A worker is one of civetweb's threads; it serves one connection at a time.
 */
#ifndef HTTPD_INTERNAL_H
#define HTTPD_INTERNAL_H

#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <time.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/spare.h"
#include "core/str.h"
#include "core/trace.h"
#include "http/client_address.h"
#include "http/header.h"
#include "http/target.h"
#include "httpd/cors.h"
#include "httpd/httpd.h"
#include "httpd/httpd_tunnel.h"

struct mg_connection;
struct mg_context;

/* ---- header of a request: request_read.c; pure ---- */

struct request_head {
	int64_t length;  /* Content-Length, 0 without one */
	bool chunked;    /* of unknown length */
	bool has_body;   /* chunked or length > 0 */
	bool expect;     /* the client waits for "100 Continue" */
	bool persistent; /* requested by the client */
	bool json; /* Content-Type is JSON, or missing without an Origin */
	const char *why; /* reason of RC_INVALID and RC_DENIED */
};

/*
 * request_head_parse(h, fields, n, http11):
 * Framing must be unambiguous, so that no proxy reads it differently (request
 * smuggling).  RC_INVALID for: no or several Hosts in HTTP/1.1; several
 * Content-Lengths or one that is not all digits; a Transfer-Encoding other than
 * one "chunked" in HTTP/1.1; both.  RC_DENIED for an Expect other than
 * 100-continue.
 */
enum rc request_head_parse(struct request_head *h,
    const struct header_field *fields, size_t n, bool http11) RC_CHECK;

/* ---- routes: route.c; pure ---- */

/* {…} in a route's path, and room for the methods of one path. */
#define ROUTE_PARAMS_MAX 4
#define ROUTE_ALLOW_MAX  64

struct route_match {
	size_t index; /* of the route in the table */
	struct str params[ROUTE_PARAMS_MAX];
	size_t nparams;
	char allow[ROUTE_ALLOW_MAX]; /* of RC_DENIED: "GET, POST" */
};

/*
 * route_check(r):
 * RC_INVALID unless r has a method, a handler and a path of "/", literal
 * segments and at most ROUTE_PARAMS_MAX whole-segment {…}.
 */
enum rc route_check(const struct httpd_route *r) RC_CHECK;

/*
 * route_find(routes, n, method, u, m):
 * The route for method and the path in u.  Among several that match, the one
 * whose leftmost differing segment is literal wins; {…} matches no empty
 * segment.  RC_NOENT: no route has that path.  RC_DENIED: only with other
 * methods.
 */
enum rc route_find(const struct httpd_route *routes, size_t n,
    struct str method, const struct uri *u, struct route_match *m) RC_CHECK;

/* ---- files: static_file.c; pure ---- */

/* file_find(files, n, path): The file of that path, as requested; NULL: none.
 */
const struct httpd_file *file_find(
    const struct httpd_file *files, size_t n, struct str path);

/*
 * file_accepts_gzip(accept): Whether Accept-Encoding takes gzip; absent: no.
 * file_is_cached(f, tags):   Whether If-None-Match has f's ETag; absent: no.
 * file_put_fields(f, gzip, b): Write its header fields.
 */
bool file_accepts_gzip(struct str accept);
bool file_is_cached(const struct httpd_file *f, struct str if_none_match);
void file_put_fields(const struct httpd_file *f, bool gzip, struct buf *b);

/* ---- the request: request.c ---- */

/* Room for a response's Content-Type, NUL included. */
#define REQUEST_TYPE_MAX 64

enum request_state {
	REQUEST_OPEN,      /* no response yet */
	REQUEST_RESPONDED, /* status, type and out are the response */
	REQUEST_STREAM,    /* out has what the client has not been sent */
	REQUEST_ENDED      /* was a stream; out has its last bytes */
};

/* The field Date of responses, and for which second. */
struct response_date {
	time_t at;
	size_t n;
	char text[64];
};

/*
 * A request is shared by the worker of its connection and the handler; each
 * has one reference, and the last one frees it.  Members above the lock are
 * written before the handler is called and then constant; those below are the
 * handler's response.
 */
struct httpd_req {
	const struct httpd_route *route; /* NULL until one is found */
	struct str method;
	struct str path;
	struct route_match match;
	size_t nfields;
	struct request_head head;
	bool http11;
	struct trace trace;
	struct client_addr client; /* without text where it is not needed */
	struct str allow_origin;   /* see cors_allow() */
	struct wall deadline;
	struct mono due;   /* the same by the other clock */
	struct mono start; /* of the handler */

	/* Of the worker. */
	TAILQ_ENTRY(httpd_req) link; /* guarded by the server's lock */
	_Atomic int64_t body_due;    /* as of struct mono; 0: not reading */
	_Atomic int64_t body_since;  /* 0: not reading */
	bool admitted;               /* by admission_enter() */
	int remote_port;
	char remote_addr[CLIENT_ADDR_TEXT_MAX];

	/* Of the loop: see httpd_on_abort(). */
	void (*on_abort)(void *arg);
	void *on_abort_arg;

	/* Of the handler, before it responds. */
	int retry_s;           /* httpd_retry_after(); 0: not set */
	const char *challenge; /* httpd_challenge(), or NULL */

	_Atomic int refs;
	_Atomic int seen; /* state, to be read without the lock */

	/* Guarded by the lock, as out is. */
	enum request_state state;
	bool abandoned;  /* by the worker; a response only ends the request */
	bool closing;    /* the server stops: the worker must return */
	bool overflow;   /* of a stream: closed, its client was too slow */
	bool raw;        /* of a stream: its bytes are the whole response */
	bool lines;      /* of a stream: it has lines, not events */
	bool truncated;  /* of lines: they are incomplete */
	bool persistent; /* of a raw one: the connection stays open */
	bool ended;      /* the worker is done with it */
	void (*on_end)(void *arg); /* see httpd_on_end() */
	void *on_end_arg;
	bool abort_watched; /* on_abort is to be called */
	int status;
	int retry_after_s; /* 0: no Retry-After */
	char type[REQUEST_TYPE_MAX];

	/* From here on what the next request needs as well is left to it. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct buf out;
	struct buf body;
	struct buf sent; /* of the worker: header, and a small body */
	char *text;      /* storage of the views above */
	size_t cap_text;
	struct header_field *fields;
	size_t cap_fields;
	struct uri uri;
	struct id_stock ids;
	struct response_date date;
};

/* A body up to this size is sent in one write with its header. */
#define RESPONSE_BODY_JOINED_MAX 65536
#define RESPONSE_HEAD_MAX        2048
#define RESPONSE_JOINED_MAX \
	((size_t)RESPONSE_HEAD_MAX + RESPONSE_BODY_JOINED_MAX)

/*
 * request_new(h): An empty request with one reference, the worker's.
 * request_end(h, r): Worker: drop it; the memory is reused if it was the last.
 */
struct httpd_req *request_new(struct httpd *h);
void request_end(struct httpd *h, struct httpd_req *r);

/* request_free_spare(h): What request_end() has left; no worker runs. */
void request_free_spare(struct httpd *h);

/* request_ref(r): Add the handler's reference, before r is passed to it. */
void request_ref(struct httpd_req *r);

/* request_unref(r): Drop one reference; the last one frees. */
void request_unref(struct httpd_req *r);

/*
 * request_abandon(r): Worker: stop waiting for a response, in any state.
 * request_is_abandoned(r): Any thread.
 * request_close(r): Make the worker that waits in r return.  Any thread.
 * request_ended(r): Worker: call httpd_on_end()'s function; the last call but
 * request_unref().
 */
void request_abandon(struct httpd_req *r);
bool request_is_abandoned(struct httpd_req *r);
void request_close(struct httpd_req *r);
void request_ended(struct httpd_req *r);

/*
 * request_notify_abort(r, l): Worker: call httpd_on_abort()'s function, if any,
 * on the loop.
 * request_clear_abort(r): Loop: the handler ends r; it is not called any more.
 */
void request_notify_abort(struct httpd_req *r, struct loop *l);
void request_clear_abort(struct httpd_req *r);

/*
 * request_wait(r, state):
 * Worker: wait for the response until r->due.  RC_OK: there is one, which does
 * not change any more, or a stream has begun; *state says which.  RC_RETRY: it
 * is time to poll the client's connection.  RC_TIMEOUT and RC_DOWN (the server
 * stops): r is abandoned, and a later response is discarded.
 */
enum rc request_wait(struct httpd_req *r, enum request_state *state) RC_CHECK;

/*
 * request_stream_next(r, until, chunk):
 * Worker: wait for bytes of the stream and swap them into chunk, which is
 * emptied first.  RC_OK; RC_TIMEOUT if there were none until then; RC_RETRY as
 * of request_wait(); RC_NOENT at the end of the stream; RC_DOWN if the server
 * stops or the client was too slow.
 */
enum rc request_stream_next(
    struct httpd_req *r, struct mono until, struct buf *chunk) RC_CHECK;

/* ---- the server: server.c ---- */

/* A body must be complete after this time, or after timeout_ms if shorter. */
#define SERVER_BODY_MS 10000
/* A body of no use is read for so long, and until the reaper's next run. */
#define SERVER_DISCARD_MS 500
/* A response must be accepted by the client within this time. */
#define SERVER_SEND_MS 30000
/* Idle connections are closed after this time; a header must arrive in it. */
#define SERVER_IDLE_MS   1000
#define SERVER_HEADER_MS 2000
/* An event stream has at least a comment this often. */
#define SERVER_COMMENT_MS 15000

struct admission;
struct connection_limiter;

/* Why a request was rejected, or a connection closed, without its handler. */
enum server_rejection {
	SERVER_BUSY,     /* too few free workers */
	SERVER_INBOX,    /* the loop's inbox is full */
	SERVER_STOPPING, /* httpd_stop() */
	SERVER_RATE,     /* the client's rate */
	SERVER_TOO_MANY, /* the client's concurrent requests, connections */
	SERVER_SLOW,     /* an idle connection while workers are scarce */
	SERVER_REJECTIONS
};

/* Metrics of one route; the last row is for requests without a route. */
struct server_row {
	struct metric *by_class[6]; /* by status / 100; [0] unused */
	struct metric *seconds;
};

struct httpd {
	struct loop *loop;
	const struct httpd_route *routes;
	size_t nroutes;
	const struct httpd_file *files;
	size_t nfiles;
	struct httpd_tunnel tunnel;
	unsigned workers;
	int64_t timeout_ms;
	int64_t comment_ms;
	struct proxy_nets trusted;
	struct cors cors;
	struct admission *admission; /* NULL: no limits */
	size_t per_address;
	struct connection_limiter *limiter; /* NULL: per_address is 0 */
	struct mg_context *ctx;
	uint32_t addr; /* IPv4, network order */
	_Atomic int port;

	_Atomic bool stopping;
	_Atomic size_t connections; /* that hold a worker */
	_Atomic size_t busy;        /* requests that have not ended */
	_Atomic size_t receiving;   /* of these, whose body is being read */
	_Atomic size_t tunnels;     /* of these, open ones */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t none;  /* active has become empty */
	TAILQ_HEAD(, httpd_req) active;
	bool closing;

	struct spare spare; /* ended requests */

	struct loop_timer reaper; /* of the loop */

	struct server_row *rows; /* nroutes + 1 */
	struct metric *rejected[SERVER_REJECTIONS];
	struct metric *busy_gauge;
	struct metric *connections_gauge;
};

/* server_enter(h, r), server_leave(h, r): Worker: r begins, r has ended. */
void server_enter(struct httpd *h, struct httpd_req *r);
void server_leave(struct httpd *h, struct httpd_req *r);

/*
 * server_count(h, route, status, ns):
 * Count a request that has ended and took ns nanoseconds; route is NULL if none
 * was found.
 */
void server_count(
    struct httpd *h, const struct httpd_route *route, int status, int64_t ns);

/* ---- reading a request: request_read.c ---- */

/* request_read_peer(r, c): Copy the peer's address; before r is shared. */
void request_read_peer(struct httpd_req *r, struct mg_connection *c);

/*
 * request_read_head(r, c, why):
 * Copy method, path, query, header fields; start r's trace.  RC_INVALID with
 * *why if the header is ambiguous or breaks a rule, RC_DENIED for an unknown
 * Expect, RC_TOOBIG for too many fields or bytes.
 */
enum rc request_read_head(
    struct httpd_req *r, struct mg_connection *c, const char **why) RC_CHECK;

/*
 * request_read_body(h, r, c, now):
 * RC_TOOBIG over HTTPD_BODY_MAX, RC_TIMEOUT if it does not arrive in time,
 * RC_INVALID if it ends early or its chunks are broken.
 */
enum rc request_read_body(struct httpd *h, struct httpd_req *r,
    struct mg_connection *c, struct mono now) RC_CHECK;

/*
 * request_discard_body(h, r, c):
 * After the response: read and discard the rest of a body, for
 * SERVER_DISCARD_MS.  Closing while the client sends would reset the
 * connection, and the reset can overtake the response.
 */
void request_discard_body(
    struct httpd *h, struct httpd_req *r, struct mg_connection *c);

/* ---- serving a connection: http_connection.c ---- */

/*
 * http_connection_serve(h, c, end): Serve the request that c has read, from its
 * header to the last byte of the response, at *end; return the status.
 */
int http_connection_serve(
    struct httpd *h, struct mg_connection *c, struct mono *end);

/*
 * http_connection_fail(h, c, status, text):
 * Respond to a request that civetweb could not read, and close.
 */
void http_connection_fail(
    struct httpd *h, struct mg_connection *c, int status, const char *text);

/* ---- responses: response.c ---- */

struct response {
	int status;
	const char *type;        /* Content-Type; "" for none */
	const char *allow;       /* NULL, or the value of Allow */
	const char *methods;     /* of a preflight; NULL: it is none */
	const char *challenge;   /* httpd_challenge(), or NULL */
	int retry_after_s;       /* 0: none */
	const struct cors *cors; /* the server's */
	struct str allow_origin; /* see cors_allow() */
	struct str body;
	const struct httpd_file *file; /* NULL: not one of a file */
	bool gzip;                     /* of a file: body is compressed */
	const struct trace *trace;
	struct response_date *date; /* the last one, or n is 0 */
	struct wall now;            /* of Date */
	struct buf *sent;           /* empty; may keep its memory */
	bool close;
	bool head_only; /* the request was a HEAD */
};

/*
 * response_send(c, a): Write a response and, if a->close, close the connection
 * after it.  False if the client did not accept it.
 */
bool response_send(struct mg_connection *c, const struct response *a);

/*
 * response_send_stream(h, r, c):
 * Write r's stream until it ends, the client disconnects or the server stops;
 * then abandon r.
 */
void response_send_stream(
    struct httpd *h, struct httpd_req *r, struct mg_connection *c);

/*
 * response_error_json(out, code, text, trace):
 * {"error": text, "code": code, "trace_id": trace}; bytes of text that are not
 * UTF-8 become U+FFFD.
 */
void response_error_json(struct buf *out, const char *code, const char *text,
    const struct trace *trace);

/* ---- tunnels: tunnel.c ---- */

/*
 * tunnel_is_at(h, path): Whether h has a tunnel, at that path.
 * tunnel_open(h, r, out, why):
 * Worker: connect both ends; 101, or the status of an error with *why.
 * tunnel_run(t): Worker: pass on bytes until the end, and free t.
 */
struct tunnel;
bool tunnel_is_at(const struct httpd *h, struct str path);
int tunnel_open(struct httpd *h, const struct httpd_req *r, struct tunnel **out,
    const char **why);
void tunnel_run(struct tunnel *t);

/* ---- admission: admission.c; any thread ---- */

/* Clients whose rate is known; of more, the longest idle one starts anew. */
#define ADMISSION_CLIENTS_MAX 65536

/*
 * admission_new(rate_per_s, rate_burst, concurrent_max):
 * Limits of one client; rate_per_s, concurrent_max: 0 for no limit.
 */
struct admission *admission_new(
    int64_t rate_per_s, int64_t rate_burst, size_t concurrent_max);

/* admission_free(g): NULL is allowed. */
void admission_free(struct admission *g);

/*
 * admission_check_rate(g, p, now):
 * 0: the request is within p's rate.  Otherwise after how many milliseconds one
 * will be.
 */
int64_t admission_check_rate(
    struct admission *g, const struct client_addr *p, struct mono now);

/*
 * admission_enter(g, p), admission_leave(g, p):
 * Begin a request of p, unless it has concurrent_max already; end it.
 */
bool admission_enter(struct admission *g, const struct client_addr *p);
void admission_leave(struct admission *g, const struct client_addr *p);

/* ---- connections of this process: connection_table.c ---- */

/*
 * civetweb does not expose its descriptors, so they are found by their
 * addresses among all open ones.
 *
 * connection_fds_open(): For connection_fds_next(); NULL (logged) without
 * /proc.
 * connection_fds_next(dir): The next descriptor, or -1 at the end.
 * connection_fd_peer(fd, port, peer): Whether fd is now an IPv4 connection to
 * our port; *peer is the other end.
 */
DIR *connection_fds_open(void);
int connection_fds_next(DIR *dir);
bool connection_fd_peer(int fd, int port, struct sockaddr_in *peer);

struct connection_entry {
	uint32_t addr; /* of the peer, host order */
	uint16_t port;
	bool served;       /* a request is in progress */
	bool unread;       /* received bytes that no worker has read */
	bool closed;       /* by connection_table_shutdown() */
	struct mono since; /* first seen */
	struct mono body;  /* start of its body; 0: none is being read */
	int fd;
};

/* The connections at one moment; of one thread.  Zero before its first use. */
struct connection_table {
	struct connection_entry
	    *all; /* sorted: those of one address together */
	size_t n;
	/* Private. */
	size_t cap, before_cap, polls_cap;
	struct connection_entry *before;
	size_t nbefore;
	struct pollfd *polls;
};

/*
 * connection_table_scan(t, h, now):
 * List all connections of h that neither end has closed, except those of
 * trusted proxies.
 */
void connection_table_scan(
    struct connection_table *t, struct httpd *h, struct mono now);

/* connection_table_clear(t): Forget when connections were first seen. */
void connection_table_clear(struct connection_table *t);

/*
 * connection_table_shutdown(h, o):
 * Shut down a connection: its reading side if a body is being read, so that the
 * worker can still respond; otherwise both.  False if it has ended by itself.
 */
bool connection_table_shutdown(
    const struct httpd *h, struct connection_entry *o);

/* connection_table_free(t): It is zeroed then. */
void connection_table_free(struct connection_table *t);

/* ---- connection limiter: connection_limiter.c ---- */

/* Idle time and body time allowed while workers are scarce. */
#define LIMITER_IDLE_MS 150
#define LIMITER_BODY_MS 300

/*
 * connection_limiter_new(h):
 * civetweb assigns a worker to a connection before it has read anything, and an
 * idle one holds it for SERVER_HEADER_MS.  A thread of the limiter scans all
 * connections, also those that wait for a worker,
 *
 * - while there are more than one address may have: it closes those over the
 *   limit without a request in progress (an address with that many requests
 *   gets 429: see admission);
 * - while all workers but HTTPD_SPARE_WORKERS are in use: it closes those
 *   without a request in progress and without unread bytes after
 *   LIMITER_IDLE_MS, and those whose body is incomplete after LIMITER_BODY_MS.
 *
 * h->per_address must be > 0.  The caller blocks signals meanwhile.
 */
struct connection_limiter *connection_limiter_new(struct httpd *h);

/* connection_limiter_free(c): Stop the thread.  NULL is allowed. */
void connection_limiter_free(struct connection_limiter *c);

/* connection_limiter_notify(c, n): n connections hold a worker.  Any thread. */
void connection_limiter_notify(struct connection_limiter *c, size_t n);

/* ---- reaper: reaper.c ---- */

/*
 * civetweb's time-out is for each read, so that a client which sends single
 * bytes would hold its worker for ever.  Twice a second the loop shuts down the
 * reading side of connections whose body is overdue.
 *
 * reaper_start(h), reaper_stop(h): Loop thread.
 */
void reaper_start(struct httpd *h);
void reaper_stop(struct httpd *h);

/*
 * reaper_shutdown_all(h):
 * Shut down the reading side of all connections, so that idle ones release
 * their workers at once.
 */
void reaper_shutdown_all(struct httpd *h);

/*
 * reaper_body_begin(h, r, now, ms), reaper_body_end(h, r):
 * Worker: r's body is being read, from now on for ms at most; it no longer is.
 */
void reaper_body_begin(
    struct httpd *h, struct httpd_req *r, struct mono now, int64_t ms);
void reaper_body_end(struct httpd *h, struct httpd_req *r);

/*
 * reaper_client_disconnected(h, r, fd):
 * Worker: whether r's client has disconnected.  *fd is -1 before the first
 * call, and to be closed by the caller after the last.
 */
bool reaper_client_disconnected(
    const struct httpd *h, const struct httpd_req *r, int *fd);

#endif /* !HTTPD_INTERNAL_H */
