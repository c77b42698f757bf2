/*
 * choose: which of the intents that something speaks for are meant.
 *
 * The strongest evidence wins; what overlaps with a winner's evidence is not a
 * second wish.  What is forbidden, asked, supposed or told is not meant.
 */
#ifndef INTENT_FILTER_CHOOSE_H
#define INTENT_FILTER_CHOOSE_H

#include <stddef.h>

#include "match.h"
#include "mood.h"

/*
 * choose(m, p, all, n, max, dst):
 * Of n matches of the clause those that are meant, at most max, by where their
 * evidence begins.  Sorts all: the surest first.  Returns how many are in dst.
 */
size_t choose(const struct matcher *m, const struct clause *p,
    struct match *all, size_t n, size_t max, struct match **dst);

/* choose_cmp(a, b): As strcmp(): the surer before the less sure. */
int choose_cmp(const struct match *a, const struct match *b);

#endif /* !INTENT_FILTER_CHOOSE_H */
