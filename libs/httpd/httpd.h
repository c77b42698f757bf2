/*
 * httpd: HTTP/1.1 for the loop: routes, answers, server-sent events, JSON
 * lines.
 *
 * civetweb's workers read a request, post it to the loop and wait; the loop
 * answers.  A worker never parses a body (its stack is 100 KiB), the loop never
 * touches a socket.  When the inbox or the workers are full the answer is 503
 * with Retry-After at once.
 *
 * Every error answer is JSON: {"error": text, "code": name, "trace_id": id}.
 * Refused before a handler sees them: an unknown path (404; a slash at its end
 * counts), a known path with another method (405 with Allow; HEAD and OPTIONS
 * too), two or malformed Content-Lengths or one beside chunked, a missing Host,
 * folded or torn header fields, an address that is not percent-encoded UTF-8 or
 * has %00 (400), a header over 15 KiB (431; 400 over 16 KiB) or 63 fields
 * (431), a body over the ceiling (413), a body that is not there after 10 s or
 * timeout_ms (408), a Content-Type other than application/json and
 * application/merge-patch+json (415).
 *
 * A client is an address.  Behind a proxy that is trusted it is the last of
 * X-Forwarded-For that is not itself a trusted proxy's; of IPv6 the first 64
 * bits are counted.  Over its rate a client is answered 429 rate_limited with
 * the seconds until he may ask again, before the body is read; with too many
 * requests at a time 429 too_many_connections, and the connection is closed.
 * Of more connections than that, those without a request in hand, half-open
 * and idle ones, are cut.  Where there is such a limit and workers are scarce,
 * connections of anybody that have no request in hand are cut after 150 ms, and
 * those whose body has not come after 300 ms.  Trusted proxies' connections are
 * neither counted nor cut.
 *
 * Pages of other origins: where none are allowed nothing is said of them.
 * Where some are, every answer whose head could be read names the page's origin
 * if it is allowed (Access-Control-Allow-Origin, Vary), and a preflight OPTIONS
 * of such a page to a known path is answered 204 with what may be sent.  A page
 * that is not allowed is served like any other client, unless the handler asks
 * (httpd_req_is_cross_origin()): browsers keep the answer from it.  A body
 * without a Content-Type that a page sends is answered 415, since a browser
 * would ask nobody before.  "*" lets any page read what it has a token for;
 * cookies are never allowed.
 *
 * Answers carry the request's traceparent; those with status 429 and 503 have
 * Retry-After, those with 401 WWW-Authenticate.  Connections are kept for 1 s,
 * and not when workers are few or the answer took longer than that. IPv4 only
 * and no TLS: that ends at a proxy in front.
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
/* Largest answer in bytes; a longer one is answered 500. */
#define HTTPD_RESPONSE_MAX (16 * 1024 * 1024)
/* Events of a stream that may wait before one more is refused, in bytes. */
#define HTTPD_STREAM_MAX (256 * 1024)

/* Workers that are kept free to refuse with, and to serve direct routes. */
#define HTTPD_SPARE_WORKERS 16

struct httpd;
struct httpd_req;

/* Handler: owns r and ends it with one httpd_respond…() now or later. */
typedef void (*httpd_handler_fn)(void *arg, struct httpd_req *r);

struct httpd_route {
	const char *method; /* "POST" */
	const char *path;   /* "/v1/souls/{id}": {…} is one path segment */
	httpd_handler_fn fn;
	void *arg;
	/*
	 * Run fn on civetweb's thread instead of the loop: for health checks
	 * that must answer while the loop is stuck.  It may touch atomics only.
	 */
	bool direct;
};

struct httpd_opts {
	struct loop *loop;
	const char *addr; /* "127.0.0.1:9013"; port 0: any free one */
	const struct httpd_route *routes; /* kept */
	size_t nroutes;
	unsigned
	    workers; /* connections served at one time, > HTTPD_SPARE_WORKERS */
	int64_t timeout_ms; /* after which a request is answered 504 */
	int64_t comment_ms; /* silence of a stream before a comment; 0: 15 s */
	/*
	 * Limits of one client, whatever he asks: requests a second, and how
	 * many at once after a pause (at least 1); requests and connections at
	 * a time.  0: none.
	 */
	int64_t rate_per_s, rate_burst;
	size_t per_address;
	/* "10.0.0.0/8,192.0.2.1": whom to believe; NULL or "": nobody. */
	const char *trusted_proxies;
	/* "https://a.example" and more, or "*"; NULL or "": none; kept. */
	const char *cors_origins;
	struct metric_set *metrics; /* may be NULL */
};

/*
 * httpd_opts_error(o):
 * What is wrong with its two lists, in words that name the variables of which
 * services take them; NULL: nothing.  Pure.
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
 * options, lists among them, RC_DOWN if it is taken; the log says why.  Loop
 * thread, or before loop_run().
 */
enum rc httpd_new(const struct httpd_opts *o, struct httpd **out) RC_CHECK;

/* httpd_port(h): The port it listens on. */
int httpd_port(const struct httpd *h);

/*
 * httpd_stop(h): Answer new requests 503 from now on, "Connection: close".
 * httpd_busy(h): Requests and streams that have not ended.  Any thread.
 * httpd_free(h): Close; what has not been answered is answered 503.  The loop
 *                must not be running callbacks of h any more; what handlers
 *                still hold they end as ever, before or after.  Blocks for a
 *                moment, for up to 3 s if a client does not take its answer.
 *                NULL is allowed.
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
/* How many headers of that name there are. */
size_t httpd_req_header_count(const struct httpd_req *r, const char *name);
/*
 * httpd_req_is_cross_origin(r):
 * Whether a browser asks for a web page of another origin (by Origin, or by
 * Sec-Fetch-Site) that cors_origins does not allow.  What changes something
 * must not be done for it: the page need not see the answer.
 */
