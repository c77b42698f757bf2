/*
 * fit: whether a memory is what a query wants forgotten.  Pure.
 *
 * Forgetting is final, so this is not how near a memory is, which rank.h says,
 * but whether it says what the query says: for each clause of the query there
 * is one of the memory with every character and word of it that means something
 * by itself, in any order.  A query in other words than the memory's does not
 * fit.  Nor does a clause about somebody else (妈妈, friend) or of the opposite
 * (不喜欢, never), if the query says 我 or 喜欢 and not that.
 */
#ifndef MEMORY_WORKER_FIT_H
#define MEMORY_WORKER_FIT_H

#include <stddef.h>

#include "core/str.h"

/* Longest query: clauses, and in each characters and words, that mean
 * something.  A longer one fits nothing. */
#define FIT_CLAUSES_MAX 16
#define FIT_QUERY_MAX   128
/* What of a memory is looked at, in bytes: a summary is far shorter. */
#define FIT_MEMORY_MAX ((size_t)8 * 1024)

/*
 * fit_of(query, memory):
 * How much of the whole memory the query says: up to 1, all of it; 0: it does
 * not fit.
 */
double fit_of(struct str query, struct str memory);

#endif /* !MEMORY_WORKER_FIT_H */
