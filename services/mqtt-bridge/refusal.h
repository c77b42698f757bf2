/*
 * refusal: what is told about a report that did not count in full.
 */
#ifndef MQTT_BRIDGE_REFUSAL_H
#define MQTT_BRIDGE_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* A refusal with room for its texts; not to be copied. */
struct refusal {
	struct wire_refusal wire;
	struct wire_err err;
	char at[WALL_FORMAT_MAX];
};

/*
 * refusal_fill(r, kind, outcome, err, at):
 * What err says of the report of that kind which came in at.
 */
void refusal_fill(struct refusal *r, enum wire_report_kind kind,
    enum wire_refusal_outcome outcome, const struct wire_err *err,
    struct wall at);

/*
 * refusal_kind(row, kind):
 * The kind of the report that comes on that row of wire_topics; false if none
 * does.
 */
bool refusal_kind(size_t row, enum wire_report_kind *kind);

/*
 * refusal_rollback(row, version, known, bare, err):
 * Why a snapshot of that version is ignored when known is known: in a report
 * that is bare, there is no member to point to.
 */
void refusal_rollback(size_t row, int64_t version, int64_t known, bool bare,
    struct wire_err *err);

#endif /* !MQTT_BRIDGE_REFUSAL_H */
