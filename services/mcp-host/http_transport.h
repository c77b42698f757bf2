/*
 * http_transport: an MCP server at a URL: streamable HTTP with and without a
 * session, and HTTP with SSE of 2024-11-05.
 *
 * A message is a POST; what comes back is one message, or a stream of events
 * that ends after the response.  With a session, a GET may be open for what the
 * server sends by itself, and a DELETE ends it.  A stream that breaks before
 * the response is resumed where the server can do that; a request is never sent
 * a second time, but to where the server redirects it at the same origin.
 */
#ifndef HTTP_TRANSPORT_H
#define HTTP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp_config.h"
#include "transport.h"

struct httpc;
struct loop;

/* Requests and messages of a transport at a time. */
#define HTTP_REQUESTS_MAX 32
/* Until a message that has no response must have been accepted, in ms. */
#define HTTP_NOTIFY_MS 10000
/* Until the endpoint of HTTP with SSE must be known, in ms. */
#define HTTP_ENDPOINT_MS 10000
/* Of a DELETE at the end, in ms. */
#define HTTP_DELETE_MS 2000
/* Between two attempts to open a stream, in ms, unless the server says more. */
#define HTTP_STREAM_RETRY_MS     1000
#define HTTP_STREAM_RETRY_MAX_MS 60000
/* How often the stream of a request is resumed. */
#define HTTP_RESUMES_MAX 8

struct http_transport_opts {
	struct loop *loop;
	struct httpc *client;
	const char *url;
	const struct mcp_pair *headers;
	size_t n_headers;
	enum mcp_kind kind; /* MCP_HTTP, MCP_HTTP_OR_SSE, MCP_SSE */
	int64_t request_ms; /* until a response must have come */
	/* Whether a GET may stay open, which takes a connection. */
	bool push;
};

/*
 * http_transport_new(o, h): All of o is copied.  It opens at once, but for
 * MCP_SSE, which must connect.
 */
struct transport *http_transport_new(
    const struct http_transport_opts *o, const struct transport_handler *h);

#endif /* !HTTP_TRANSPORT_H */
