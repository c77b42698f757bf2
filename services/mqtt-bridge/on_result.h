/*
 * on_result: what bodies answer to invokes.
 *
 * The replica that sent the invoke hands its result on at once, and keeps it.
 * Of one that another replica sent, or that nobody did, Redis is asked first:
 * the first result of what was asked is handed on by whoever keeps it (so it
 * may be handed on twice), all others are dropped.
 */
#ifndef MQTT_BRIDGE_ON_RESULT_H
#define MQTT_BRIDGE_ON_RESULT_H

#include <stdbool.h>

#include "address.h"

struct bridge;
struct mqtt_msg;
struct results;

/* results_new(b): Subscribed. */
struct results *results_new(struct bridge *b);

/* results_free(r): Keep what is not kept yet; free.  NULL is allowed. */
void results_free(struct results *r);

/* results_subscribe(r): Again, so that what the broker has kept comes. */
void results_subscribe(struct results *r);

/* results_expect(r, a): a's terminal is asked to do a's request. */
void results_expect(struct results *r, const struct address *a);

/*
 * results_take(r, a):
 * Whether this replica has asked for a's result; from now on not any more.
 */
bool results_take(struct results *r, const struct address *a);

/*
 * on_result(r, a, m, ours):
 * A message came; ours: results_take() said so, otherwise flood_take() counted
 * it.  The first of each that another replica asked for is given back
 * (flood_give()) when it was kept.
 */
void on_result(struct results *r, const struct address *a,
    const struct mqtt_msg *m, bool ours);

/* results_settle(r): Keep now what waits to be kept. */
void results_settle(struct results *r);

#endif /* !MQTT_BRIDGE_ON_RESULT_H */
