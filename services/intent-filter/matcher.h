/*
 * matcher: where the words of a catalog stand in a command.
 */
#ifndef INTENT_FILTER_MATCHER_H
#define INTENT_FILTER_MATCHER_H

#include <stddef.h>

#include "automaton.h"
#include "catalog.h"
#include "core/arena.h"
#include "core/rc.h"
#include "reading.h"

struct rx_scratch;

/* Hits of a catalog's words in one command; what is beyond is not looked at. */
#define MATCHER_HITS_MAX 4096

/* One command against one catalog. */
struct matcher {
	const struct catalog *cat;
	const struct reading *r;
	struct rx_scratch *rx;
	struct arena *a;
	struct automaton_hit *hits; /* by intent, then by start */
	size_t n_hits;
};

/*
 * matcher_init(m, r):
 * Find the catalog's words in the command r, and note in it where they are;
 * cat, rx and a are set.  RC_TOOBIG if a is full.
 */
enum rc matcher_init(struct matcher *m, struct reading *r) RC_CHECK;

/* matcher_meaning(m, h): What a hit of m->hits stands for. */
const struct catalog_word *matcher_meaning(
    const struct matcher *m, const struct automaton_hit *h);

#endif /* !INTENT_FILTER_MATCHER_H */
