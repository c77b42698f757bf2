/*
 * memory_policy: which extracted memories may be stored.  Pure.
 *
 * Models report questions, greetings and recalled memories as news.  A memory
 * must come from something the user stated: these functions extract statements,
 * and compare memories with them.  Chinese and English are understood; a
 * sentence in another language is a statement unless it ends with a question
 * mark.
 */
#ifndef SEARCH_MEMORY_POLICY_H
#define SEARCH_MEMORY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"

/*
 * memory_policy_statements(text, out):
 * Append the clauses of a user's message that state something, one a line:
 * without questions, greetings, thanks, and a bare yes or no.
 */
void memory_policy_statements(struct str text, struct buf *out);

struct memory_policy {
	struct str stated;           /* all statements of the user */
	struct str recalled;         /* memories recalled in the conversation */
	const struct str *forgotten; /* queries of forget requests */
	size_t n_forgotten;
};

/*
 * memory_policy_admits(p, text):
 * Whether a memory may be stored: it shares a word with the statements, does
 * not mostly repeat recalled memories, matches no forget request, and does not
 * only report that the user asked something or said hello.
 */
bool memory_policy_admits(const struct memory_policy *p, struct str text);

/* memory_policy_stated(p, value): Whether a profile's value was stated. */
bool memory_policy_stated(const struct memory_policy *p, struct str value);

#endif /* !SEARCH_MEMORY_POLICY_H */
