/*
 * openai_call: what the routes for clients of OpenAI's API have in common.
 */
#ifndef CHAT_GATEWAY_OPENAI_OPENAI_CALL_H
#define CHAT_GATEWAY_OPENAI_OPENAI_CALL_H

#include <stdbool.h>

#include "core/str.h"

struct soul_chat;

/*
 * openai_call_user(s, named):
 * The user: the named one only if the caller is an operator with a token.
 *
 * openai_call_set(s, text, session):
 * The input; session may be absent, then it is that of the soul.
 *
 * False: s->c has been ended.
 */
bool openai_call_user(struct soul_chat *s, struct str named);
bool openai_call_set(struct soul_chat *s, struct str text, struct str session);

#endif /* !CHAT_GATEWAY_OPENAI_OPENAI_CALL_H */
