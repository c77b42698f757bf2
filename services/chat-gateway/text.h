/*
 * text: what people write.
 */
#ifndef CHAT_GATEWAY_TEXT_H
#define CHAT_GATEWAY_TEXT_H

#include "core/str.h"

/*
 * text_trim(s):
 * UTF-8 without the white space at both ends, of which Unicode has more than
 * ASCII; empty if there is nothing else.
 */
struct str text_trim(struct str s);

#endif /* !CHAT_GATEWAY_TEXT_H */
