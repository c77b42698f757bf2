/*
 * automaton: finds all words of a set in one pass over a text (Aho-Corasick).
 * The time depends on the text and on what is found, not on how many words the
 * set has.  Immutable once built; any thread may use it.
 */
#ifndef INTENT_FILTER_AUTOMATON_H
#define INTENT_FILTER_AUTOMATON_H

#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

struct automaton;

struct automaton_hit {
	uint32_t start, end; /* bytes of the text */
	uint32_t word;       /* as automaton_add() was told */
};

/*
 * automaton_new():                An empty set.
 * automaton_add(m, text, word):   One word; an empty text is ignored.  A text
 *                                 may be added with several words.
 * automaton_build(m):             No more is added; now it can be asked.
 * automaton_free(m):              NULL is allowed.
 */
struct automaton *automaton_new(void);
void automaton_add(struct automaton *m, struct str text, uint32_t word);
void automaton_build(struct automaton *m);
void automaton_free(struct automaton *m);

/* automaton_bytes(m): Memory it takes, roughly. */
size_t automaton_bytes(const struct automaton *m);

/*
 * automaton_scan(m, text, dst, max):
 * All hits in the order of their ends, of one end the longest first, at most
 * max; returns how many were written.
 */
size_t automaton_scan(const struct automaton *m, struct str text,
    struct automaton_hit *dst, size_t max);

#endif /* !INTENT_FILTER_AUTOMATON_H */
