/*
 * on_result: what bodies answer to invokes.
 *
 * Every replica hands each result on and keeps it; whose waiter comes first,
 * and what is kept, is the first.
 */
#ifndef MQTT_BRIDGE_ON_RESULT_H
#define MQTT_BRIDGE_ON_RESULT_H

#include "address.h"

struct bridge;
struct mqtt_msg;
struct results;

/* results_new(b): Subscribe. */
struct results *results_new(struct bridge *b);

/* results_free(r): Keep what is not kept yet; free.  NULL is allowed. */
void results_free(struct results *r);

/* on_result(r, a, m): A message came. */
void on_result(
    struct results *r, const struct address *a, const struct mqtt_msg *m);

#endif /* !MQTT_BRIDGE_ON_RESULT_H */
