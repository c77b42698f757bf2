/*
 * on_told: what the server tells a body: invoke, intent_action, emotion_update,
 * status.
 */
#ifndef BODY_SIM_ON_TOLD_H
#define BODY_SIM_ON_TOLD_H

#include "core/str.h"

struct device;
struct mqtt_msg;

/* on_told(d, leaf, m): m came, on the body's topic that ends in leaf. */
void on_told(struct device *d, struct str leaf, const struct mqtt_msg *m);

#endif /* !BODY_SIM_ON_TOLD_H */
