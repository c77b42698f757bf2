/*
 * on_lease: holding the lease, and the subscriptions that go with it.
 */
#ifndef MQTT_BRIDGE_ON_LEASE_H
#define MQTT_BRIDGE_ON_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "lead.h"

struct bridge;
struct leading;

/* leading_broker_ok(id): Whether a lease can be named for the broker. */
bool leading_broker_ok(struct str id);

/* leading_new(b): Begin to try for the lease. */
struct leading *leading_new(struct bridge *b);

/* leading_free(l): Give the lease up at once.  NULL is allowed. */
void leading_free(struct leading *l);

/*
 * leading_served(l):
 * Whether the reports are read: by another replica, or by us and what the
 * broker had kept has come.  Any thread.
 */
bool leading_served(const struct leading *l);

/* leading_epoch(l): The epoch of the lease; 0 while another replica leads. */
int64_t leading_epoch(const struct leading *l);

/* leading_broker(l, up): The connection to the broker was made or lost. */
void leading_broker(struct leading *l, bool up);

/* leading_replayed(l): A retained message came, or one is still in work. */
void leading_replayed(struct leading *l);

/*
 * leading_again(l, filter):
 * A report of that filter is lost: have the broker send what it keeps again.
 */
void leading_again(struct leading *l, enum lead_filter filter);

/*
 * leading_catching_up(l):
 * Whether it holds the lease, and what the broker had kept is still coming.
 */
bool leading_catching_up(const struct leading *l);

/*
 * leading_clear_again(l):
 * Something that the broker should not keep could not be cleared: look for such
 * things again, some time from now.
 */
void leading_clear_again(struct leading *l);

/* leading_fenced(l): A write was refused: another replica leads. */
void leading_fenced(struct leading *l);

#endif /* !MQTT_BRIDGE_ON_LEASE_H */
