/*
 * schemas: whether the schemas of skills' arguments are any.
 */
#ifndef MQTT_BRIDGE_SCHEMAS_H
#define MQTT_BRIDGE_SCHEMAS_H

#include <stddef.h>

#include "core/rc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Processor time that the schemas of one report may take to compile, in ms. */
#define SCHEMAS_MS 500

/*
 * schemas_check(skills, n, bad, err):
 * RC_INVALID if one is no JSON Schema, RC_TOOBIG if they took too long: *bad is
 * then the skill's index, err->path the place in its input_schema, err->why the
 * reason.  One that is too large to be compiled is not judged.
 */
enum rc schemas_check(const struct wire_skill *skills, size_t n, size_t *bad,
    struct wire_err *err) RC_CHECK;

#endif /* !MQTT_BRIDGE_SCHEMAS_H */
