/*
 * beats: heartbeats that wait to be written, each terminal's once.
 */
#ifndef MQTT_BRIDGE_BEATS_H
#define MQTT_BRIDGE_BEATS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/str.h"

/* They are due that long after the first of them came, or when so many wait. */
#define BEATS_WAIT_MS 250
#define BEATS_DUE     1000
/* More than that are never kept, whatever keeps them from being written. */
#define BEATS_MAX 65536

struct beats;

/* beats_new(): None waits. */
struct beats *beats_new(void);

/* beats_free(b): NULL is allowed. */
void beats_free(struct beats *b);

/*
 * beats_add(b, id, now):
 * The terminal id gave a sign of life.  False if there is no room.
 */
bool beats_add(struct beats *b, struct str id, struct mono now);

/* beats_drop(b, id): It took its leave: forget what it said before. */
void beats_drop(struct beats *b, struct str id);

/* beats_due(b): When they are due; {0} if none waits. */
struct mono beats_due(const struct beats *b);

/* beats_len(b): How many wait. */
size_t beats_len(const struct beats *b);

/*
 * beats_list(b, ids, max):
 * The first terminals, at most max; valid until b changes.  How many.
 */
size_t beats_list(const struct beats *b, struct str *ids, size_t max);

/* beats_clear(b): Forget all. */
void beats_clear(struct beats *b);

#endif /* !MQTT_BRIDGE_BEATS_H */
