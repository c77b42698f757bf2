/*
 * httpc: HTTP client on the loop, many calls at a time, none of them blocking.
 *
 * A call's on_done is called exactly once, on the loop, never from inside
 * httpc_start(), unless the call is cancelled.  All functions run on the loop
 * thread.  Connections are reused.
 *
 * Only http and https; certificates are verified; the environment's proxy
 * settings are ignored; a redirect is an ordinary response unless the call
 * follows it.  A complete response of any status is RC_OK.
 */
#ifndef HTTPC_HTTPC_H
#define HTTPC_HTTPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/* Limit of a response's body, in bytes, unless the call sets another. */
#define HTTPC_BODY_MAX (4 * 1024 * 1024)
/* Limit of a response's header, in bytes. */
#define HTTPC_HEAD_MAX (64 * 1024)
/* Time-out of connecting, unless the call sets another. */
#define HTTPC_CONNECT_MS 5000

struct httpc;
struct httpc_call;
struct sockaddr;

struct httpc_opts {
	struct loop *loop;
	const char *peer;    /* the metrics' label, e.g. "llm" */
	size_t active_max;   /* calls in progress at one time; 0: 256 */
	size_t queue_max;    /* calls in the queue; 0: 1024 */
	const char *proxy;   /* NULL or "": none */
	const char *ca_file; /* PEM; NULL or "": the system's */
	/*
	 * Called before each connection with the address that it is made to, so
	 * after names are resolved, also of redirects; false: the next address
	 * of the name is tried.  NULL: all are allowed.
	 */
	bool (*may_connect)(const struct sockaddr *addr);
	struct metric_set *metrics; /* may be NULL */
};

/* Valid until the callback that receives it returns. */
struct httpc_response {
	int status;             /* 0: no response */
	struct str body;        /* empty if the call has on_chunk */
	int64_t retry_after_ms; /* Retry-After(-Ms); -1: there is none */
	const char *why;        /* text of a failure; never NULL */
};

/*
 * A chunk of the body as it arrives; httpc_status() and httpc_header() are
 * known.  Any code but RC_OK ends the call with it.  It may cancel this call
 * and others and start new ones.
 */
typedef enum rc (*httpc_chunk_fn)(
    void *arg, struct httpc_call *call, struct str chunk);

/*
 * The end of a call: RC_OK for a complete response; RC_TIMEOUT (deadline, first
 * byte, idle); RC_DOWN (resolving, connecting, TLS, truncated); RC_TOOBIG;
 * RC_INVALID (not HTTP, too many redirects); RC_DENIED (may_connect() allowed
 * none of the addresses, nothing was sent); on_chunk's own code.  The call is
 * freed when on_done returns.
 */
typedef void (*httpc_done_fn)(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *response);

/* All texts are copied. */
struct httpc_request {
	const char *method; /* "POST" */
	const char *url;
	const char *const *headers; /* "Name: value" */
	size_t nheaders;
	struct str body; /* application/json unless headers say otherwise */
	const struct trace *trace; /* NULL: none; header traceparent */
	struct wall deadline;      /* of the whole call; must be set */
	int64_t connect_ms;        /* 0: HTTPC_CONNECT_MS */
	int64_t first_byte_ms;     /* until the response begins; 0: no limit */
	int64_t idle_ms;           /* between two reads of it; 0: no limit */
	size_t body_max;           /* 0: HTTPC_BODY_MAX */
	unsigned redirects;        /* to follow; 0: none */
	/*
	 * Sent at most one time: on a new connection.  On one that is reused, a
	 * request is sent anew, whatever its method, if the server closes that
	 * without a response, although it may have read it.
	 */
	bool once;
	httpc_chunk_fn on_chunk; /* NULL: collect the body */
	httpc_done_fn on_done;
	void *arg;
};

/* httpc_new(o): A client without connections. */
struct httpc *httpc_new(const struct httpc_opts *o);

/*
 * httpc_free(c):
 * Unfinished calls end with RC_DOWN (on_done is called here; calls it starts
 * are rejected).  NULL is allowed.
 */
void httpc_free(struct httpc *c);

/*
 * httpc_start(c, rq, out):
 * Start a call.  RC_INVALID for a URL that is not http(s), for a method or
 * header that would corrupt the request, and without a deadline; RC_RETRY if
 * the queue is full.  *out (out may be NULL) is valid until on_done.
 */
enum rc httpc_start(struct httpc *c, const struct httpc_request *rq,
    struct httpc_call **out) RC_CHECK;

/* httpc_cancel(call): End the call; on_done is not called.  Not in on_done. */
void httpc_cancel(struct httpc_call *call);

/*
 * httpc_status(call), httpc_header(call, name):
 * Of the response, in on_chunk and on_done: its status, a header field (absent
 * if there is none; valid until the callback returns).
 */
int httpc_status(const struct httpc_call *call);
struct str httpc_header(const struct httpc_call *call, const char *name);

/*
 * httpc_location(call): In on_done, the absolute URL to which the response
 * redirects; absent if it does not, or the call follows redirects.
 *
 * httpc_was_sent(call): In on_done, whether the server may have received the
 * request, or a part of it.
 */
struct str httpc_location(const struct httpc_call *call);
bool httpc_was_sent(const struct httpc_call *call);

/* httpc_active(c), httpc_queued(c): Calls in progress; calls in the queue. */
size_t httpc_active(const struct httpc *c);
size_t httpc_queued(const struct httpc *c);

#endif /* !HTTPC_HTTPC_H */
