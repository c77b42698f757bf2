/*
 * text: raw members, once their reader knows what they should be.
 */
#ifndef WIRE_TEXT_H
#define WIRE_TEXT_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * wire_text(json, a, out):
 * The text of the JSON string json, from a.  RC_INVALID if it is anything else,
 * RC_TOOBIG if it passes a ceiling.
 */
enum rc wire_text(struct str json, struct arena *a, struct str *out) RC_CHECK;

/* wire_is_object(json): Whether json is one JSON object within the ceilings. */
bool wire_is_object(struct str json);

#endif /* !WIRE_TEXT_H */
