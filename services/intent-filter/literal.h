/*
 * literal: texts without which a pattern cannot match, so that it need not be
 * tried where none of them stands.
 */
#ifndef INTENT_FILTER_LITERAL_H
#define INTENT_FILTER_LITERAL_H

#include <stddef.h>

#include "core/str.h"

#define LITERAL_MAX   32 /* texts of one pattern */
#define LITERAL_BYTES 96 /* of one text */

struct literals {
	char text[LITERAL_MAX][LITERAL_BYTES]; /* lower case */
	size_t len[LITERAL_MAX];
	size_t n; /* 0: nothing is known, try it always */
};

/*
 * literal_find(pattern, out):
 * Texts of which every match has at least one.  Errs to the side of none: for
 * every pattern that it does not understand n is 0.
 */
void literal_find(struct str pattern, struct literals *out);

#endif /* !INTENT_FILTER_LITERAL_H */
