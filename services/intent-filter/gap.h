/*
 * gap: the parts of a match that its pattern does not spell out (".{0,4}"), so
 * that they do not count as said.
 */
#ifndef INTENT_FILTER_GAP_H
#define INTENT_FILTER_GAP_H

#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"

/*
 * gap_mark(pattern, out):
 * Append pattern with each repeated dot as a capture group of its own; returns
 * the groups as bits.  Other groups may get other numbers.  0, and the pattern
 * unchanged, if there is none, or if the numbers matter or are too many.
 */
unsigned gap_mark(struct str pattern, struct buf *out);

#endif /* !INTENT_FILTER_GAP_H */
