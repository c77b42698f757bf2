/*
 * segment: cutting a command at connectors and sentence punctuation, so that
 * each part asks for one thing; never inside a number, a time, a quotation or a
 * word.
 */
#ifndef INTENT_FILTER_SEGMENT_H
#define INTENT_FILTER_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "reading.h"

/* A longer command keeps its rest in the last segment. */
#define SEGMENT_MAX 64

struct segment {
	size_t start, end; /* bytes of command.text */
	size_t sentence;   /* segments of one sentence have the same number */
	bool asks;         /* a question mark ends it */
	bool retracted;    /* the speaker took it back: 开灯，不对 */
};

/*
 * segment_split(r, dst):
 * The segments, without the connectors and without empty ones; none if the
 * command is nothing but connectors.  A part that only says when belongs to the
 * part beside it.
 */
size_t segment_split(const struct reading *r, struct segment dst[SEGMENT_MAX]);

/*
 * segment_says(r, g): Whether anything is said in it besides fillers and times.
 */
bool segment_says(const struct reading *r, const struct segment *g);

#endif /* !INTENT_FILTER_SEGMENT_H */
