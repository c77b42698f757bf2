/*
 * patterns: whether the regular expressions of a catalog can be compiled.
 *
 * Each is compiled as intent-filter will; what is refused here can never fail
 * there.
 */
#ifndef MQTT_BRIDGE_PATTERNS_H
#define MQTT_BRIDGE_PATTERNS_H

#include <stddef.h>

#include "core/rc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Processor time that the patterns of one catalog may take. */
#define PATTERNS_MS 150

/*
 * patterns_check(intents, n, where, err):
 * RC_INVALID if one is not a regular expression, RC_TOOBIG if one is too
 * complex or all of them take too long; err says which and why.  where is the
 * path of the list of intents.
 */
enum rc patterns_check(const struct wire_intent *intents, size_t n,
    const char *where, struct wire_err *err) RC_CHECK;

#endif /* !MQTT_BRIDGE_PATTERNS_H */
