/*
 * device: reports of terminals over MQTT, decoded as liberally as the protocol
 * allows, with the checks that need the topic.
 *
 * A report that counts only in part is taken, and *note says what of it does
 * not: path and reason, as in an error; note->why is "" when all of it counts.
 * terminal is the one in the topic.  All texts live in a.  note and err may be
 * NULL.
 */
#ifndef WIRE_DEVICE_H
#define WIRE_DEVICE_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/*
 * wire_device_skills(in, terminal, a, out, note, err):
 * A report of skills.  terminal_id becomes terminal when it is absent or empty;
 * another one is RC_INVALID.  Of two skills with one name the first counts; the
 * note is about the first one that does not.  Otherwise as wire_decode().
 */
enum rc wire_device_skills(struct str in, struct str terminal, struct arena *a,
    struct wire_skills_report *out, struct wire_err *note,
    struct wire_err *err) RC_CHECK;

/*
 * wire_device_intents(in, terminal, a, out, note, err):
 * A report of intents, as wire_device_skills(); ids stand for names.
 */
enum rc wire_device_intents(struct str in, struct str terminal, struct arena *a,
    struct wire_intent_catalog_report *out, struct wire_err *note,
    struct wire_err *err) RC_CHECK;

/*
 * wire_device_result(in, request_id, a, out, err):
 * The result of an invoke; request_id is the one in the topic, and another one
 * in the result is RC_INVALID.  A failure without a reason gets the reason
 * "tool invocation failed".
 */
enum rc wire_device_result(struct str in, struct str request_id,
    struct arena *a, struct wire_result *out, struct wire_err *err) RC_CHECK;

#endif /* !WIRE_DEVICE_H */
