/*
 * tk_http: a raw HTTP/1.1 client for tests: it sends the given bytes, whole or
 * in parts, so that requests can be malformed, and reads responses. Local
 * errors (no socket) fail the test; the caller checks the responses.
 */
#ifndef TESTKIT_HTTP_H
#define TESTKIT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct tk_http {
	int fd;
	struct buf in; /* received, not yet read */
	bool eof;      /* the peer has closed its side */
};

struct tk_response {
	int status; /* 0: no response */
	struct buf head;
	struct buf body; /* chunks joined */
};

/*
 * tk_http_open(c, port): Connect to 127.0.0.1:port.
 * tk_http_open_from(c, from, port): The same from another address, for example
 * 127.0.0.2 (host order).
 */
void tk_http_open(struct tk_http *c, int port);
void tk_http_open_from(struct tk_http *c, uint32_t from, int port);

/* tk_http_close(c), tk_response_free(a): Free; both can be reused. */
void tk_http_close(struct tk_http *c);
void tk_response_free(struct tk_response *a);

/*
 * tk_http_send(c, p, n), tk_http_puts(c, text): Send; false if the peer has
 * closed the connection.
 */
bool tk_http_send(struct tk_http *c, const void *p, size_t n);
bool tk_http_puts(struct tk_http *c, const char *text);

/*
 * tk_http_read(c, a, ms): Read one response, skipping interim ones (1xx); false
 * if it is not complete after ms milliseconds or the connection closes before.
 * *a is reset first; zero it before its first use.
 */
bool tk_http_read(struct tk_http *c, struct tk_response *a, int ms);

/*
 * tk_http_fill(c, ms): Receive available bytes into c->in, waiting up to ms for
 * the first one. False if none arrived. For reading streams.
 */
bool tk_http_fill(struct tk_http *c, int ms);

/* tk_http_has(c, text, ms): Receive until c->in contains text. */
bool tk_http_has(struct tk_http *c, const char *text, int ms);

/* tk_http_closed(c, ms): Whether the peer closes the connection within ms. */
bool tk_http_closed(struct tk_http *c, int ms);

/*
 * tk_http_call(port, a, fmt, ...): Send a request on a connection of its own
 * and read the response within 10 s; returns its status, 0 without a response.
 */
int tk_http_call(int port, struct tk_response *a, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * tk_http_begin(c, port, method, path, body): Open a connection and send a
 * request on it; body is JSON, NULL: none. The peer may close before it has
 * read all of the body.
 */
void tk_http_begin(struct tk_http *c, int port, const char *method,
    const char *path, const char *body);

/*
 * tk_http_request(port, a, method, path, body): The same on a connection of its
 * own, and read the response within 10 s; returns its status, 0 without a
 * response.
 */
int tk_http_request(int port, struct tk_response *a, const char *method,
    const char *path, const char *body);

/* tk_response_field(a, name, dst, size): A header field; "" if absent. */
const char *tk_response_field(
    const struct tk_response *a, const char *name, char *dst, size_t size);

/* tk_response_has(a, text): Whether the body contains text. */
bool tk_response_has(const struct tk_response *a, const char *text);

#endif /* !TESTKIT_HTTP_H */
