/*
 * automaton: finds all words of a set in one pass over a text (Aho-Corasick).
 * The time depends on the text and the hits, not on the size of the set.
 * Immutable after automaton_build(): any thread may use it then.
 */
#ifndef INTENT_FILTER_TEXT_AUTOMATON_H
#define INTENT_FILTER_TEXT_AUTOMATON_H

#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

struct automaton;

struct automaton_hit {
	uint32_t start, end; /* bytes of the text */
	uint32_t word;       /* as given to automaton_add() */
};

/*
 * automaton_new():                An empty set.
 * automaton_add(m, text, word):   Add a word; an empty text is ignored.  A text
 *                                 may be added with several words.
 * automaton_build(m):             Finish; nothing may be added after it.
 * automaton_free(m):              NULL is allowed.
 */
struct automaton *automaton_new(void);
void automaton_add(struct automaton *m, struct str text, uint32_t word);
void automaton_build(struct automaton *m);
void automaton_free(struct automaton *m);

/* automaton_bytes(m): Approximate memory use. */
size_t automaton_bytes(const struct automaton *m);

/*
 * automaton_scan(m, text, dst, max):
 * All hits by their end, those with the same end longest first, at most max.
 * Returns how many were written.
 */
size_t automaton_scan(const struct automaton *m, struct str text,
    struct automaton_hit *dst, size_t max);

/* automaton_sort(hits, n, cmp): As qsort(), which is slow for few of them. */
void automaton_sort(struct automaton_hit *hits, size_t n,
    int (*cmp)(const void *a, const void *b));

#endif /* !INTENT_FILTER_TEXT_AUTOMATON_H */
