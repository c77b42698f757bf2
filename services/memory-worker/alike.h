/*
 * alike: whether two memories say the same, but for words that say nothing.
 * Pure.
 *
 * Only what is surely the same counts: one of two that are taken for the same
 * is lost.  Who it is about ("用户", "the user") does not matter, nor do case,
 * width, punctuation, plurals, particles and articles; any other word does, and
 * so does their order.
 */
#ifndef MEMORY_WORKER_ALIKE_H
#define MEMORY_WORKER_ALIKE_H

#include <stdbool.h>

#include "core/str.h"

/* alike(a, b): Whether both say the same; what says nothing is like nothing. */
bool alike(struct str a, struct str b);

#endif /* !MEMORY_WORKER_ALIKE_H */
