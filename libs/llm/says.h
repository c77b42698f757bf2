/*
 * says: the first line of what a provider says of an error, fit for the log.
 * Private, pure.
 */
#ifndef LLM_SAYS_H
#define LLM_SAYS_H

#include "core/buf.h"
#include "core/str.h"
#include "llm/llm.h"

/* Bytes of the line, what was taken out of it included. */
#define SAYS_MAX 200

/*
 * says_line(said, key, chat, out):
 * Append the first line of said without control characters, cut to SAYS_MAX.
 * "***" stands for words that have four bytes in a row of the key (absent:
 * none), or look like a key; "…" for what it shares, six bytes in a row and
 * letters of either case, with any text of chat, and for what stands after an
 * escape (\), which could hide such.
 */
void says_line(struct str said, struct str key, const struct llm_chat *chat,
    struct buf *out);

#endif /* !LLM_SAYS_H */
