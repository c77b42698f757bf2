/*
 * Parser of an event stream (WHATWG HTML, "server-sent events"), fed with
 * chunks of any size.  Pure: no connection, no clock.
 *
 * Bytes are passed on unchanged; rejecting a stream that is not UTF-8 is the
 * caller's job.  Not thread-safe; one owner.
 */
#ifndef HTTPC_SSE_H
#define HTTPC_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* One event; valid until the callback that is given it returns. */
struct sse_event {
	struct str type; /* "message" unless the stream says otherwise */
	struct str data; /* lines joined by LF */
	struct str id;   /* the last one received; empty: none */
};

/* Any code but RC_OK ends sse_reader_feed() with it. */
typedef enum rc (*sse_reader_fn)(void *arg, const struct sse_event *e);

struct sse_reader {
	int64_t retry_ms; /* the last "retry" field; -1: none */
	/* private */
	struct buf line, data, type, id;
	bool first;   /* the first line, which may begin with a BOM */
	bool skip_lf; /* the last byte was a CR that ended a line */
};

/*
 * sse_reader_init(p, max):
 * A parser at the start of a stream; no line and no event's data may be longer
 * than max bytes.
 */
void sse_reader_init(struct sse_reader *p, size_t max);

/* sse_reader_free(p): Free its memory. */
void sse_reader_free(struct sse_reader *p);

/*
 * sse_reader_feed(p, chunk, fn, arg):
 * Parse chunk and call fn(arg, …) for each complete event.  RC_TOOBIG for a
 * line or data over the limit, or what fn returned; the parser is then of no
 * further use.  An event that the stream does not complete is discarded.
 */
enum rc sse_reader_feed(struct sse_reader *p, struct str chunk,
    sse_reader_fn fn, void *arg) RC_CHECK;

#endif /* !HTTPC_SSE_H */
