/*
 * kit_http: a raw HTTP/1.1 client for tests: it sends the bytes it is given,
 * whole or in pieces, and reads answers, so that broken requests can be made
 * too. Failures of the machine (no socket) fail the test; answers are the
 * caller's to judge.
 */
#ifndef KIT_HTTP_H
#define KIT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct kit_http {
	int fd;
	struct buf in; /* received, not yet read */
	bool eof;      /* the peer will send no more */
};

struct kit_answer {
	int status; /* 0: none came */
	struct buf head;
	struct buf body; /* chunks joined */
};

/*
 * kit_http_open(c, port): Connect to 127.0.0.1:port.
 * kit_http_open_from(c, from, port): The same as another client, 127.0.0.2 for
 * example (host order).
 */
void kit_http_open(struct kit_http *c, int port);
void kit_http_open_from(struct kit_http *c, uint32_t from, int port);

/* kit_http_close(c), kit_answer_free(a): Free; both are usable again. */
void kit_http_close(struct kit_http *c);
void kit_answer_free(struct kit_answer *a);

/*
 * kit_http_send(c, p, n), kit_http_puts(c, text):
 * Send; false if the peer has gone.
 */
bool kit_http_send(struct kit_http *c, const void *p, size_t n);
bool kit_http_puts(struct kit_http *c, const char *text);

/*
 * kit_http_read(c, a, ms):
 * One answer, interim ones (1xx) skipped; false if it is not complete after ms
 * milliseconds or the connection ends before.  *a is reset first; zero it
 * before its first use.
 */
bool kit_http_read(struct kit_http *c, struct kit_answer *a, int ms);

/*
 * kit_http_fill(c, ms):
 * Receive what comes into c->in, waiting ms for a first byte.  False if nothing
 * came.  For reading streams.
 */
bool kit_http_fill(struct kit_http *c, int ms);

/* kit_http_has(c, text, ms): Receive until c->in contains text. */
bool kit_http_has(struct kit_http *c, const char *text, int ms);

/* kit_http_gone(c, ms): Whether the peer ends the connection within ms. */
bool kit_http_gone(struct kit_http *c, int ms);

/*
 * kit_http_call(port, a, fmt, ...):
 * Send a request on a connection of its own and read its answer within 10 s;
 * its status, 0 if none came.
 */
int kit_http_call(int port, struct kit_answer *a, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * kit_http_begin(c, port, method, path, body):
 * Open a connection and send a request on it; body is JSON, NULL: none.  The
 * peer may refuse to read all of the body.
 */
void kit_http_begin(struct kit_http *c, int port, const char *method,
    const char *path, const char *body);

/*
 * kit_http_ask(port, a, method, path, body):
 * The same on a connection of its own, and read its answer within 10 s; its
 * status, 0 if none came.
 */
int kit_http_ask(int port, struct kit_answer *a, const char *method,
    const char *path, const char *body);

/* kit_answer_field(a, name, dst, size): A header field; "" if there is none. */
const char *kit_answer_field(
    const struct kit_answer *a, const char *name, char *dst, size_t size);

/* kit_answer_has(a, text): Whether the body contains text. */
bool kit_answer_has(const struct kit_answer *a, const char *text);

#endif /* !KIT_HTTP_H */
