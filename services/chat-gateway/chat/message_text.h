/*
 * message_text: the text of a message as clients of models send it.  Pure.
 */
#ifndef CHAT_GATEWAY_CHAT_MESSAGE_TEXT_H
#define CHAT_GATEWAY_CHAT_MESSAGE_TEXT_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * message_text(content, a, out):
 * The text in the JSON content: a string, or its parts of type text, separated
 * by line feeds; absent if there is none.  RC_TOOBIG if a is full.
 */
enum rc message_text(
    struct str content, struct arena *a, struct str *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_CHAT_MESSAGE_TEXT_H */
