/*
 * match: what in a part of a command speaks for which intents, and how
 * strongly.
 *
 * Any hit counts; a long list of synonyms does not weaken the one that was
 * said.  The confidence grows with how much of the text the evidence covers.
 */
#ifndef INTENT_FILTER_MATCH_H
#define INTENT_FILTER_MATCH_H

#include <stddef.h>

#include "matcher.h"
#include "segment.h"

/* Pieces of evidence that are listed; more count but are not listed. */
#define MATCH_EVIDENCE_MAX 32
/* Intents that are compared in one segment. */
#define MATCH_MAX 512

struct slots;

struct match {
	const struct catalog_intent *intent;
	size_t segment;
	double confidence; /* (0, .95], four decimals */
	bool acts;         /* the evidence itself says that something be done */
	size_t longest;    /* bytes of the longest piece of evidence */
	struct reading_span *spans;
	struct wire_intent_filter_response_intents_evidence *evidence;
	size_t n;            /* of spans and evidence */
	struct slots *slots; /* NULL: not filled yet */
};

/*
 * match_segment(m, g, dst):
 * All intents for which something in g speaks, in no order; at most MATCH_MAX.
 * What is in hand when the arena is full does not match.
 */
size_t match_segment(const struct matcher *m, const struct segment *g,
    struct match dst[MATCH_MAX]);

#endif /* !INTENT_FILTER_MATCH_H */
