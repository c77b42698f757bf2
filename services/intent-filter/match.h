/*
 * match: how strongly a part of a command speaks for an intent.
 *
 * Any hit counts; a long list of synonyms does not weaken the one that was
 * said.  The confidence grows with how specific the best evidence is and, a
 * little, with further evidence.
 */
#ifndef INTENT_FILTER_MATCH_H
#define INTENT_FILTER_MATCH_H

#include <stddef.h>

#include "catalog.h"
#include "core/arena.h"

struct rx_scratch;

/* Pieces of evidence that are listed; more are counted but not listed. */
#define MATCH_EVIDENCE_MAX 32

/* The part of a command that is looked at. */
struct match_text {
	struct str text;   /* as normalised: patterns see it */
	struct str folded; /* the same in lower case: keywords */
};

struct match {
	const struct catalog_intent *intent;
	size_t segment;
	double confidence; /* 0: no match; at most .95, four decimals */
	struct wire_intent_filter_response_intents_evidence *evidence;
	size_t nevidence;
};

/*
 * match_intent(in, t, rx, a, out):
 * Fill all of *out but its segment.  Evidence is taken from a; if a is full
 * there is no match.
 */
void match_intent(const struct catalog_intent *in, struct match_text t,
    struct rx_scratch *rx, struct arena *a, struct match *out);

#endif /* !INTENT_FILTER_MATCH_H */
