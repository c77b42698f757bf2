/*
 * coerce: arguments as a language model wrote or a pattern captured them,
 * brought to the types that a skill's schema wants, where nothing is lost by
 * it.
 */
#ifndef WIRE_COERCE_H
#define WIRE_COERCE_H

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * wire_coerce(schema, json, out):
 * Append json with its values turned into what the schema says they should be:
 * "3" into 3, 3.0 into 3, "true" into true, 3 into "3", a choice in another
 * case into that choice, JSON in a text into that JSON; null for an optional
 * member is left out.  What does not fit otherwise stays as it is.  Looks at
 * type, enum, properties, required and items, not through $ref.  RC_INVALID if
 * one of the two is not JSON, RC_TOOBIG if out is full.
 */
enum rc wire_coerce(
    struct str schema, struct str json, struct buf *out) RC_CHECK;

#endif /* !WIRE_COERCE_H */