bool httpd_req_is_cross_origin(const struct httpd_req *r);

/* The client's address: IPv6 only if a trusted proxy says so. */
struct str httpd_req_address(const struct httpd_req *r);
/* The caller's trace (traceparent) or a new one. */
const struct trace *httpd_req_trace(const struct httpd_req *r);
/* When the answer will be 504 whatever the handler does. */
struct wall httpd_req_deadline(const struct httpd_req *r);

/*
 * httpd_on_end(r, fn, arg):
 * Have fn(arg) called once r's worker has ended with it, on that thread: until
 * then a reader that takes nothing holds the worker, whatever the handler has
 * done.  At most once for a request; at once if the worker has ended.
 */
void httpd_on_end(struct httpd_req *r, void (*fn)(void *arg), void *arg);

/*
 * httpd_on_abort(r, fn, arg):
 * Call fn(arg) once, on the loop, when nobody waits for r any more: its client
 * has hung up, its stream was cut, or it was answered 504.  Not called once r
 * has ended; r is still to be ended then.  A client that ends its sending side
 * only counts as one that has hung up.  It takes up to a second, and a second
 * descriptor; only requests that ask for it pay for it.  Not called by
 * httpd_free().  RC_DOWN if that is so already: fn is not called.
 * Loop thread, once for each r.
 */
enum rc httpd_on_abort(
    struct httpd_req *r, void (*fn)(void *arg), void *arg) RC_CHECK;

/*
 * What an answer says beside its body, said before it is given:
 * httpd_retry_after(r, seconds): When to come again; 1 s unless this is said.
 *                                Only with status 429 and 503.
 * httpd_challenge(r, error):     Why the token is refused, by RFC 6750
 *                                ("invalid_token", "insufficient_scope"); kept.
 *                                An answer 401 asks for a bearer token in any
 *                                case; any other does only if this is said.
 */
void httpd_retry_after(struct httpd_req *r, int seconds);
void httpd_challenge(struct httpd_req *r, const char *error);

/*
 * httpd_respond(r, status, type, body):
 * Answer and end r; body is copied.  Loop thread (any, for direct routes).
 * Too late (504 was sent) it only ends r.
 */
void httpd_respond(
    struct httpd_req *r, int status, const char *type, struct str body);

/*
 * httpd_respond_error(r, rc, text):
 * Answer {"error": text, "code": rc_name(rc), "trace_id"} with
 * rc_http_status(rc) and end r.
 */
void httpd_respond_error(struct httpd_req *r, enum rc rc, const char *text);

/*
 * Server-sent events: httpd_sse_start() answers 200 text/event-stream and
 * leaves r open; httpd_sse_send() queues one event (event and id may be NULL);
 * httpd_stream_end() closes and ends r.  A comment is sent every 15 s;
 * httpd_sse_comment() queues one of the caller's, a single line.
 *
 * Sending is RC_TOOBIG if the reader is so slow that over HTTPD_STREAM_MAX
 * bytes wait already (the stream is then closed: it can resume by id) or the
 * event alone is over HTTPD_RESPONSE_MAX, RC_DOWN if the reader has gone,
 * RC_INVALID if event, id or comment has a line's end (nothing is sent).  In
 * any case the caller still ends r.
 *
 * httpd_stream_pending(): Bytes that wait for the reader.
 */
void httpd_sse_start(struct httpd_req *r);
enum rc httpd_sse_send(struct httpd_req *r, const char *event, const char *id,
    struct str data) RC_CHECK;
enum rc httpd_sse_comment(struct httpd_req *r, const char *text) RC_CHECK;
size_t httpd_stream_pending(struct httpd_req *r);
void httpd_stream_end(struct httpd_req *r);

/*
 * httpd_stream_abort(r):
 * Close the connection of a stream, of events or lines, now, as if its reader
 * were too slow: sending is RC_TOOBIG, httpd_on_abort() tells.  The handler
 * still ends r.
 */
void httpd_stream_abort(struct httpd_req *r);

/*
 * JSON lines: httpd_lines_start() answers 200 application/x-ndjson and leaves r
 * open; httpd_lines_send() queues whole lines, each with its end, and fails as
 * httpd_sse_send(); nothing else is sent.  Before httpd_stream_end() the
 * handler may say by httpd_lines_truncate() that it could not send all: the
 * connection then ends before the answer does, which every client notices but
 * one of HTTP/1.0.
 */
void httpd_lines_start(struct httpd_req *r);
enum rc httpd_lines_send(struct httpd_req *r, struct str lines) RC_CHECK;
void httpd_lines_truncate(struct httpd_req *r);

/*
 * An answer made by its handler to the last byte, for simulated servers and
 * their faults: httpd_raw_start() leaves r open and sends nothing, not even a
 * head; status is what is counted.  httpd_raw_send() queues bytes and fails as
 * httpd_sse_send(); httpd_stream_end() closes the connection, unless keep,
 * and ends r.
 */
void httpd_raw_start(struct httpd_req *r, int status, bool keep);
enum rc httpd_raw_send(struct httpd_req *r, struct str bytes) RC_CHECK;

#endif /* !HTTPD_HTTPD_H */
