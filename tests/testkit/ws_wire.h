/* ws_wire: frames of WebSocket as a client writes and reads them. */
#ifndef TESTKIT_WS_WIRE_H
#define TESTKIT_WS_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"

struct ws_wire_frame {
	unsigned opcode;
	struct str data; /* in the bytes that were read */
};

/* ws_wire_put(b, first, data): A masked frame with this first byte. */
void ws_wire_put(struct buf *b, unsigned char first, struct str data);

/* ws_wire_take(in, at, f): The frame at *at, which moves behind it; false:
 * it is not whole. */
bool ws_wire_take(struct str in, size_t *at, struct ws_wire_frame *f);

#endif /* !TESTKIT_WS_WIRE_H */
