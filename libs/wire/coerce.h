/*
 * coerce: converts arguments that a language model wrote or a pattern captured
 * to the types of a skill's schema, where the conversion loses nothing.
 */
#ifndef WIRE_COERCE_H
#define WIRE_COERCE_H

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

struct wire_tree;

/*
 * wire_coerce(schema, json, out):
 * Append json with its values converted to the types of the schema:
 * "3" into 3, 3.0 into 3, "开" or "true" into true, 3 into "3", a choice in
 * other letters or another word into the one choice that it can mean, JSON in a
 * text into that JSON; null for an optional member is omitted; a number out of
 * bounds becomes the bound where the schema says "x-clamp": true. Any other
 * value stays as it is.  Reads type, enum, minimum, maximum, properties,
 * required and items, not through $ref.  RC_INVALID if json is not JSON,
 * RC_TOOBIG if out is full.
 */
enum rc wire_coerce(
    const struct wire_tree *schema, struct str json, struct buf *out) RC_CHECK;

#endif /* !WIRE_COERCE_H */
