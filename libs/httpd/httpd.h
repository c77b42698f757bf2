/*
 * httpd: HTTP/1.1 server on the loop: routes, responses, server-sent events,
 * JSON lines.
 *
 * civetweb's workers read a request, post it to the loop and wait for the
 * handler's response, or call a handler that needs nothing of the loop
 * themselves.  The loop never touches a socket.  When the inbox or the workers
 * are full the response is 503 with Retry-After at once.
 *
 * Every error response is JSON: {"error": text, "code": name, "trace_id": id}.
 * Rejected before a handler is called: an unknown path (404; a trailing slash
 * counts), a known path with another method (405 with Allow; HEAD and OPTIONS
 * too), two or malformed Content-Lengths or one together with chunked, a
 * missing Host, folded or malformed header fields, a target that is not
 * percent-encoded UTF-8 or has %00 (400), a header over 15 KiB (431; 400 over
 * 16 KiB) or 63 fields (431), a body over the limit (413), a body that is
 * incomplete after 10 s or timeout_ms (408), a Content-Type other than
 * application/json and application/merge-patch+json (415).
 *
 * A client is an address.  Behind a trusted proxy it is the last of
 * X-Forwarded-For that is not itself a trusted proxy's; of IPv6 the first 64
 * bits.  A client over its rate gets 429 rate_limited with Retry-After, before
 * the body is read; with too many concurrent requests 429 too_many_connections,
 * and the connection is closed.  Of connections over that limit, those without
 * a request in progress, half-open and idle ones, are closed.  Where there is
 * such a limit and workers are scarce, any connection without a request in
 * progress is closed after 150 ms, and one with an incomplete body after
 * 300 ms.  Trusted proxies' connections are neither counted nor closed.
 *
 * CORS: without allowed origins no response mentions it.  With some, every
 * response to a readable header names the page's origin if it is allowed
 * (Access-Control-Allow-Origin, Vary), and a preflight OPTIONS of such a page
 * for a known path gets 204.  A page that is not allowed is served like any
 * other client, unless the handler checks httpd_req_is_cross_origin(); browsers
 * hide the response from it.  A page's body without a Content-Type gets 415,
 * since a browser sends it without a preflight.  "*" lets any page read what it
 * has a token for; cookies are never allowed.
 *
 * Responses have the request's traceparent; those with status 429 and 503 have
 * Retry-After, those with 401 WWW-Authenticate.  Connections are kept alive for
 * 1 s, but not when workers are few or the response took longer than that.
 *
 * Files (httpd_files.h) are responses to GET and HEAD of paths that no route
 * has, with a policy that lets their scripts reach this server alone; they are
 * not authenticated, and served while the loop is stuck or requests are
 * rejected for load.  If-None-Match gives 304.
 *
 * A tunnel (httpd_tunnel.h) is a WebSocket to another server at one path.
 *
 * IPv4 only and no TLS: both are the job of a proxy in front.
 */
#ifndef HTTPD_HTTPD_H
#define HTTPD_HTTPD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/* Largest request body in bytes. */
#define HTTPD_BODY_MAX (1024 * 1024)
/* Largest response in bytes; a longer one becomes 500. */
#define HTTPD_RESPONSE_MAX (16 * 1024 * 1024)
/* Unsent bytes of a stream, over which nothing more is queued. */
#define HTTPD_STREAM_MAX (256 * 1024)

/* Workers reserved for rejecting requests and for direct routes. */
#define HTTPD_SPARE_WORKERS 16

struct httpd;
struct httpd_file;
struct httpd_tunnel;
struct httpd_req;

/* Handler: owns r and ends it with one httpd_respond…(), now or later. */
typedef void (*httpd_handler_fn)(void *arg, struct httpd_req *r);

struct httpd_route {
	const char *method; /* "POST" */
	const char *path;   /* "/v1/souls/{id}": {…} is one path segment */
	httpd_handler_fn fn;
	void *arg;
	/*
	 * Run fn on civetweb's thread instead of the loop: for health checks
	 * that must respond while the loop is stuck.  It may touch atomics
	 * only.
	 */
	bool direct;
	/*
	 * Called on civetweb's thread before fn; NULL: none.  True: it owned r
	 * and has ended it.  False: it did nothing with r, which is for fn, on
	 * the loop.  Several run in parallel, on stacks of 100 KiB, and
	 * until one returns neither its deadline nor a disconnected client is
	 * noticed: it must not wait for anything.
	 */
	bool (*on_worker)(void *arg, struct httpd_req *r);
};

