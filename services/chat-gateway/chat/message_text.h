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
 * The text in the JSON content: a string, or its parts of type text or
 * input_text, separated by line feeds; absent if there is none.  RC_TOOBIG if a
 * is full.
 *
 * message_input_text(input, a, out):
 * The same of a string, or of the newest message of the user in an array.
 */
enum rc message_text(
    struct str content, struct arena *a, struct str *out) RC_CHECK;
enum rc message_input_text(
    struct str input, struct arena *a, struct str *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_CHAT_MESSAGE_TEXT_H */
