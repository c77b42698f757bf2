/*
 * think: thoughts that a model puts before its text, between <think> and
 * </think>, taken out as the text comes, cut anywhere.  Private, pure.
 */
#ifndef LLM_THINK_H
#define LLM_THINK_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/str.h"

/* Zero-initialised: at the start. */
struct think {
	enum { THINK_START, THINK_INSIDE, THINK_AFTER, THINK_TEXT } state;
	char held[16]; /* what may be a mark's beginning */
	size_t nheld;
};

/* think_feed(t, piece, text, thoughts): Append what piece has to the two. */
void think_feed(
    struct think *t, struct str piece, struct buf *text, struct buf *thoughts);

/* think_end(t, text, thoughts): There is no more: what was held is none. */
void think_end(struct think *t, struct buf *text, struct buf *thoughts);

#endif /* !LLM_THINK_H */
