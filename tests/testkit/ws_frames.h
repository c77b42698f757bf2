/*
 * ws_frames: frames of WebSocket clients, and what a server makes of them by
 * RFC 6455.
 */
#ifndef TESTKIT_WS_FRAMES_H
#define TESTKIT_WS_FRAMES_H

#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"

/* Bytes of a message at most, in the rows. */
#define WS_FRAMES_MESSAGE_MAX 1024

/*
 * expected: what is read, in order, each followed by a blank: text=, binary=,
 * ping=, pong= with the payload (over 64 bytes: "1000 bytes"), close= with the
 * code, "/" and the reason, error= with the code of the close frame that the
 * server sends.
 */
struct ws_frames_row {
	const char *frames, *expected;
};
extern const struct ws_frames_row ws_frames_rows[];
extern const size_t ws_frames_n;

/*
 * ws_frames_put(b, frames): Their bytes.  "81 hello": a frame with this first
 * byte, masked, with this payload.  Further forms: "81!hello" is not masked;
 * "81*1000" has 1,000 times 'x'; "=8180" are bytes.  Frames are separated by
 * " | "; in payloads \xx is a byte.
 */
void ws_frames_put(struct buf *b, const char *frames);

/* ws_frames_put_seen(b, what, s): "text=hello " in the form of expected. */
void ws_frames_put_seen(struct buf *b, const char *what, struct str s);

#endif /* !TESTKIT_WS_FRAMES_H */
