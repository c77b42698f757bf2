/*
 * anthropic: the Messages interface.  Private, pure.
 */
#ifndef LLM_ANTHROPIC_H
#define LLM_ANTHROPIC_H

#include "llm/provider.h"

/* anthropic_write(p, chat, out): As struct dialect has it, and so all below. */
enum rc anthropic_write(const struct provider *p, const struct llm_chat *chat,
    struct buf *out) RC_CHECK;

/* anthropic_event(m, v, delta, why). */
enum rc anthropic_event(struct accum *m, const struct wire_tree *v,
    struct str *delta, const char **why) RC_CHECK;

/* anthropic_answer(m, v, why). */
enum rc anthropic_answer(
    struct accum *m, const struct wire_tree *v, const char **why) RC_CHECK;

#endif /* !LLM_ANTHROPIC_H */
