/*
 * flood: how much one body may say, so that none keeps the bridge from the
 * others.  Reports, heartbeats and results have a bucket each.
 */
#ifndef MQTT_BRIDGE_FLOOD_H
#define MQTT_BRIDGE_FLOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/str.h"

/* A message counts as one, and as one more for each of so many bytes. */
#define FLOOD_BYTES 65536
/* Bodies whose buckets are known, of each kind; those heard last. */
#define FLOOD_BODIES 16384

struct flood;

enum flood_answer { FLOOD_OK, FLOOD_OVER, FLOOD_OVER_FIRST };

/* flood_new(per_s, burst): As of rate_new(), for one body and kind. */
struct flood *flood_new(int64_t per_s, int64_t burst);

/* flood_free(f): NULL is allowed. */
void flood_free(struct flood *f);

/*
 * flood_take(f, row, id, bytes, now):
 * A message of that many bytes came, under a topic of wire_topics.
 * FLOOD_OVER_FIRST: the first one too many of this body, as of once_first().
 * Of what is too much nothing counts.
 */
enum flood_answer flood_take(
    struct flood *f, size_t row, struct str id, size_t bytes, struct mono now);

/* flood_room(f, row, id, bytes, now): Whether it would be FLOOD_OK. */
bool flood_room(
    struct flood *f, size_t row, struct str id, size_t bytes, struct mono now);

/* flood_give(f, row, id, bytes): A message that was taken does not count. */
void flood_give(struct flood *f, size_t row, struct str id, size_t bytes);

#endif /* !MQTT_BRIDGE_FLOOD_H */
