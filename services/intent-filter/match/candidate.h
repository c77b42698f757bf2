/*
 * candidate: the intents for which a segment has evidence, and how strong it
 * is.
 *
 * Any hit counts; a long list of synonyms does not weaken the one that matched.
 * The confidence grows with how much of the text the evidence covers.
 */
#ifndef INTENT_FILTER_MATCH_CANDIDATE_H
#define INTENT_FILTER_MATCH_CANDIDATE_H

#include <stddef.h>

#include "catalog/catalog.h"
#include "core/arena.h"
#include "core/rc.h"
#include "text/automaton.h"
#include "text/utterance.h"

struct rx_scratch;
struct slots;

/* Hits of a catalog's words in one command; the rest is ignored. */
#define MATCHER_HITS_MAX 4096

/* One command against one catalog. */
struct matcher {
	const struct catalog *cat;
	const struct utterance *u;
	struct rx_scratch *rx;
	struct arena *a;
	bool
	    needs_half; /* 九点 fills no slot: of which half of the day is it */
	struct automaton_hit *hits; /* by intent, then by start */
	size_t n_hits;
};

/*
 * matcher_init(m, u):
 * Find the catalog's words in u, and store their positions in u->names; cat, rx
 * and a are set.  RC_TOOBIG if a is full.
 */
enum rc matcher_init(struct matcher *m, struct utterance *u) RC_CHECK;

/* Pieces of evidence that are listed; more count but are not listed. */
#define CANDIDATE_EVIDENCE_MAX 32
/* Intents that are compared in one segment. */
#define CANDIDATE_MAX 512

struct candidate {
	const struct catalog_intent *intent;
	size_t segment;
	double confidence; /* (0, .95], four decimals */
	bool has_verb;     /* the evidence itself requests an action */
	size_t longest;    /* bytes of the longest piece of evidence */
	struct text_span *spans;
	struct wire_intent_filter_response_intents_evidence *evidence;
	size_t n;            /* of spans and evidence */
	struct slots *slots; /* NULL: not filled yet */
	/* Which of several values a slot takes: 客厅 or 卧室 of 客厅和卧室的灯.
	 */
	size_t variant;
};

/*
 * candidate_find(m, g, dst):
 * All intents for which g has evidence, in no order, at most CANDIDATE_MAX.
 * When the arena is full, the intent being evaluated is dropped.
 */
size_t candidate_find(const struct matcher *m, const struct segment *g,
    struct candidate dst[CANDIDATE_MAX]);

#endif /* !INTENT_FILTER_MATCH_CANDIDATE_H */
