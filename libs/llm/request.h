/*
 * request: a chat checked, and kept for as long as it may be sent.  Private,
 * pure.
 */
#ifndef LLM_REQUEST_H
#define LLM_REQUEST_H

#include "core/arena.h"
#include "llm/llm.h"

/*
 * request_check(chat, why):
 * RC_INVALID if it breaks what all providers demand; *why then says what.
 */
enum rc request_check(const struct llm_chat *chat, const char **why) RC_CHECK;

/*
 * request_copy(chat, a, out):
 * *out is chat with its messages, tools and texts in a; its trace is not.
 * RC_TOOBIG if a is full.
 */
enum rc request_copy(const struct llm_chat *chat, struct arena *a,
    struct llm_chat *out) RC_CHECK;

#endif /* !LLM_REQUEST_H */
