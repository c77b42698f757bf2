/*
 * frame_reader: the bytes that a WebSocket client sends, as messages.
 *
 * It enforces RFC 6455 for a server without extensions: masked frames, no
 * reserved bits or opcodes, control frames that are whole and short, text that
 * is UTF-8, close codes that may be sent.  Pure.  Not thread-safe.
 */
#ifndef WS_FRAME_READER_H
#define WS_FRAME_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* Longest payload of a ping, a pong and a close frame. */
#define WS_CONTROL_MAX 125

/* Close codes (RFC 6455, 7.4.1). */
enum ws_close {
	WS_CLOSE_NONE = 0,
	WS_CLOSE_NORMAL = 1000,
	WS_CLOSE_GOING_AWAY = 1001,
	WS_CLOSE_PROTOCOL = 1002,
	WS_CLOSE_NO_STATUS = 1005, /* is never sent */
	WS_CLOSE_INVALID_TEXT = 1007,
	WS_CLOSE_POLICY = 1008,
	WS_CLOSE_TOO_BIG = 1009,
	WS_CLOSE_RESTART = 1012,
	WS_CLOSE_TRY_LATER = 1013
};

/*
 * What a reader reports.  Strings are valid during the call.  None may feed or
 * free the reader; each returns false to read no more of what was fed.
 */
struct frame_reader_handler {
	bool (*on_message)(void *arg, struct str data, bool binary);
	bool (*on_ping)(void *arg, struct str data);
	bool (*on_pong)(void *arg, struct str data);
	/* code: WS_CLOSE_NO_STATUS if the client gives none. */
	void (*on_close)(void *arg, unsigned code, struct str reason);
	void *arg;
};

struct frame_reader_pool;
struct frame_reader;

/*
 * frame_reader_pool_new(): Parsers that readers use while they have a part of a
 * frame; readers without one take no memory of the pool.
 * frame_reader_pool_free(p): After its readers.  NULL is allowed.
 */
struct frame_reader_pool *frame_reader_pool_new(void);
void frame_reader_pool_free(struct frame_reader_pool *p);

/*
 * frame_reader_new(p, h, message_max):
 * A reader of messages of at most message_max bytes, however fragmented; h is
 * copied.
 * frame_reader_free(r): NULL is allowed.
 */
struct frame_reader *frame_reader_new(struct frame_reader_pool *p,
    const struct frame_reader_handler *h, size_t message_max);
void frame_reader_free(struct frame_reader *r);

/* frame_reader_set_max(r, message_max): Of messages that begin from now on, at
 * most what it was at first. */
void frame_reader_set_max(struct frame_reader *r, size_t message_max);

/*
 * frame_reader_feed(r, data, n, why):
 * Read n bytes.  WS_CLOSE_NONE: go on.  Another code: the client has violated
 * the protocol or a limit, and is to be closed with it; *why says how, in
 * words.  After that, after on_close() and after a false of the handler, it
 * reads nothing more.
 */
enum ws_close frame_reader_feed(
    struct frame_reader *r, const void *data, size_t n, const char **why);

/* frame_reader_memory(r): Bytes that are allocated for r. */
size_t frame_reader_memory(const struct frame_reader *r);

#endif /* !WS_FRAME_READER_H */
