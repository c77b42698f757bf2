/*
 * copied: until when which terminal is present, as its soul's bucket knows it.
 * Pure.
 *
 * The ticks of a soul need that of all its terminals, and read no records of
 * terminals.
 */
#ifndef MQTT_BRIDGE_COPIED_H
#define MQTT_BRIDGE_COPIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "state/terminal.h"

/* Terminals that are remembered; any beyond are copied with each report. */
#define COPIED_MAX 1000000

struct copied;

/* copied_new(), copied_free(c): NULL is allowed. */
struct copied *copied_new(void);
void copied_free(struct copied *c);

/*
 * copied_is_due(c, t, ttl_ms):
 * Whether the bucket must learn what the report t, which was written, has
 * changed: the binding, whether it is present, or until when, if less than half
 * of that is left.  It is remembered as copied.
 */
bool copied_is_due(
    struct copied *c, const struct terminal_report *t, int64_t ttl_ms);

/* copied_forget(c, id): It was not copied, or is not reported any more. */
void copied_forget(struct copied *c, struct str id);

/* copied_clear(c): Forget all. */
void copied_clear(struct copied *c);

#endif /* !MQTT_BRIDGE_COPIED_H */
