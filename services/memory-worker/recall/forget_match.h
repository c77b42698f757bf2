/*
 * forget_match: whether a memory is one that a query wants forgotten.  Pure.
 *
 * Forgetting is final, so the memory must state what the query states; being
 * the best search result is not enough.  For each clause of the query there
 * must be a clause of the memory with all its significant characters and words,
 * in any order.  A query in other words than the memory's does not match.  Nor
 * does a clause about someone else (妈妈, friend) or of the opposite (不喜欢,
 * never), if the query says 我 or 喜欢 and not that.
 */
#ifndef MEMORY_WORKER_FORGET_MATCH_H
#define MEMORY_WORKER_FORGET_MATCH_H

#include <stddef.h>

#include "core/str.h"

/* Most clauses of a query, and significant characters and words in each; a
 * longer query matches nothing. */
#define FORGET_MATCH_CLAUSES_MAX 16
#define FORGET_MATCH_QUERY_MAX   128
/* Bytes of a memory that are compared; a summary is far shorter. */
#define FORGET_MATCH_MEMORY_MAX ((size_t)8 * 1024)

/*
 * forget_match_score(query, memory):
 * How much of the memory the query covers: up to 1, all of it; 0: no match.
 */
double forget_match_score(struct str query, struct str memory);

#endif /* !MEMORY_WORKER_FORGET_MATCH_H */
