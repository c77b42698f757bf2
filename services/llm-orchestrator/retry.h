/*
 * retry: what tells a repeated request from a new one.
 */
#ifndef LLM_ORCHESTRATOR_RETRY_H
#define LLM_ORCHESTRATOR_RETRY_H

#include <stdbool.h>

#include "core/buf.h"
#include "wire/msgs.h"

/*
 * retry_write(chat, b):
 * Append what two requests of one session have in common exactly if one repeats
 * the other: the body, and of each input type, input_id, ts and text.  False,
 * and nothing is appended, if nothing the user said has an id or a time: saying
 * the same twice is no repetition then.  Pure.
 */
bool retry_write(const struct wire_chat_request *chat, struct buf *b);

#endif /* !LLM_ORCHESTRATOR_RETRY_H */
