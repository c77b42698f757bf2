/*
 * on_report: what the leader writes about bodies: presence as it is told,
 * heartbeats, refusals; and what others hand over to be written.
 *
 * Reports wait until the loop comes round and go out together, in their order;
 * heartbeats wait longer (beats.h).
 */
#ifndef MQTT_BRIDGE_ON_REPORT_H
#define MQTT_BRIDGE_ON_REPORT_H

#include <stddef.h>

#include "address.h"
#include "state/terminal.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct bridge;
struct mqtt_msg;
struct reports;

/* reports_new(b): Nothing waits; b's Redis connection must be there. */
struct reports *reports_new(struct bridge *b);

/* reports_free(r): Write what waits; free.  NULL is allowed. */
void reports_free(struct reports *r);

/* on_online(r, a, m), on_heartbeat(r, a, m): A message came. */
void on_online(
    struct reports *r, const struct address *a, const struct mqtt_msg *m);
void on_heartbeat(
    struct reports *r, const struct address *a, const struct mqtt_msg *m);

/*
 * reports_refuse(r, a, outcome, err):
 * A report on the topic a did not count in full: keep that and tell it.
 */
void reports_refuse(struct reports *r, const struct address *a,
    enum wire_refusal_outcome outcome, const struct wire_err *err);

/*
 * reports_write(r, v, n):
 * Write these behind all that waits.  v[i].rc says what became of each; what
 * follows from it for presence, and from a failure, is done.
 */
void reports_write(struct reports *r, struct terminal_report *v, size_t n);

/* reports_retry(r): Try again what could not be written. */
void reports_retry(struct reports *r);

/* reports_clear(r): Forget all: another replica leads. */
void reports_clear(struct reports *r);

#endif /* !MQTT_BRIDGE_ON_REPORT_H */
