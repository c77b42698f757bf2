/*
 * frame: a frame of a server, encoded to be sent.
 *
 * It is encoded one time and shared by all its recipients, who hold a reference
 * each.  Not thread-safe: all references belong to one thread.
 */
#ifndef WS_FRAME_H
#define WS_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/str.h"
#include "ws/frame_reader.h"

enum frame_kind {
	FRAME_TEXT = 1,
	FRAME_BINARY = 2,
	FRAME_CLOSE = 8,
	FRAME_PING = 9,
	FRAME_PONG = 10
};

struct frame {
	struct str bytes; /* head and payload */
	uint32_t refs;    /* private */
	enum frame_kind kind;
	/* Its creator's, 0 at first; nothing here reads them. */
	int64_t seq;
	struct wall by;
};

/*
 * frame_new(kind, data): With one reference, the caller's.  data has at most
 * WS_CONTROL_MAX bytes unless kind is a message's.
 * frame_new_close(code, reason): The reason is truncated to what fits, between
 * code points; code WS_CLOSE_NO_STATUS: without any.
 */
struct frame *frame_new(enum frame_kind kind, struct str data);
struct frame *frame_new_close(unsigned code, struct str reason);

/* frame_payload(f): Its data. */
struct str frame_payload(const struct frame *f);

/* frame_ref(f): One more reference; returns f. */
struct frame *frame_ref(struct frame *f);

/* frame_unref(f): Release a reference; the last one frees f. */
void frame_unref(struct frame *f);

#endif /* !WS_FRAME_H */
