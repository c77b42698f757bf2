/*
 * messages: an Anthropic request, checked as Anthropic does, as the request for
 * chat completions that the rules read.  Pure.
 */
#ifndef LLM_SIM_MESSAGES_H
#define LLM_SIM_MESSAGES_H

#include "core/arena.h"
#include "core/rc.h"
#include "wire/msgs.h"

/*
 * messages_read(in, a, out, why):
 * RC_INVALID with *why set if the roles do not take turns, a text is empty, or
 * a call has not exactly one result in the message behind it; RC_TOOBIG if a is
 * full.
 */
enum rc messages_read(const struct wire_llm_messages_request *in,
    struct arena *a, struct wire_llm_chat_request *out,
    const char **why) RC_CHECK;

#endif /* !LLM_SIM_MESSAGES_H */
