/*
 * segment: cutting a command at connectors and sentence punctuation, so that
 * each part asks for one thing.
 */
#ifndef INTENT_FILTER_SEGMENT_H
#define INTENT_FILTER_SEGMENT_H

#include <stddef.h>

#include "command.h"

/* A longer command keeps its rest in the last segment. */
#define SEGMENT_MAX 64

/* Bytes of command.text. */
struct segment {
	size_t start, end;
};

/*
 * segment_split(c, dst):
 * The segments of c, without the connectors and without empty ones; at least
 * one unless the command is nothing but connectors.
 */
size_t segment_split(const struct command *c, struct segment dst[SEGMENT_MAX]);

#endif /* !INTENT_FILTER_SEGMENT_H */
