/*
 * quota: how many events one terminal may cause, so that none of them crowds
 * the others out of the stream.
 */
#ifndef MQTT_BRIDGE_QUOTA_H
#define MQTT_BRIDGE_QUOTA_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/str.h"

/* So many in so long; the span begins anew for all terminals together. */
#define QUOTA_EVENTS  200
#define QUOTA_SPAN_MS 10000
/* Terminals that are counted in one span; the others are not limited. */
#define QUOTA_TERMINALS 65536

struct quota;

/* quota_new(): Of terminals that have caused nothing. */
struct quota *quota_new(void);

/* quota_free(q): NULL is allowed. */
void quota_free(struct quota *q);

/* quota_take(q, id, now): Whether the terminal may cause one more. */
bool quota_take(struct quota *q, struct str id, struct mono now);

#endif /* !MQTT_BRIDGE_QUOTA_H */
