/*
 * fit: whether a memory is what a query wants forgotten.  Pure.
 *
 * Forgetting is final, so this is not how near a memory is, which rank.h says,
 * but whether it says all that the query says: every character and word that
 * means something by itself, in any order.  A query in other words than the
 * memory's does not fit.  Nor does a memory of somebody else (妈妈, friend) or
 * of the opposite (不喜欢, never), if the query says 我 or 喜欢 and not that.
 */
#ifndef MEMORY_WORKER_FIT_H
#define MEMORY_WORKER_FIT_H

#include "core/str.h"

/* Longest query, in its characters and words that mean something. */
#define FIT_QUERY_MAX 256

/*
 * fit_of(query, memory):
 * How much of the memory the query says: up to 1, all of it; 0: it does not
 * fit.
 */
double fit_of(struct str query, struct str memory);

#endif /* !MEMORY_WORKER_FIT_H */
