/*
 * tool_rank: which of many tools a text is about.
 *
 * BM25 over the words, and in scripts without blanks the pairs of characters,
 * of name, title and description, in that order of weight.  An index is built
 * once for a list of tools; a query reads only what it has in common with them.
 *
 * Pure; one owner.
 */
#ifndef TOOL_RANK_H
#define TOOL_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* Bytes of a description, and different tokens of a query, that count. */
#define TOOL_RANK_TEXT_MAX  1024
#define TOOL_RANK_QUERY_MAX 64

struct tool_rank_text {
	struct str name, title, description; /* absent: none */
};

struct tool_rank;

/*
 * tool_rank_new(list, n): An index of n (< 2^31) tools; list is not needed
 * afterwards.
 * tool_rank_free(r): NULL is allowed.
 */
struct tool_rank *tool_rank_new(const struct tool_rank_text *list, size_t n);
void tool_rank_free(struct tool_rank *r);

struct tool_rank_query {
	struct str text;
	/* Positions of tools that come first, in this order. */
	const uint32_t *first;
	size_t n_first;
	size_t max; /* at most so many results */
};

/*
 * tool_rank_find(r, q, out):
 * The positions of the best tools, best first, into out, which has room for
 * q->max; how many.  Equal tools are in the order of the list, and those that
 * the text has nothing in common with are at the end.
 */
size_t tool_rank_find(
    struct tool_rank *r, const struct tool_rank_query *q, uint32_t *out);

/* tool_rank_work(r): Entries of the index that the last query has read. */
size_t tool_rank_work(const struct tool_rank *r);

#endif /* !TOOL_RANK_H */
