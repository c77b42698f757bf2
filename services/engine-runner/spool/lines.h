/*
 * lines: the bytes of both streams as lines with offsets and times.
 *
 * A line has the time of the read that its last byte came with.  The longest
 * line that is read has LINE_MAX_BYTES; of a longer one only that much is
 * given.  Pure; not thread-safe.
 */
#ifndef SPOOL_LINES_H
#define SPOOL_LINES_H

#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"
#include "engines/fact.h"
#include "procsup/spool_format.h"

#define LINE_MAX_BYTES (8UL * 1024 * 1024)

/* One stream's. */
struct lines_stream {
	struct buf part; /* the beginning of a line */
	bool too_long;
	uint64_t from, at; /* where it begins, and what was read */
	int64_t ns;
};

struct lines {
	struct lines_stream streams[SPOOL_STREAMS_N];
	void (*line)(void *arg, const struct line *l);
	void *arg;
};

/* lines_init(l, line, arg): line() gets each line; it lives until it returns.
 */
void lines_init(
    struct lines *l, void (*line)(void *arg, const struct line *l), void *arg);
void lines_free(struct lines *l);

/* lines_put(l, stream, bytes, ns): The next bytes of a stream. */
void lines_put(
    struct lines *l, enum spool_stream stream, struct str bytes, int64_t ns);

/* lines_end(l): The streams are complete; a line may lack its end. */
void lines_end(struct lines *l);

#endif /* !SPOOL_LINES_H */
