/*
 * once: who was told something already, in this span of time.  Pure.
 */
#ifndef MQTT_BRIDGE_ONCE_H
#define MQTT_BRIDGE_ONCE_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/str.h"

#define ONCE_SPAN_MS 10000
/* Bodies that are told in one span; no more are. */
#define ONCE_BODIES 16384

struct once;

/* once_new(), once_free(o): Nobody yet; NULL is allowed. */
struct once *once_new(void);
void once_free(struct once *o);

/* once_first(o, id, now): Whether this is the first of id in the span. */
bool once_first(struct once *o, struct str id, struct mono now);

#endif /* !MQTT_BRIDGE_ONCE_H */
