/*
 * liveness: heartbeats waiting to be written, terminals that went offline while
 * reports wait, and the timeouts of those that are present.  Pure.
 */
#ifndef MQTT_BRIDGE_LIVENESS_H
#define MQTT_BRIDGE_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/str.h"

/* ---- heartbeat batch: the terminals whose heartbeat is to be written ---- */

/* A batch is due that long after its first heartbeat, or at this size. */
#define HEARTBEAT_BATCH_MS   250
#define HEARTBEAT_BATCH_FULL 1000
/* Most terminals in a batch while it cannot be written. */
#define HEARTBEAT_BATCH_MAX 65536

struct heartbeat_batch;

/* heartbeat_batch_new(), heartbeat_batch_free(b): NULL is allowed. */
struct heartbeat_batch *heartbeat_batch_new(void);
void heartbeat_batch_free(struct heartbeat_batch *b);

/* heartbeat_batch_add(b, id, now): False if the batch has no room. */
bool heartbeat_batch_add(
    struct heartbeat_batch *b, struct str id, struct mono now);

/* heartbeat_batch_remove(b, id): The terminal went offline, or is written. */
void heartbeat_batch_remove(struct heartbeat_batch *b, struct str id);

/* heartbeat_batch_due(b): When to write it; {0} if it is empty. */
struct mono heartbeat_batch_due(const struct heartbeat_batch *b);

/* heartbeat_batch_len(b): Number of terminals. */
size_t heartbeat_batch_len(const struct heartbeat_batch *b);

/*
 * heartbeat_batch_list(b, ids, max):
 * The first terminals, at most max, valid until b changes; returns how many.
 */
size_t heartbeat_batch_list(
    const struct heartbeat_batch *b, struct str *ids, size_t max);

/* heartbeat_batch_clear(b): Remove all. */
void heartbeat_batch_clear(struct heartbeat_batch *b);

/* ---- offline marks: which terminals went offline, and when ---- */

/* Terminals that are remembered; if there are more, any may be offline. */
#define OFFLINE_MARKS_MAX 65536

struct offline_marks;

/* offline_marks_new(), offline_marks_free(m): NULL is allowed. */
struct offline_marks *offline_marks_new(void);
void offline_marks_free(struct offline_marks *m);

/*
 * offline_marks_add(m, id, seq):
 * The terminal went offline after the message with that number (0: before all).
 */
void offline_marks_add(struct offline_marks *m, struct str id, uint64_t seq);

/*
 * offline_marks_after(m, id, seq):
 * Whether the terminal went offline after the message with that number.
 */
bool offline_marks_after(
    const struct offline_marks *m, struct str id, uint64_t seq);

/* offline_marks_clear(m): Forget all. */
void offline_marks_clear(struct offline_marks *m);

/* ---- presence timeout: when each present terminal was last seen ---- */

/* Terminals that are tracked; any beyond never time out. */
#define PRESENCE_TIMEOUT_MAX 1000000

struct presence_timeout;

/* presence_timeout_new(), presence_timeout_free(p): NULL is allowed. */
struct presence_timeout *presence_timeout_new(void);
void presence_timeout_free(struct presence_timeout *p);

/*
 * presence_timeout_seen(p, id, now, here):
 * The terminal is present.  here: this broker has received a sign of life;
 * otherwise the terminal may be at another one.  now must not decrease between
 * calls.
 */
void presence_timeout_seen(
    struct presence_timeout *p, struct str id, struct mono now, bool here);

/* presence_timeout_remove(p, id): The terminal left this broker. */
void presence_timeout_remove(struct presence_timeout *p, struct str id);

/*
 * presence_timeout_is_seen(p, id, since):
 * Whether it was seen at this broker since then.
 */
bool presence_timeout_is_seen(
    const struct presence_timeout *p, struct str id, struct mono since);

/*
 * presence_timeout_expired(p, before, id):
 * Remove a terminal that was last seen before that time.  False if there is
 * none.
 */
bool presence_timeout_expired(
    struct presence_timeout *p, struct mono before, char id[ID_MAX + 1]);

/* presence_timeout_clear(p): Remove all. */
void presence_timeout_clear(struct presence_timeout *p);

#endif /* !MQTT_BRIDGE_LIVENESS_H */
