/*
 * expected: the results that this replica waits for: of the invokes that it has
 * sent itself.
 */
#ifndef MQTT_BRIDGE_EXPECTED_H
#define MQTT_BRIDGE_EXPECTED_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/str.h"

/* At one time; of more the oldest are forgotten. */
#define EXPECTED_MAX 65536
/* As long as Redis knows of it. */
#define EXPECTED_MS 600000

struct expected;

/* expected_new(), expected_free(e): None; NULL is allowed. */
struct expected *expected_new(void);
void expected_free(struct expected *e);

/* expected_add(e, terminal, request, now): It was asked; whether it is new. */
bool expected_add(struct expected *e, struct str terminal, struct str request,
    struct mono now);

/* expected_take(e, terminal, request, now): Whether it was; not any more. */
bool expected_take(struct expected *e, struct str terminal, struct str request,
    struct mono now);

#endif /* !MQTT_BRIDGE_EXPECTED_H */