struct httpd_opts {
	struct loop *loop;
	const char *addr; /* "127.0.0.1:9013"; port 0: any free one */
	const struct httpd_route *routes; /* borrowed */
	size_t nroutes;
	const struct httpd_file *files; /* borrowed; NULL: none */
	size_t nfiles;
	const struct httpd_tunnel *tunnel; /* copied; NULL: none */
	unsigned workers;   /* concurrent connections, > HTTPD_SPARE_WORKERS */
	int64_t timeout_ms; /* after which a request gets 504 */
	int64_t comment_ms; /* of idle streams until a comment; 0: 15 s */
	/*
	 * Limits of one client over all routes: requests a second, and its
	 * burst (at least 1); concurrent requests and connections.  0: none.
	 */
	int64_t rate_per_s, rate_burst;
	size_t per_address;
	/* "10.0.0.0/8,192.0.2.1"; NULL or "": none. */
	const char *trusted_proxies;
	/* "https://a.example" and more, or "*"; NULL or "": none; borrowed. */
	const char *cors_origins;
	struct metric_set *metrics; /* may be NULL */
};

/*
 * httpd_opts_error(o):
 * What is wrong with the two lists, as a text that names the services'
 * variables for them; NULL: nothing.  Pure.
 */
const char *httpd_opts_error(const struct httpd_opts *o);

/*
 * httpd_addr_error(addr):
 * What is wrong with an address to listen on, a constant; NULL: nothing.  Pure.
 */
const char *httpd_addr_error(const char *addr);

/*
 * httpd_new(o, out):
 * Listen.  RC_INVALID for a bad address (IPv6, TLS and names among them) or bad
 * options, RC_DOWN if the address is in use; the reason is logged.  Loop
 * thread, or before loop_run().
 */
enum rc httpd_new(const struct httpd_opts *o, struct httpd **out) RC_CHECK;

/* httpd_port(h): The port it listens on. */
int httpd_port(const struct httpd *h);

/*
 * httpd_stop(h): Respond to new requests with 503, "Connection: close".
 * httpd_busy(h): Requests and streams that have not ended.  Any thread.
 * httpd_free(h): Close; pending requests get 503.  The loop must not run
 *                callbacks of h any more; handlers still end the requests they
 *                hold, before or after.  Blocks briefly, for up to 3 s if a
 *                client does not accept its response.  NULL is allowed.
 */
void httpd_stop(struct httpd *h);
size_t httpd_busy(const struct httpd *h);
void httpd_free(struct httpd *h);

/* The parts of a request, valid until it ends. */
struct str httpd_req_path(const struct httpd_req *r);
struct str httpd_req_body(const struct httpd_req *r);
/* The i-th {…} of the route's path, percent-decoded. */
struct str httpd_req_param(const struct httpd_req *r, size_t i);
/* A query parameter, percent-decoded; absent if there is none. */
struct str httpd_req_query(struct httpd_req *r, const char *name);
/* A header, by case-insensitive name; absent if there is none. */
struct str httpd_req_header(const struct httpd_req *r, const char *name);
/* How many headers have that name. */
size_t httpd_req_header_count(const struct httpd_req *r, const char *name);
/*
 * httpd_req_is_cross_origin(r):
 * Whether the request is a browser's for a page of another origin (by Origin,
 * or by Sec-Fetch-Site) that cors_origins does not allow.  Such a request must
 * not change anything: the page need not be able to read the response.
 */
bool httpd_req_is_cross_origin(const struct httpd_req *r);

/* The client's address: IPv6 only if a trusted proxy says so. */
struct str httpd_req_address(const struct httpd_req *r);
/* The caller's trace (traceparent) or a new one. */
const struct trace *httpd_req_trace(const struct httpd_req *r);
/* When it was passed to its handler. */
struct mono httpd_req_start(const struct httpd_req *r);
/* When the response becomes 504. */
struct wall httpd_req_deadline(const struct httpd_req *r);

/*
 * httpd_on_end(r, fn, arg):
 * Call fn(arg) when r's worker is done with it, on that thread: until then a
 * client that reads nothing holds the worker, even after the handler's
 * response.  At most once for a request; at once if the worker is done already.
 */
