/*
 * alarm_wire: rules as messages have them.  Pure, any thread.
 */
#ifndef ALARM_ALARM_WIRE_H
#define ALARM_ALARM_WIRE_H

#include <stddef.h>

#include "alarm/alarm_rule.h"
#include "core/arena.h"
#include "core/rc.h"
#include "wire/msgs.h"

/* Room for the text of any error of this library, NUL included. */
#define ALARM_WHY_MAX 256

/*
 * alarm_rule_of_wire(in, out, why, size):
 * RC_INVALID: a member is missing or wrong; why, of size bytes (> 0), names it
 * by its path in the rule and says what is expected.
 */
enum rc alarm_rule_of_wire(const struct wire_alarm_rule *in,
    struct alarm_rule *out, char *why, size_t size) RC_CHECK;

/*
 * alarm_rule_to_wire(r, zone, a, out):
 * The inverse; zone gives instants their offset.  Memory from a; RC_TOOBIG if
 * it is full.
 */
enum rc alarm_rule_to_wire(const struct alarm_rule *r, const struct zone *zone,
    struct arena *a, struct wire_alarm_rule *out) RC_CHECK;

#endif /* !ALARM_ALARM_WIRE_H */
