/*
 * tk_ws: a plain WebSocket client that blocks.
 *
 * What goes wrong with the connection itself fails the test.
 */
#ifndef TESTKIT_WS_CLIENT_H
#define TESTKIT_WS_CLIENT_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/str.h"

/* How long a reply may take. */
#define TK_WS_MS 10000

struct tk_ws {
	int fd;         /* -1: closed */
	struct buf in;  /* bytes that came */
	struct buf msg; /* the message that tk_ws_next() returned */
	unsigned code;  /* of the server's close frame; 0: none */
	char reason[124];
	unsigned pings; /* that came */
	bool deaf;      /* it answers no pings */
};

/*
 * tk_ws_open(c, port, path, headers):
 * Connect to 127.0.0.1; headers are further lines, each with "\r\n", or NULL.
 * Returns the status of the response: 101, or that of an error, whose body is
 * then in c->msg, and c is closed.
 */
int tk_ws_open(
    struct tk_ws *c, int port, const char *path, const char *headers);

/* tk_ws_close(c): Disconnect without a close frame; free all. */
void tk_ws_close(struct tk_ws *c);

/* tk_ws_send(c, text), tk_ws_send_frame(c, first, data): One masked frame;
 * first is its first byte. */
void tk_ws_send(struct tk_ws *c, const char *text);
void tk_ws_send_frame(struct tk_ws *c, unsigned char first, struct str data);

/* tk_ws_send_close(c, code): A close frame. */
void tk_ws_send_close(struct tk_ws *c, unsigned code);

/*
 * tk_ws_next(c, ms):
 * The next message, with a NUL, valid until the next call; NULL after ms
 * without one, or after the end, which closes c.
 */
const char *tk_ws_next(struct tk_ws *c, int ms);

/*
 * tk_ws_end(c), tk_ws_end_within(c, ms): Read on until the end, which must come
 * within TK_WS_MS, or ms; returns the code of its close frame.
 */
unsigned tk_ws_end(struct tk_ws *c);
unsigned tk_ws_end_within(struct tk_ws *c, int ms);

#endif /* !TESTKIT_WS_CLIENT_H */
