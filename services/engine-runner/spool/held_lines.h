/*
 * held_lines: lines of which a later one decides what they are.  Pure.
 */
#ifndef SPOOL_HELD_LINES_H
#define SPOOL_HELD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "engines/fact.h"

#define HELD_LINES_MAX 65536
#define HELD_BYTES_MAX (8UL * 1024 * 1024)

struct held_line {
	enum spool_stream stream;
	uint64_t from, to;
	int64_t ns;
	size_t at, n; /* of text */
};

struct held_lines {
	struct buf text; /* each line with a \n */
	struct held_line *v;
	size_t n, cap;
};

/* held_lines_init(h), held_lines_free(h): Empty, and its memory. */
void held_lines_init(struct held_lines *h);
void held_lines_free(struct held_lines *h);

/* held_lines_put(h, l): Add a copy of *l; false: there is no room for it. */
bool held_lines_put(struct held_lines *h, const struct line *l);

/* held_lines_reset(h): Forget all. */
void held_lines_reset(struct held_lines *h);

/* held_lines_at(h, i): The i-th line, valid until h changes. */
struct line held_lines_at(const struct held_lines *h, size_t i);

/*
 * held_lines_raw(h, to, unparsed): Report all as lines that were not read, and
 * forget them.
 */
void held_lines_raw(
    struct held_lines *h, const struct fact_sink *to, bool unparsed);

#endif /* !SPOOL_HELD_LINES_H */
