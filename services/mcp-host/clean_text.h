/*
 * clean_text: texts of servers, made fit to be shown to a model or an operator.
 *
 * Removed are control characters but for line feeds and tabs, and what is
 * invisible but read by models: marks of direction, tags, byte order marks.
 *
 * Pure; any thread.
 */
#ifndef CLEAN_TEXT_H
#define CLEAN_TEXT_H

#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"

/* clean_text_put(s, out): Append s; what is not UTF-8 is left out, too. */
void clean_text_put(struct str s, struct buf *out);

/*
 * clean_text_line(s, max, out):
 * The same on one line: white space in sequence is one blank; over max (≥ 4)
 * bytes cut at a character, with "…" at the end.
 */
void clean_text_line(struct str s, size_t max, struct buf *out);

/*
 * clean_text_middle(s, max, out):
 * Append s, which is UTF-8; over max (≥ 256) bytes without its middle, with a
 * line in its place that says how many bytes are missing.
 */
void clean_text_middle(struct str s, size_t max, struct buf *out);

#endif /* !CLEAN_TEXT_H */
