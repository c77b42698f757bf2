/*
 * jsonc: JSON with comments and commas before a closing bracket, as editors
 * write configuration files.
 */
#ifndef JSONC_H
#define JSONC_H

#include "core/str.h"

struct buf;

/*
 * jsonc_strip(text, out): Append text as JSON: comments become blanks, so that
 * offsets stay; commas before a bracket, too.  What is not JSON stays so.
 */
void jsonc_strip(struct str text, struct buf *out);

#endif /* !JSONC_H */
