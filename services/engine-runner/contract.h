/*
 * contract: the instructions for the engine that are added to a prompt: how it
 * reports that the work is done, and how it asks the user.  Pure.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/str.h"

/*
 * contract_prompt(prompt, mode, schema, out):
 * Append the prompt, then the instructions for its mode; schema is the JSON
 * Schema of the result, or absent.
 */
void contract_prompt(
    struct str prompt, struct str mode, struct str schema, struct buf *out);

/* contract_reply(content, out): Append what a resumed engine is given. */
void contract_reply(struct str content, struct buf *out);

#endif /* !CONTRACT_H */
