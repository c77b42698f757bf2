/*
 * schema_shape: which keywords JSON Schema draft-07 has and what their values
 * must look like; the part of the meta-schema that a program needs.
 */
#ifndef WIRE_SCHEMA_SHAPE_H
#define WIRE_SCHEMA_SHAPE_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "wire/check.h"

struct json_t;

/*
 * wire_shape_check(v, at, steps):
 * Whether v is valid against the draft-07 meta-schema.  RC_INVALID through
 * wire_fail() if not, RC_TOOBIG if that takes more than *steps, which are used
 * up by one for each value looked at.
 */
enum rc wire_shape_check(
    const struct json_t *v, const struct wire_at *at, size_t *steps) RC_CHECK;

/* A schema inside another; at is on the caller's stack. */
typedef enum rc (*wire_shape_fn)(
    void *arg, struct json_t *schema, const struct wire_at *at);

/*
 * wire_shape_each(v, at, fn, arg):
 * Call fn for each schema that stands directly in the schema v, whose shape is
 * right, until one call does not return RC_OK; returns what the last returned.
 */
enum rc wire_shape_each(const struct json_t *v, const struct wire_at *at,
    wire_shape_fn fn, void *arg) RC_CHECK;

/* A bit for each type a JSON value can have. */
enum wire_schema_type {
	WIRE_TYPE_NULL = 1,
	WIRE_TYPE_BOOLEAN = 2,
	WIRE_TYPE_INTEGER = 4,
	WIRE_TYPE_NUMBER = 8,
	WIRE_TYPE_STRING = 16,
	WIRE_TYPE_ARRAY = 32,
	WIRE_TYPE_OBJECT = 64
};

/* wire_type_of(name): The bit of "null", "integer", …; 0 if there is none. */
unsigned wire_type_of(struct str name);

#endif /* !WIRE_SCHEMA_SHAPE_H */
