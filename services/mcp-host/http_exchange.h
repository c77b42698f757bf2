/*
 * http_exchange: one HTTP request of the MCP transports, and what comes back:
 * one message, or a stream of server-sent events.
 *
 * On the loop.  Handlers are never called from inside http_exchange_start(),
 * and may call all functions of this header.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

struct http_exchange;
struct httpc;

/* Bytes of all events of one response. */
#define HTTP_EXCHANGE_MAX (64UL * 1024 * 1024)
/* Of a response that is no success, what is read of its body, in bytes. */
#define HTTP_EXCHANGE_ERROR_MAX (64UL * 1024)

/* Valid until the handler returns. */
struct http_exchange_end {
	enum rc rc;      /* as of httpc_done_fn */
	int status;      /* 0: no response */
	bool was_sent;   /* the server may have received the request */
	bool is_stream;  /* it was a success, with events, which are over */
	struct str body; /* of a response without events */
	struct str session_id; /* Mcp-Session-Id; absent: none */
	struct str location;   /* to where it redirects, absolute; or absent */
	struct str last_id;    /* of the newest event; empty: none */
	int64_t retry_ms;      /* as the events wish; -1: none */
	struct str why;        /* text of a failure */
};

struct http_exchange_handler {
	/* An event with data; type is "message" unless the server names one. */
	void (*on_event)(void *arg, struct http_exchange *x, struct str type,
	    struct str data);
	/* The end; x is freed on return. */
	void (*on_end)(void *arg, struct http_exchange *x,
	    const struct http_exchange_end *e);
	void *arg;
};

struct http_exchange_opts {
	struct httpc *client;
	const char *method, *url;
	const char *const *headers; /* "Name: value" */
	size_t n_headers;
	struct str body;
	bool once;            /* as of httpc_request */
	struct wall deadline; /* must be set */
	int64_t idle_ms;      /* 0: none */
	struct http_exchange_handler handler;
};

/*
 * http_exchange_start(o, out): As httpc_start(); all is copied.
 * http_exchange_cancel(x): End it without on_end(); x is freed, on_event() may
 * be what calls this.
 * http_exchange_finish(x): Its response is complete although its stream is
 * not: on_end() comes after the events that were received already.
 */
enum rc http_exchange_start(
    const struct http_exchange_opts *o, struct http_exchange **out) RC_CHECK;
void http_exchange_cancel(struct http_exchange *x);
void http_exchange_finish(struct http_exchange *x);

#endif /* !HTTP_EXCHANGE_H */
