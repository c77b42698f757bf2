/*
 * catalog_internal: the parts of a compiled catalog: example index, literals
 * and unmatched spans of patterns.
 */
#ifndef INTENT_FILTER_CATALOG_CATALOG_INTERNAL_H
#define INTENT_FILTER_CATALOG_CATALOG_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "catalog/catalog.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/str.h"

/* ---- examples, compared by bigrams of characters (Dice's coefficient) ---- */

struct example_index;

/* The similarity of a text and the nearest example of one intent. */
struct example_similarity {
	uint32_t intent, index; /* index in its examples */
	double share;           /* 0 to 1 */
};

/*
 * example_index_new():         Empty.
 * example_index_add(e, intent, index, folded): Add one, intent by intent.
 * example_index_build(e):      Finish; nothing may be added after it.
 * example_index_free(e):       NULL is allowed.
 */
struct example_index *example_index_new(void);
void example_index_add(struct example_index *e, uint32_t intent, uint32_t index,
    struct str folded);
void example_index_build(struct example_index *e);
void example_index_free(struct example_index *e);

/* example_index_bytes(e): Approximate memory use. */
size_t example_index_bytes(const struct example_index *e);

/*
 * example_index_search(e, folded, least, a, n):
 * The intents with an example of at least that similarity, each once with its
 * best, by intent; *n of them.  Memory from a; none if a is full.
 */
struct example_similarity *example_index_search(const struct example_index *e,
    struct str folded, double least, struct arena *a, size_t *n);

/*
 * example_index_merge(a, na, b, nb, dst):
 * The better of two similarities of each intent; all by intent; dst has room
 * for na + nb.  Returns how many there are.
 */
size_t example_index_merge(const struct example_similarity *a, size_t na,
    const struct example_similarity *b, size_t nb,
    struct example_similarity *dst);

/* ---- slots ---- */

/*
 * catalog_slot_traits(def): Of enum catalog_slot_trait, or'ed.
 * catalog_slot_index(def, name): The first slot of that name; -1: none.
 */
unsigned catalog_slot_traits(const struct wire_intent_slot *def);
ptrdiff_t catalog_slot_index(const struct wire_intent *def, struct str name);

/* ---- literals: texts without which a pattern cannot match ---- */

#define LITERAL_MAX   32 /* texts of one pattern */
#define LITERAL_BYTES 96 /* of one text */

struct pattern_literals {
	char text[LITERAL_MAX][LITERAL_BYTES]; /* lower case */
	size_t len[LITERAL_MAX];
	size_t n; /* 0: unknown, the pattern must always be tried */
};

/*
 * pattern_literals_find(pattern, out):
 * Texts of which every match contains at least one.  n is 0 for patterns that
 * it does not understand.
 */
void pattern_literals_find(struct str pattern, struct pattern_literals *out);

/* ---- unmatched spans: what a match contains and its pattern does not ---- */

/*
 * unmatched_span_mark(pattern, out):
 * Append pattern with each repeated dot (".{0,4}") as a capture group of its
 * own; returns the groups as bits.  Other groups may be renumbered.  0, and the
 * pattern unchanged, if there is none, if it has backreferences, or if there
 * are too many groups.
 */
unsigned unmatched_span_mark(struct str pattern, struct buf *out);

#endif /* !INTENT_FILTER_CATALOG_CATALOG_INTERNAL_H */
