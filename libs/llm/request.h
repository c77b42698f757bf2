/*
 * request: a chat as the provider's JSON.  Private, pure.
 */
#ifndef LLM_REQUEST_H
#define LLM_REQUEST_H

#include "core/buf.h"
#include "llm/llm.h"

/*
 * request_write(chat, model, out):
 * Append the body of the request.  RC_INVALID if it breaks the interface (the
 * log says where), RC_TOOBIG if out is full.
 */
enum rc request_write(
    const struct llm_chat *chat, struct str model, struct buf *out) RC_CHECK;

#endif /* !LLM_REQUEST_H */
