/*
 * budget: how much of a conversation a language model is shown.
 *
 * Pure.  Tokens are estimated: one for each character of Chinese, Japanese or
 * Korean, one for four bytes of anything else.
 */
#ifndef LLM_ORCHESTRATOR_BUDGET_H
#define LLM_ORCHESTRATOR_BUDGET_H

#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "history.h"
#include "llm/llm.h"

/* The part of all tokens that one earlier message may have. */
#define BUDGET_SHARE 8

/* budget_tokens(s): The tokens of a text. */
size_t budget_tokens(struct str s);

/* budget_message(m): Those of a message with its calls. */
size_t budget_message(const struct llm_message *m);

/* budget_shorten(s, max, a):
 * s, or its beginning and end with a mark between them, of max tokens at most
 * but for the mark.  Absent if a is full.
 */
struct str budget_shorten(struct str s, size_t max, struct arena *a);

/*
 * budget_fit(l, tokens, each, a):
 * Shorten earlier messages to each tokens, and leave out the oldest ones until
 * all have tokens at most; calls go with their results, and lose their
 * arguments if those are too long.  RC_TOOBIG if a is full.
 */
enum rc budget_fit(struct history_list *l, size_t tokens, size_t each,
    struct arena *a) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_BUDGET_H */
