/*
 * responses_record: turns as responses, which are stored for an hour.
 */
#ifndef CHAT_GATEWAY_OPENAI_RESPONSES_RECORD_H
#define CHAT_GATEWAY_OPENAI_RESPONSES_RECORD_H

#include <stdbool.h>

#include "core/str.h"

struct soul_chat;
struct turn_record;

/*
 * responses_record_read(s, field, id, rec):
 * The turn of s->user with this id, in the memory of s->c; field is how an
 * error begins.  False: s->c has been ended.
 */
bool responses_record_read(const struct soul_chat *s, const char *field,
    struct str id, struct turn_record *rec);

#endif /* !CHAT_GATEWAY_OPENAI_RESPONSES_RECORD_H */
