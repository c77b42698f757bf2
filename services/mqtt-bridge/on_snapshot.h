/*
 * on_snapshot: reports of skills and intents: read by a worker thread, written
 * by the loop, in the order in which they came.
 */
#ifndef MQTT_BRIDGE_ON_SNAPSHOT_H
#define MQTT_BRIDGE_ON_SNAPSHOT_H

#include <stdbool.h>

#include "address.h"
#include "core/str.h"

struct bridge;
struct mqtt_msg;
struct snapshots;

/* snapshots_new(b): With a worker thread of its own. */
struct snapshots *snapshots_new(struct bridge *b);

/*
 * snapshots_free(s):
 * Wait for the worker; what it was at is lost, the broker has it.  NULL is
 * allowed.
 */
void snapshots_free(struct snapshots *s);

/* on_snapshot(s, a, m): A message came. */
void on_snapshot(
    struct snapshots *s, const struct address *a, const struct mqtt_msg *m);

/*
 * snapshots_left(s, terminal):
 * It has taken its leave: what of it is still in work is no sign of life.
 */
void snapshots_left(struct snapshots *s, struct str terminal);

/* snapshots_busy(s): Whether any are in work. */
bool snapshots_busy(const struct snapshots *s);

/* snapshots_clear(s): Forget all: another replica leads. */
void snapshots_clear(struct snapshots *s);

#endif /* !MQTT_BRIDGE_ON_SNAPSHOT_H */
