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

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
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

/* Requests to forget that count, the newest. */
#define MEMORY_POLICY_FORGOTTEN_MAX 16

/* A policy in the making. */
struct memory_policy_builder {
	struct buf stated, recalled;
	struct str forgotten[MEMORY_POLICY_FORGOTTEN_MAX];
	size_t n_forgotten; /* counted on */
};

/*
 * memory_policy_begin(m), then, in the order of the conversation:
 * memory_policy_add_user(m, text):      A message of the user.
 * memory_policy_add_recalled(m, text):  Memories that were recalled.
 * memory_policy_add_forgotten(m, query): A request to forget; query is
 *                                       borrowed.
 * memory_policy_end(m, a, out): The policy, from a; RC_TOOBIG if a is full.
 *                               Frees m.
 * Texts over 256 KiB in all are left out.
 */
void memory_policy_begin(struct memory_policy_builder *m);
void memory_policy_add_user(struct memory_policy_builder *m, struct str text);
void memory_policy_add_recalled(
    struct memory_policy_builder *m, struct str text);
void memory_policy_add_forgotten(
    struct memory_policy_builder *m, struct str query);
enum rc memory_policy_end(struct memory_policy_builder *m, struct arena *a,
    struct memory_policy *out) RC_CHECK;

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
