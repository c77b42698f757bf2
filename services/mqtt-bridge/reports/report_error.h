/*
 * report_error: the message about a report that did not count in full.  Pure.
 */
#ifndef MQTT_BRIDGE_REPORT_ERROR_H
#define MQTT_BRIDGE_REPORT_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* The message with room for its texts; must not be copied. */
struct report_error {
	struct wire_refusal wire;
	struct wire_err err;
	char at[WALL_FORMAT_MAX];
};

/*
 * report_error_fill(e, kind, outcome, err, at):
 * Fill in err about a report of that kind which arrived at at.
 */
void report_error_fill(struct report_error *e, enum wire_report_kind kind,
    enum wire_refusal_outcome outcome, const struct wire_err *err,
    struct wall at);

/*
 * report_error_kind(row, kind):
 * The kind of report of a row of wire_topics; false if it is not a report.
 */
bool report_error_kind(size_t row, enum wire_report_kind *kind);

/*
 * report_error_rollback(row, version, known, bare, err):
 * Say in err why a snapshot of that version is ignored when version known is
 * stored.  A bare report has no member to point to.
 */
void report_error_rollback(size_t row, int64_t version, int64_t known,
    bool bare, struct wire_err *err);

#endif /* !MQTT_BRIDGE_REPORT_ERROR_H */