void httpd_on_end(struct httpd_req *r, void (*fn)(void *arg), void *arg);

/*
 * httpd_on_abort(r, fn, arg):
 * Call fn(arg) once, on the loop, when r's response has no receiver any more:
 * the client has disconnected, the stream was aborted, or 504 was sent.  Not
 * called once r has ended; r must still be ended after it.  A client that shuts
 * down its sending side counts as disconnected.  Detecting it takes up to a
 * second, and a second descriptor.  Not called by httpd_free().  RC_DOWN if
 * r has no receiver already: fn is not called.  Loop thread, once for each r.
 */
enum rc httpd_on_abort(
    struct httpd_req *r, void (*fn)(void *arg), void *arg) RC_CHECK;

/*
 * Header fields of a response, set before it is given:
 * httpd_retry_after(r, seconds): Retry-After of status 429 and 503; default 1.
 * httpd_challenge(r, error):     The error of WWW-Authenticate by RFC 6750
 *                                ("invalid_token", "insufficient_scope");
 *                                borrowed.  A 401 has the header in any case,
 *                                other responses only if this is set.
 */
void httpd_retry_after(struct httpd_req *r, int seconds);
void httpd_challenge(struct httpd_req *r, const char *error);

/*
 * httpd_respond(r, status, type, body):
 * Respond and end r; body is copied.  Loop thread, or that of the handler.
 * After 504 was sent it only ends r.
 */
void httpd_respond(
    struct httpd_req *r, int status, const char *type, struct str body);

/*
 * httpd_respond_error(r, rc, text):
 * Respond with {"error": text, "code": rc_name(rc), "trace_id"} and
 * rc_http_status(rc), and end r.
 */
void httpd_respond_error(struct httpd_req *r, enum rc rc, const char *text);

/*
 * Server-sent events: httpd_sse_start() responds 200 text/event-stream and
 * leaves r open; httpd_sse_send() queues one event (event and id may be NULL);
 * httpd_stream_end() closes the stream and ends r.  An idle stream gets a
 * comment every 15 s; httpd_sse_comment() queues another one, a single line.
 *
 * Sending is RC_TOOBIG if over HTTPD_STREAM_MAX bytes are unsent because the
 * client is too slow (the stream is then closed: it can resume by id) or the
 * event alone is over HTTPD_RESPONSE_MAX, RC_DOWN if the client has
 * disconnected, RC_INVALID if event, id or comment has a line end (nothing is
 * sent).  In any case the caller still ends r.
 *
 * httpd_stream_pending(): Unsent bytes.
 */
void httpd_sse_start(struct httpd_req *r);
enum rc httpd_sse_send(struct httpd_req *r, const char *event, const char *id,
    struct str data) RC_CHECK;
enum rc httpd_sse_comment(struct httpd_req *r, const char *text) RC_CHECK;
size_t httpd_stream_pending(struct httpd_req *r);
void httpd_stream_end(struct httpd_req *r);

/*
 * httpd_stream_abort(r):
 * Close the connection of a stream, of events or lines, now, as if its client
 * were too slow: sending is RC_TOOBIG, httpd_on_abort()'s function is called.
 * The handler still ends r.
 */
void httpd_stream_abort(struct httpd_req *r);

/*
 * JSON lines: httpd_lines_start() responds 200 application/x-ndjson and leaves
 * r open; httpd_lines_send() queues complete lines and fails as
 * httpd_sse_send(); nothing else is sent.  httpd_lines_truncate(), before
 * httpd_stream_end(), marks the lines as incomplete: the connection is closed
 * without the end of the response, which every client but one of HTTP/1.0
 * notices.
 */
void httpd_lines_start(struct httpd_req *r);
enum rc httpd_lines_send(struct httpd_req *r, struct str lines) RC_CHECK;
void httpd_lines_truncate(struct httpd_req *r);

/*
 * Raw responses, for simulated servers and their faults: httpd_raw_start()
 * leaves r open and sends nothing, not even a header; status is for the
 * metrics.  httpd_raw_send() queues bytes and fails as httpd_sse_send();
 * httpd_stream_end() ends r and, unless persistent, closes the connection.
 */
void httpd_raw_start(struct httpd_req *r, int status, bool persistent);
enum rc httpd_raw_send(struct httpd_req *r, struct str bytes) RC_CHECK;

#endif /* !HTTPD_HTTPD_H */
