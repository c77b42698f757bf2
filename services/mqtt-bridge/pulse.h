/*
 * pulse: when each present terminal last gave a sign of life, to notice the
 * ones that fall silent.
 */
#ifndef MQTT_BRIDGE_PULSE_H
#define MQTT_BRIDGE_PULSE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/str.h"

/* Terminals that are watched; any beyond them are not. */
#define PULSE_MAX 1000000

struct pulse;

/* pulse_new(): None is watched. */
struct pulse *pulse_new(void);

/* pulse_free(p): NULL is allowed. */
void pulse_free(struct pulse *p);

/* pulse_seen(p, id, now): It lives; now is never before that of another call.
 */
void pulse_seen(struct pulse *p, struct str id, struct mono now);

/* pulse_gone(p, id): It is known to have gone. */
void pulse_gone(struct pulse *p, struct str id);

/*
 * pulse_silent(p, before, id):
 * One that was last seen before that; it is watched no more.  False if there is
 * none.
 */
bool pulse_silent(struct pulse *p, struct mono before, char id[ID_MAX + 1]);

/* pulse_len(p): How many are watched. */
size_t pulse_len(const struct pulse *p);

/* pulse_clear(p): Watch none. */
void pulse_clear(struct pulse *p);

#endif /* !MQTT_BRIDGE_PULSE_H */
