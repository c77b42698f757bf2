/*
 * schema: JSON Schema draft-07 at run time, for schemas that come from outside
 * (a device's skills[].input_schema).
 *
 * Complete but for fetching: a $ref to another document is an error when the
 * schema is compiled, except to the draft-07 meta-schema, which is built in.
 * "format" and "content…" are annotations.  Patterns are ECMA 262 as far as
 * PCRE2 can say it.  Numbers are 64-bit integers and doubles; where a text has
 * a larger integer, all its numbers are doubles.
 *
 * Reasons are written for people and language models that must do better next
 * time: "must be one of on, off, set_color".  They may quote the schema, never
 * the value, but for the names of its members.
 */
#ifndef WIRE_SCHEMA_H
#define WIRE_SCHEMA_H

#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* Largest schema in bytes. */
#define WIRE_SCHEMA_MAX (64 * 1024)

struct wire_schema;

/*
 * wire_schema_new(json, out, err):
 * Compile a schema; some 10 µs for a small one and 50 µs more for each pattern,
 * 20 ms at worst.  RC_INVALID if it is not one, RC_TOOBIG over
 * WIRE_SCHEMA_MAX or too complex; err (may be NULL) then says what is wrong and
 * where in the schema.  Freed with wire_schema_free().
 */
enum rc wire_schema_new(
    struct str json, struct wire_schema **out, struct wire_err *err) RC_CHECK;

/* wire_schema_free(s): NULL is allowed. */
void wire_schema_free(struct wire_schema *s);

/*
 * wire_schema_check(s, json, err):
 * RC_OK if the document json is valid, RC_INVALID if not or if it is not JSON;
 * err (may be NULL) has the place in json and the first reason.  A missing
 * member's place is where it should be.  RC_TOOBIG over WIRE_MESSAGE_MAX or if
 * it takes too long to find out, which ends a check after some ms where json is
 * small, tens of ms where it is not.  Any thread.
 */
enum rc wire_schema_check(
    struct wire_schema *s, struct str json, struct wire_err *err) RC_CHECK;

#endif /* !WIRE_SCHEMA_H */
