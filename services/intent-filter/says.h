/*
 * says: what an intent can be about, as its own words tell.
 */
#ifndef INTENT_FILTER_SAYS_H
#define INTENT_FILTER_SAYS_H

#include "core/str.h"

/* What an intent can be about, as its words, patterns, id and name say. */
enum catalog_says {
	CATALOG_OPENS = 1,
	CATALOG_CLOSES = 2,
	CATALOG_CANCELS = 4,
};

/* says_of(folded): What a keyword, pattern, id or name tells; or'ed. */
unsigned says_of(struct str folded);

#endif /* !INTENT_FILTER_SAYS_H */
