/*
 * duration: spans of time written with digits: "10分钟", "1.5 hours".
 */
#ifndef INTENT_FILTER_DURATION_H
#define INTENT_FILTER_DURATION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

struct duration {
	double seconds;
	size_t start, end; /* bytes of the text, number and unit */
};

/*
 * duration_find(folded, from, out):
 * The first number with a unit of time at byte from or later in lower-case
 * text.  A number beyond 10^9 seconds is none.
 */
bool duration_find(struct str folded, size_t from, struct duration *out);

/* duration_count(folded): How many there are. */
size_t duration_count(struct str folded);

#endif /* !INTENT_FILTER_DURATION_H */
