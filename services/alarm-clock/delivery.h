/*
 * delivery: one alarm or push that is due, from its claim to its outcome, in a
 * fiber of its own.
 */
#ifndef ALARM_CLOCK_DELIVERY_H
#define ALARM_CLOCK_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"
#include "state/alarm_entry.h"

struct alarm_clock;
struct delivery;

/* A claim, of a process that may die: another claims it after this. */
#define DELIVERY_LEASE_MS INT64_C(3000)
/* How often claims are extended. */
#define DELIVERY_EXTEND_MS 1000

/*
 * delivery_start(c, e, now): Deliver a claimed entry, at Redis' time now.
 *
 * delivery_is_claimed(d, bucket, e): Whether it waits for a body, so that its
 *     claim is to be extended; its bucket and entry.
 */
void delivery_start(
    struct alarm_clock *c, const struct alarm_entry *e, struct wall now);
bool delivery_is_claimed(
    const struct delivery *d, unsigned *bucket, struct alarm_entry *e);

/* delivery_next(d): The next in the list of c; NULL: none. */
struct delivery *delivery_next(const struct delivery *d);

#endif /* !ALARM_CLOCK_DELIVERY_H */
