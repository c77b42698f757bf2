/*
 * examples: how like a text is to the example utterances of a catalog, by the
 * pairs of neighbouring characters they share (Dice's coefficient).
 */
#ifndef INTENT_FILTER_EXAMPLES_H
#define INTENT_FILTER_EXAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

struct examples;

/* Likeness of a text to the nearest example of one intent. */
struct example_likeness {
	uint32_t intent, index; /* index in its examples */
	double share;           /* 0 to 1 */
};

/*
 * examples_new():              None.
 * examples_add(e, intent, index, folded): One, in the form of command.folded.
 * examples_build(e):           No more is added.
 * examples_free(e):            NULL is allowed.
 */
struct examples *examples_new(void);
void examples_add(
    struct examples *e, uint32_t intent, uint32_t index, struct str folded);
void examples_build(struct examples *e);
void examples_free(struct examples *e);

/* examples_bytes(e): Memory it takes, roughly. */
size_t examples_bytes(const struct examples *e);

/*
 * examples_like(e, folded, least, a, n):
 * The intents with an example at least so like, each once with its best, by
 * intent; *n of them.  Memory from a; none if a is full.
 */
struct example_likeness *examples_like(const struct examples *e,
    struct str folded, double least, struct arena *a, size_t *n);

/*
 * examples_merge(a, na, b, nb, dst):
 * The better of two likenesses of each intent; both by intent, and so is dst,
 * which has room for all.  Returns how many there are.
 */
size_t examples_merge(const struct example_likeness *a, size_t na,
    const struct example_likeness *b, size_t nb, struct example_likeness *dst);

#endif /* !INTENT_FILTER_EXAMPLES_H */
